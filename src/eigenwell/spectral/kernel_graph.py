"""The paper's graph: an edge wherever the velocity-augmented kernel reaches eps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import Demonstrations
from ..graphs import Graph
from .kernels import CorrectedFilter, CorrectedGamma, Filter, Gamma, VelocityAugmentedKernel

# Candidate pairs held at once; about 100 MB of work space in low dimension.
_PAIRS_PER_CHUNK = 500_000


@dataclass(frozen=True)
class KernelGraph:
    """The paper's graph: A_ij = 1 where k(nu_i, nu_j) >= eps, by radius search; no M x M matrix is ever formed.

    Since k <= exp(-|x_i - x_j|^2 / (2 sigma^2)), only pairs within sigma sqrt(-2 ln eps) can pass.

    Parameters
    ----------
    theta_r : float
        The angle between displacement and velocity beyond which samples do not belong together, in radians.
    sigma_f : float
        A squared speed, below which direction is not asked for.
    eps : float
        The least value of the kernel, between 0 and 1.
    sampling_frequency : float, optional
        sigma is then the paper's d_max = max speed / frequency; estimated where left out.
    sigma : float, optional
        Or the length itself.
    gamma, filter : Gamma, Filter
        CorrectedGamma() and CorrectedFilter(), or the formulas as printed.

    Raises
    ------
    ValueError
        For settings outside their range.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.heart.sample(seed=0, frequency=10.0)
    >>> graph = ew.spectral.KernelGraph(theta_r=0.4, sigma_f=0.1, eps=0.3, sampling_frequency=10.0)
    >>> graph.build(demos).n_samples == demos.n_samples
    True
    """

    theta_r: float
    sigma_f: float
    eps: float
    sampling_frequency: float | None = None
    sigma: float | None = None
    gamma: Gamma = CorrectedGamma()
    filter: Filter = CorrectedFilter()

    def __post_init__(self) -> None:
        if not 0 < self.eps < 1:
            raise ValueError(
                f"eps: expected a value in (0, 1), got {self.eps!r}; with sigma = max speed / frequency "
                "consecutive samples reach at least exp(-1/2) = 0.6, so values a little below are natural."
            )
        if self.sampling_frequency is not None and not self.sampling_frequency > 0:
            raise ValueError(
                f"sampling_frequency: expected a positive number, got {self.sampling_frequency!r}; "
                "leave it out to have it estimated."
            )

    def kernel(self, x: FloatArray, v: FloatArray) -> VelocityAugmentedKernel:
        """The kernel with its sigma settled for these samples.

        Parameters
        ----------
        x, v : (M, d) arrays
            Samples.

        Returns
        -------
        VelocityAugmentedKernel

        Raises
        ------
        ValueError
            Where nothing moves and sigma is not given.
        """
        sigma = self.sigma
        if sigma is None:
            fastest = float(np.sqrt(np.max(np.sum(v**2, axis=1))))
            if not fastest > 0:
                raise ValueError(
                    "velocities: expected at least one sample that moves, got all zero; "
                    "pass sigma, or estimate velocities from positions first."
                )
            interval = 1.0 / self.sampling_frequency if self.sampling_frequency else estimate_interval(x, v)
            sigma = fastest * interval
        return VelocityAugmentedKernel(sigma, self.theta_r, self.sigma_f, self.gamma, self.filter)

    def build(self, demos: Demonstrations) -> Graph:
        """The graph of some demonstrations, whose order it does not use.

        Parameters
        ----------
        demos : Demonstrations

        Returns
        -------
        Graph
        """
        x, v = demos.x, demos.v
        kernel = self.kernel(x, v)
        kept = [
            pairs[:, kernel(x[pairs[0]], v[pairs[0]], x[pairs[1]], v[pairs[1]]) >= self.eps]
            for pairs in _pairs_within(x, kernel.radius(self.eps))
        ]
        i, j = np.concatenate(kept, axis=1) if kept else np.empty((2, 0), dtype=np.intp)
        ones = np.ones(2 * len(i), dtype=np.int8)
        rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
        return Graph(sp.csr_array((ones, (rows, columns)), shape=(len(x), len(x))))

    def nearby(self, demos: Demonstrations) -> list[KernelGraph]:
        """The same graph with sigma or theta_r a factor of sqrt(2) smaller or larger.

        No data say which setting is right; a number of attractors that changes with a change this small is not sure.

        Parameters
        ----------
        demos : Demonstrations
            Where sigma is not given, it is settled for these.

        Returns
        -------
        list of KernelGraph

        Examples
        --------
        >>> import eigenwell as ew
        >>> demos = ew.systems.heart.sample(seed=0, frequency=20.0)
        >>> graph = ew.spectral.KernelGraph(theta_r=0.4, sigma_f=0.1, eps=0.3, sampling_frequency=20.0)
        >>> [round(other.theta_r, 2) for other in graph.nearby(demos)]
        [0.4, 0.4, 0.28, 0.57]
        """
        sigma = self.kernel(demos.x, demos.v).sigma
        factors = (1 / np.sqrt(2), np.sqrt(2))
        return [replace(self, sigma=float(sigma * f)) for f in factors] + [
            replace(self, sigma=sigma, theta_r=min(float(self.theta_r * f), np.pi)) for f in factors
        ]


def _pairs_within(x: FloatArray, radius: float) -> Iterator[IntArray]:
    """Pairs i < j within the radius, as (2, n) blocks of bounded size."""
    tree = cKDTree(x)
    radius = radius * (1.0 + 1e-12)  # the kernel, not the search, decides at the rim
    counts = tree.query_ball_point(x, radius, return_length=True, workers=-1)
    blocks = np.cumsum(counts) // _PAIRS_PER_CHUNK
    edges = np.concatenate([[0], np.flatnonzero(np.diff(blocks)) + 1, [len(x)]])
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        found = cKDTree(x[start:stop]).sparse_distance_matrix(tree, radius, output_type="ndarray")
        i, j = found["i"] + start, found["j"]
        once = i < j
        yield np.stack([i[once], j[once]]).astype(np.intp, copy=False)


def estimate_interval(x: FloatArray, v: FloatArray, neighbours: int = 8) -> float:
    """Sampling interval from unordered samples: the median travel time to a neighbour straight ahead.

    Per moving sample, among the nearest neighbours whose displacement lies within 25 degrees of the
    velocity, the shortest t = |x_j - x_i| / ((|v_i| + |v_j|) / 2). Neighbours to the side are other
    trajectories and say nothing about time.
    """
    distance, index = cKDTree(x).query(x, k=min(neighbours + 1, len(x)), workers=-1)
    distance, index = distance.reshape(len(x), -1), index.reshape(len(x), -1)
    speed = np.sqrt(np.sum(v**2, axis=1))
    dx = x[index] - x[:, None]
    reach = distance * speed[:, None]
    ahead = np.abs(np.einsum("nkd,nd->nk", dx, v)) > np.cos(np.deg2rad(25.0)) * reach
    usable = ahead & (reach > 0)
    mean_speed = 0.5 * (speed[:, None] + speed[index])
    time = np.where(usable, distance / np.where(usable, mean_speed, 1.0), np.inf).min(axis=1)
    time = time[np.isfinite(time)]
    if len(time) == 0:
        raise ValueError(
            "sampling interval: expected samples with a neighbour along their velocity, got none; "
            "pass sampling_frequency or sigma."
        )
    return float(np.median(time))
