"""Compare and sweep against their bars: matches, shares, sweeps, exits, arrows, speed.

python -m benchmarks.compare [--parts PART ...] [--seeds N] [--noise SHARE ...]

Beside the sweeps stand what a user would write: a loop with KMeans and silhouettes of the slow samples, and a loop with
multi-start root finding on the field estimated at each value alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import scipy.optimize
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

import eigenwell as ew
from benchmarks.table import Row, report
from eigenwell import systems
from eigenwell.flow.estimation import estimate
from eigenwell.systems import System, rest, wells

Kept = list[dict[str, object]]
# Set by --noise: standard deviations of velocities, in units of the median speed.
NOISE = (0.0, 0.2, 0.4)


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


def _which(found: ew.Identification, centres: np.ndarray) -> list[int]:
    return [int(np.linalg.norm(centres - a, axis=1).argmin()) for a in found.attractors]


def matches(seeds: range) -> tuple[list[Row], Kept]:
    """12 systems of 2 to 6 wells in 2-D to 4-D; all shift together by up to half the distance of two, each by a tenth more; in a
    third of the seeds one well is gone, in a third one is new."""
    kept: Kept = []
    for k in range(12):
        q, d, paths = 2 + k % 5, 2 + k % 3, k % 2 == 0
        for seed in seeds:
            rng = np.random.default_rng([k, seed])
            places = _centres(rng, q + 1, d)
            gap = float((np.linalg.norm(places[:, None] - places, axis=2) + 99 * np.eye(q + 1)).min())
            shift = rng.standard_normal(d)
            shift *= rng.uniform(0, gap / 2) / np.linalg.norm(shift)
            moved = places + shift + 0.05 * gap * rng.uniform(-1, 1, places.shape)
            what = ("same", "gone", "new")[seed % 3]
            numbers = {"same": (range(q), range(q)), "gone": (range(q), range(q - 1)), "new": (range(q), range(q + 1))}
            asked = [list(one) for one in numbers[what]]
            found = []
            for c, (every, some) in enumerate(zip((places, moved), asked, strict=True)):
                system = _well_system(f"wells{k}", every[some], 0.5)
                data = system.sample(seed=seed + 50 * c) if paths else system.snapshots(300 + 200 * d, seed, noise=0.1)
                found.append(ew.identify(data))
            compared = ew.compare({"a": found[0], "b": found[1]})
            names = [_which(f, every[some]) for f, every, some in zip(found, (places, moved), asked, strict=True)]
            seen_right = all(sorted(n) == list(range(len(s))) for n, s in zip(names, asked, strict=True))
            pairs = {(int(a), int(b)) for a, b in compared.states if a >= 0 and b >= 0}
            right = (
                sum((names[0].index(i), names[1].index(i)) in pairs for i in range(min(map(len, asked))))
                if seen_right
                else 0
            )
            said = sorted(c.what for c in compared.changes if c.what not in ("kept", "moved"))
            meant = {"same": [[]], "gone": [["gone"], ["merged"]], "new": [["new"], ["split"]]}[what]
            kept.append(
                {"system": k, "seed": seed, "what": what, "identified": seen_right, "right": right,
                 "of": min(map(len, asked)), "named": said in meant}
            )  # fmt: skip
    done = [c for c in kept if c["identified"]]
    right, of = sum(c["right"] for c in done), sum(c["of"] for c in done)
    named = [bool(c["named"]) for c in done if c["what"] != "same"]
    beside = f"{len(kept) - len(done)} of {len(kept)} cases left out: a number was wrong before matching"
    return [
        Row("matches right, 12 systems", ">= 98 %", f"{right} of {of} ({right / of:.1%})", beside, right / of >= 0.98),
        Row("new and gone named right", ">= 95 %", f"{sum(named)} of {len(named)}", "", np.mean(named) >= 0.95),
    ], kept


# --- shares -------------------------------------------------------------------------------------------


def shares(seeds: range) -> tuple[list[Row], Kept]:
    """Share of the region in the basin of the first attractor, from 300 noisy samples; the truth by 20,000 exact ones."""
    chosen = (systems.unequal_wells, systems.toggle_switch, systems.saddle, systems.four_wells)
    kept: Kept = []
    for system in chosen:
        truth = (
            np.bincount(system.fate(systems.uniform(system, 20_000, np.random.default_rng(0))), minlength=9) / 20_000
        )
        for seed in range(len(seeds) * 200 // (20 * len(chosen))):
            found = ew.identify(system.snapshots(300, 1000 + seed, noise=0.2))
            if found.n_attractors != len(system.places):
                continue
            compared = ew.compare({"a": found, "b": found})
            near = np.linalg.norm(found.attractors - system.places[0], axis=1).argmin()
            low, high = compared.low[near, 0], compared.high[near, 0]
            kept.append({"system": system.name, "seed": seed, "low": low, "high": high, "truth": truth[0],
                         "covers": bool(low <= truth[0] <= high)})  # fmt: skip
    covers = np.array([c["covers"] for c in kept])
    return [
        Row("90 % interval of a basin's share covers the truth", "85 to 95 %", f"{covers.mean():.1%} of {len(covers)}", "",
            0.85 <= covers.mean() <= 0.95)
    ], kept  # fmt: skip


# --- sweeps -------------------------------------------------------------------------------------------


def _line(f: Callable[[np.ndarray, float], np.ndarray]) -> Callable[[np.ndarray, float], np.ndarray]:
    """x' = f(x, p), and a second coordinate that decays."""
    return lambda x, p: np.stack([f(x[..., 0], p), -x[..., 1]], axis=-1)


def _hopf(x: np.ndarray, p: float) -> np.ndarray:
    square = (x**2).sum(axis=-1, keepdims=True)
    return p * x + np.stack([-x[..., 1], x[..., 0]], axis=-1) - x * square


def _toggle(x: np.ndarray, p: float) -> np.ndarray:
    return p / (1 + np.maximum(x[..., ::-1], 0) ** 2) - x


# Field, values (the change lies in the middle of a step), number, where it changes (None: its number does not), box.
SWEEPS = {
    "pitchfork": (_line(lambda x, p: p * x - x**3), np.linspace(-2, 2, 12), lambda p: 1 + (p > 0), 0.0, (-2, 2)),
    "saddle-node": (
        _line(lambda x, p: x - x**3 + p), np.linspace(-0.165, 0.935, 12), lambda p: 2 - (p > 2 / 27**0.5), 2 / 27**0.5, (-2, 2),
    ),
    "transcritical": (_line(lambda x, p: p * x - x**2), np.linspace(-2, 2, 12), lambda p: 1, None, (-2.5, 2.5)),
    "Hopf": (_hopf, np.linspace(-1, 1, 12), lambda p: 1, 0.0, (-1.7, 1.7)),
    "toggle": (_toggle, np.linspace(0.6, 5.0, 12), lambda p: 1 + (p > 2), 2.0, (0, 5)),
    "cusp": (
        _line(lambda x, p: 0.3 + p * x - x**3), np.linspace(-1.15, 2.85, 12), lambda p: 1 + (p > 3 * 0.15 ** (2 / 3)),
        3 * 0.15 ** (2 / 3), (-2.2, 2.2),
    ),
}  # fmt: skip


def _swept(name: str, noise: float, paths: bool, seed: int) -> dict[str, object]:
    field, values, number, change, (low, high) = SWEEPS[name]
    rng = np.random.default_rng([seed, len(name)])
    every = []
    for p in values:
        x = rng.uniform(low, high, size=(25 if paths else 300, 2))
        if paths:
            with np.errstate(all="ignore"):  # some leave for good
                run = systems.integrate(lambda s, p=p: field(s, p), x, 0.4, 11)
            x = run[np.abs(run).max(axis=2) < 2 * high].reshape(-1, 2)
        v = field(x, p)
        every.append((x, v + noise * np.median(np.linalg.norm(v, axis=1)) * rng.standard_normal(v.shape)))
    start = time.process_time()
    swept = ew.sweep(values, [ew.Demonstrations.from_samples(*one) for one in every], seed=seed)
    spent = time.process_time() - start
    truth = np.array([number(p) for p in values])
    step, alone = values[1] - values[0], seed == 0 and noise == 0.2 and not paths
    mine = [e for e in swept.events if change is not None and abs(e.value - change) < 3 * step]
    event = min(mine, key=lambda e: abs(e.value - change)) if mine else None
    return {
        "system": name, "noise": noise, "paths": paths, "seed": seed, "seconds": spent,
        "right": float((swept.n_attractors == truth).mean()),
        "covers": None if change is None else bool(event is not None and event.low <= change <= event.high),
        "width": None if event is None else float((event.high - event.low) / step),
        "events": [str(e) for e in swept.events],
        "silhouettes": float(np.mean([_silhouettes(*one) == t for one, t in zip(every, truth, strict=True)])),
        "roots": float(np.mean([_roots(*one) == t for one, t in zip(every, truth, strict=True)])) if alone else None,
    }  # fmt: skip


def _silhouettes(x: np.ndarray, v: np.ndarray) -> int:
    """KMeans of the slowest fifth; one cluster where no silhouette reaches a half."""
    speed = np.linalg.norm(v, axis=1)
    slow = x[speed <= np.quantile(speed, 0.2)]
    scores = {k: silhouette_score(slow, KMeans(k, n_init=2, random_state=0).fit_predict(slow)) for k in range(2, 6)}
    best = max(scores, key=lambda k: scores[k])
    return best if scores[best] > 0.5 else 1


def _roots(x: np.ndarray, v: np.ndarray) -> int:
    """Stable zeros of the field estimated at this value alone, from 30 starts."""
    seen = estimate(x, v)
    found: list[np.ndarray] = []
    for start in seen.y[:30]:
        at = scipy.optimize.root(lambda y: seen.field(y[None])[0], start, tol=1e-8)
        stable = at.success and np.linalg.eigvals(seen.field.jacobian(at.x[None])[1][0]).real.max() < 0
        inside = np.abs(at.x).max() < np.abs(seen.y).max()
        if stable and inside and all(np.linalg.norm(at.x - f) > 1e-3 for f in found):
            found.append(at.x)
    return len(found)


def sweeps(seeds: range) -> tuple[list[Row], Kept]:
    kept = []
    for seed in range(max(1, len(seeds) // 10)):
        for name in SWEEPS:
            for noise in NOISE:
                for paths in (False, True):
                    kept.append(_swept(name, noise, paths, seed))
                    print(
                        "  ",
                        {k: kept[-1][k] for k in ("system", "noise", "paths", "right", "covers", "width")},
                        flush=True,
                    )
    right = np.array([c["right"] for c in kept])
    covers = np.array([c["covers"] for c in kept if c["covers"] is not None])
    widths = np.array([c["width"] for c in kept if c["width"] is not None])
    roots = [c["roots"] for c in kept if c["roots"] is not None]
    beside = (
        f"KMeans and silhouettes {np.mean([c['silhouettes'] for c in kept]):.1%}, multi-start roots at each value alone "
        f"{np.mean(roots):.1%} (snapshots, noise 20 %, where we have "
        f"{np.mean([c['right'] for c in kept if c['roots'] is not None]):.1%}); by noise "
        + ", ".join(f"{n:.0%}: {np.mean([c['right'] for c in kept if c['noise'] == n]):.1%}" for n in NOISE)
        + "; by system "
        + ", ".join(f"{s}: {np.mean([c['right'] for c in kept if c['system'] == s]):.1%}" for s in SWEEPS)
    )
    by = ", ".join(
        f"{s}: {np.mean([bool(c['covers']) for c in kept if c['system'] == s]):.0%}"
        for s in SWEEPS
        if SWEEPS[s][3] is not None
    )
    return [
        Row(
            "sweep: number right",
            ">= 98 % of values",
            f"{right.mean():.1%} of {12 * len(right)}",
            beside,
            right.mean() >= 0.98,
        ),
        Row(
            "change within its 90 % interval",
            ">= 85 %",
            f"{covers.mean():.1%} of {len(covers)}",
            by,
            covers.mean() >= 0.85,
        ),
        Row(
            "widest interval, in steps",
            "<= 2",
            f"{widths.max():.2f}",
            f"median {np.median(widths):.2f}",
            widths.max() <= 2.001,
        ),
        Row(
            "a sweep of 12 values, processor time", "told", f"{np.median([c['seconds'] for c in kept]):.1f} s", "", True
        ),
    ], kept


# --- exits, arrows, speed -----------------------------------------------------------------------------

# Field and the middles of the sides of the square (-1, 1)^2 through which it leaves; "all round" where all sides are one region.
OUTFLOWS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], list[tuple[float, float]] | None]] = {
    "saddle": (lambda x: x * [1, -1], [(1, 0), (-1, 0)]),
    "channel": (lambda x: np.stack([np.ones(len(x)), -0.5 * x[:, 1]], 1), [(1, 0)]),
    "well with two ways out": (lambda x: np.stack([x[:, 0] ** 3 * 4 - x[:, 0], -x[:, 1]], 1), [(1, 0), (-1, 0)]),
    "source": (lambda x: x @ np.array([[0.5, 1.0], [-1.0, 0.5]]), None),
    "fork": (lambda x: np.stack([x[:, 0], np.full(len(x), 0.3) - 0.5 * x[:, 1]], 1), [(1, 0.6), (-1, 0.6)]),
}  # fmt: skip


def exits(seeds: range) -> tuple[list[Row], Kept]:
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


def arrows(seeds: range) -> tuple[list[Row], Kept]:
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


def speed(seeds: range) -> tuple[list[Row], Kept]:
    from benchmarks.snapshots import judged

    kept: Kept = []
    for system in (*systems.snapshot_systems, _hopfield()):
        for n in (300, 1000, 2000):
            for noise in NOISE:
                demos = system.snapshots(n, 100, noise=noise)
                kept.append({"system": system.name, "n": n, "noise": noise} | judged(system, demos))
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
    global NOISE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--noise", type=float, nargs="*", default=NOISE)
    options = parser.parse_args()
    NOISE = tuple(options.noise)
    for part in options.parts:
        rows, kept = PARTS[part](range(options.seeds))
        report(f"compare-{part}", rows, cases=kept, seeds=options.seeds, noise=NOISE)


if __name__ == "__main__":
    main()
