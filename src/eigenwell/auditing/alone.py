"""Faults that an episode shows by itself, judged against the same numbers of the others."""

from __future__ import annotations

import numpy as np

from ..wording import plural
from .episodes import Episodes
from .looked import Looked
from .measures import flips, frozen, slopes, steps
from .tails import excess, judged

# Every number here says from where on a thing matters at all; whether it is unusual the set itself says.
IDLE = 0.25  # of the usual duration: a shorter rest costs nothing
JUMP, GAP = 1.8, 2.5  # usual steps: less is how hands move; one or two missing frames change no path
FROZEN = 0.03  # of an episode
SCALE = 2.0  # velocities are asked to agree within a factor of two, as everywhere
UNRELATED, RELATED = 0.3, 0.5  # 1 - cosine that filtering does not explain; a cosine that tells the sign
MOVES = 0.05  # of all motion: a column with less says nothing of its velocities


def idle(looked: Looked, covered: list[tuple[int, int]]) -> None:
    """Rests before, between and after the motion, in shares of the usual time under way."""
    seconds = "s" if looked.episodes.timed else "samples"
    spans = np.array([r.spans(e.t) for e, r in zip(looked.items, looked.rested, strict=True)])
    usual = max(float(np.median(spans[:, 3])), np.finfo(float).tiny)
    for which, name in enumerate(("idle-start", "idle-middle", "idle-end")):
        found = judged(spans[:, which] / usual, IDLE, excess)
        for k in np.flatnonzero(found.bad):
            a, b = looked.rested[k].middle
            if name == "idle-middle" and covered[k][0] < b and a < covered[k][1]:
                continue  # a frozen reading looks like a rest
            looked.accuse(k, name, found, time=f"{spans[k, which]:.2g} {seconds}")


def stuck(looked: Looked) -> list[tuple[int, int]]:
    """Frozen readings; where they are, in rows."""
    held = [frozen(e, looked.size) for e in looked.items]
    found = judged(np.array([h[0] for h in held]), FROZEN, excess)
    covered = [(0, 0)] * len(held)
    for k in np.flatnonzero(found.bad):
        _, a, b, column = held[k]
        covered[k] = (a, b + 1)
        what = "All readings repeat" if column < 0 else f"Column {column} repeats"
        looked.accuse(k, "frozen", found, what=what, rows=plural(b - a + 1, "sample"), at=a)
    return covered


def flipped(looked: Looked, episodes: Episodes) -> None:
    """Quaternions that change sign in the episodes as they came: no chance does that, one is enough."""
    for k, episode in enumerate(episodes.items):
        if count := flips(episode, episodes.quaternions):
            looked.blame(k, "quaternion-flip", float(count), times=plural(count, "time"))


def torn(looked: Looked, covered: list[tuple[int, int]]) -> None:
    """Time gaps, and jumps where no reading is frozen and no time missing."""
    n = len(looked.items)
    largest, at, gap, when = np.ones(n), np.zeros(n, dtype=int), np.ones(n), np.zeros(n, dtype=int)
    for k, e in enumerate(looked.items):
        if len(e) < 3:
            continue
        length, ratio = steps(e)
        ratio = np.where(length > 10 * np.finfo(float).eps * np.abs(e.x).max(), ratio, 0.0)
        at[k], largest[k] = int(np.argmax(ratio)), max(1.0, float(ratio.max()))
        dt = np.diff(e.t)
        when[k], gap[k] = int(np.argmax(dt)), max(1.0, float(dt.max()) / max(e.step, np.finfo(float).tiny))
    jumps, gaps = judged(np.log(largest), np.log(JUMP), excess), judged(np.log(gap), np.log(GAP), excess)
    for k in map(int, np.flatnonzero(gaps.bad)):
        seconds = gap[k] * looked.items[k].step
        looked.accuse(k, "time-gap", gaps, seconds=seconds, at=when[k], times=gap[k])
    for k in map(int, np.flatnonzero(jumps.bad)):
        a, b = covered[k]
        if not (gaps.bad[k] and abs(at[k] - when[k]) <= 1) and not a <= at[k] <= b:
            looked.accuse(k, "jump", jumps, at=at[k], times=largest[k])


def velocities(looked: Looked) -> None:
    """Velocities that are not those of the positions: the wrong sign, another unit, something else."""
    known = [f for f in map(slopes, looked.items) if f is not None]
    if len(known) < len(looked.items):
        return
    whole, cosine = np.array([f.whole for f in known]), np.array([f.cosine for f in known])
    usual = float(np.median(whole))
    if usual <= 0:
        return  # all of them: told of the set, not of an episode
    odd = judged(1 - cosine, UNRELATED, excess)
    ratio = np.log(np.maximum(np.abs(whole) / usual, np.finfo(float).tiny))
    scale = judged(np.abs(ratio), np.log(SCALE), excess)
    extent = np.array([e.extent for e in looked.items])
    moving = extent > MOVES * np.maximum(extent.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    cosines = np.array([f.cosines for f in known])
    for k in range(len(known)):
        backward = np.flatnonzero(moving[k] & (cosines[k] < -RELATED))
        if odd.bad[k] and len(backward) == 1 and moving[k].sum() > 1:
            looked.accuse(k, "velocity-sign of a column", odd, j=backward[0])
        elif odd.bad[k] and cosine[k] < -RELATED:
            looked.accuse(k, "velocity-sign", odd)
        elif odd.bad[k]:
            looked.accuse(k, "velocity", odd, cosine=cosine[k])
        elif scale.bad[k]:
            looked.accuse(k, "velocity-scale", scale, times=np.exp(ratio[k]))
    # One column whose velocities have another sign or unit than in the other episodes.
    table, kinds = np.array([f.columns for f in known]), ("velocity", "velocity-sign", "velocity-scale")
    for j in range(table.shape[1]):
        rows = np.flatnonzero(moving[:, j])
        usual = float(np.median(table[rows, j])) if len(rows) else 0.0
        if usual <= 0:
            continue
        ratio = table[rows, j] / usual
        found = judged(np.abs(np.log(np.maximum(np.abs(ratio), np.finfo(float).tiny))), np.log(SCALE), excess)
        for i, k in enumerate(rows.tolist()):
            if any(f.name in kinds for f in looked.out[k]):
                continue
            # Velocities against the steps in one column are no accident; another size has to be far from its like.
            if cosines[k, j] < -RELATED and np.median(cosines[rows, j]) > RELATED:
                looked.blame(k, "velocity-sign of a column", j=j)
            elif found.bad[i]:
                numbers = found.value[i], found.threshold, found.confidence[i]
                looked.blame(k, "velocity-scale of a column", *numbers, j=j, times=ratio[i])
