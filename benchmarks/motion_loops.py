"""The parts of the motions benchmark that are the user's own loop on `motion.step`: pushes, any phase, speed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.field_costs import Facts, seconds_of
from benchmarks.loops import CLOSE, RATE, Box
from benchmarks.sets import TRAIN, data, even, extent_of, learned
from benchmarks.table import Row
from eigenwell.fields.loops import PUSH, SLOWEST, follow
from eigenwell.learning.learner import learn_motions
from eigenwell.learning.targets import travel_times

LASTING, AFTER = 0.05, 0.1
"""Shares of the duration: how long a push lasts, and when after it the distance is taken."""


def push_part(names: Sequence[str], rollouts: int) -> tuple[list[Row], Facts]:
    """Pushed away for a twentieth of the duration, and left alone again."""
    rng = np.random.default_rng(5)
    arrived, distances, still = [], [], []
    for name in names:
        field, train, _ = learned(name)
        extent = extent_of(train)
        ways = [cKDTree(np.concatenate([even(x, v, 0.002)[1] for x, v in paths])) for paths in train]
        for _ in range(-(-rollouts // len(names))):
            q = int(rng.integers(len(train)))
            x, v = train[q][rng.integers(TRAIN)]
            whole = travel_times(x, v)[-1] * RATE
            way = rng.standard_normal(field.dimension)
            kicks = max(1, round(LASTING * whole))
            push = np.tile(PUSH * field.box * way / np.linalg.norm(way) / kicks, (kicks, 1))
            at = int(whole * rng.uniform(0, 1))
            motion = field.motion(x[0], goal=q)
            states = follow(motion, x[0], 1 / RATE, int(SLOWEST * whole), push, at)[:, :-1]
            looked = min(at + kicks + round(AFTER * whole), len(states) - 1)
            arrived.append(motion.done)
            distances.append(ways[q].query(states[looked])[0] / extent)
            still.append(ways[q].query(states[min(at + kicks, len(states) - 1)])[0] / extent)
    share, mean, high = float(np.mean(arrived)), float(np.mean(distances)), float(np.quantile(distances, 0.95))
    row = Row(
        f"{len(arrived)} roll-outs of {len(names)} sets, pushed by {PUSH:.0%} of the box: arrive; distance to the shown path, "
        f"{AFTER:.0%} of the duration after the push, mean and 95 %",
        "100 %; <= .05",
        f"{share:.2%}; {mean:.4f}, {high:.4f}",
        f"at the end of the push {np.mean(still):.4f}, {np.quantile(still, 0.95):.4f}",
        share == 1.0 and mean <= 0.05,
    )
    return [row], {"pushes": {"arrived": share, "distance": mean, "distance_95": high, "pushed": float(np.mean(still))}}


def anywhere_part(names: Sequence[str], rollouts: int) -> tuple[list[Row], Facts]:
    """Any phase, any goal: from three times the box, and from the box near the data."""
    rng = np.random.default_rng(6)
    table: dict[str, list[float]] = {"wide": [], "near": [], "outside": [], "at_goal": []}
    for name in names:
        field, train, _ = learned(name)
        box, each = Box.of(field), -(-rollouts // len(names))
        steps = int(SLOWEST * RATE * max(travel_times(x, v)[-1] for paths in train for x, v in paths))
        near = box.uniform(rng, 20 * each)
        near = near[~field.far(near)][:each]
        for kind, starts in (("wide", box.uniform(rng, each, 3.0)), ("near", near)):
            for x in starts:
                motion = field.motion(x, goal=int(rng.integers(field.n_attractors)), phase=float(rng.uniform()))
                states = follow(motion, x, 1 / RATE, steps)[:, :-1]
                table[kind].append(float(motion.done))
                table["at_goal"].append(float(np.linalg.norm((states[-1] - motion.attractor) / box.size) < CLOSE))
                if kind == "near":
                    table["outside"].append(max(0.0, float(box.beyond(states).max())))
    outside = np.array(table["outside"])
    arrived = min(np.mean(table["wide"]), np.mean(table["near"]))
    row = Row(
        f"{len(table['wide'])} starts with any phase from 3 x the box: arrive; largest excursion near data ({len(outside)})",
        "100 %; <= .25 box",
        f"{np.mean(table['wide']):.2%} (near data {np.mean(table['near']):.2%}); {outside.max():.3f}",
        f"at the goal, whatever the phase: {np.mean(table['at_goal']):.2%}; beyond a quarter: {(outside > 0.25).mean():.2%}",
        bool(arrived == 1.0 and outside.max() <= 0.25),
    )
    return [row], {"anywhere": {key: float(np.mean(values)) for key, values in table.items()} | {"most": outside.max()}}


def speed_part(names: Sequence[str], steps: int) -> tuple[list[Row], Facts]:
    field, train, _ = learned(names[0])
    x, times = train[0][0][0][0], []
    motion = field.motion(x)
    for _ in range(steps):
        start = time.perf_counter()
        velocity = motion.step(x, 1 / RATE)
        times.append(time.perf_counter() - start)
        x = x + velocity / RATE
        if motion.done:
            x = train[0][0][0][0]
            motion.reset()
    one = float(np.median(times) * 1e6)
    rows, ratios = (
        [Row(f"motion.step of one 2-D state, median of {steps}", "<= 90 us", f"{one:.0f} us", "", one <= 90)],
        {},
    )
    for name in names:
        paths, _, goals = data(name)
        plain, memory = (
            seconds_of(lambda wanted=wanted: learn_motions(paths, goals, memory=wanted, toward=False))  # noqa: B023
            for wanted in (False, True)
        )
        ratios[name] = memory / plain
        rows.append(
            Row(
                f"{name}: training with memory over without, second call of each",
                "<= 1.5",
                f"{memory / plain:.2f} ({memory:.1f} s)",
                f"{plain:.1f} s",
                memory <= 1.5 * plain,
            )
        )
    return rows, {"speed": {"step_us": one, "training_ratio": ratios}}
