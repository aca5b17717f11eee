"""Where an attractor is: the paper's way, and the zero of a local affine fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ._types import FloatArray, IntArray
from .graphs import Join
from .spectral import Masses, Spectrum, joined_spectrum

__all__ = ["Attractor"]


# Last shares of every path that are tried for the affine fit: small ones are closer to linear, large ones average
# more noise; the standard error decides.
LAST_SHARES = (0.02, 0.05, 0.1, 0.2, 0.4)
# Beyond this ratio of its rates a linear field has, to rounding, no zero of its own.
FLAT = 1e10
# A place where paths end is within twice the usual distance between ends, or within five steps, of one of them.
BESIDE = 2.0
ENDS_WITHIN = 5.0


@dataclass(frozen=True)
class Attractor:
    """An attractor: its place, how sure it is, and the estimates it was chosen from.

    Attributes
    ----------
    position : (d,) array
        The place; of a cycle the mean of its curve.
    standard_error : (d,) array
        Of every coordinate.
    by_intersection : (d,) array
        Where the lines of the embedding meet, mapped back to x: the paper's estimate.
    by_affine_fit : (d,) array or None
        The zero of v = A (x - x*) near the ends; None where that is ill posed or A is not stable.
    by_mean_end : (d,) array
        Mean of the ends; of a kernel graph, of the slowest samples.
    kind : str
        "point" or "cycle".
    eigenvalues : (d,) complex array or None
        Of the local field at a point, where they could be estimated.
    period : float or None
        Of a cycle; NaN where time is not known.
    curve : (m, d) array or None
        A cycle as a closed curve.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> found.located[0].kind
    'point'
    """

    position: FloatArray
    standard_error: FloatArray
    by_intersection: FloatArray
    by_affine_fit: FloatArray | None
    by_mean_end: FloatArray
    kind: str = "point"
    eigenvalues: NDArray[np.complex128] | None = None
    period: float | None = None
    curve: FloatArray | None = None

    @property
    def form(self) -> str:
        """ "node", "focus" (solutions wind around it), "cycle", or "point" where the local field is not known."""
        if self.kind == "cycle" or self.eigenvalues is None:
            return self.kind
        return "focus" if np.abs(self.eigenvalues.imag).max() > 0 else "node"


def locate(x: FloatArray, v: FloatArray, paths: list[IntArray], embedding: FloatArray) -> Attractor:
    """Attractor of one sub-dynamics. `embedding` (n, m) has a row per node, path after path."""
    ends = np.array([x[p[-1]] for p in paths])
    mean_end = ends.mean(axis=0)
    step = np.median(np.concatenate([np.linalg.norm(np.diff(x[p], axis=0), axis=1) for p in paths]))
    if len(paths) > 1:
        mean_error = ends.std(axis=0, ddof=1) / np.sqrt(len(paths))
    else:
        # One end says where it stopped, to within the way it still had: the last step, at least its own rounding.
        mean_error = np.full(x.shape[1], max(step, np.finfo(np.float64).tiny))
    best, error = (mean_end, mean_error) if _ends_there(mean_end, ends, step) else _medoid(ends)
    affine = None
    for share in LAST_SHARES:
        fit = _affine_zero(x, v, paths, share, mean_end)
        if fit is not None and np.linalg.norm(fit[1]) < np.linalg.norm(error) and _ends_there(fit[0], ends, step):
            (best, error), affine = fit, fit[0]
    return Attractor(best, error, intersection(x, paths, embedding), affine, mean_end)


def _ends_there(place: FloatArray, ends: FloatArray, step: float) -> bool:
    """Whether a path ends at `place`: as near to it as ends are to each other, or within a few steps.

    The mean of two tight clusters lies where no path ends, and is no attractor. Paths that stop a few steps short on all
    sides of a place do end there.
    """
    if len(ends) < 3:
        return True
    nearest = cKDTree(ends).query(ends, k=2)[0][:, 1]
    within = max(BESIDE * float(np.median(nearest)), ENDS_WITHIN * step)
    return bool(np.linalg.norm(ends - place, axis=1).min() <= within)


def _medoid(ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The end with the least distance to all others, and how far those scatter around it."""
    distance = np.linalg.norm(ends[:, None] - ends, axis=2).sum(axis=1)
    centre = ends[np.argmin(distance)]
    return centre, np.sqrt(((ends - centre) ** 2).mean(axis=0))


def locate_on_graph(x: FloatArray, v: FloatArray, nodes: IntArray, embedding: FloatArray) -> Attractor:
    """Attractor of a component without paths: where its samples are slowest.

    In the paper it is where the lines through neighbours in the embedding meet, mapped back through the nearest node:
    `by_intersection`. A kernel graph's embedding need not have its lines meet in the attractor, so the velocities decide:
    the zero of an affine fit to the slowest samples where that is well posed, and else their mean, with what the two
    estimates differ by in its error.
    """
    tree = cKDTree(embedding)
    near = tree.query(embedding, k=min(2, len(nodes)))[1].reshape(len(nodes), -1)[:, -1]
    direction = embedding[near] - embedding
    length = np.linalg.norm(direction, axis=1)
    usable = length > 0
    meeting = _nearest_to_lines(embedding[usable], direction[usable] / length[usable, None], embedding.mean(axis=0))
    crossing = x[nodes[int(tree.query(meeting)[1])]]
    # One path to the fit: samples of a component share their errors as those along a path do.
    by_speed = nodes[np.argsort(-np.linalg.norm(v[nodes], axis=1), kind="stable")]
    slowest = by_speed[-max(3, int(np.ceil(LAST_SHARES[0] * len(nodes)))) :]
    mean = x[slowest].mean(axis=0)
    spread = x[slowest].std(axis=0)
    best, error, affine = mean, np.hypot(spread, mean - crossing), None
    for share in LAST_SHARES:
        fit = _affine_zero(x, v, [by_speed], share, mean)
        if fit is None:
            continue
        total = np.hypot(fit[1], fit[0] - mean)
        if np.linalg.norm(total) < np.linalg.norm(error):
            best, error, affine = fit[0], total, fit[0]
    return Attractor(best, error, crossing, affine, mean)


def _nearest_to_lines(points: FloatArray, directions: FloatArray, fallback: FloatArray) -> FloatArray:
    """Least-squares meeting point of lines: sum (I - m m^T) (u - p) = 0."""
    if len(points) == 0:
        return fallback
    m = points.shape[1]
    off_line = np.eye(m) - directions[:, :, None] * directions[:, None, :]
    right = np.einsum("kab,kb->a", off_line, points)
    return np.asarray(np.linalg.lstsq(off_line.sum(axis=0), right, rcond=None)[0], dtype=np.float64)


def _affine_zero(
    x: FloatArray, v: FloatArray, paths: list[IntArray], share: float, near: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """x* of v = A (x - x*) on the last `share` of every path, with standard error; None where it means nothing.

    Delta method: cov(x*) = z^T (Z^T Z)^-1 z A^-1 S A^-T with z = (x*, 1) and S the covariance of the residuals. Samples
    along a path share their errors, so that only as many are counted as there are paths.
    """
    d = x.shape[1]
    tails = [p[-max(3, int(np.ceil(share * len(p)))) :] for p in paths]
    used = np.concatenate(tails)
    if len(used) < 2 * (d + 1):
        return None
    centre, scale = near, np.linalg.norm(x[used] - near, axis=1).max()
    if scale == 0:
        return None
    z = np.column_stack([(x[used] - centre) / scale, np.ones(len(used))])
    coefficients, _, rank, singular = np.linalg.lstsq(z, v[used], rcond=None)
    if rank < d + 1 or singular[-1] < 1e-6 * singular[0]:
        return None
    matrix, offset = coefficients[:d].T, coefficients[d]
    # A direction in which nothing pulls (velocity columns that repeat each other) leaves the zero open.
    if np.linalg.eigvals(matrix).real.max() >= 0 or np.linalg.cond(matrix) > FLAT:
        return None
    zero = np.linalg.solve(matrix, -offset)
    if np.linalg.norm(zero) > 1:  # outside the samples it was fitted to: extrapolation
        return None
    residual = v[used] - z @ coefficients
    inverse = np.linalg.inv(matrix)
    spread = inverse @ (residual.T @ residual / max(len(used) - d - 1, 1)) @ inverse.T
    at_zero = np.append(zero, 1.0)
    leverage = at_zero @ np.linalg.solve(z.T @ z, at_zero) * len(used) / len(paths)
    return centre + scale * zero, scale * np.sqrt(np.maximum(np.diag(spread), 0) * leverage)


def intersection(x: FloatArray, paths: list[IntArray], embedding: FloatArray) -> FloatArray:
    """Mean of the pairwise intersections of the paths' lines in the embedding, mapped back through the nearest nodes.

    The point nearest to all lines, in least squares, is that mean for lines that meet; the nearest node of every path
    is taken, and their positions averaged.
    """
    bounds = np.concatenate([[0], np.cumsum([len(p) for p in paths])])
    parts = [embedding[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
    centres = np.array([u.mean(axis=0) for u in parts])
    directions = np.array([np.linalg.svd((u - c).T @ (u - c))[0][:, 0] for u, c in zip(parts, centres, strict=True)])
    meeting = _nearest_to_lines(centres, directions, centres.mean(axis=0))
    nearest = [x[p[np.argmin(np.linalg.norm(u - meeting, axis=1))]] for p, u in zip(paths, parts, strict=True)]
    return np.asarray(np.mean(nearest, axis=0), dtype=np.float64)


def eigenpairs_for(dimension: int, group: IntArray) -> int:
    """The constant vector, the embedding of the richest group, and one more, to see the gap behind it."""
    most = int(np.bincount(group[group >= 0]).max(initial=0))
    return 2 + max(1, min(dimension, most - 1))


def sub_dynamics(
    x: FloatArray, v: FloatArray, paths: list[IntArray], join: Join, masses: Masses, count: int
) -> tuple[Spectrum, FloatArray, Attractor]:
    """Spectrum of `count` eigenpairs, embedding and attractor of the paths of one sub-dynamics."""
    spectrum, embedding = embedded(paths, join, masses, count, x.shape[1])
    return spectrum, embedding, locate(x, v, paths, embedding)


def embedded(
    paths: list[IntArray], join: Join, masses: Masses, count: int, dimension: int
) -> tuple[Spectrum, FloatArray]:
    """Spectrum of `count` eigenpairs of the joined paths, and the embedding."""
    nodes = np.concatenate(paths)
    found = joined_spectrum(np.array([len(p) for p in paths]), join, masses, min(count, len(nodes)))
    spectrum = Spectrum(nodes, found.eigenvalues, found.eigenvectors)
    return spectrum, spectrum.eigenvectors[:, 1 : 1 + max(1, min(dimension, len(paths) - 1))]
