"""Audits against the bars: good sets get no complaint, planted faults are found and named.

python -m benchmarks.audit [--quick] [--first SEED] [--parts good planted unequal speed readers]

Good sets: reaches of a hand with noise and pauses, drawings, joint angles, poses, known systems, and the shapes of LASA.
Faults are planted in one of ten episodes of such sets.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks import drawn, layouts, recordings
from benchmarks.table import Row, report
from eigenwell import datasets, poses, systems
from eigenwell.auditing import audit
from eigenwell.auditing.episodes import Episode, Episodes, of_demonstrations
from eigenwell.auditing.page import page

Plant = Callable[[np.random.Generator, list[Episode], int], None]


def of(xs: list[np.ndarray], frequency: float, vs: list[np.ndarray] | None = None) -> list[Episode]:
    return [
        Episode(k, x, np.arange(len(x)) / frequency, None if vs is None else vs[k], None, "") for k, x in enumerate(xs)
    ]


# --- good sets ----------------------------------------------------------------------------------------


def reaches(seed: int) -> list[Episode]:
    """Reaches in millimetres with noise, rests, pauses and a clock that jitters."""
    rng = np.random.default_rng([seed, 1])
    goals = datasets.made_up.apart(rng, int(rng.integers(1, 4)), side=300.0, distance=120.0)
    made, _ = recordings.bundle(rng, goals, int(rng.integers(5, 15)), spread=3.0)
    return [Episode(k, r.seen, r.t) for k, r in enumerate(made)]


def drawings(seed: int) -> list[Episode]:
    name = ("figure_eight", "loop", "trefoil", "pick_and_place")[seed % 4]
    made = getattr(drawn, name)(seed, 7 + 3 * (seed % 5))
    return of([x for x, _ in made], drawn.FREQUENCY, [v for _, v in made] if seed % 2 else None)


def strokes(seed: int) -> list[Episode]:
    demos = datasets.pen_strokes(seed, n_attractors=1 + seed % 3, n_strokes=5 + seed % 12)
    return list(of_demonstrations(demos).items)


def joints(seed: int) -> list[Episode]:
    demos = datasets.joint_recordings(seed, n_attractors=1 + seed % 4, n_per_attractor=4 + seed % 13)
    return list(of_demonstrations(demos).items)


def known(seed: int) -> list[Episode]:
    system = systems.all_systems[seed % len(systems.all_systems)]
    return list(of_demonstrations(system.sample(seed=seed, n_per_attractor=4 + seed % 9)).items)


def turns(seed: int) -> list[Episode]:
    """Poses: positions and orientations that go to one place."""
    rng = np.random.default_rng([seed, 6])
    positions, orientations = [], []
    goal, last = rng.normal(size=3), poses.exponential(rng.normal(size=(1, 3)))[0]
    for _ in range(8 + seed % 12):
        n = int(rng.uniform(100, 200))
        s = recordings.rise(np.linspace(0, 1, n))[0][:, None]
        positions.append(goal + (1 - s) * (rng.normal(size=3) + 3.0) + 1e-3 * rng.normal(size=(n, 3)))
        orientations.append(poses.composed(last, poses.exponential((1 - s) * 0.6 * rng.normal(size=3))))
    demos = poses.from_poses(positions, orientations, dt=0.02)
    return list(of_demonstrations(demos).items)


def shapes(seed: int) -> list[Episode]:
    names = datasets.lasa_shapes()
    demos = datasets.lasa(names[seed % len(names)])
    return list(of_demonstrations(demos).items)


GOOD = {
    "reaches": (reaches, 34),
    "drawings": (drawings, 28),
    "strokes": (strokes, 28),
    "joints": (joints, 28),
    "systems": (known, 28),
    "poses": (turns, 24),
    "LASA": (shapes, 30),
}


def good(share: float, first: int) -> list[Row]:
    rows, total, wrong, sets = [], 0, 0, 0
    for name, (make, count) in GOOD.items():
        n = bad = 0
        accused: Counter[str] = Counter()
        for seed in range(first, first + max(2, int(count * share))):
            found = audit(Episodes(tuple(make(seed))))
            n, bad, sets = n + len(found.verdicts), bad + len(found.bad), sets + 1
            accused.update(f.name for v in found.bad for f in v.faults)
        print(f"  {name}: {bad} of {n} episodes accused {dict(accused) or ''}", flush=True)
        total, wrong = total + n, wrong + bad
    fair = 1 - wrong / total
    said = f"{100 * fair:.2f} % of {total} episodes in {sets} sets without a complaint"
    rows.append(Row("good sets", ">= 99 % of episodes", said, "", fair >= 0.99))
    return rows


# --- planted faults -----------------------------------------------------------------------------------


def hands(seed: int, timed: bool = True) -> list[Episode]:
    """30 reaches to two goals in 3-D, with velocities, rests and noise: what the faults are planted in."""
    rng = np.random.default_rng([seed, 20])
    goals = np.array([[0.5, 0.0, 0.2], [-0.3, 0.4, 0.1]]) + 0.1 * rng.normal(size=(2, 3))
    out = []
    for k in range(30):
        start = np.array([0.0, -0.6, 0.5]) + 0.08 * rng.normal(size=3)
        goal = goals[k % 2] + 0.004 * rng.normal(size=3)
        duration, before, after = rng.uniform(2, 4), rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.4)
        t = np.arange(0, before + duration + after, 0.02)
        s, ds = recordings.rise(np.clip((t - before) / duration, 0, 1))
        via = (start + goal) / 2 + np.array([0.0, 0.0, 0.25]) + 0.02 * rng.normal(size=3)
        s, ds = s[:, None], ds[:, None] / duration
        x = (1 - s) ** 2 * start + 2 * s * (1 - s) * via + s**2 * goal
        v = (2 * (1 - s) * (via - start) + 2 * s * (goal - via)) * ds
        out.append(Episode(k, x + 5e-4 * rng.normal(size=x.shape), t, v + 1e-3 * rng.normal(size=x.shape), k % 2))
    return out


def arms(seed: int) -> list[Episode]:
    """40 motions of seven joints to two postures, without velocities; which posture is the task."""
    items = of_demonstrations(datasets.joint_recordings(seed, n_attractors=2, n_per_attractor=20)).items
    return [replace(e, number=k, task=k // 20) for k, e in enumerate(items)]


def pens(seed: int) -> list[Episode]:
    """20 drawings of a letter or a loop."""
    made = drawn.loop(seed, 20) if seed % 2 else drawn.letter("s", seed, 20)
    return of([x for x, _ in made], drawn.FREQUENCY, [v for _, v in made])


def _cut(e: Episode, a: int, b: int) -> Episode:
    return replace(e, x=e.x[a:b], t=e.t[a:b] - e.t[a], v=None if e.v is None else e.v[a:b])


def _with_rest(rng: np.random.Generator, e: Episode, at: int) -> Episode:
    """The same with a rest of 1 to 2 usual durations at a row."""
    n = int(rng.uniform(1, 2) * len(e))
    rest = np.repeat(e.x[at : at + 1], n, axis=0) + max(e.noise, 1e-6) * rng.normal(size=(n, e.x.shape[1]))
    x = np.vstack([e.x[:at], rest, e.x[at:]])
    v = None if e.v is None else np.vstack([e.v[:at], np.zeros_like(rest), e.v[at:]])
    return replace(e, x=x, t=np.arange(len(x)) * e.step, v=v)


def _slower(e: Episode, factor: float) -> Episode:
    old = np.linspace(0, 1, len(e))
    new = np.linspace(0, 1, int(len(e) * factor))
    x = np.column_stack([np.interp(new, old, c) for c in e.x.T])
    v = None if e.v is None else np.column_stack([np.interp(new, old, c) for c in e.v.T]) / factor
    return replace(e, x=x, t=np.arange(len(x)) * e.step, v=v)


def cut_off(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = _cut(items[k], 0, int(rng.uniform(0.35, 0.65) * len(items[k])))


def no_goal(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    e = items[k]
    away = rng.normal(size=e.x.shape[1])
    away *= rng.uniform(0.25, 0.5) * np.linalg.norm(e.extent) / np.linalg.norm(away)
    s = recordings.rise(np.linspace(0, 1, len(e)))[0][:, None]
    items[k] = replace(e, x=e.x + away * s, v=None if e.v is None else e.v + away * np.gradient(s[:, 0], e.t)[:, None])


def other_goal(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = replace(items[k], task=1 - (items[k].task or 0))


def idle_start(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = _with_rest(rng, items[k], 0)


def idle_middle(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = _with_rest(rng, items[k], int(rng.uniform(0.3, 0.7) * len(items[k])))


def idle_end(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = _with_rest(rng, items[k], len(items[k]) - 1)


def jump(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    """Off and back a while later, by a third of its size."""
    e = items[k]
    a = int(rng.uniform(0.2, 0.7) * len(e))
    away = rng.normal(size=e.x.shape[1])
    x = e.x.copy()
    x[a : a + int(rng.integers(1, 12))] += 0.33 * np.linalg.norm(e.extent) * away / np.linalg.norm(away)
    items[k] = replace(e, x=x)


def time_gap(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    e = items[k]
    a, b = int(0.3 * len(e)), int(0.3 * len(e)) + int(rng.uniform(0.15, 0.3) * len(e))
    keep = np.r_[0:a, b : len(e)]
    items[k] = replace(e, x=e.x[keep], t=e.t[keep], v=None if e.v is None else e.v[keep])


def frozen(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    e = items[k]
    a, n = int(rng.uniform(0.35, 0.5) * len(e)), int(rng.uniform(0.1, 0.25) * len(e))
    x = e.x.copy()
    columns = slice(None) if rng.random() < 0.5 else int(np.argmax(e.extent))
    x[a : a + n, columns] = x[a, columns]
    items[k] = replace(e, x=x)


def slow(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = _slower(items[k], rng.uniform(4, 8))


def fast(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = _slower(items[k], 1 / rng.uniform(4, 8))


def unlike(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    """A detour of 70 % of its size between its own start and end."""
    e = items[k]
    away = rng.normal(size=e.x.shape[1]) + 3 * np.linalg.svd(e.x - e.x.mean(axis=0))[2][-1] * rng.choice([-1, 1])
    away *= 0.7 * np.linalg.norm(e.extent) / np.linalg.norm(away)
    bump = np.sin(np.pi * recordings.rise(np.linspace(0, 1, len(e)))[0])[:, None] ** 2
    more = np.gradient(bump[:, 0], e.t)[:, None]
    items[k] = replace(e, x=e.x + away * bump, v=None if e.v is None else e.v + away * more)


def repeated(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = replace(items[k - 1], number=k)


def too_short(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    items[k] = _cut(items[k], 0, int(rng.integers(2, 9)))


def velocity_sign(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    v = items[k].v
    assert v is not None
    items[k] = replace(items[k], v=-v)


def velocity_scale(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    v = items[k].v
    assert v is not None
    items[k] = replace(items[k], v=v * (1000.0 if rng.random() < 0.5 else 1 / 30))


def units(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    e = items[k]
    factor = 180 / np.pi if e.v is None else (1000.0 if rng.random() < 0.5 else 100.0)
    items[k] = replace(e, x=e.x * factor, v=None if e.v is None else e.v * factor)


def quaternion_flip(rng: np.random.Generator, items: list[Episode], k: int) -> None:
    x = items[k].x.copy()
    a = int(rng.uniform(0.2, 0.8) * len(x))
    x[a:, 3:7] *= -1
    items[k] = replace(items[k], x=x)


def tools(seed: int) -> list[Episode]:
    """Positions and unit quaternions as plain columns, as data sets for learning often keep them."""
    rng = np.random.default_rng([seed, 30])
    last, out = poses.exponential(rng.normal(size=(1, 3)))[0], []
    for k in range(20):
        n = int(rng.uniform(100, 200))
        s = recordings.rise(np.linspace(0, 1, n))[0][:, None]
        p = (1 - s) * (np.array([1.0, 0.5, 0.3]) + 0.1 * rng.normal(size=3)) + 5e-4 * rng.normal(size=(n, 3))
        q = poses.composed(last, poses.exponential((1 - s) * (np.array([0.8, 0, 0]) + 0.1 * rng.normal(size=3))))
        out.append(Episode(k, np.hstack([p, q]), np.arange(n) * 0.02))
    return out


@dataclass(frozen=True)
class Planted:
    """A fault, how it is planted, and in which sets it can be."""

    plant: Plant
    bases: tuple[Callable[[int], list[Episode]], ...]


ALL = (hands, arms, pens)
PLANTED = {
    "cut-off": Planted(cut_off, ALL),
    "no-goal": Planted(no_goal, ALL),
    "other-goal": Planted(other_goal, (hands, arms)),
    "idle-start": Planted(idle_start, ALL),
    "idle-middle": Planted(idle_middle, ALL),
    "idle-end": Planted(idle_end, ALL),
    "jump": Planted(jump, ALL),
    "time-gap": Planted(time_gap, ALL),
    "frozen": Planted(frozen, ALL),
    "slow": Planted(slow, ALL),
    "fast": Planted(fast, ALL),
    "unlike": Planted(unlike, ALL),
    "repeated": Planted(repeated, ALL),
    "too-short": Planted(too_short, ALL),
    "velocity-sign": Planted(velocity_sign, (hands, pens)),
    "velocity-scale": Planted(velocity_scale, (hands, pens)),
    "units": Planted(units, (hands, arms)),
    "quaternion-flip": Planted(quaternion_flip, (tools,)),
}


def planted(seeds: int, first: int) -> list[Row]:
    n_bad = n_found = n_right = n_good = n_wrong = 0
    for name, one in PLANTED.items():
        count = found_here = right_here = wrong_here = 0
        missed: Counter[str] = Counter()
        for seed in range(first, first + seeds):
            items = one.bases[seed % len(one.bases)](seed)
            rng = np.random.default_rng([seed, 40])
            chosen = np.sort(rng.choice(np.arange(1, len(items)), len(items) // 10, replace=False))
            chosen = chosen[np.diff(np.r_[-1, chosen]) > 1]  # a copy of a copy has no original
            for k in chosen:
                one.plant(rng, items, int(k))
            result = audit(Episodes(tuple(items)))
            for k, verdict in enumerate(result.verdicts):
                names = [f.name for f in verdict.faults]
                if k in chosen:
                    count += 1
                    found_here += bool(names)
                    right_here += name in names[:1]
                    if name not in names[:1]:
                        missed[f"{one.bases[seed % len(one.bases)].__name__}:{'+'.join(names) or 'nothing'}"] += 1
                else:
                    n_good += 1
                    wrong_here += bool(names)
                    if names:
                        missed[f"GOOD {one.bases[seed % len(one.bases)].__name__} {'+'.join(names)}"] += 1
        print(
            f"  {name}: found {found_here}, named {right_here} of {count}, wrong {wrong_here} {dict(missed) or ''}",
            flush=True,
        )
        n_bad, n_found, n_right, n_wrong = (
            n_bad + count,
            n_found + found_here,
            n_right + right_here,
            n_wrong + wrong_here,
        )
    found, right, wrong = n_found / n_bad, n_right / n_found, n_wrong / n_good
    return [
        Row("planted faults found", ">= 95 %", f"{100 * found:.1f} % of {n_bad}", "", found >= 0.95),
        Row("planted faults named right", ">= 95 %", f"{100 * right:.1f} % of those found", "", right >= 0.95),
        Row("wrong alarms beside them", "<= 1 % of episodes", f"{100 * wrong:.2f} % of {n_good}", "", wrong <= 0.01),
    ]


def unequal(seeds: int, first: int) -> list[Row]:
    """Two goals, one visited five times as often as the other."""
    alarms = rare = 0
    for seed in range(first, first + seeds):
        items = [e for k, e in enumerate(hands(seed)) if k % 2 == 0 or k % 10 == 1]
        items = [replace(e, number=k) for k, e in enumerate(items)]
        found = audit(Episodes(tuple(items)))
        seldom = {k for k, e in enumerate(items) if e.task == 1}
        rare += len(seldom)
        alarms += sum(v.episode in seldom for v in found.bad)
    said = f"{alarms} alarms for {rare} episodes to the rarer goal, {seeds} sets"
    return [Row("two goals, one visited five times as often", "no alarm for the rarer", said, "", alarms == 0)]


def speed() -> list[Row]:
    """1,000 episodes of 500 samples in seven joints, from arrays to the page."""
    rng = np.random.default_rng(0)
    goals, xs = rng.normal(size=(3, 7)), []
    for k in range(1000):
        start, s = 0.3 * rng.normal(size=7) - 2, recordings.rise(np.linspace(0, 1, 500))[0][:, None]
        bend = 0.1 * np.sin(np.pi * s) * rng.normal(size=7)
        x = start + (goals[k % 3] + 0.01 * rng.normal(size=7) - start) * s + bend + 1e-4 * rng.normal(size=(500, 7))
        xs.append(x[:250] if k % 100 == 7 else x)
    began = time.perf_counter()
    found = audit(xs, dt=0.02)
    audited = time.perf_counter() - began
    text = page(found, "speed")
    took, size = time.perf_counter() - began, len(text.encode()) / 1e6
    beside = f"audit {audited:.1f} s, page {took - audited:.1f} s; {found.headline}"
    return [
        Row("1,000 episodes x 500 samples x 7-D", "<= 20 s on two cores", f"{took:.1f} s", beside, took <= 20),
        Row("its page", "<= 10 MB", f"{size:.2f} MB", "", size <= 10),
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--first", type=int, default=0, help="First seed; what matters was chosen on seeds from 0 on.")
    parser.add_argument("--parts", nargs="*", default=["good", "planted", "unequal", "speed", "readers"])
    asked = parser.parse_args(arguments)
    rows: list[Row] = []
    if "good" in asked.parts:
        rows += good(0.2 if asked.quick else 1.0, asked.first)
    if "planted" in asked.parts:
        rows += planted(4 if asked.quick else 20, asked.first)
    if "unequal" in asked.parts:
        rows += unequal(4 if asked.quick else 20, asked.first)
    if "speed" in asked.parts:
        rows += speed()
    if "readers" in asked.parts:
        rows += layouts.readers(200 if asked.quick else 2000)
    report("audit-held-out" if asked.first else "audit", rows)


if __name__ == "__main__":
    main()
