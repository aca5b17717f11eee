"""Coordinates in which samples have unit variance in every direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Whitening:
    """Whitened coordinates: y = (x - centre) W with unit covariance; velocities turn to v W. `beside` (d,): standard deviation of
    what is left out."""

    centre: FloatArray
    forward: FloatArray  # (d, r)
    backward: FloatArray  # (r, d)
    beside: FloatArray

    @classmethod
    def of(cls, x: FloatArray) -> Whitening:
        centre = x.mean(axis=0)
        scale = x.std(axis=0)
        moving = scale > 0
        unit = np.where(moving, scale, 1.0)
        values, vectors = np.linalg.eigh(np.cov((x - centre).T / unit[:, None]).reshape(len(scale), -1))
        kept = values > 1e-10 * values.max()
        root = np.sqrt(values[kept])
        return cls(
            centre, vectors[:, kept] / unit[:, None] / root, (vectors[:, kept] * unit[:, None] * root).T, 0 * scale
        )

    def seen_along(self, directions: FloatArray, y: FloatArray) -> Whitening:
        """The frame of the projections y D, whitened; what is left out is put at its mean given those."""
        c = y @ directions
        values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(c.T)))
        turn = directions @ (vectors / np.sqrt(values))
        back = np.linalg.lstsq(y @ turn, y, rcond=None)[0]
        beside = ((y - y @ turn @ back) @ self.backward).std(axis=0)
        return Whitening(self.centre, self.forward @ turn, back @ self.backward, beside)

    def enter(self, x: FloatArray) -> FloatArray:
        return np.asarray((x - self.centre) @ self.forward)

    def leave(self, y: FloatArray) -> FloatArray:
        return np.asarray(y @ self.backward + self.centre)


def spread_out(x: FloatArray, count: int) -> IntArray:
    """Numbers of `count` samples far from each other: each the farthest from those before it, the first from the mean."""
    chosen = [int(((x - x.mean(axis=0)) ** 2).sum(axis=1).argmax())]
    gap = np.full(len(x), np.inf)
    while len(chosen) < min(count, len(x)):
        np.minimum(gap, ((x - x[chosen[-1]]) ** 2).sum(axis=1), out=gap)
        chosen.append(int(gap.argmax()))
    return np.array(chosen, dtype=np.intp)
