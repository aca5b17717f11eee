"""The field of samples, in the coordinates in which they show it: those that move, and no more than the samples can fill."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from .._types import FloatArray
from ..demonstrations import Caution, DataError
from .field import FlowField, Whitening, left_out_errors
from .regression import CHOOSING, fit_fields

# A share of the motion that is more than chance: directions that a few samples choose are a little off, and miss less than this;
# a field that tells less about the velocities tells nothing.
NOTABLE = 0.1
_UNRELATED = (
    "Expected velocities that depend on position, got velocities that no field explains ({} samples in {}-D). Are the rows "
    "of x and v in the same order?"
)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Samples y, v (n, r) in a frame, their fields with probabilities, and the share of the field they determine."""

    frame: Whitening
    y: FloatArray
    v: FloatArray
    fields: list[tuple[float, FlowField]]
    warnings: tuple[Caution, ...] = ()

    @classmethod
    def within(cls, frame: Whitening, x: FloatArray, v: FloatArray, warnings: tuple[Caution, ...] = ()) -> Estimate:
        y, w = frame.enter(x), v @ frame.forward
        # The velocities as they were measured; seen along fewer directions they are mixed.
        axes = frame.backward if frame.backward.shape[0] == frame.backward.shape[1] else None
        return cls(frame, y, w, fit_fields(y, w, axes=axes), warnings)

    @property
    def field(self) -> FlowField:
        return self.fields[0][1]

    @cached_property
    def known(self) -> float:
        return known_share(self.field, self.y)


def estimate(x: FloatArray, v: FloatArray) -> Estimate:
    """Along the directions that move; where the samples determine less than half of the field there, along their first principal
    ones."""
    frame = Whitening.of(x)
    found = Estimate.within(frame, x, v)
    moving = moving_directions(found.field, found.y, found.v)
    if moving.shape[1] == 0:
        raise DataError(_UNRELATED.format(*x.shape))
    if moving.shape[1] < found.y.shape[1]:
        still = moving.shape[0] - moving.shape[1]
        said = Caution(
            "still",
            f"Along {still} of {len(moving)} directions position says nothing about the velocities: they were left out. "
            "Attractors stand at their mean there, and what moves slowly along them is not seen.",
        )
        fewer = Estimate.within(frame.seen_along(moving, found.y), x, v, (said,))
        found = found if _steered_by_the_rest(fewer, found) else fewer
    full = found.y.shape[1]
    r = full
    principal = np.linalg.eigh(np.atleast_2d(np.cov(x.T)))[1][:, ::-1]
    while r > 2 and found.known < 0.5:
        r = max(2, r // 2)
        y = frame.enter(x)
        said = Caution(
            "fewer-dimensions",
            f"{len(x)} samples do not show the field between them in {full} dimensions; it was estimated in their first {r} "
            "principal components.",
        )
        found = Estimate.within(frame.seen_along(frame.backward @ principal[:, :r], y), x, v, (said,))
    if found.known < 0.5:
        thin = Caution(
            "too-thin",
            f"The samples lie too far apart: where there is none, the others determine only {100 * found.known:.0f} % of the "
            "field. Take more samples, or measure velocities with less noise.",
        )
        return replace(found, warnings=(*found.warnings, thin))
    return found


def _steered_by_the_rest(fewer: Estimate, all_: Estimate) -> bool:
    """Whether velocities depend on what `fewer` leaves out, since a combination of coordinates may hardly move and steer the
    others all the same: of what all directions tell about the velocity of a sample left out, it misses a notable share, and
    by more than four standard errors."""
    turn, v = all_.frame.backward @ fewer.frame.forward, fewer.v[:CHOOSING]
    scale = np.linalg.inv(np.atleast_2d(np.cov(v.T)))
    alone, both = (
        ((e @ scale) * e).sum(axis=1)
        for e in (
            left_out_errors(fewer.field, fewer.y[:CHOOSING], v),
            left_out_errors(all_.field, all_.y[:CHOOSING], all_.v[:CHOOSING]) @ turn,
        )
    )
    worse, told = alone - both, v.shape[1] - both.mean()
    return bool(worse.mean() > max(NOTABLE * told, 4 * worse.std() / np.sqrt(len(worse))))


def known_share(field: FlowField, y: FloatArray) -> float:
    """Share of the field's variance at a typical sample that the other samples determine, mean over its components.

    In units of the noise, what bends the field has at a sample the posterior variance h, its leverage, and h / (1 - h)
    with the sample left out; to it comes what the inducing samples leave unexplained of the prior. Nearly one where
    neighbours lie within a kernel length; small where each sample is alone: a field that goes through all of them then
    says nothing about the way from one to the next, however well it fits.
    """
    x = y[:CHOOSING]
    variance = iter((field(x) @ field.outputs).var(axis=0))
    shares = []
    for block in field.blocks:
        phi = block.phi(x)
        e, basis = np.linalg.eigh(phi.T @ phi * (len(y) / len(x)))
        squares = (phi @ basis) ** 2
        unexplained = np.maximum(1 - squares.sum(axis=1), 0)
        for ratio, total in zip(block.ratios, variance, strict=False):
            leverage = np.minimum((squares / (np.maximum(e, 0) + ratio)).sum(axis=1), 1 - 1e-9)
            unknown = np.median(leverage / (1 - leverage) + unexplained / ratio)
            shares.append(1 - min(float(unknown / max(total, np.finfo(np.float64).tiny)), 1.0))
    return float(np.mean(shares))


def moving_directions(field: FlowField, y: FloatArray, v: FloatArray) -> FloatArray:
    """(r, k) directions whose velocity the field explains, or that drift; along the others samples only jitter.

    With as many degrees of freedom as the fit has, pure noise explains a share of (dof +- sqrt(2 dof)) / n; four standard
    deviations more is a motion. So is a share of noise that is four standard deviations less than all, which also speaks
    where a fit needs nearly as many degrees of freedom as there are samples; and a drift larger than its own scatter. What is
    affine asks for r degrees of freedom a direction, and 4 r in the best of r that are all noise (the largest canonical
    correlation of two sets of r is (sqrt r + sqrt r)^2 / n there): a faint motion along a straight slope speaks too.
    """
    n, r = y.shape
    dof = r + 1 + max(float((b.e / (b.e + q)).sum()) for b in field.blocks for q in b.ratios)
    total = np.atleast_2d(np.cov(v.T))
    share, directions = scipy.linalg.eigh(
        np.atleast_2d(np.cov(field(y[:CHOOSING]).T)), total + 1e-12 * np.trace(total) * np.eye(r)
    )
    noise = (np.linalg.inv(field.outputs) @ directions) ** 2
    moves = share > (dof + 4 * np.sqrt(2 * dof)) / n
    moves |= noise.sum(axis=0) < 1 - 4 * np.sqrt(2 / n)
    h = np.column_stack([np.ones(n), y])
    straight = np.atleast_2d(np.cov((h @ np.linalg.lstsq(h, v, rcond=None)[0]).T))
    moves |= np.einsum("ak,ab,bk->k", directions, straight, directions) > (4 * r + 4 * np.sqrt(8 * r)) / n
    moves |= np.abs(v.mean(axis=0) @ directions) > max(1.0, 4 / np.sqrt(n))
    return np.asarray(directions[:, moves])
