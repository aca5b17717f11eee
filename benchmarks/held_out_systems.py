"""Systems for a last look at snapshots: made up when everything else was settled."""

from __future__ import annotations

import numpy as np

from eigenwell.systems import System, limit_cycle, rest, wells


def seen_once() -> list[System]:
    """Never tuned on, but looked at before later changes; three_depths was made easier after the first look."""

    def depths(x: np.ndarray) -> np.ndarray:
        # Minus the gradient of three Gaussian wells of different depth in a bowl, turned, with units three to one.
        turn = np.array([[0.8, -0.6], [0.6, 0.8]]) * [1.0, 3.0]
        y = x @ np.linalg.inv(turn)
        force = -0.15 * y
        for place, depth in (([-1.2, 0.0], 1.0), ([1.0, 0.9], 0.6), ([0.9, -1.1], 0.8)):
            e = y - place
            force = force - depth * e / 0.25 * np.exp(-(e**2).sum(-1, keepdims=True) / 0.5)
        return force @ turn

    def lorenz(x: np.ndarray) -> np.ndarray:
        a, b, c = x[..., 0], x[..., 1], x[..., 2]
        return np.stack([10 * (b - a), a * (10 - c) - b, a * b - 8 / 3 * c], axis=-1)

    def nagumo(x: np.ndarray) -> np.ndarray:
        a, b = x[..., 0], x[..., 1]
        return np.stack([a - a**3 / 3 - b + 0.5, 0.3 * (a + 0.7 - 0.8 * b)], axis=-1)

    def both(x: np.ndarray) -> np.ndarray:
        # Two genes that repress each other and sustain themselves: two fates and one between.
        y = np.maximum(x, 0) ** 4 / 0.0625
        return 1.2 * y / (1 + y) + 1 / (1 + y[..., ::-1]) - x

    turn = np.array([[0.8, -0.6], [0.6, 0.8]]) * [1.0, 3.0]
    three = rest(depths, np.array([[-1.2, 0.0], [1.0, 0.9], [0.9, -1.1]]) @ turn)
    corner = np.sqrt(8 / 3 * 9)
    return [
        System("three_depths", depths, three, np.array([[-2.2, 2.2], [-6.8, 6.8]]), 20.0, 25.0),
        System(
            "lorenz_at_rest",
            lorenz,
            np.array([[-corner, -corner, 9.0], [corner, corner, 9.0]]),
            np.array([[-12.0, 12.0], [-12.0, 12.0], [0.0, 20.0]]),
            15.0,
            100.0,
        ),
        System(
            "fitzhugh_nagumo",
            nagumo,
            np.empty((0, 2)),
            np.array([[-2.5, 2.5], [-1.0, 2.0]]),
            60.0,
            25.0,
            cycles=(limit_cycle(nagumo, np.array([1.0, 0.0]), settling=120.0),),
        ),
        System(
            "two_fates_and_between",
            both,
            rest(both, np.array([[0.0, 2.2], [1.7, 1.7], [2.2, 0.0]])),
            np.array([[0.0, 3.0], [0.0, 3.0]]),
            15.0,
            25.0,
        ),
    ]


def fresh() -> list[System]:
    """Run once, at the end, and left as they are."""

    def selkov(x: np.ndarray) -> np.ndarray:
        # Glycolysis: an unstable rest inside one limit cycle.
        a, b = x[..., 0], x[..., 1]
        return np.stack([-a + 0.08 * b + a**2 * b, 0.6 - 0.08 * b - a**2 * b], axis=-1)

    def competition(x: np.ndarray) -> np.ndarray:
        # Two species, each of which drives the other out: both attractors lie on the edge of what can be sampled.
        a, b = x[..., 0], x[..., 1]
        return np.stack([a * (1 - a - 1.5 * b), 0.8 * b * (1 - b - 1.7 * a)], axis=-1)

    rate = np.array([[1.0, -0.3, 0.0], [0.3, 1.2, 0.0], [0.0, 0.0, 0.8]])
    places = np.array([[0.0, 0.0, 0.0], [2.0, 1.0, -1.0], [-1.5, 1.5, 1.0], [0.5, -2.0, 1.5]])
    four, at_rest = wells(places, rate, 0.6)
    box = np.stack([places.min(0) - 1, places.max(0) + 1], axis=1)
    cycle = limit_cycle(selkov, np.array([1.0, 1.0]), settling=150.0)
    return [
        System("selkov", selkov, np.empty((0, 2)), np.array([[0.1, 2.5], [0.1, 3.0]]), 40.0, 25.0, cycles=(cycle,)),
        System("competition", competition, np.eye(2), np.array([[0.0, 1.5], [0.0, 1.5]]), 30.0, 25.0, settling=90.0),
        System("four_in_space", four, at_rest, box, 12.0, 50.0, 4, 40.0),
    ]
