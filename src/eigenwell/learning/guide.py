"""What the data say between the demonstrations: the smoothest field that explains them, and how sure that is.

`flow.witness` predicts each path from the others. States
drawn in the box of the data, with the velocity expected there and a weight that falls with its uncertainty, then guide the
stable field where no path came: in a smooth system nearly everywhere, beside crossing strokes nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from .._types import FloatArray
from ..fields.certificates import BOX
from ..flow.witness import ONE_FIELD, nodes, one_field
from .targets import APART, BESIDE, FINE, Bundle

DRAWS = 3000
DOUBT = ONE_FIELD
"""An uncertainty of this much, in units of the root mean square speed, halves the weight of a state."""


@dataclass(frozen=True, eq=False)
class Guide:
    """States (n, d), the velocity expected at each, and a weight 0..1, in unit coordinates."""

    x: FloatArray
    v: FloatArray
    weight: FloatArray
    smooth: bool
    """Whether the data are samples of one smooth field, and not ways that people chose."""


def no_guide(bundles: Sequence[Bundle]) -> Guide:
    """Nothing known between the paths."""
    nowhere = np.zeros((1, bundles[0].dimension))
    return Guide(nowhere, nowhere, np.zeros(1), False)


def guide(bundles: Sequence[Bundle], *, seed: int = 0) -> Guide:
    """States drawn in the box of the bundles with what the data say there."""
    fitted = one_field(_paths(bundles))
    x = fitted.nodes
    drawn = np.random.default_rng(seed).uniform(x.min(0), x.max(0), (DRAWS, x.shape[1]))
    velocity, variance = fitted(drawn)
    weight = 1 / (1 + variance * x.shape[1] / DOUBT**2)
    return Guide(drawn, velocity, weight, fitted.smooth)


@dataclass(frozen=True, eq=False)
class Home:
    """States (n, 2, d), each with one BESIDE it on its way, and the directions expected there, in unit coordinates."""

    x: FloatArray
    v: FloatArray


def way_home(bundles: Sequence[Bundle], *, outside: bool, seed: int = 0) -> Home:
    """States in the box and as far out as certificates look, and which way is home: to the paths, turning into their headings.

    The mean over all samples, weighted by distance^-3, of heading + min(distance / APART, 1) x direction to the sample: a
    direction that is smooth but on the paths themselves, where it is theirs. The nearest sample's alone would jump where
    another becomes the nearest, and the field would curl to obey. What turns and turns back within BESIDE is not seen, and
    hardly by people. `outside`: not in the box itself, where the guide knows better.
    """
    x, v, _ = nodes(_paths(bundles))
    speed = np.linalg.norm(v, axis=1)
    moving = speed > FINE * speed.max()
    x, heading = x[moving], v[moving] / speed[moving, None]
    low, high = x.min(0), x.max(0)
    middle, half = (low + high) / 2, (high - low) / 2
    drawn = np.random.default_rng([seed, 2]).uniform(-1, 1, (DRAWS, x.shape[1]))
    drawn[::2] *= BOX
    drawn = middle + half * drawn
    if outside:
        beyond = ((drawn < low) | (drawn > high)).any(1)
        # As many for every model, so that they can be trained side by side.
        drawn = drawn[np.resize(np.flatnonzero(beyond), DRAWS)]
    way = _towards(drawn, x, heading)
    behind = drawn - BESIDE * way
    return Home(np.stack([drawn, behind], axis=1), np.stack([way, _towards(behind, x, heading)], axis=1))


def _towards(places: FloatArray, x: FloatArray, heading: FloatArray) -> FloatArray:
    """The way home from some places, of length 1."""
    distance = np.maximum(cdist(places, x), 1e-9)
    share = (distance.min(1, keepdims=True) / distance) ** 3
    towards = share * np.minimum(1 / APART, 1 / distance)
    way = share @ heading + towards @ x - towards.sum(1, keepdims=True) * places
    return np.asarray(way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9))


def _paths(bundles: Sequence[Bundle]) -> list[tuple[FloatArray, FloatArray]]:
    return [path for bundle in bundles for path in zip(bundle.x, bundle.v, strict=True)]
