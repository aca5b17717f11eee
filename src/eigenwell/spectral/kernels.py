"""The paper's velocity-augmented kernel, one pair of samples at a time.

    k(nu_i, nu_j) = exp(-(|x_i - x_j|^2 + gamma(|g_ij|)^2 + gamma(|g_ji|)^2) / (2 sigma^2))
    g_ij          = filter(delta(|v_i| |v_j|), cos(x_j - x_i, v_i)),   delta(s) = exp(-s^2 / (2 sigma_f^2))

Two printed formulas do not do what the text around them says. Both readings are offered, as objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._types import FloatArray


class Gamma(Protocol):
    """Length gamma(|g|) that a misalignment costs."""

    def __call__(self, g: FloatArray, sigma: float, theta_r: float) -> FloatArray: ...


class Filter(Protocol):
    """|g| from the filter value delta and the cosine."""

    def __call__(self, delta: FloatArray, cosine: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class PrintedGamma:
    """gamma(g) = (3/2) theta_r (1 - g) sigma, as printed (Eq. gamma_fun).

    At g = cos(theta_r) this gives (3/2) theta_r (1 - cos theta_r) sigma, not the 3 sigma of the text.

    Examples
    --------
    >>> from eigenwell.spectral import PrintedGamma
    >>> float(PrintedGamma()(1.0, 1.0, 0.5))
    0.0
    """

    def __call__(self, g: FloatArray, sigma: float, theta_r: float) -> FloatArray:
        return 1.5 * theta_r * (1.0 - g) * sigma


@dataclass(frozen=True)
class CorrectedGamma:
    """gamma(g) = 3 sigma (1 - g) / (1 - cos theta_r), which maps [cos theta_r, 1] onto [3 sigma, 0].

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.spectral import CorrectedGamma
    >>> float(CorrectedGamma()(np.cos(0.5), 1.0, 0.5).round(9))
    3.0
    """

    def __call__(self, g: FloatArray, sigma: float, theta_r: float) -> FloatArray:
        # 1 - cos = 2 sin^2(theta/2) keeps its digits for the small angles of high sampling frequencies.
        return 3.0 * sigma * (1.0 - g) / float(2.0 * np.sin(theta_r / 2.0) ** 2)


@dataclass(frozen=True)
class PrintedFilter:
    """|g| = |delta + cos|, as printed (Eq. cos_kernel).

    With the filter open (delta = 1) a neighbour straight behind gets |1 - 1| = 0 and one straight ahead
    |1 + 1| = 2: both pay in full, and only a neighbour at a right angle (|g| = 1) pays nothing.

    Examples
    --------
    >>> from eigenwell.spectral import PrintedFilter
    >>> float(PrintedFilter()(1.0, -1.0))
    0.0
    """

    def __call__(self, delta: FloatArray, cosine: FloatArray) -> FloatArray:
        return np.abs(delta + cosine)


@dataclass(frozen=True)
class CorrectedFilter:
    """|g| = max(|cos|, delta): an open filter withholds the penalty, whatever the direction.

    Examples
    --------
    >>> from eigenwell.spectral import CorrectedFilter
    >>> float(CorrectedFilter()(1.0, 0.2))
    1.0
    """

    def __call__(self, delta: FloatArray, cosine: FloatArray) -> FloatArray:
        return np.maximum(np.abs(cosine), delta)


@dataclass(frozen=True)
class VelocityAugmentedKernel:
    """k(nu_i, nu_j): near in space, and each displacement along the velocity (Eq. dir_kernel).

    Parameters
    ----------
    sigma : float
        A length.
    theta_r : float
        An angle in radians.
    sigma_f : float
        A squared speed (it meets |v_i| |v_j|); 0 is the limit in which only a sample exactly at rest opens the
        filter.
    gamma, filter : Gamma, Filter
        The penalty of a direction, and when it is withheld.

    Raises
    ------
    ValueError
        For settings outside their range.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.spectral import VelocityAugmentedKernel
    >>> kernel = VelocityAugmentedKernel(sigma=1.0, theta_r=0.5, sigma_f=0.01)
    >>> x = np.array([[0.0, 0.0]])
    >>> kernel(x, x + [1, 0], x + [1, 0], x + [1, 0]).round(3)
    array([0.607])
    """

    sigma: float
    theta_r: float
    sigma_f: float
    gamma: Gamma = CorrectedGamma()
    filter: Filter = CorrectedFilter()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise ValueError(
                f"sigma: expected a positive length, got {self.sigma!r}; the largest distance between "
                "consecutive samples (max speed / sampling frequency) is a good value."
            )
        if not 0 < self.theta_r <= np.pi:
            raise ValueError(
                f"theta_r: expected an angle in (0, pi] radians, got {self.theta_r!r}; "
                "degrees must be converted with numpy.deg2rad."
            )
        if not (np.isfinite(self.sigma_f) and self.sigma_f >= 0):
            raise ValueError(
                f"sigma_f: expected a finite value >= 0, got {self.sigma_f!r}; "
                "use 0 to open the filter for samples exactly at rest only."
            )

    def __call__(self, x_i: FloatArray, v_i: FloatArray, x_j: FloatArray, v_j: FloatArray) -> FloatArray:
        """k for pairs along the leading axes: four arrays (..., d) -> (...)."""
        dx = x_j - x_i
        distance, speed_i, speed_j = _norm(dx), _norm(v_i), _norm(v_j)
        # Coincident samples have no displacement to compare with, so their velocities are compared with
        # one another: the limit of two samples of one trajectory, and it still parts two that cross.
        apart = distance > 0
        facing = np.where(apart[..., None], dx, v_j)
        backing = np.where(apart[..., None], -dx, v_i)
        delta = self._delta(speed_i * speed_j)
        g_ij = self.filter(delta, _cosine(facing, v_i, np.where(apart, distance, speed_j), speed_i))
        g_ji = self.filter(delta, _cosine(backing, v_j, np.where(apart, distance, speed_i), speed_j))
        ahead, behind = (self.gamma(g, self.sigma, self.theta_r) for g in (g_ij, g_ji))
        return np.exp(-(distance**2 + (ahead**2 + behind**2)) / (2.0 * self.sigma**2))

    def _delta(self, s: FloatArray) -> FloatArray:
        """delta(s) = exp(-s^2 / (2 sigma_f^2)), 1 where a sample is at rest."""
        if self.sigma_f == 0:
            return np.where(s == 0, 1.0, 0.0)
        return np.exp(-0.5 * (s / self.sigma_f) ** 2)

    def radius(self, eps: float) -> float:
        """Distance beyond which k < eps whatever the velocities: sigma sqrt(-2 ln eps).

        Parameters
        ----------
        eps : float
            The least value of the kernel.

        Returns
        -------
        float
        """
        return float(self.sigma * np.sqrt(-2.0 * np.log(eps)))


def _norm(a: FloatArray) -> FloatArray:
    norm: FloatArray = np.sqrt(np.einsum("...d,...d->...", a, a))
    return norm


def _cosine(a: FloatArray, b: FloatArray, norm_a: FloatArray, norm_b: FloatArray) -> FloatArray:
    """cos of the angle; 0 at rest, where no direction exists and the filter (delta = 1) decides alone."""
    product = norm_a * norm_b
    moving = product > 0
    cosine = np.einsum("...d,...d->...", a, b) / np.where(moving, product, 1.0)
    return np.where(moving, np.clip(cosine, -1.0, 1.0), 0.0)
