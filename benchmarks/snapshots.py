"""Snapshots against their bars: number, fates, confidence, kind of data, many dimensions, speed, systems never tuned on.

python -m benchmarks.snapshots [--quick] [--parts PART ...] [--seeds N] [--first SEED]
    [--sizes N ...] [--designs DESIGN ...] [--workers N]

Noise is the standard deviation of every velocity component in units of the median speed. Times are of the processor.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
from joblib import Parallel, delayed

import eigenwell as ew
from benchmarks import held_out_systems, kinds
from benchmarks.kinds import DESIGNS
from benchmarks.margins import TOLD, Margin, margins, told
from benchmarks.table import Row, report
from eigenwell import systems
from eigenwell.demonstrations import SHORTEST_PATH, Demonstrations
from eigenwell.flow import weigh
from eigenwell.systems import Design, System

SHOWN = ("system", "design", "n", "noise", "seed", "d", "decays", "number", "confidence", "counts")
# Set by --workers: cases measured side by side.
WORKERS = 1
Kept = list[dict[str, object]]


def side_by_side(measure: Callable[..., dict[str, object]], cases: Iterable[tuple[object, ...]]) -> Kept:
    """Every case measured, in their order; what went wrong is printed at once."""
    kept: Kept = []
    for one in Parallel(WORKERS, return_as="generator")(delayed(measure)(*case) for case in cases):
        kept.append(one)
        if not one["right"]:
            print("  wrong:", {k: one[k] for k in SHOWN if k in one}, flush=True)
    return kept


def asked_for(system: System, truth: np.ndarray) -> list[int]:
    """True attractors that at least three samples end in; fewer make no path, and nothing could be said about it."""
    return [k for k in range(len(system.places)) if (truth == k).sum() >= SHORTEST_PATH]


def matching(system: System, found: ew.Identification, truth: np.ndarray) -> np.ndarray | None:
    """For every attractor found the true one it is; None where number or kinds differ, or two are the same.

    To be found are those that samples end in, as many as make a path (`asked_for`): of others the data say nothing.
    """
    kinds = ["point"] * len(system.attractors) + ["cycle"] * len(system.cycles)
    there = asked_for(system, truth)
    owner = []
    for place, kind in zip(found.attractors, found.kinds, strict=True):
        gap = [np.linalg.norm(place - p) if k == kind else np.inf for p, k in zip(system.places, kinds, strict=True)]
        owner.append(int(np.argmin(gap)) if gap else -1)
    return np.array(owner, dtype=int) if sorted(owner) == there else None


def judged(system: System, demos: Demonstrations) -> dict[str, object]:
    """One identification: whether the number is right, the share of fates right, confidence, time."""
    start = time.process_time()
    found = ew.identify(demos)
    spent = time.process_time() - start
    owner = matching(system, found, demos.truth.labels)
    meant = np.append(np.full(found.n_attractors, -9) if owner is None else owner, -1)
    fate = meant[found.labels]
    voted = fate if found.fates is None else meant[found.fates.argmax(axis=1)]
    return {
        "right": owner is not None,
        "number": found.n_attractors,
        "fates": float((fate == demos.truth.labels).mean()) if owner is not None else np.nan,
        "voted": float((voted == demos.truth.labels).mean()) if owner is not None else np.nan,
        "confidence": found.confidence,
        "counts": {str(q): share for q, share in (found.counts or {}).items()},
        "fewest": int(
            min((int((demos.truth.labels == k).sum()) for k in asked_for(system, demos.truth.labels)), default=0)
        ),
        "left_out": len(system.places) - len(asked_for(system, demos.truth.labels)),
        "snapshots": found.kind == "snapshots",
        "seconds": spent,
    }


SIZES = (300, 2000, 20_000)


def cases(
    quick: bool, seeds: range, sizes: tuple[int, ...] = SIZES, designs: tuple[Design, ...] = DESIGNS
) -> Iterator[tuple[System, dict[str, object]]]:
    for system in systems.snapshot_systems:
        for n in sizes[:2] if quick else sizes:
            for noise in (0.0, 0.2, 0.4) if quick else (0.0, 0.1, 0.2, 0.4):
                for design in designs[:1] if quick else designs:
                    for seed in seeds:
                        yield system, {"n": n, "noise": noise, "design": design, "seed": seed}


def one_number(system: System, margin: list[Margin], case: dict[str, object]) -> dict[str, object]:
    demos = system.snapshots(**case)
    said = judged(system, demos) | {"told": told(margin, demos.x, case["noise"])}
    return said | case | {"system": system.name, "design": case["design"].__name__}


def number(
    quick: bool, seeds: range, sizes: tuple[int, ...] = SIZES, designs: tuple[Design, ...] = DESIGNS
) -> tuple[list[Row], Kept]:
    margin = {system.name: margins(system) for system in systems.snapshot_systems}
    asked = ((system, margin[system.name], case) for system, case in cases(quick, seeds, sizes, designs))
    kept = side_by_side(one_number, asked)
    can = np.array([bool(c["right"]) for c in kept if c["told"] >= TOLD])
    row = Row(
        f"number right where a push of {TOLD:.0f} standard errors changes none, systems of the list",
        ">= 98 %",
        f"{can.sum()} of {len(can)}",
        f"the other {len(kept) - len(can)}: {sum(bool(c['right']) for c in kept if c['told'] < TOLD)} right",
        bool(can.mean() >= 0.98),
    )
    return [*summary(kept, "systems of the list"), row], kept


def summary(kept: Kept, what: str) -> list[Row]:
    right = np.array([c["right"] for c in kept])
    sure = np.array([c["confidence"] >= 0.9 for c in kept])
    by_system = {
        name: f"{sum(bool(c['right']) for c in kept if c['system'] == name)}/{sum(c['system'] == name for c in kept)}"
        for name in dict.fromkeys(c["system"] for c in kept)
    }
    rows = [
        Row(f"number right, {what}", ">= 98 %", f"{right.sum()} of {len(right)}", str(by_system), right.mean() >= 0.98),
        Row(
            f"right where confidence >= .9, {what}",
            ">= 90 %",
            f"{right[sure].sum()} of {sure.sum()}",
            "",
            bool(sure.any()) and right[sure].mean() >= 0.9,
        ),
    ]
    left_out = [c for c in kept if c["left_out"]]
    rows.append(
        Row(
            f"cases with attractors not asked for: fewer than {SHORTEST_PATH} samples end in them, {what}",
            "told",
            f"{len(left_out)} of {len(kept)}",
            f"{sum(int(c['left_out']) for c in left_out)} attractors",
            True,
        )
    )
    for n in sorted({int(c.get("n", 0)) for c in kept}):
        for noise in sorted({float(c["noise"]) for c in kept}):
            some = [bool(c["right"]) for c in kept if c.get("n", 0) == n and c["noise"] == noise]
            if n and some:
                beside = f"{np.mean(some):.1%}"
                rows.append(
                    Row(
                        f"  {n} samples, noise {noise:.0%}, {what}", "told", f"{sum(some)} of {len(some)}", beside, True
                    )
                )
    for noise, bar in ((0.0, 0.99), (0.2, 0.97), (0.4, 0.95)):
        fates = [c["fates"] for c in kept if c["noise"] == noise and c["right"]]
        if fates:
            mean = float(np.mean(fates))
            rows.append(Row(f"fates right, noise {noise:.0%}, {what}", f">= {bar}", f"{mean:.4f}", "", mean >= bar))
    return rows


def one_held_out(system: System, n: int, noise: float, seed: int) -> dict[str, object]:
    said = judged(system, system.snapshots(n, seed, noise=noise))
    return said | {"system": system.name, "n": n, "noise": noise, "seed": seed}


def held_out(quick: bool, seeds: range) -> tuple[list[Row], Kept]:
    rows, every = [], []
    for what, made in (
        ("seen once before a last change", held_out_systems.seen_once()),
        ("fresh", held_out_systems.fresh()),
    ):
        asked = ((s, n, noise, seed) for s in made for n in (300, 2000) for noise in (0.0, 0.2, 0.4) for seed in seeds)
        kept = side_by_side(one_held_out, asked)
        rows += summary(kept, f"systems of no list, {what}")
        every += kept
    return rows, every


def positions(quick: bool, seeds: range) -> tuple[list[Row], Kept]:
    """Places that are off by 2 % of the region's shortest side, and velocities by 20 %."""

    def one(system: System, seed: int) -> dict[str, object]:
        said = judged(system, system.snapshots(1000, seed, noise=0.2, position_noise=0.02))
        return said | {"system": system.name, "noise": 0.2, "seed": seed}

    kept = side_by_side(one, ((system, seed) for system in systems.snapshot_systems for seed in seeds))
    return summary(kept, "places off by 2 %"), kept


def orbiting(quick: bool, seeds: range) -> tuple[list[Row], Kept]:
    """van der Pol and a well inside a cycle as trajectories: cycles are cycles, whatever the start."""
    right = []
    for system in (systems.van_der_pol, systems.well_in_a_cycle):
        for seed in seeds:
            demos = system.sample(seed=seed)
            right.append(matching(system, ew.identify(demos), demos.truth.labels) is not None)
    row = Row("cycles from trajectories", "all", f"{sum(right)} of {len(right)}", "", all(right))
    return [row], []


def kind(quick: bool, seeds: range) -> tuple[list[Row], Kept]:
    """Both kinds of data taken for what they are, trajectories with more and more noise."""
    asked = [("snapshots", True, kinds.scattered)]
    for noise in (0.0, 0.1, 0.2, 0.3):
        how = f"shuffled, noise {noise:.0%} of a step"
        asked.append((f"trajectories, {how}", False, partial(kinds.moving, noise=noise)))
        asked.append((f"evenly spaced starts or oscillations, {how}", False, partial(kinds.hard, noise=noise)))
    rows, kept = [], []
    for what, snapshots, made in asked:
        data = [(f"{name}, {seed}", x, v) for seed in seeds for name, x, v in made(seed)]
        row, cases = _taken(what, data, snapshots=snapshots)
        rows.append(row)
        kept += cases
    return rows, kept


def _taken(what: str, data: list[kinds.Samples], *, snapshots: bool) -> tuple[Row, Kept]:
    said = {name: weigh(x, v) for name, x, v in data}
    wrong = [name for name, evidence in said.items() if evidence.snapshots != snapshots]
    regular = {name: e.regular for name, e in said.items() if not e.grid}
    edge = (max if snapshots else min)(regular, key=lambda name: regular[name])
    right = len(said) - len(wrong)
    beside = f"{'at most' if snapshots else 'at least'} {regular[edge]:.2f} ({edge}); not {wrong}"
    row = Row(
        f"{what} taken for what they are", ">= 99 %", f"{right} of {len(said)}", beside, right >= 0.99 * len(said)
    )
    print(f"  {row.what}: {row.reached}; {beside}", flush=True)
    return row, [{"what": what, "name": name, "regular": value} for name, value in regular.items()]


def dimensions(quick: bool, seeds: range) -> tuple[list[Row], Kept]:
    """Wells in the plane or in space, turned into 5 to 30 dimensions, the others decaying or pure noise."""

    def one(d: int, system: System, decays: bool, seed: int) -> dict[str, object]:
        rng = np.random.default_rng([d, seed])
        demos = system.snapshots(5000, seed, noise=0.2)
        other = 0.5 * rng.standard_normal((5000, d - system.dimension))
        speed = np.median(np.linalg.norm(demos.v, axis=1))
        drift = -other if decays else 0.3 * speed * rng.standard_normal(other.shape)
        turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
        found = ew.identify(np.hstack([demos.x, other]) @ turn, np.hstack([demos.v, drift]) @ turn)
        right = found.n_attractors == len(system.places)
        said = {"d": d, "system": system.name, "decays": decays, "seed": seed, "right": right}
        return said | {"number": found.n_attractors, "confidence": found.confidence}

    made = (systems.four_wells, systems.five_wells, systems.three_d)
    sizes = (5, 10, 30) if quick else (5, 10, 20, 30)
    kept = side_by_side(
        one, ((d, s, decays, seed) for d in sizes for s in made for decays in (True, False) for seed in seeds)
    )
    right = np.array([c["right"] for c in kept])
    return [
        Row("5-D to 30-D, 5,000 samples", ">= 90 %", f"{right.sum()} of {len(right)}", "", right.mean() >= 0.9)
    ], kept


def speed(quick: bool, seeds: range) -> tuple[list[Row], Kept]:
    sizes, kept = (10_000, 30_000, 100_000), []
    for system, noise in ((systems.four_wells, 0.2), (systems.five_wells, 0.2), (systems.five_wells, 0.0)):
        for n in sizes:
            kept.append(
                {"system": system.name, "noise": noise, "n": n} | judged(system, system.snapshots(n, 0, noise=noise))
            )
            print("  ", kept[-1], flush=True)
    worst = max(c["seconds"] for c in kept if c["n"] == sizes[-1])
    groups = [[c["seconds"] for c in kept[k : k + 3]] for k in range(0, len(kept), 3)]
    slope = max(float(np.polyfit(np.log(sizes), np.log(g), 1)[0]) for g in groups)
    return [
        Row("100,000 samples in 2-D, worst of 3", "<= 15 s", f"{worst:.1f} s", "processor time", worst <= 15),
        Row("growth exponent, 10,000 to 100,000", "<= 1.2", f"{slope:.2f}", "", slope <= 1.2),
    ], kept


PARTS = {
    "number": number,
    "held_out": held_out,
    "kind": kind,
    "dimensions": dimensions,
    "speed": speed,
    "positions": positions,
    "orbiting": orbiting,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=100, help="first seed; those below 100 were seen while developing")
    parser.add_argument("--sizes", type=int, nargs="*", help="part number: only these numbers of samples")
    parser.add_argument("--designs", nargs="*", choices=[d.__name__ for d in DESIGNS], help="part number: only these")
    parser.add_argument("--workers", type=int, default=1, help="cases measured side by side, each with one thread")
    options = parser.parse_args()
    global WORKERS
    WORKERS = options.workers
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    seeds = range(options.first, options.first + options.seeds)
    for part in options.parts:
        name = part.replace("_", "-")
        if part == "number" and (options.sizes or options.designs):
            designs = tuple(d for d in DESIGNS if d.__name__ in (options.designs or [d.__name__]))
            rows, kept = number(options.quick, seeds, tuple(options.sizes or SIZES), designs)
            name = "-".join([name, *map(str, options.sizes or []), *(options.designs or [])])
        else:
            rows, kept = PARTS[part](options.quick, seeds)
        report(f"snapshots-{name}", rows, cases=kept, quick=options.quick, seeds=list(seeds))


if __name__ == "__main__":
    main()
