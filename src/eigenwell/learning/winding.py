"""Does a motion wind around its attractor? A focus needs spirals in the latent space: no smooth psi straightens one.

Near x* a smooth psi is linear, so a field made of straight lines is a node there. Data that wind are met with

    y = rho exp(Omega ln rho) e,    theta = theta_0 + omega ln rho,

whose winding rate omega is the slope of the angle around x* against the logarithm of the length still to go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .._types import FloatArray
from ..fields.stable import winding, wound
from .targets import FINE, Bundle, Profile, Target, arc_length, arc_to_go, starting_directions


@dataclass(frozen=True)
class Winding:
    """When to call it winding: turns around x*, and how well angle = a + omega ln(length to go) must fit (R^2)."""

    turns: float = 1.25
    fit: float = 0.8

    def measure(self, bundle: Bundle) -> FloatArray:
        """Omega, (d, d) and skew; zero when the motion does not wind."""
        swirl = np.zeros((bundle.dimension, bundle.dimension))
        for plane in _planes(bundle):
            omega = self._rate(bundle, plane)
            swirl += omega * (np.outer(plane[1], plane[0]) - np.outer(plane[0], plane[1]))
        return swirl

    def _rate(self, bundle: Bundle, plane: FloatArray) -> float:
        slopes, turns, fits = [], [], []
        for x in bundle.x:
            away = (x - bundle.attractor) @ plane.T
            rest = arc_to_go(x, bundle.attractor)
            keep = rest > FINE / 2 * rest[0]  # closer, angles are noise
            if keep.sum() < 8:
                continue
            angle = np.unwrap(np.arctan2(away[keep, 1], away[keep, 0]))
            log_rest = np.log(rest[keep] / rest[0])
            # Weighted towards evenly spaced ln(rest), as a spiral is: else the slow tail would decide alone.
            weight = np.abs(np.gradient(log_rest))
            slope, residual = _line(log_rest, angle, weight)
            slopes.append(slope)
            turns.append(np.ptp(angle) / (2 * np.pi))
            fits.append(residual)
        if not slopes or np.median(turns) < self.turns or np.median(fits) < self.fit or np.ptp(np.sign(slopes)) > 0:
            return 0.0
        return float(np.median(slopes))


def _line(t: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Slope and R^2 of a weighted straight line."""
    weight = weight / weight.sum()
    dt, dy = t - weight @ t, y - weight @ y
    slope = float((weight * dt) @ dy) / max(float(weight @ dt**2), 1e-12)
    return slope, 1 - float(weight @ (dy - slope * dt) ** 2) / max(float(weight @ dy**2), 1e-12)


def _planes(bundle: Bundle) -> list[FloatArray]:
    """Orthonormal planes (2, d) of rotation: those of the mean angular momentum, sum (x - x*) ^ v."""
    away = np.concatenate(bundle.x) - bundle.attractor
    v = np.concatenate(bundle.v)
    scale = np.maximum(np.linalg.norm(away, axis=1) * np.linalg.norm(v, axis=1), 1e-12)
    moment = (away / scale[:, None]).T @ v
    values, vectors = np.linalg.eigh(1j * (moment - moment.T))
    # Eigenvalues come in pairs +-mu; the real and imaginary parts of one vector span a plane of rotation.
    top = np.argsort(-values)[: bundle.dimension // 2]
    return [np.sqrt(2) * np.stack([vectors[:, k].real, vectors[:, k].imag]) for k in top if values[k] > 1e-9 * len(v)]


@dataclass(frozen=True)
class SpiralTarget(Target):
    """Rays that wind with the data: y_k(n) = rho exp(Omega ln(rho / rho_0)) e_k, and `RayTarget` where Omega = 0.

    Farther out than the data reach winding fades, as in the field (`fields.stable.wound`).

    rho = l_k rho(n) / |(I + Omega) e_k|, so that with the arc-length profile |dy| = |dx| along the path as before.

    Parameters
    ----------
    profile : Profile
        How far along a path a sample is, 1 at the start.
    winding : Winding
        How Omega is found.

    Examples
    --------
    >>> import eigenwell as ew
    >>> field = ew.learn(found, target=ew.learning.SpiralTarget())  # doctest: +SKIP
    """

    profile: Profile = field(default_factory=lambda: arc_length)
    winding: Winding = field(default_factory=Winding)

    def swirl(self, bundle: Bundle) -> FloatArray:
        """Omega, how the paths wind around the attractor: skew, zero for straight lines.

        Parameters
        ----------
        bundle : Bundle
            The paths of one sub-dynamics in unit coordinates.

        Returns
        -------
        (d, d) array
        """
        return self.winding.measure(bundle)

    def _placed(self, bundle: Bundle, rho: list[FloatArray]) -> Iterable[FloatArray]:
        swirl = self.swirl(bundle)
        for x, left, (anchor, heading) in zip(bundle.x, rho, starting_directions(bundle), strict=True):
            radius = arc_to_go(x, bundle.attractor)[0] * left
            radius = np.maximum(radius / np.linalg.norm(heading + swirl @ heading), 1e-9)
            window = 1 / bundle.frame.reach
            turned = wound(winding(swirl), np.tile(heading[:, None], len(x)), window, radius, radius[anchor])
            yield (radius * turned).T
