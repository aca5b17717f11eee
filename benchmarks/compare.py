"""Compare and sweep against their bars: matches, shares, sweeps, exits, arrows, speed.

python -m benchmarks.compare [--parts PART ...] [--seeds N] [--workers N]

Beside matches and sweeps stand what a user would write: a loop with KMeans and silhouettes of the slow samples, and a loop
with multi-start root finding on the estimated field. Cases are kept under out/cases as they are done: a run that was
broken off goes on where it stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

import eigenwell as ew
from benchmarks.cases import each, once
from benchmarks.compare_sweeps import NOISE, roots, silhouettes, sweeps
from benchmarks.table import Row, report
from eigenwell import systems
from eigenwell.systems import System, rest, wells

Kept = list[dict[str, object]]


# --- matches ------------------------------------------------------------------------------------------


def _centres(rng: np.random.Generator, q: int, d: int) -> np.ndarray:
    """q places, none nearer than 1.6 to another."""
    while True:
        places = rng.uniform(-1.2 - 0.25 * q, 1.2 + 0.25 * q, size=(q, d))
        gap = np.linalg.norm(places[:, None] - places, axis=2) + 99 * np.eye(q)
        if gap.min() > 1.6:
            return places


def _well_system(name: str, centres: np.ndarray, turn: float) -> System:
    d = centres.shape[1]
    rate = np.eye(d)
    rate[0, 1], rate[1, 0] = -turn, turn
    field, places = wells(centres, rate, 0.4)
    box = np.column_stack([centres.min(0) - 1.0, centres.max(0) + 1.0])
    return System(name, field, places, box, 8.0, 25.0, 4, 30.0)


def _seen(name: str, system: System, paths: bool, n: int, seed: int, noise: float) -> ew.Identification:
    """What identify() finds, once for all ways to compare."""

    def make() -> ew.Identification:
        data = system.sample(seed=seed) if paths else system.snapshots(n, seed, noise=noise)
        return replace(ew.identify(data), flow=None, embeddings=(), spectra=())

    return once(f"{name}-{n}-{seed}-{noise}", make, ("comparison", "plotting", "cli", "studio", "learning"))


def _which(attractors: np.ndarray, centres: np.ndarray) -> list[int]:
    return [int(np.linalg.norm(centres - a, axis=1).argmin()) for a in attractors]


def _paired(names: list[list[int]], pairs: set[tuple[int, int]], both: int) -> int:
    """Of the wells in both conditions, those whose attractors are found, one each, and are a pair."""
    seen = [[n.index(i) if n.count(i) == 1 else -1 for i in range(both)] for n in names]
    return sum(pair in pairs for pair in zip(*seen, strict=True))


def _loop(places: list[np.ndarray]) -> set[tuple[int, int]]:
    """The pairs with the least sum of distances: what a user would write."""
    if not all(map(len, places)):
        return set()
    gap = np.linalg.norm(places[0][:, None] - places[1], axis=2)
    return set(zip(*map(np.ndarray.tolist, linear_sum_assignment(gap)), strict=True))


def _matched(k: int, seed: int) -> dict[str, object]:
    q, d, paths = 2 + k % 5, 2 + k % 3, k % 2 == 0
    rng = np.random.default_rng([k, seed])
    places = _centres(rng, q + 1, d)
    gap = float((np.linalg.norm(places[:, None] - places, axis=2) + 99 * np.eye(q + 1)).min())
    shift = rng.standard_normal(d)
    shift *= rng.uniform(0, gap / 2) / np.linalg.norm(shift)
    moved = places + shift + 0.05 * gap * rng.uniform(-1, 1, places.shape)
    what = ("same", "gone", "new")[seed % 3]
    numbers = q, {"same": q, "gone": q - 1, "new": q + 1}[what]
    true = [every[:n] for every, n in zip((places, moved), numbers, strict=True)]
    found = [
        _seen(f"wells{k}-{c}", _well_system(f"wells{k}", centres, 0.5), paths, 300 + 200 * d, seed + 50 * c, 0.1)
        for c, centres in enumerate(true)
    ]
    compared = ew.compare({"a": found[0], "b": found[1]})
    names = [_which(f.attractors, centres) for f, centres in zip(found, true, strict=True)]
    said = sorted(c.what for c in compared.changes if c.what not in ("kept", "moved"))
    meant = {"same": [[]], "gone": [["gone"], ["merged"]], "new": [["new"], ["split"]]}[what]
    loops = {}
    for name, one in {"silhouettes": silhouettes, "roots": roots}.items() if not paths else ():
        there = [one(f.demos.x, f.demos.v) for f in found]
        loops[name] = _paired([_which(p, c) for p, c in zip(there, true, strict=True)], _loop(there), min(numbers))
    return {
        "system": k, "seed": seed, "paths": paths, "what": what, "shift": float(np.linalg.norm(shift)) / gap,
        "identified": all(sorted(n) == list(range(m)) for n, m in zip(names, numbers, strict=True)),
        "numbers": [numbers, [f.n_attractors for f in found]], "confidence": [f.confidence for f in found],
        "right": _paired(names, {(int(a), int(b)) for a, b in compared.states}, min(numbers)), "of": min(numbers),
        "named": said in meant, "said": said, **loops,
    }  # fmt: skip


def matches(seeds: range, workers: int) -> tuple[list[Row], Kept]:
    """12 systems of 2 to 6 wells in 2-D to 4-D; all shift together by up to half the distance of two, each by a tenth more; in a
    third of the seeds one well is gone, in a third one is new. Snapshots and trajectories by turns."""
    kept = each("matches", _matched, [(k, seed) for k in range(12) for seed in seeds], workers)
    done = [c for c in kept if c["identified"]]
    right, of = sum(c["right"] for c in done), sum(c["of"] for c in done)
    named = [bool(c["named"]) for c in done if c["what"] != "same"]
    left = len(kept) - len(done)
    doubt = sum(min(c["confidence"]) < 0.9 for c in kept if not c["identified"])
    beside = (
        f"{left} of {len(kept)} cases left out: a number was wrong before matching, and in doubt in {doubt} of them"
    )
    loops = [c for c in kept if not c["paths"]]
    count = {
        n: f"{sum(c[n] for c in loops)} of {sum(c['of'] for c in loops)}" for n in ("right", "silhouettes", "roots")
    }
    return [
        Row("matches right, 12 systems", ">= 98 %", f"{right} of {of} ({right / of:.1%})", beside, right / of >= 0.98),
        Row("new and gone named right", ">= 95 %", f"{sum(named)} of {len(named)} ({np.mean(named):.1%})", "",
            np.mean(named) >= 0.95),
        Row("all snapshots, also those with a wrong number", "told", count["right"],
            f"KMeans and silhouettes {count['silhouettes']}, multi-start roots {count['roots']}, matched by distance", True),
    ], kept  # fmt: skip


# --- shares -------------------------------------------------------------------------------------------

SHARED = (systems.unequal_wells, systems.toggle_switch, systems.saddle, systems.four_wells)


def _covered(number: int, paths: bool, seed: int) -> dict[str, object]:
    """300 noisy samples, or 40 trajectories from as many places; the truth by 20,000 exact starts."""
    system = SHARED[number]
    starts = systems.uniform(system, 20_000, np.random.default_rng(0))
    truth = once(
        f"truth-{system.name}", lambda: np.bincount(system.fate(starts), minlength=9) / 20_000, ("comparison",)
    )
    if paths:
        begin = systems.uniform(system, 40, np.random.default_rng([seed, number]))
        run = systems.integrate(system.field, begin, 1 / system.frequency, round(system.duration * system.frequency))
        x = list(np.ascontiguousarray(run.transpose(1, 0, 2)))
        found = ew.identify(ew.Demonstrations.from_trajectories(x, [*map(system.field, x)], dt=1 / system.frequency))
    else:
        found = _seen(f"share-{system.name}", system, False, 300, 1000 + seed, 0.2)
    compared = ew.compare({"a": found, "b": found})
    q = np.linalg.norm(found.attractors - system.places[0], axis=1).argmin() if found.n_attractors else 0
    low, high = compared.low[q, 0], compared.high[q, 0]
    return {
        "system": system.name, "paths": paths, "seed": seed, "low": low, "high": high, "truth": truth[0],
        "share": compared.shares[q, 0], "identified": found.n_attractors == len(system.places),
        "covers": bool(low <= truth[0] <= high),
    }  # fmt: skip


def shares(seeds: range, workers: int) -> tuple[list[Row], Kept]:
    """Share of the region in the basin of the first attractor: of four systems, 400 cases of 20 seeds, half of them
    trajectories."""
    each_ = len(seeds) * 200 // (20 * len(SHARED))
    cases = [(s, paths, seed) for paths in (False, True) for s in range(len(SHARED)) for seed in range(each_)]
    kept = each("shares", _covered, cases, workers)
    rows = []
    for paths, what in ((False, "snapshots"), (True, "trajectories")):
        mine = [c for c in kept if c["paths"] == paths and c["identified"]]
        covers = np.array([c["covers"] for c in mine])
        by = ", ".join(f"{s.name}: {np.mean([c['covers'] for c in mine if c['system'] == s.name]):.0%}" for s in SHARED)
        rows.append(
            Row(f"90 % interval of a basin's share covers the truth, {what}", "85 to 95 %",
                f"{covers.mean():.1%} of {len(covers)}", f"{by}; {len(cases) // 2 - len(mine)} with a wrong number left out",
                0.85 <= covers.mean() <= 0.95)
        )  # fmt: skip
    return rows, kept


# --- exits, arrows, speed -----------------------------------------------------------------------------

# Field and the middles of the sides of the square (-1, 1)^2 through which it leaves; "all round" where all sides are one region.
OUTFLOWS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], list[tuple[float, float]] | None]] = {
    "saddle": (lambda x: x * [1, -1], [(1, 0), (-1, 0)]),
    "channel": (lambda x: np.stack([np.ones(len(x)), -0.5 * x[:, 1]], 1), [(1, 0)]),
    "well with two ways out": (lambda x: np.stack([x[:, 0] ** 3 * 4 - x[:, 0], -x[:, 1]], 1), [(1, 0), (-1, 0)]),
    "source": (lambda x: x @ np.array([[0.5, 1.0], [-1.0, 0.5]]), None),
    "fork": (lambda x: np.stack([x[:, 0], np.full(len(x), 0.3) - 0.5 * x[:, 1]], 1), [(1, 0.6), (-1, 0.6)]),
}  # fmt: skip


def exits(seeds: range, workers: int) -> tuple[list[Row], Kept]:
    kept: Kept = []
    for name, (field, ways) in OUTFLOWS.items():
        for noise in (0.0, 0.2, 0.4):
            for seed in range(len(seeds) // 4):
                rng = np.random.default_rng([seed, len(name)])
                x = rng.uniform(-1, 1, size=(400, 2))
                v = field(x)
                v = v + noise * np.median(np.linalg.norm(v, axis=1)) * rng.standard_normal(v.shape)
                found = ew.identify(x, v, graph=ew.FlowGraph())
                if ways is None:
                    right = len(found.exits) == 1
                else:
                    gap = np.array([[np.linalg.norm(e.position - w) for w in ways] for e in found.exits])
                    right = gap.shape == (len(ways), len(ways)) and sorted(gap.argmin(axis=1)) == list(range(len(ways)))
                    right = bool(right and gap.min(axis=1).max() < 0.5)
                kept.append(
                    {
                        "system": name,
                        "noise": noise,
                        "seed": seed,
                        "right": right,
                        "exits": [str(e) for e in found.exits],
                    }
                )
    right = np.array([c["right"] for c in kept])
    by = ", ".join(f"{n}: {np.mean([c['right'] for c in kept if c['system'] == n]):.0%}" for n in OUTFLOWS)
    return [Row("exit regions right", ">= 95 %", f"{right.sum()} of {len(right)}", by, right.mean() >= 0.95)], kept


def arrows(seeds: range, workers: int) -> tuple[list[Row], Kept]:
    """Velocities as they are, reversed, and permuted. Not reversed are those whose opposite is as good a system, and
    nobody can tell: an unstable focus is a well, and of a well in a cycle the border between the two attracts."""
    kept: Kept = []
    reversible = ("unstable_focus", "well_in_a_cycle")
    chosen = [s for s in systems.snapshot_systems if s.name != "unstable_focus"]
    for system in chosen:
        for noise in NOISE:
            for seed in range(max(1, len(seeds) // 7)):
                demos = system.snapshots(300, seed, noise=noise)
                turned = {
                    "right": demos.v,
                    "reversed": -demos.v,
                    "permuted": np.random.default_rng(seed).permutation(demos.v),
                }
                for what, v in turned.items() if seed == 0 else [("right", demos.v)]:
                    if what == "reversed" and system.name in reversible:
                        continue
                    try:
                        said = {c.name for c in ew.identify(demos.x, v, graph=ew.FlowGraph()).warnings}
                    except ew.DataError:
                        said = {"unrelated"}
                    noticed = bool(said & {"reversed", "unrelated"})
                    kept.append({"system": system.name, "noise": noise, "seed": seed, "what": what, "noticed": noticed})
    rate = {w: np.array([c["noticed"] for c in kept if c["what"] == w]) for w in ("right", "reversed", "permuted")}
    rows = [
        Row(f"{w} velocities noticed", ">= 95 %", f"{r.sum()} of {len(r)}", "", r.mean() >= 0.95)
        for w, r in rate.items() if w != "right"
    ]  # fmt: skip
    false = rate["right"]
    return [*rows, Row("false alarms", "<= 1 %", f"{false.sum()} of {len(false)}", "", false.mean() <= 0.01)], kept


def _hopfield() -> System:
    """Two patterns and their opposites in four neurons."""
    patterns = np.array([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]])
    weights = patterns.T @ patterns / 2

    def field(x: np.ndarray) -> np.ndarray:
        return np.tanh(2 * x @ weights) - x

    places = rest(field, np.concatenate([patterns, -patterns]))
    return System("hopfield", field, places, np.array([[-1.5, 1.5]] * 4), 10.0, 25.0, 5, 40.0)


def _timed(number: int, n: int, noise: float) -> dict[str, object]:
    from benchmarks.snapshots import judged

    system = (*systems.snapshot_systems, _hopfield())[number]
    return {"system": system.name, "n": n, "noise": noise} | judged(system, system.snapshots(n, 100, noise=noise))


def speed(seeds: range, workers: int) -> tuple[list[Row], Kept]:
    """Processor time of identify() on snapshots of all systems and of a Hopfield net in 4-D."""
    numbers = range(len(systems.snapshot_systems) + 1)
    kept = each(
        "speed", _timed, [(k, n, noise) for k in numbers for n in (300, 1000, 2000) for noise in NOISE], workers
    )
    seconds = np.array([c["seconds"] for c in kept])
    slowest = max(kept, key=lambda c: c["seconds"])
    beside = f"{sum(bool(c['right']) for c in kept)} of {len(kept)} right, fates {np.nanmean([c['fates'] for c in kept]):.4f}"
    worst = f"{slowest['system']}, {slowest['n']} samples, noise {slowest['noise']:.0%}"
    return [
        Row(
            "snapshots, 300 to 2,000 samples, median",
            "<= 3 s",
            f"{np.median(seconds):.1f} s",
            beside,
            np.median(seconds) <= 3,
        ),
        Row("snapshots, 300 to 2,000 samples, worst", "<= 10 s", f"{seconds.max():.1f} s", worst, seconds.max() <= 10),
    ], kept


PARTS = {"matches": matches, "shares": shares, "sweeps": sweeps, "exits": exits, "arrows": arrows, "speed": speed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    for part in options.parts:
        rows, kept = PARTS[part](range(options.seeds), options.workers)
        report(f"compare-{part}", rows, cases=kept, seeds=options.seeds, noise=NOISE)


if __name__ == "__main__":
    main()
