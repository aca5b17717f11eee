"""Recordings as they come, against the bars: noisy positions, pauses, near goals, loose ends, cut and odd recordings.

python -m benchmarks.recordings [--quick] [--first SEED] [--seeds N] [--parts PART ...]

All data are made up here: reaches in millimetres at 100 Hz with 1 mm of noise, jitter of the clock, rests and pauses.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import adjusted_rand_score

import eigenwell as ew
from benchmarks.table import Row, report
from eigenwell import poses
from eigenwell.velocities import estimate_velocities, smoothed

FREQUENCY, NOISE, JITTER = 100.0, 1.0, 0.1


@dataclass(frozen=True)
class Reach:
    """One recording: stamps, positions with and without noise, and true velocities."""

    t: np.ndarray
    seen: np.ndarray
    x: np.ndarray
    v: np.ndarray


def rise(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minimum-jerk profile and its slope."""
    return s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2


def reach(rng: np.random.Generator, start: np.ndarray, goal: np.ndarray, noise: float = NOISE) -> Reach:
    """A curved reach of 1 to 6 s, rests before and after, in half of them a pause on the way."""
    duration, before, after = rng.uniform(1, 6), rng.uniform(0.2, 1), rng.uniform(0.2, 1)
    pause = rng.uniform(0.2, 0.6) if rng.random() < 0.5 else 0.0
    t = np.arange(0, before + duration + pause + after, 1 / FREQUENCY)
    t = t + JITTER / FREQUENCY * rng.uniform(-0.5, 0.5, len(t))
    if pause:
        half = duration / 2
        first, second = np.clip((t - before) / half, 0, 1), np.clip((t - before - half - pause) / half, 0, 1)
        (a, da), (b, db) = rise(first), rise(second)
        p, dp = (a + b) / 2, (da + db) / 2 / half
    else:
        p, dp = rise(np.clip((t - before) / duration, 0, 1))
        dp = dp / duration
    via = (start + goal) / 2 + 0.15 * np.linalg.norm(goal - start) * rng.standard_normal(len(goal))
    p, dp = p[:, None], dp[:, None]
    x = (1 - p) ** 2 * start + 2 * p * (1 - p) * via + p**2 * goal
    v = (2 * (1 - p) * (via - start) + 2 * p * (goal - via)) * dp
    return Reach(t, x + noise * rng.standard_normal(x.shape), x, v)


def bundle(
    rng: np.random.Generator, goals: np.ndarray, each: int, spread: float, start: float = 250.0
) -> tuple[list[Reach], np.ndarray]:
    """`each` reaches to every goal, from anywhere around, with ends scattered by `spread`."""
    out, label = [], []
    for q, goal in enumerate(goals):
        for _ in range(each):
            begin = goals.mean(axis=0) + rng.uniform(-start, start, goals.shape[1])
            out.append(reach(rng, begin, goal + spread * rng.standard_normal(len(goal))))
            label.append(q)
    order = rng.permutation(len(out))
    return [out[i] for i in order], np.array(label)[order]


def found_in(recordings: list[Reach]) -> ew.Identification:
    return ew.identify([r.seen for r in recordings], time=[r.t for r in recordings])


def label_of_paths(found: ew.Identification) -> np.ndarray:
    assert found.demos.offsets is not None
    return found.labels[found.demos.offsets[:-1]]


Case = Callable[[np.random.Generator], tuple[list[Reach], np.ndarray]]


def far(rng: np.random.Generator) -> tuple[list[Reach], np.ndarray]:
    while True:
        goals = rng.uniform(-300, 300, (3, 3)) * [1, 1, 0.3]
        if np.linalg.norm(goals[[0, 0, 1]] - goals[[1, 2, 2]], axis=1).min() > 150:
            return bundle(rng, goals, 6, 2.0)


def near(rng: np.random.Generator, apart: float = 30.0, spread: float = 2.0) -> tuple[list[Reach], np.ndarray]:
    a, b = (u / np.linalg.norm(u) for u in rng.standard_normal((2, 3)))
    return bundle(rng, np.array([0 * a, apart * a, 300 * b]), 6, spread)


def shelves(rng: np.random.Generator, each: int = 4) -> tuple[list[Reach], np.ndarray]:
    goals = np.array([[60.0 * i, 0.0, 400.0 * shelf] for shelf in (0, 1) for i in range(3)])
    return bundle(rng, goals, each, 2.0)


def loose(rng: np.random.Generator, share: float = 0.06, each: int = 4) -> tuple[list[Reach], np.ndarray]:
    """Reaches to one goal from anywhere in a square of 500 mm, their ends scattered by a share of its side."""
    return bundle(rng, np.zeros((1, 2)), each, share * 500.0)


def once_each(rng: np.random.Generator) -> tuple[list[Reach], np.ndarray]:
    while True:
        goals = rng.uniform(-300, 300, (6, 2))
        gaps = np.linalg.norm(goals[:, None] - goals, axis=2)[np.triu_indices(6, 1)]
        if gaps.min() > 100:
            return bundle(rng, goals, 1, 2.0)


def counted(cases: dict[str, tuple[Case, float]], seeds: range) -> tuple[list[Row], list[tuple[float, bool]]]:
    rows, sure = [], []
    for name, (case, bar) in cases.items():
        good, said = 0, []
        for seed in seeds:
            recordings, label = case(np.random.default_rng(seed))
            found = found_in(recordings)
            right = found.n_attractors == label.max() + 1
            right = right and (
                len(set(label)) == len(label) or adjusted_rand_score(label, label_of_paths(found)) == 1.0
            )
            good += right
            said.append(found.confidence)
            sure.append((found.confidence, bool(right)))
        share, n = good / len(seeds), len(seeds)
        beside = f"mean confidence {np.mean(said):.2f}"
        wanted = f">= {100 * bar:.0f} %" if bar else "no bar"
        rows.append(Row(name, wanted, f"{good} of {n} = {100 * share:.0f} %", beside, share >= bar))
    return rows, sure


def goals(seeds: range) -> list[Row]:
    cases: dict[str, tuple[Case, float]] = {
        "three far goals, spread 2 mm": (far, 1.0),
        "a pair 30 mm apart and a far goal, spread 2 mm": (near, 0.95),
        "a pair 20 mm apart and a far goal, spread 2 mm": (lambda rng: near(rng, 20.0), 0.0),
        "a pair 12 mm apart and a far goal, spread 2 mm": (lambda rng: near(rng, 12.0), 0.0),
        "two shelves of three bins, 60 mm apart, 4 each": (shelves, 0.95),
        "two shelves of three bins, 60 mm apart, 2 each": (lambda rng: shelves(rng, 2), 0.0),
        "one goal, 4 recordings, ends scattered by 2 % of the extent": (lambda rng: loose(rng, 0.02), 0.9),
        "one goal, 4 recordings, ends scattered by 4 % of the extent": (lambda rng: loose(rng, 0.04), 0.9),
        "one goal, 4 recordings, ends scattered by 6 % of the extent": (loose, 0.9),
        "one goal, 8 recordings, ends scattered by 6 % of the extent": (lambda rng: loose(rng, 0.06, 8), 0.9),
        "six goals, each reached once": (once_each, 0.0),
    }
    rows, sure = counted(cases, seeds)
    confident = np.array([right for c, right in sure if c >= 0.9])
    rows.append(
        Row(
            f"calibration: of {len(sure)} answers those with confidence >= 0.9",
            ">= 90 % right",
            f"{int(confident.sum())} of {len(confident)} = {100 * confident.mean():.1f} %",
            "; ".join(
                f"{low:.1f}-{high:.1f}: {np.mean(part):.2f} of {len(part)}"
                for low, high in ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9))
                if (part := [right for c, right in sure if low <= c < high])
            ),
            bool(confident.mean() >= 0.9),
        )
    )
    return [*rows, falling(seeds)]


def falling(seeds: range) -> Row:
    """The same recordings, the pair moved together: confidence in three goals must not rise."""
    steps, rises = (60.0, 40.0, 30.0, 20.0, 15.0), 0
    means = np.zeros(len(steps))
    for seed in seeds:
        sure = []
        for apart in steps:
            found = found_in(near(np.random.default_rng(seed), apart)[0])
            readings = {found.n_attractors: found.confidence} | {
                a.n_attractors: a.confidence for a in found.alternatives
            }
            sure.append(readings.get(3, 0.0))
        means += np.array(sure) / len(seeds)
        rises += bool(np.max(np.diff(sure)) > 0.02)
    shown = ", ".join(f"{m:.2f} at {s:.0f} mm" for m, s in zip(means, steps, strict=True))
    return Row(
        "confidence in 3 as the pair comes together", "falls", shown, f"{rises} of {len(seeds)} rise", bool(rises == 0)
    )


def shortened(rng: np.random.Generator, r: Reach, half: str) -> Reach:
    """A recording cut off at 40 to 70 % of its way, or of the time from setting out to arrival: in motion or in a pause."""
    share = rng.uniform(0.4, 0.7)
    way = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(r.x, axis=0), axis=1))])
    under_way = np.flatnonzero((way > 0.01 * way[-1]) & (way < 0.99 * way[-1]))
    begin, end = under_way[0], under_way[-1]
    stop = int(np.searchsorted(way, share * way[-1])) if half == "way" else round(begin + share * (end - begin))
    return Reach(r.t[:stop], r.seen[:stop], r.x[:stop], r.v[:stop])


def cut(seeds: range) -> list[Row]:
    """Two of eighteen recordings end half-way; one runs backwards; one is a copy."""
    rows, n = [], len(seeds)
    for half in ("way", "time"):
        good, named = 0, 0
        for seed in seeds:
            rng = np.random.default_rng(seed)
            recordings, _ = far(rng)
            short = rng.choice(len(recordings), 2, replace=False)
            for k in short:
                recordings[k] = shortened(rng, recordings[k], half)
            found = found_in(recordings)
            good += found.n_attractors == 3
            named += {o.number for o in found.odd} == set(short.tolist())
        for what, count in (("3 goals", good), ("both of them named, and no other", named)):
            rows.append(
                Row(
                    f"2 of 18 cut at 40 to 70 % of the {half}: {what}",
                    ">= 95 %",
                    f"{count} of {n} = {100 * count / n:.0f} %",
                    "",
                    count >= 0.95 * n,
                )
            )
    for kind in ("runs backwards", "repeats another"):
        count = 0
        for seed in seeds:
            rng = np.random.default_rng(seed)
            recordings, _ = far(rng)
            odd, source = rng.choice(len(recordings), 2, replace=False)
            r = recordings[odd] if kind == "runs backwards" else recordings[min(odd, source)]
            turned = Reach(r.t, r.seen[::-1], r.x[::-1], -r.v[::-1]) if kind == "runs backwards" else r
            wanted = odd if kind == "runs backwards" else max(odd, source)
            recordings[wanted] = turned
            found = found_in(recordings)
            count += found.n_attractors == 3 and [(o.number, o.kind) for o in found.odd] == [(wanted, kind)]
        rows.append(Row(f"1 of 18 {kind}: 3 goals, and it alone named", "no bar", f"{count} of {n}", "", True))
    return rows


def velocity(seeds: range) -> list[Row]:
    ours, fixed, speed, noise, place = [], [], [], [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        r = reach(rng, rng.uniform(-300, 300, 3), rng.uniform(-300, 300, 3))
        clean = smoothed(r.seen, r.t)
        for out, v in ((ours, clean.v), (fixed, estimate_velocities(r.seen, r.t)), (speed, 2 * r.v)):
            out.append(np.sqrt(((v - r.v) ** 2).sum(axis=1).mean()))
        noise.append(clean.noise)
        place.append(np.sqrt(((clean.x - r.x) ** 2).mean()))
    return [
        Row(
            "velocity, root mean square error at 1 mm, 100 Hz (mean; worst)",
            "<= 15 mm/s",
            f"{np.mean(ours):.1f}; {max(ours):.1f} mm/s",
            f"7-point cubic {np.mean(fixed):.0f}; the motion itself {np.mean(speed):.0f}",
            bool(max(ours) <= 15),
        ),
        Row(
            "noise found, where 1 mm was added; error of a smoothed coordinate",
            "no bar",
            f"{np.mean(noise):.3f} mm; {np.mean(place):.2f} mm",
            "",
            True,
        ),
    ]


def one_demonstration(seeds: range) -> list[Row]:
    """Learn from a single noisy recording; 30 starts within a tenth of its box of its own start."""
    arrived, excursion = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        r = reach(rng, rng.uniform(-300, 300, 2), rng.uniform(-300, 300, 2))
        demos = ew.Demonstrations.of([r.seen], time=[r.t])
        field = ew.learn(ew.identify(demos))
        low, high = r.x.min(axis=0), r.x.max(axis=0)
        box, goal = float(np.linalg.norm(high - low)), field.attractors[0]
        starts = r.x[0] + 0.1 * box * rng.uniform(-1, 1, (30, 2))
        paths = field.simulate(starts, duration=3 * float(r.t[-1]))
        arrived.append(int((np.linalg.norm(paths[:, -1] - goal, axis=1) < 0.02 * box).sum()))
        out = np.maximum(low - paths, 0) + np.maximum(paths - high, 0)
        excursion.append(float(np.linalg.norm(out, axis=2).max() / box))
        print(f"  seed {seed}: {arrived[-1]} of 30, {100 * excursion[-1]:.0f} %, box {box:.0f} mm", flush=True)
    n = 30 * len(seeds)
    return [
        Row("one noisy demonstration: near starts that arrive", "all", f"{sum(arrived)} of {n}", "", sum(arrived) == n),
        Row(
            "their farthest excursion from the box of the data (mean; worst)",
            "<= 25 % of the box",
            f"{100 * np.mean(excursion):.0f} %; {100 * max(excursion):.0f} %",
            "",
            bool(max(excursion) <= 0.25),
        ),
    ]


def turned(seeds: range) -> list[Row]:
    return [row for degrees in (0.5, 1.0) for row in scattered_turns(seeds, degrees)]


def scattered_turns(seeds: range, degrees: float) -> list[Row]:
    """20 demonstrations to three goals at one place that differ in orientation, their ends by some degrees about each axis.

    Quaternions have random signs. Six or seven ends tell a mean to no better than `degrees` x sqrt(3/6.7) on average.
    """
    good, worst = 0, []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        while True:
            target = poses.exponential(rng.normal(0, 0.6, (3, 3)))
            if np.degrees(poses.angle_between(target[[0, 0, 1]], target[[1, 2, 2]])).min() > 20:
                break
        position, orientation, time = [], [], []
        label = rng.permutation(np.arange(20) % 3)
        for q in label:
            r = reach(rng, rng.uniform(-300, 300, 3), 2.0 * rng.standard_normal(3))
            to_go = 1 - rise(np.clip(r.t / r.t[-1] * 1.2 - 0.1, 0, 1))[0][:, None]
            shake = to_go * rng.normal(0, 0.3, 3) + np.radians(0.3) * rng.standard_normal((len(r.t), 3))
            end = np.radians(degrees) * rng.standard_normal(3)
            spun = poses.composed(target[q], poses.exponential(shake + end))
            position.append(r.seen)
            orientation.append(spun * rng.choice([-1, 1], (len(r.t), 1)))
            time.append(r.t)
        found = ew.identify(poses.from_poses(position, orientation, time=time))
        of_path = label_of_paths(found)
        good += found.n_attractors == 3 and adjusted_rand_score(label, of_path) == 1.0
        if found.n_attractors == 3:
            true = target[[label[np.flatnonzero(of_path == q)[0]] for q in range(3)]]
            worst.append(
                np.degrees(poses.angle_between(poses.orientations(found.attractors, found.demos.chart), true)).max()
            )
    n = len(seeds)
    return [
        Row(
            f"poses, 20 demonstrations, 3 orientations at one place, ends scattered by {degrees:g} degrees",
            "all right",
            f"{good} of {n}",
            "",
            good == n,
        ),
        Row(
            "orientation of the attractors, largest error of three (mean; worst of all)",
            "<= 1 degree",
            f"{np.mean(worst):.2f}; {max(worst):.2f} degrees",
            f"{np.mean(np.array(worst) <= 1):.0%} within 1 degree",
            bool(max(worst) <= 1),
        ),
    ]


PARTS = {"velocity": velocity, "goals": goals, "cut": cut, "poses": turned, "one": one_demonstration}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4 seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=None, help="how many (default 30)")
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    parser.add_argument("--name", default=None, help="of the file in benchmarks/results")
    chosen = parser.parse_args(arguments)
    n = chosen.seeds or (4 if chosen.quick else 30)
    seeds = range(chosen.first, chosen.first + n)
    rows: list[Row] = []
    for name in chosen.parts:
        rows += PARTS[name](seeds)
        print(f"{name} done", flush=True)
    report(chosen.name or ("recordings-quick" if chosen.quick else "recordings"), rows, first=chosen.first, seeds=n)


if __name__ == "__main__":
    main()
