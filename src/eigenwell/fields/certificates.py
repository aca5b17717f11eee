"""Stability is proved on paper; a certificate reports what was met when the proof was put to the test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import BoolArray, FloatArray
from .flows import jacobian, linearise
from .simulation import LatentPath
from .stable import StableModel, potential, potential_gradient, velocity

BOX = 3.0
"""States are drawn from this many times the box of the data."""
ARRIVED = 1e-3
"""A roll-out has converged within this share of the data's extent of the attractor."""


@dataclass(frozen=True)
class Certificate:
    """What sampling found of one attractor's field, over three times the box of its data."""

    attractor: tuple[float, ...]
    speed_at_attractor: float
    """|f(x*)|, zero."""
    decreasing: float
    """Share of sampled states with dV/dt = grad V . f < 0."""
    converged: float
    """Share of roll-outs that came within a thousandth of the extent of the attractor."""
    monotone: float
    """Share of roll-outs along which V fell at every step."""
    smallest_singular_value: float
    largest_singular_value: float
    """Of the Jacobian of psi, over all sampled states."""
    samples: int

    @property
    def holds(self) -> bool:
        return self.speed_at_attractor == 0 and self.decreasing == self.converged == self.monotone == 1.0

    def __str__(self) -> str:
        point = ", ".join(f"{c:.4g}" for c in self.attractor)
        return (
            f"attractor ({point}): |f(x*)| = {self.speed_at_attractor:g}; of {self.samples} states in {BOX:g} x the "
            f"box dV/dt < 0 at {self.decreasing:.2%}, roll-outs converged {self.converged:.2%}, V monotone "
            f"{self.monotone:.2%}; "
            f"singular values of J from {self.smallest_singular_value:.2g} to {self.largest_singular_value:.2g}"
        )


def certify(
    model: StableModel, attractor: FloatArray, speed_at_attractor: float, *, samples: int = 1000, seed: int = 0
) -> Certificate:
    """Sample states in unit coordinates, roll them out, and count; attractor and its speed are in the data's units."""
    if samples < 1:
        raise ValueError(f"Expected samples >= 1, got {samples}.")
    dimension = model.flow.dimension
    x = np.random.default_rng(seed).uniform(-BOX / 2, BOX / 2, (samples, dimension))
    slope = (potential_gradient(model, x) * velocity(model, x)).sum(1)
    singular = np.linalg.svd(jacobian(linearise(model.flow, x)[1], dimension), compute_uv=False)
    converged, monotone = roll_to_rest(model, x)
    return Certificate(
        attractor=tuple(float(c) for c in attractor),
        speed_at_attractor=speed_at_attractor,
        decreasing=float((slope < 0).mean()),
        converged=float(converged.mean()),
        monotone=float(monotone.mean()),
        smallest_singular_value=float(singular.min()),
        largest_singular_value=float(singular.max()),
        samples=samples,
    )


def roll_to_rest(
    model: StableModel, x0: FloatArray, *, step: float = 0.1, steps: int = 3000
) -> tuple[BoolArray, BoolArray]:
    """Roll out unit states until each is within a thousandth of the box of the attractor.

    Returns for each whether it got there, and whether V fell at every step. V is |psi(x) - psi(x*)|^2 / 2 of the states
    x themselves, evaluated anew at every step and not read off the stepper.
    """
    path = LatentPath.through(model, x0)
    converged, monotone = np.zeros(len(x0), dtype=bool), np.ones(len(x0), dtype=bool)
    going = np.arange(len(x0))
    h, value = path.clock(path.start), 0.5 * path.start**2
    for _ in range(steps):
        here = LatentPath(model, path.start[going], path.heading[going], path.origin)
        h = here.tick(h, step)
        x = here.at(here.radius(h))
        new = potential(model, x)
        monotone[going] &= new < value
        near = np.linalg.norm(x - model.attractor, axis=1) < ARRIVED
        converged[going[near]] = True
        going, h, value = going[~near], h[~near], new[~near]
        if len(going) == 0:
            break
    return converged, monotone
