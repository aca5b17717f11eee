"""Faults that an episode shows by itself, judged against the same numbers of the others."""

from __future__ import annotations

import numpy as np

from .._types import FloatArray
from ..wording import plural
from .episodes import Episodes
from .faults import Fault, fault
from .measures import Rests, flips, frozen, slopes, steps
from .tails import excess, judged

Faults = list[list[Fault]]

# Every number here says from where on a thing matters at all; whether it is unusual the set itself says.
IDLE = 0.25  # of the usual duration: a shorter rest costs nothing
JUMP, GAP = 1.8, 2.5  # usual steps: less is how hands move; one or two missing frames change no path
FROZEN = 0.03  # of an episode
SCALE = 2.0  # velocities are asked to agree within a factor of two, as everywhere
UNRELATED, RELATED = 0.3, 0.5  # 1 - cosine that filtering does not explain; a cosine that tells the sign
MOVES = 0.05  # of all motion: a column with less says nothing of its velocities


def idle(episodes: Episodes, rested: list[Rests], out: Faults, covered: list[tuple[int, int]]) -> None:
    """Rests before, between and after the motion, in shares of the usual time under way."""
    seconds = "s" if episodes.timed else "samples"
    spans = np.array([r.spans(e.t) for e, r in zip(episodes.items, rested, strict=True)])
    usual = max(float(np.median(spans[:, 3])), np.finfo(float).tiny)
    words = ("at the start", "in the middle", "at the end")
    for which, (name, where) in enumerate(zip(("idle-start", "idle-middle", "idle-end"), words, strict=True)):
        found = judged(spans[:, which] / usual, IDLE, excess)
        for k in np.flatnonzero(found.bad):
            a, b = rested[k].middle
            if name == "idle-middle" and covered[k][0] < b and a < covered[k][1]:
                continue  # a frozen reading looks like a rest
            rest = f"Rests for {spans[k, which]:.2g} {seconds} {where}"
            out[k].append(found.fault(int(k), name, f"{rest}, far longer than the others. Cut it off (--trim)."))


def stuck(episodes: Episodes, size: float, out: Faults) -> list[tuple[int, int]]:
    """Frozen readings; where they are, in rows."""
    held = [frozen(e, size) for e in episodes.items]
    found = judged(np.array([h[0] for h in held]), FROZEN, excess)
    covered = [(0, 0)] * len(held)
    for k in np.flatnonzero(found.bad):
        _, a, b, column = held[k]
        covered[k] = (a, b + 1)
        what = "All readings repeat" if column < 0 else f"Column {column} repeats"
        said = f"{what} for {plural(b - a + 1, 'sample')} from sample {a} on while it moves: a frozen sensor. Leave it out."
        out[k].append(found.fault(int(k), "frozen", said))
    return covered


def flipped(episodes: Episodes, out: Faults) -> None:
    """Quaternions that change sign: no chance does that, one is enough."""
    for faults, episode in zip(out, episodes.items, strict=True):
        if count := flips(episode, episodes.quaternions):
            said = (
                f"A quaternion changes its sign {plural(count, 'time')} from one sample to the next: the same rotation, but "
                "a jump for whoever reads the numbers. Keep each on the side of the one before."
            )
            faults.append(fault("quaternion-flip", said, float(count), 0.5))


def torn(episodes: Episodes, covered: list[tuple[int, int]], out: Faults) -> None:
    """Time gaps, and jumps where no reading is frozen and no time missing."""
    items = episodes.items
    n = len(items)
    largest, at, gap, when = np.ones(n), np.zeros(n, dtype=int), np.ones(n), np.zeros(n, dtype=int)
    for k, e in enumerate(items):
        if len(e) < 3:
            continue
        length, ratio = steps(e)
        ratio = np.where(length > 10 * np.finfo(float).eps * np.abs(e.x).max(), ratio, 0.0)
        at[k], largest[k] = int(np.argmax(ratio)), max(1.0, float(ratio.max()))
        dt = np.diff(e.t)
        when[k], gap[k] = int(np.argmax(dt)), max(1.0, float(dt.max()) / max(e.step, np.finfo(float).tiny))
    jumps, gaps = judged(np.log(largest), np.log(JUMP), excess), judged(np.log(gap), np.log(GAP), excess)
    for k in map(int, np.flatnonzero(gaps.bad)):
        said = (
            f"{gap[k] * items[k].step:.2g} s are missing after sample {when[k]}, {gap[k]:.0f} times the usual step. Cut it "
            "there or leave it out."
        )
        out[k].append(gaps.fault(k, "time-gap", said))
    for k in map(int, np.flatnonzero(jumps.bad)):
        a, b = covered[k]
        near_gap = gaps.bad[k] and abs(int(at[k]) - int(when[k])) <= 1
        if not near_gap and not a <= at[k] <= b:
            said = f"Jumps after sample {at[k]}, by {largest[k]:.0f} times the steps around it. Leave it out, or cut it there."
            out[k].append(jumps.fault(k, "jump", said))


def velocities(episodes: Episodes, out: Faults) -> None:
    """Velocities that are not those of the positions: the wrong sign, another unit, something else."""
    fits = [slopes(e) for e in episodes.items]
    if any(f is None for f in fits) or not fits:
        return
    known = [f for f in fits if f is not None]
    whole, cosine = np.array([f.whole for f in known]), np.array([f.cosine for f in known])
    usual = float(np.median(whole))
    if usual <= 0:
        return  # all of them: told of the set, not of an episode
    odd = judged(1 - cosine, UNRELATED, excess)
    ratio = np.log(np.maximum(np.abs(whole) / usual, np.finfo(float).tiny))
    scale = judged(np.abs(ratio), np.log(SCALE), excess)
    for k in range(len(known)):
        if odd.bad[k] and (j := _turned(episodes, known[k].cosines, k)) is not None:
            said = f"The velocity of column {j} points backwards: there -v fits the steps. Flip its sign."
            out[k].append(odd.fault(k, "velocity-sign", said))
        elif odd.bad[k] and cosine[k] < -RELATED:
            said = "Its velocities point backwards: -v fits the steps, v does not. Flip their sign, or reverse the episode."
            out[k].append(odd.fault(k, "velocity-sign", said))
        elif odd.bad[k]:
            said = f"Its velocities have little to do with its steps (cosine {cosine[k]:.2f}). Were columns mixed up?"
            out[k].append(odd.fault(k, "velocity", said))
        elif scale.bad[k]:
            said = (
                f"Its steps are {np.exp(ratio[k]):.3g} times what its velocities say, compared with the others: another unit of "
                "velocity or of time."
            )
            out[k].append(scale.fault(k, "velocity-scale", said))
    _columns(episodes, np.array([f.columns for f in known]), np.array([f.cosines for f in known]), out)


def _turned(episodes: Episodes, cosines: FloatArray, k: int) -> int | None:
    extent = episodes.items[k].extent
    moving = np.flatnonzero(extent > MOVES * extent.sum())
    backward = [int(j) for j in moving if cosines[j] < -RELATED]
    return backward[0] if len(backward) == 1 and len(moving) > 1 else None


def _columns(episodes: Episodes, table: FloatArray, cosines: FloatArray, out: Faults) -> None:
    """One column whose velocities have another sign or unit than in the other episodes."""
    moving = np.array([e.extent > MOVES * max(e.extent.sum(), np.finfo(float).tiny) for e in episodes.items])
    for j in range(table.shape[1]):
        rows = np.flatnonzero(moving[:, j])
        usual = float(np.median(table[rows, j])) if len(rows) else 0.0
        if usual <= 0:
            continue
        ratio = table[rows, j] / usual
        found = judged(np.abs(np.log(np.maximum(np.abs(ratio), np.finfo(float).tiny))), np.log(SCALE), excess)
        for i, k in enumerate(rows):
            if any(f.name.startswith("velocity") for f in out[k]):
                continue
            # Velocities against the steps in one column are no accident; another size has to be far from its like.
            if cosines[k, j] < -RELATED and np.median(cosines[rows, j]) > RELATED:
                said = f"The velocity of column {j} points backwards: there -v fits the steps. Flip its sign."
                out[k].append(fault("velocity-sign", said, 1.0, 0.5))
            elif found.bad[i]:
                said = f"In column {j} its steps are {ratio[i]:.3g} times what the velocity says, compared with the others."
                out[k].append(found.fault(i, "velocity-scale", said))
