"""Calm between the data: do paths turn, wander or leave the box where nothing was shown?

From a 16 x 16 grid over 1.1 boxes of every planar set, along the solutions of the map themselves: total turning of the path
in degrees, its length over the straight way to where it ends, how far beyond the box it goes; and how the strokes are
followed, as shares of the extent. The sets are drawings made here (straight bundles, mirrored and turned ones, drawings of
several goals), LASA shapes, and the strokes of SQUID's authors where `EIGENWELL_SQUID` names their folder.

python -m benchmarks.calm [--quick] [--sets bundles ...] [--name calm]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.sets import Motions, Paths
from benchmarks.table import Row, report
from eigenwell import datasets
from eigenwell.fields import Field, StableField, curves
from eigenwell.fields.stable import from_latent, latent
from eigenwell.learning.learner import learn_motions
from eigenwell.velocities import estimate_velocities

GRID, REGION = 16, 1.1
CLOSE = 0.01
"""A path is looked at until it is this near to an attractor, in boxes."""
EVEN = 200
"""Points, even in length, at which the turning of a path is summed up."""
SHAPES = ("Angle", "GShape", "Sshape")
RATE = 60.0
"""Samples per second of a drawing."""


@dataclass(frozen=True, eq=False)
class Calm:
    """Of the paths from a grid: degrees turned, length over straight way, boxes outside; NaN for one that does not end."""

    turning: np.ndarray
    ratio: np.ndarray
    outside: np.ndarray

    def row(self) -> dict[str, float]:
        return {
            "turning": float(np.nanmedian(self.turning)),
            "turning_95": float(np.nanquantile(self.turning, 0.95)),
            "ratio": float(np.nanmedian(self.ratio)),
            "ratio_95": float(np.nanquantile(self.ratio, 0.95)),
            "outside": float(np.nanmax(self.outside)),
            "lost": float(np.isnan(self.turning).mean()),
        }


def grid(low: np.ndarray, high: np.ndarray, times: float = REGION, count: int = GRID) -> np.ndarray:
    """count x count states over `times` the box."""
    middle, half = (low + high) / 2, times * (high - low) / 2
    axes = [np.linspace(m - h, m + h, count) for m, h in zip(middle, half, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))


def solution(field: StableField, x0: np.ndarray, steps: int = 700) -> np.ndarray:
    """Points (m, steps + 1, d) on the solution curves from some states, close together, whatever their clock says."""
    y = [latent(field.model, field.to_unit(x0).T)]
    for _ in range(steps):
        y.append(curves.advance(field.wells, y[-1], curves.longest_step(field.wells) / 4))
    nodes = np.stack(y, axis=2)
    x = from_latent(field.model, nodes.reshape(len(nodes), -1)).reshape(nodes.shape)
    return field.from_unit(np.moveaxis(x, 0, -1))


def calm(field: Field, starts: np.ndarray | None = None) -> Calm:
    """How the map goes home from the grid."""
    low, high, box = field.samples.min(0), field.samples.max(0), field.box
    starts = grid(low, high) if starts is None else starts
    paths = solution(field.map, starts)
    away = np.linalg.norm((paths[:, :, None] - field.attractors) / box, axis=3).min(2)
    turning, ratio, outside = np.full((3, len(starts)), np.nan)
    for k, (path, near) in enumerate(zip(paths, away, strict=True)):
        arrived = np.flatnonzero(near < CLOSE)
        if len(arrived) == 0:
            continue
        part = path[: arrived[0] + 1] / box
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(part, axis=0), axis=1))])
        outside[k] = max(0.0, float(np.maximum(low / box - part, part - high / box).max()))
        if length[-1] < 5 * CLOSE:
            turning[k], ratio[k] = 0.0, 1.0
            continue
        even = np.column_stack([np.interp(np.linspace(0, length[-1], EVEN), length, c) for c in part.T])
        way = np.diff(even, axis=0)
        way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
        turning[k] = float(np.degrees(np.arccos(np.clip((way[1:] * way[:-1]).sum(1), -1, 1)).sum()))
        ratio[k] = length[-1] / np.linalg.norm(part[-1] - part[0])
    return Calm(turning, ratio, outside)


# --- drawings -----------------------------------------------------------------------------------------


def stroke(knots: np.ndarray, seconds: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """A smooth stroke through some knots, at rest at both ends, with estimated velocities."""
    from scipy.interpolate import CubicSpline

    share = np.linspace(0.0, 1.0, int(seconds * RATE))
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    x = CubicSpline(length / length[-1], knots)(share**3 * (10 - 15 * share + 6 * share**2))
    return x, estimate_velocities(x, share * seconds)


def bundle(rng: np.random.Generator, knots: np.ndarray, count: int = 3, wobble: float = 0.04) -> Paths:
    """Repetitions of a stroke that differ most at their start and end together."""
    knots = np.asarray(knots, dtype=np.float64)
    fade = np.linspace(1.0, 0.05, len(knots))[:, None]
    return [stroke(knots + wobble * fade * rng.standard_normal(knots.shape)) for _ in range(count)]


def bundles(seed: int) -> Motions:
    """Five bundles of straight strokes from the rim to goals around the middle."""
    rng = np.random.default_rng([seed, 51])
    motions = []
    for k in range(5):
        angle = 2 * np.pi * (k + 0.3 * rng.uniform(-1, 1)) / 5
        way = np.array([np.cos(angle), np.sin(angle)])
        side = np.array([-way[1], way[0]]) * rng.uniform(-0.4, 0.4)
        start, goal = way + side, 0.3 * way
        motions.append(bundle(rng, [start, (start + goal) / 2, goal]))
    return motions


def mirrored(seed: int) -> Motions:
    """Two curved bundles and their mirror images: the border is the axis between them."""
    rng = np.random.default_rng([seed, 52])
    one = bundle(rng, [[0.1, 0.9], [0.5, 0.7], [0.8, 0.2], [0.55, -0.2]], wobble=0.05)
    flip = np.array([-1.0, 1.0])
    return [one, [(x * flip, v * flip) for x, v in one]]


def turned(seed: int) -> Motions:
    """A hook to one goal, turned by a quarter three times."""
    rng = np.random.default_rng([seed, 53])
    one = bundle(rng, [[1.0, 0.2], [0.8, 0.7], [0.4, 0.6], [0.35, 0.3]])
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    motions, turn = [], np.eye(2)
    for _ in range(4):
        motions.append([(x @ turn.T, v @ turn.T) for x, v in one])
        turn = quarter @ turn
    return motions


def hooks(seed: int) -> Motions:
    """A long hooked drawing beside two short ones, as capricorns and hands draw them."""
    rng = np.random.default_rng([seed, 54])
    return [
        bundle(rng, [[-1.0, 0.8], [-0.5, 0.2], [-0.1, 0.9], [0.3, 0.3], [0.9, 0.5], [0.7, -0.2]]),
        bundle(rng, [[-0.9, -0.3], [-0.5, -0.8], [0.0, -0.5], [-0.3, -0.2]]),
        bundle(rng, [[1.0, -0.9], [0.6, -0.6], [0.3, -0.9]]),
    ]


def spread(seed: int) -> Motions:
    """Six goals anywhere, a curved bundle to each."""
    rng = np.random.default_rng([seed, 55])
    motions = []
    for k in range(6):
        goal = np.array([(k % 3) - 1.0, (k // 3) - 0.5]) + rng.uniform(-0.15, 0.15, 2)
        away = rng.standard_normal(2)
        start = goal + 0.45 * away / np.linalg.norm(away)
        middle = (start + goal) / 2 + 0.12 * rng.standard_normal(2)
        motions.append(bundle(rng, [start, middle, goal], wobble=0.03))
    return motions


def lasa(shape: str) -> Motions:
    return [list(datasets.lasa(shape, [0, 1, 2], every=5).trajectories())]


def squid_folder() -> Path | None:
    """Where SQUID's strokes are: nobody may pass them on."""
    named = os.environ.get("EIGENWELL_SQUID")
    return Path(named) if named else None


def squid_strokes(number: int) -> list[np.ndarray]:
    folder = squid_folder()
    assert folder is not None
    with np.load(folder / f"set_{number}.npz") as kept:
        return [np.asarray(kept[name], dtype=np.float64) for name in sorted(kept.files)]


def squid(number: int) -> Motions:
    import eigenwell as ew
    from eigenwell.learning.sources import motions_of

    found = ew.identify(squid_strokes(number), dt=1 / RATE)
    return list(map(list, motions_of(found, list(range(found.n_attractors)))))


def sets() -> dict[str, Callable[[], Motions]]:
    known: dict[str, Callable[[], Motions]] = {
        "bundles": lambda: bundles(0),
        "bundles_1": lambda: bundles(1),
        "mirrored": lambda: mirrored(0),
        "turned": lambda: turned(0),
        "hooks": lambda: hooks(0),
        "spread": lambda: spread(0),
    }
    known |= {shape: lambda shape=shape: lasa(shape) for shape in SHAPES}  # type: ignore[misc]
    if squid_folder() is not None:
        known |= {f"squid_{k}": lambda k=k: squid(k) for k in (2, 5, 10)}  # type: ignore[misc]
    return known


def learned(motions: Motions) -> Field:
    places = np.array([np.mean([x[-1] for x, _ in paths], axis=0) for paths in motions])
    return learn_motions(motions, places, memory=False, toward=False)


def measured(motions: Motions) -> dict[str, float]:
    field = learned(motions)
    fit = field.map_fit
    assert fit is not None
    return calm(field).row() | {"fit": 100 * fit.distance, "worst": 100 * fit.worst.distance, "own": fit.arrives}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three sets")
    parser.add_argument("--sets", nargs="+", choices=list(sets()))
    parser.add_argument("--name", default="calm", help="of the file in benchmarks/results")
    options = parser.parse_args(arguments)
    names = options.sets or (["bundles", "mirrored", "Angle"] if options.quick else list(sets()))
    table = {}
    for name in names:
        table[name] = measured(sets()[name]())
        print(f"  {name:10}", "  ".join(f"{key} {value:.3g}" for key, value in table[name].items()), flush=True)
    rows: list[Row] = []
    for kind, mine in (
        ("drawings", [n for n in table if n not in SHAPES]),
        ("LASA shapes", [n for n in table if n in SHAPES]),
    ):
        if mine:
            rows += _rows(kind, [table[name] for name in mine], barred=kind == "drawings")
    report(options.name, rows, sets=table)


def _rows(kind: str, table: Sequence[dict[str, float]], *, barred: bool) -> list[Row]:
    """Bars are for drawings to several goals; one motion that winds its way from anywhere turns as it was shown to."""
    mean = {key: float(np.mean([row[key] for row in table])) for key in table[0]}
    most = max(row["outside"] for row in table)
    return [
        Row(
            f"{kind}: turning of paths from a grid over {REGION} boxes, degrees, median / 95 %, mean of {len(table)} sets",
            "<= 130 / 300" if barred else "none",
            f"{mean['turning']:.0f} / {mean['turning_95']:.0f}",
            "",
            not barred or (mean["turning"] <= 130 and mean["turning_95"] <= 300),
        ),
        Row(
            f"{kind}: path over straight way, median / 95 %",
            "<= 1.15 / 1.8" if barred else "none",
            f"{mean['ratio']:.2f} / {mean['ratio_95']:.2f}",
            "",
            not barred or (mean["ratio"] <= 1.15 and mean["ratio_95"] <= 1.8),
        ),
        Row(f"{kind}: largest excursion, in boxes", "<= .25", f"{most:.2f}", "", most <= 0.25),
        Row(
            f"{kind}: distance of the strokes from the map's roll-outs, % of the extent, mean (worst)",
            "none",
            f"{mean['fit']:.2f} ({max(row['worst'] for row in table):.1f})",
            "",
            True,
        ),
    ]


if __name__ == "__main__":
    main()
