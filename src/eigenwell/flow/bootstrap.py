"""How sure: the same question asked of many fields that fit the samples as well.

Every replicate takes one of the kernels that explain the samples, as often as that one is likely, gives each sample a
random weight w_i (exponential, mean 1: the Bayesian bootstrap) and the prior a random centre, so that the spread of the
replicates holds what noise can do, what smoothing hides and how little is known of the right smoothing. To first order,
in eigenvectors of the features and independent components k,

    delta_jk = [sum_i phi_ij (w_i - 1) r_ik + sqrt(lambda_k) xi_jk] / (e_j + lambda_k),

r the residuals, each divided by one minus its leverage: one pass over the samples serves all replicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._types import FloatArray, IntArray
from ..progress import advance
from .carrying import Support
from .cycles import LimitCycle
from .portrait import Portrait, Trap, portrait
from .regression import ROWS, FlowField, moved

# Replicates, and how many of them must agree before the rest is spared.
REPLICATES, UNANIMOUS = 40, 15
# Samples whose fate is asked in every replicate, and Newton starts besides the attractors that are known.
ASKED, STARTS = 400, 60
# An attractor of a replicate farther away than this, in standard deviations of the data, is another one.
SAME_ATTRACTOR = 0.7


@dataclass(frozen=True, eq=False)
class Replicate:
    """A field that fits re-weighted samples, and the estimate with the same kernel, to which it is a neighbour."""

    field: FlowField
    estimate: FlowField


def replicates(
    fields: Sequence[tuple[float, FlowField]], y: FloatArray, v: FloatArray, seed: int, count: int
) -> list[Replicate]:
    """`count` replicates of fields with their probabilities, each kernel as often as it is likely, evenly mixed."""
    share = np.cumsum([p for p, _ in fields])
    # Golden steps through the unit interval: every beginning of the list has all kernels in nearly their shares.
    which = np.searchsorted(share / share[-1], (0.5 + np.arange(count) * (np.sqrt(5) - 1) / 2) % 1.0)
    out: list[Replicate] = []
    drawn = {k: iter(reweighted(f, y, v, seed, np.flatnonzero(which == k))) for k, (_, f) in enumerate(fields)}
    for k in which:
        out.append(Replicate(next(drawn[int(k)]), fields[int(k)][1]))
    return out


def reweighted(field: FlowField, y: FloatArray, v: FloatArray, seed: int, numbers: IntArray) -> list[FlowField]:
    """Fields that fit re-weighted samples, one for each number."""
    known, n, r, count = field.posterior, len(y), y.shape[1], len(numbers)
    if count == 0:
        return []
    rngs = [np.random.default_rng([seed, int(b)]) for b in numbers]
    m = len(known.e)
    push, flat = np.zeros((m, r * count)), np.zeros((r + 1, r * count))
    for a in range(0, n, ROWS):
        rows = slice(a, min(a + ROWS, n))
        h = np.column_stack([np.ones(len(y[rows])), y[rows]])
        kernel = field.kernel(y[rows])
        bent = (kernel @ field.features - h @ known.affine_phi) @ known.basis
        residual = (v[rows] - field(y[rows])) @ field.outputs
        leverage = ((h @ known.affine) * h).sum(axis=1)[:, None] + np.stack(
            [(bent**2 / (known.e + q)).sum(axis=1) for q in known.ratios], axis=1
        )
        residual = residual / np.maximum(1 - leverage, 0.05)
        weight = np.stack([g.standard_exponential(len(h)) - 1 for g in rngs], axis=1)
        moved_by = (weight[:, :, None] * residual[:, None]).reshape(len(h), -1)
        push += bent.T @ moved_by
        flat += h.T @ moved_by
    xi = np.stack([g.standard_normal((m, r)) for g in rngs], axis=1)
    delta = (push.reshape(m, count, r) + np.sqrt(known.ratios) * xi) / (known.e[:, None, None] + known.ratios)
    back = np.linalg.inv(field.outputs)
    weights = np.einsum("jl,lbk,ka->bja", known.basis, delta, back, optimize=True)
    affine = np.einsum("jl,lbk,ka->bja", known.affine, flat.reshape(-1, count, r), back, optimize=True)
    affine = affine - known.affine_phi @ weights
    return [moved(field, field.affine + da, field.weights + dw) for da, dw in zip(affine, weights, strict=True)]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Portraits of the replicates, and the attractor each scout ended in there."""

    portraits: list[Portrait]
    fates: list[IntArray]

    @property
    def counts(self) -> dict[int, float]:
        """Share of the replicates that have so many attractors, fewest first."""
        tally = Counter(len(p.attractors) for p in self.portraits)
        return {q: tally[q] / len(self.portraits) for q in sorted(tally)}


def ensemble(fields: Sequence[FlowField], scouts: FloatArray, known: Portrait, support: Support) -> Ensemble:
    """Portraits of all fields, or of the first few where those agree on the number and on all fates."""
    places = [t.place for t in known.traps if not isinstance(t, LimitCycle)]
    starts = np.concatenate([np.array(places).reshape(-1, scouts.shape[1]), scouts[:STARTS]])
    portraits, fates = [], []
    for b, field in enumerate(fields):
        found, carried = portrait(field, starts, scouts, support)
        portraits.append(found)
        fates.append(found.number(carried.fate))
        advance("replicates", b + 1, len(fields))
        if b + 1 == UNANIMOUS and _same(portraits, fates):
            break
    return Ensemble(portraits, fates)


def _same(portraits: list[Portrait], fates: list[IntArray]) -> bool:
    return len({len(p.attractors) for p in portraits}) == 1 and all(
        np.array_equal(np.bincount(f + 2), np.bincount(fates[0] + 2)) for f in fates
    )


def matched(reference: Sequence[Trap], other: Sequence[Trap]) -> IntArray:
    """For every attractor of `other` the one of `reference` it stands for, -1 for none."""
    out = np.full(len(other), -1, dtype=np.intp)
    if len(reference) == 0 or len(other) == 0:
        return out
    far = 1e6
    gap = np.array(
        [
            [
                np.linalg.norm(a.place - b.place) if isinstance(a, LimitCycle) == isinstance(b, LimitCycle) else far
                for b in reference
            ]
            for a in other
        ]
    )
    i, j = linear_sum_assignment(np.minimum(gap, far))
    near = gap[i, j] < SAME_ATTRACTOR
    out[i[near]] = j[near]
    return out
