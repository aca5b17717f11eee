"""A field stays home: no state that starts in the box of the data leaves it by more than a quarter of it.

V falls along every solution, so what starts in the box B stays in {V <= max_B V}, a bounded set: in the latent space it is
known in closed form up to the root of V along a ray, and psi^-1 takes its rim to x. With G the farthest that it reaches beyond
the box, the innermost warp S of the field (`warps.Stretch`) is the identity on the box and takes a margin m, a quarter of the
box, to G and more. V(S) is a Lyapunov function with the same sinks, its sublevel set is the image under S^-1, and that
ends within the margin. States outside have their place too: S is a diffeomorphism of R^d.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._types import FloatArray
from .field import StableField
from .flows import Flow, forward, inverse
from .stable import StableModel, Wells, potential_at, wells
from .warps import Stretch, World

MARGIN = 0.25
"""Of the box, on every side: what a state may leave it by."""
RIM = 512
"""Places on the box, and rays to the rim of the sublevel set, in each of a few rounds that close in on the farthest."""
ROUNDS = 6
SPARE = 1.25
"""The knee of the stretch is at this many times the farthest that was met, and the wall itself half as far again: what the
draws missed is still within it."""


def kept_home(field: StableField, low: FloatArray, high: FloatArray) -> StableField:
    """The field with a margin of a quarter around the box [low, high] (n,) of its first n coordinates.

    Other coordinates, a phase, start in [0, 1] and are not warped.
    """
    n = len(low)
    rest = field.dimension - n
    corners = np.array([np.append(low, np.zeros(rest)), np.append(high, np.ones(rest))])
    box = np.sort(field.to_unit(corners), axis=0)
    beyond = _farthest(field.model, box, n) * field.scale[:n]
    margin = np.tile(MARGIN * np.maximum(high - low, FLAT * (high - low).max()), (2, 1))
    # g(u) = u / (1 - u) is G / m at the knee.
    most = SPARE * float((beyond / margin).max())
    stretch = Stretch(low - margin[0], high + margin[1], margin, np.float64(most / (1 + most)))
    world = World(field.centre[:n], field.scale[:n], (stretch,), field.attractors[:, :n])
    return replace(field, model=field.model._replace(world=world))


FLAT = 0.02
"""An axis that hardly moves counts as this share of the widest."""


def _farthest(model: StableModel, box: FloatArray, n: int) -> FloatArray:
    """How far {V <= max V on the box} reaches below and above the box, (2, n), for all attractors together and each alone."""
    rng, together = np.random.default_rng(0), wells(model)
    each = [wells(model.alone(q)) for q in range(len(together.goals))]
    parts = [together, *each] if len(each) > 1 else each
    return np.asarray(np.max([_reach(model.flow, part, box, n, rng) for part in parts], axis=0))


def _reach(flow: Flow, known: Wells, box: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    d = box.shape[1]
    surface = rng.uniform(box[0], box[1], (RIM, d))
    surface[np.arange(RIM), np.arange(RIM) % d] = box[rng.integers(0, 2, RIM), np.arange(RIM) % d]
    grid = np.stack(np.meshgrid(*box.T, indexing="ij"), axis=-1).reshape(-1, d) if d <= 8 else surface[:0]
    surface = np.concatenate([surface, grid])
    # The largest V on the box, by draws that close in on the best.
    for k in range(ROUNDS):
        height = potential_at(known, forward(flow, surface.T))
        best = surface[height.argsort()[-8:]]
        near = np.repeat(best, RIM // 8, axis=0)
        near = near + rng.standard_normal(near.shape) * (box[1] - box[0]) * 0.3 * 0.5**k
        surface = np.concatenate([best, np.clip(near, box[0], box[1])])
    level = float(height.max())
    way = rng.standard_normal((4 * RIM, d))
    beyond = np.zeros((2, n))
    for k in range(ROUNDS):
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        x = inverse(flow, _rim(known, way.T, level))[:n].T
        excess = np.stack([box[0, :n] - x, x - box[1, :n]])
        beyond = np.maximum(beyond, excess.max(axis=1))
        best = way[np.argsort(excess, axis=1)[:, -2:].reshape(-1)]
        way = np.repeat(best, max(1, 2 * RIM // len(best)), axis=0)
        way = np.concatenate([best, way + rng.standard_normal(way.shape) * 0.3 * 0.4**k / np.sqrt(d)])
    return beyond


def _rim(known: Wells, way: FloatArray, level: float) -> FloatArray:
    """Where rays (d, m) from the middle of the attractors leave {V <= level}: the last root, by bisection.

    Some r_q <= M = sqrt(2 level) in that set, so it ends within M of an attractor.
    """
    middle = known.goals.mean(axis=0)[:, None]
    far = np.sqrt(2 * level) + float(np.linalg.norm(known.goals.T - middle, axis=0).max())
    low = np.zeros(way.shape[1])
    # From outside inwards, so as not to stop at a gap in between.
    for share in np.linspace(1.0, 0.0, 33)[1:]:
        inside = potential_at(known, middle + share * far * way) <= level
        low = np.where(inside & (low == 0), share * far, low)
    high = np.where(low > 0, low + far / 32, far / 32)
    for _ in range(20):
        half = (low + high) / 2
        inside = potential_at(known, middle + half * way) <= level
        low, high = np.where(inside, half, low), np.where(inside, high, half)
    return np.asarray(middle + high * way)
