"""How sure: the same question asked of many fields that fit the samples as well.

Every replicate takes one of the kernels that explain the samples, as often as that one is likely, gives each sample a
random weight w_i (exponential, mean 1: the Bayesian bootstrap) and the prior a random centre, so that the spread of the
replicates holds what noise can do, what smoothing hides and how little is known of the right smoothing. To first order,
in eigenvectors of the features and independent components k,

    delta_jk = [sum_i phi_ij (w_i - 1) r_ik + lambda_k xi_jk / sqrt(e_j + lambda_k)] / (e_j + lambda_k),

r the residuals, each divided by one minus its leverage: one pass over the samples serves all replicates.

A kernel has one length everywhere, and what is narrower than the rest it smooths in all of these alike. What a second
smoothing would take off tells how much the first has taken, but for what is taken off this in turn: each replicate gets back
anything from nothing to twice as much (`taken`). So of the prior's variance, lambda xi^2, only the share lambda / (e + lambda)
is drawn that samples do not show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._types import FloatArray, IntArray
from ..progress import advance
from .field import FlowField
from .integration import FEW
from .portrait import Portrait, Trap
from .regression import golden_steps, in_parts
from .traps import LimitCycle

# Replicates. The rest is spared where a third of them agree on the number and on all fates but one in FEW, or two thirds on the
# number: what is left to know are then the odds of fates, to a tenth.
REPLICATES = 40
# An attractor of a replicate farther away than this, in standard deviations of the data, is another one.
SAME_ATTRACTOR = 0.7


@dataclass(frozen=True, eq=False)
class Replicate:
    """A field that fits re-weighted samples, and the estimate with the same kernel, to which it is a neighbour."""

    field: FlowField
    estimate: FlowField


def third(count: int) -> int:
    """A third of some replicates, rounded up: so many at least are asked."""
    return -(-count // 3)


def replicates(
    fields: Sequence[tuple[float, FlowField]], y: FloatArray, v: FloatArray, seed: int, count: int
) -> Iterator[Replicate]:
    """`count` replicates of fields with their probabilities, each kernel as often as it is likely, evenly mixed.

    They are made when they are asked for, the first few together: often they are enough.
    """
    edges = np.append(0.0, np.cumsum([p for p, _ in fields]))
    steps = edges[-1] * golden_steps(count)
    which = np.searchsorted(edges[1:], steps)
    share = (steps - edges[which]) / (edges[which + 1] - edges[which])
    for batch in np.split(np.arange(count), [third(count)]):
        drawn = {k: iter(reweighted(fields[k][1], y, v, seed, batch[which[batch] == k])) for k in set(which[batch])}
        for b, k in zip(batch, which[batch], strict=True):
            estimate, field = fields[k][1], next(drawn[k])
            lost = [2 * share[b] * one for one in taken(estimate)]
            yield Replicate(field.plus(np.zeros_like(field.affine), lost), estimate)


def reweighted(field: FlowField, y: FloatArray, v: FloatArray, seed: int, numbers: IntArray) -> list[FlowField]:
    """Fields that fit re-weighted samples, one for each number."""
    (n, r), d, count = y.shape, v.shape[1], len(numbers)
    if count == 0:
        return []
    rngs = [np.random.default_rng([seed, int(b)]) for b in numbers]
    push = [np.zeros((len(b.e), len(b.ratios) * count)) for b in field.blocks]
    flat = np.zeros((r + 1, d * count))
    for rows in in_parts(n):
        h = np.column_stack([np.ones(len(y[rows])), y[rows]])
        bent = [b.bent(y[rows], h) for b in field.blocks]
        leverage = field.variance(h, bent)
        residual = (v[rows] - field(y[rows])) @ field.outputs / np.maximum(1 - leverage, 0.05)
        weight = np.stack([g.standard_exponential(len(h)) - 1 for g in rngs], axis=1)
        moved_by = weight[:, :, None] * residual[:, None]
        for total, (_, mine), f in zip(push, field.columns, bent, strict=True):
            total += f.T @ moved_by[:, :, mine].reshape(len(h), -1)
        flat += h.T @ moved_by.reshape(len(h), -1)
    affine = np.einsum("jl,lbk->bjk", field.flat, flat.reshape(-1, count, d))
    deltas = []
    for total, (block, _) in zip(push, field.columns, strict=True):
        m, k = len(block.e), len(block.ratios)
        xi = np.stack([g.standard_normal((m, k)) for g in rngs], axis=1)
        both = block.e[:, None, None] + block.ratios
        deltas.append((total.reshape(m, count, k) + block.ratios / np.sqrt(both) * xi) / both)
    return [field.plus(affine[b], [delta[:, b] for delta in deltas]) for b in range(count)]


def taken(field: FlowField) -> list[FloatArray]:
    """What smoothing the field again would take off the features of every block, in their eigenvectors (twicing, Tukey).

    A feature that the samples show with eigenvalue e keeps e / (e + lambda) of its weight; with this it has
    1 - (lambda / (e + lambda))^2.
    """
    return [b.ratios / (b.e[:, None] + b.ratios) * (b.basis.T @ b.weights) for b in field.blocks]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Replicates, their portraits, and the attractor each scout ended in there."""

    replicates: list[Replicate]
    portraits: list[Portrait]
    fates: list[IntArray]

    @property
    def counts(self) -> dict[int, float]:
        """Share of the replicates that have so many attractors, fewest first."""
        tally = Counter(len(p.attractors) for p in self.portraits)
        return {q: tally[q] / len(self.portraits) for q in sorted(tally)}

    def having(self, number: int) -> Ensemble:
        """Those with so many attractors, where there are any."""
        same = [k for k, p in enumerate(self.portraits) if len(p.attractors) == number]
        if not same:
            return self
        several = [(self.replicates[k], self.portraits[k], self.fates[k]) for k in same]
        return Ensemble([s[0] for s in several], [s[1] for s in several], [s[2] for s in several])


def ensemble(
    many: Iterable[Replicate],
    count: int,
    scouts: FloatArray,
    known: Portrait,
    number: int | None = None,
) -> Ensemble:
    """Portraits of `count` replicates, or of the first few where those agree on the number and on nearly all fates.

    Where the user has said the `number`, they are enough only if they agree on that; where the work is done, those before.
    """
    seen, portraits, fates = [], [], []
    for b, one in enumerate(many):
        found, carried = known.of(one.field, scouts)
        if one.field.work.over and b > 0:
            break
        seen.append(one)
        portraits.append(found)
        fates.append(found.number(carried.fate))
        advance("replicates", b + 1, count)
        if number not in (None, len(found.attractors)):
            continue
        if (b + 1 == third(count) and _same(portraits, fates)) or (b + 1 == 2 * third(count) and _same(portraits, [])):
            break
    return Ensemble(seen, portraits, fates)


def _same(portraits: list[Portrait], fates: list[IntArray]) -> bool:
    """Whether all have as many attractors, and as many scouts end in each but for a few."""
    one = len({len(p.attractors) for p in portraits}) == 1
    if not one or not fates:
        return one
    ends = np.array([np.sort(np.bincount(f + 2, minlength=len(portraits[0].attractors) + 2)) for f in fates])
    return bool(np.abs(ends - ends[0]).sum(axis=1).max() <= 2 / FEW * len(fates[0]))


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
