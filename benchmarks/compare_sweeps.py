"""Sweeps against their bars: six bifurcations, three noise levels, trajectories and snapshots.

Beside them stand what a user would write: a loop with KMeans and silhouettes of the slow samples, and a loop with
multi-start root finding on the field estimated at each value alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.optimize
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

import eigenwell as ew
from benchmarks.cases import each
from benchmarks.table import Row
from eigenwell import systems
from eigenwell.flow.estimation import estimate

# Standard deviations of velocities, in units of the median speed.
NOISE = (0.0, 0.2, 0.4)

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
        "silhouettes": float(np.mean([len(silhouettes(*one)) == t for one, t in zip(every, truth, strict=True)])),
        "roots": float(np.mean([len(roots(*one)) == t for one, t in zip(every, truth, strict=True)])) if alone else None,
    }  # fmt: skip


def silhouettes(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Centres of KMeans of the slowest fifth; one cluster where no silhouette reaches a half."""
    speed = np.linalg.norm(v, axis=1)
    slow = x[speed <= np.quantile(speed, 0.2)]
    fitted = {k: KMeans(k, n_init=2, random_state=0).fit(slow) for k in range(1, 8)}
    scores = {k: silhouette_score(slow, f.labels_) for k, f in fitted.items() if k > 1}
    best = max(scores, key=lambda k: scores[k])
    return fitted[best if scores[best] > 0.5 else 1].cluster_centers_


def roots(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Stable zeros of the field estimated from these samples alone, from 30 starts."""
    seen = estimate(x, v)
    found: list[np.ndarray] = []
    for start in seen.y[:30]:
        at = scipy.optimize.root(lambda y: seen.field(y[None])[0], start, tol=1e-8)
        stable = at.success and np.linalg.eigvals(seen.field.jacobian(at.x[None])[1][0]).real.max() < 0
        inside = np.abs(at.x).max() < np.abs(seen.y).max()
        if stable and inside and all(np.linalg.norm(at.x - f) > 1e-3 for f in found):
            found.append(at.x)
    return seen.frame.leave(np.array(found).reshape(-1, seen.y.shape[1]))


def sweeps(seeds: range, workers: int) -> tuple[list[Row], list[dict[str, object]]]:
    numbers = range(max(1, len(seeds) // 10))
    cases = [
        (name, noise, paths, seed) for seed in numbers for name in SWEEPS for noise in NOISE for paths in (False, True)
    ]
    kept = each("sweeps", _swept, cases, workers)
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
