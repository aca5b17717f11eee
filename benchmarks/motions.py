"""Motions with memory: how they follow what was shown, held-out repetitions of it, and their way back after a push.

Every set is learned from three repetitions of each motion and tested on four more. Distances are as in `field.fit`: root
mean square per point of dynamic time warping, over the extent. Beside the motions: the map, which has no memory, and a
DMP of `movement_primitives` with its own defaults, trained on the first repetition and started at each start, told the
goal (pip install "eigenwell[bench]"; left out, with a word, where it is not installed).

    follow     pen strokes, eights, loops, letters, a trefoil, pick and place: shown and held-out repetitions
    crossing   twelve strokes to four goals, LASA shapes with goals 20 mm apart: own goals, not told
    pushes     pushed by a fifth of the box at a random time, in the user's own loop on motion.step
    anywhere   started with any phase from three times the box, and near the data
    speed      motion.step, and training with memory over without

python -m benchmarks.motions [--parts follow pushes ...] [--seeds 10] [--quick] [--name motions]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks import drawn
from benchmarks.field_costs import Facts
from benchmarks.loops import CLOSE
from benchmarks.motion_loops import anywhere_part, push_part, speed_part
from benchmarks.sets import COMPOSITES, Motions, even, extent_of, learned
from benchmarks.table import Row, report
from eigenwell import metrics
from eigenwell.fields import Field
from eigenwell.fields.fit import Fit
from eigenwell.learning.following import PATIENCE, POINTS, followed
from eigenwell.learning.targets import travel_times

PARTS = ("follow", "crossing", "pushes", "anywhere", "speed")
FAMILIES = ("strokes", "eight", "loop", "letter", "trefoil", "pick")


def dmp_distances(train: Motions, tested: Motions, goals: np.ndarray) -> tuple[list[float], list[float]] | None:
    """Distances and end errors of DMPs trained on the first repetition to each goal, or None where there are none."""
    try:
        from movement_primitives.dmp import DMP
    except ImportError:
        return None
    extent = extent_of(tested)
    distances, ends = [], []
    for paths, tests, goal in zip(train, tested, goals, strict=True):
        clock, shown = even(*paths[0], every=0.01)
        dmp = DMP(n_dims=len(goal), execution_time=float(clock[-1]))
        dmp.imitate(clock, shown)
        for x, v in tests:
            dmp.configure(start_y=x[0], goal_y=goal)
            _, rolled = dmp.open_loop()
            rolled = rolled[np.linspace(0, len(rolled) - 1, POINTS).round().astype(int)]
            distances.append(metrics.dtw_rms(rolled, even(x, v)[1]) / extent)
            ends.append(float(np.linalg.norm(rolled[-1] - goal)) / extent)
    return distances, ends


def measured(name: str) -> dict[str, list[float]]:
    """Distances and end errors of one set, shown and held out: by its motions, by the map, by DMPs."""
    field, train, test = learned(name)
    row: dict[str, list[float]] = {}
    for part, motions in (("shown", train), ("held", test)):
        fits: dict[str, Fit] = {kind: followed(field, motions, memory=kind == "motion") for kind in ("motion", "map")}
        for kind, fit in fits.items():
            row[f"{part}_{kind}"] = [one.distance for one in fit.demonstrations]
            row[f"{part}_{kind}_end"] = [one.end_error for one in fit.demonstrations]
            row[f"{part}_{kind}_own"] = [float(one.arrives) for one in fit.demonstrations]
        dmp = dmp_distances(train, motions, field.attractors)
        if dmp is not None:
            row[f"{part}_dmp"], row[f"{part}_dmp_end"] = dmp
    row["held_untold_own"] = untold(field, test)
    return row


def untold(field: Field, motions: Motions) -> list[float]:
    """1 where `simulate`, told nothing but the start, comes to the demonstration's own goal."""
    right = []
    for q, paths in enumerate(motions):
        for x, v in paths:
            last = field.simulate(x[0], t=np.array([0.0, PATIENCE * travel_times(x, v)[-1]]))[-1]
            away = np.linalg.norm((field.attractors - last) / field.box, axis=1)
            right.append(float(away.argmin() == q and away[q] < CLOSE))
    return right


def _words(rows: Sequence[dict[str, list[float]]], key: str) -> str:
    """Mean, worst and mean end error; of all demonstrations of all sets."""
    if key not in rows[0]:
        return "not installed"
    values, ends = (np.concatenate([row[k] for row in rows]) for k in (key, f"{key}_end"))
    return f"{values.mean():.4f}, worst {values.max():.4f}, end {ends.mean():.4f}"


def _beside(rows: Sequence[dict[str, list[float]]], part: str) -> str:
    return f"map {_words(rows, f'{part}_map')}; DMP {_words(rows, f'{part}_dmp')}"


def family_rows(family: str, table: dict[str, dict[str, list[float]]]) -> list[Row]:
    rows = list(table.values())
    shown, ends, held = (
        np.concatenate([r[k] for r in rows]) for k in ("shown_motion", "shown_motion_end", "held_motion")
    )
    sets = f"{family}, {len(rows)} set{'s' if len(rows) > 1 else ''}"
    met = shown.mean() <= 0.015 and shown.max() <= 0.03 and ends.mean() <= 0.005
    return [
        Row(
            f"{sets}: roll-out distance / extent, mean and worst; end error",
            "<= .015, worst .03, end .005",
            _words(rows, "shown_motion"),
            _beside(rows, "shown"),
            bool(met),
        ),
        Row(
            f"{sets}: held-out repetitions (train 3, test 4)",
            "<= .03 mean",
            _words(rows, "held_motion"),
            _beside(rows, "held"),
            bool(held.mean() <= 0.03),
        ),
    ]


def crossing_rows(name: str, row: dict[str, list[float]]) -> list[Row]:
    own, told = float(np.mean(row["held_untold_own"])), float(np.mean(row["held_motion_own"]))
    distance = float(np.mean(row["held_motion"]))
    return [
        Row(
            f"{name}: test starts that end at their own goal, not told; roll-out distance / extent",
            "100 %; <= .03",
            f"{own:.1%} (told {told:.1%}); {_words([row], 'held_motion')}",
            f"map {np.mean(row['held_map_own']):.1%}; {_beside([row], 'held')}",
            own == 1.0 and distance <= 0.03,
        )
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one set of each kind, few roll-outs")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seeds", type=int, default=10, help="of pen strokes; a third as many eights and loops")
    parser.add_argument("--name", default="motions", help="of the file in benchmarks/results")
    options = parser.parse_args(arguments)
    quick = options.quick
    seeds, fewer, rollouts = (1, 1, 20) if quick else (options.seeds, max(1, options.seeds // 3), 1000)
    sets = {
        family: [f"{family}_{seed}" for seed in range(seeds if family == "strokes" else fewer)] for family in FAMILIES
    }
    sets["letter"] = [f"letter_{name}" for name in list(drawn.LETTERS)[: 1 if quick else None]]
    crossing = ["crossing_0"] if quick else [f"crossing_{seed}" for seed in range(fewer)] + list(COMPOSITES)
    chosen = [sets[family][0] for family in (FAMILIES[:2] if quick else FAMILIES)]
    done: list[Row] = []
    facts: Facts = {}

    def keep(rows: list[Row], more: Facts) -> None:
        """Written after every part: a run that is cut short loses only what it had not reached."""
        done.extend(rows)
        facts.update(more)
        report(options.name, done, **facts)

    if "follow" in options.parts:
        for family in FAMILIES:
            table = {name: measured(name) for name in sets[family]}
            keep(family_rows(family, table), {family: table})
    if "crossing" in options.parts:
        for name in crossing:
            row = measured(name)
            keep(crossing_rows(name, row), {name: row})
    if "pushes" in options.parts:
        keep(*push_part(chosen, rollouts))
    if "anywhere" in options.parts:
        keep(*anywhere_part(chosen, rollouts // 2))
    if "speed" in options.parts:
        keep(*speed_part(["eight_0"] if quick else ["eight_0", "strokes_0"], 2000))


if __name__ == "__main__":
    main()
