"""One field for all attractors, beside the patchwork of version 0.1 rebuilt and trained in the same run.

For every set: sample, shuffle, identify, learn; then the user's own loop, x += dt * field.predict(x) at 100 Hz, from
starts spread evenly over the box of the data. The patchwork is a field for each attractor alone, of which the nearest
sample's label picks one anew at every call.

    systems   loops, fates, cosine error over the box and jumps on known systems
    strokes   the same loops on pen strokes
    side      LASA motions side by side: one map beside separate fields that are told the goal
    far       the way home from 3, 10 and 100 times the box
    advance   loops on `advance` at 10, 100 and 1,000 Hz from three times the box
    speed     training for three attractors
    single    what one state costs a controller: predict, advance, motions; and many basins
    exports   the same loops through ONNX and the C header

python -m benchmarks.fields [--parts systems far ...] [--seeds 3] [--quick] [--name fields]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from math import inf

import numpy as np

from benchmarks.field_costs import THREE, Facts, export_part, single_part, speed_part
from benchmarks.loops import PATIENCE, RATE, Box, Driven, Patchwork, drive, home, jump
from benchmarks.sets import of_strokes, of_system, placed
from benchmarks.table import Row, report
from eigenwell import metrics, systems
from eigenwell.fields import Field
from eigenwell.fields.loops import nearly_there, run_loops
from eigenwell.learning.learner import learn_motions
from eigenwell.systems import System

PARTS = ("systems", "strokes", "side", "far", "advance", "speed", "single", "exports")
KNOWN = (
    systems.heart,
    systems.pendulum,
    systems.duffing,
    systems.four_wells,
    systems.toggle_switch,
    systems.five_wells,
    systems.eight_wells,
)
FATES = {"duffing": 0.93, "pendulum": 0.95, "four_wells": 0.93}
COSINES = {"duffing": 0.002, "heart": 0.04, "pendulum": 0.12, "four_wells": 0.2}
SIDES = (THREE, ("WShape", "CShape", "Leaf_1", "Sine"))
FAR = ("Angle", "GShape", "Leaf_1", "Sine", "Sshape", "WShape")
LAST_STEPS = 3000
SPARSE = 4
"""Every fourth start is driven through the patchwork too: loops that never arrive cost all of their time."""
NEARBY = (1e-3, 1e-6, 1e-9)


def loops(field: Field, old: Patchwork, starts: np.ndarray, seconds: float) -> tuple[Driven, Driven, dict[str, float]]:
    """Loops on the one field and on the patchwork, and their shares."""
    box = Box.of(field)
    new = drive(field.predict, starts, field.attractors, box, seconds)
    few = starts[::SPARSE]
    patched = drive(old.predict, few, field.attractors, box, seconds)
    near, near_few = ~field.far(starts), ~field.far(few)
    shares = {
        "arrived": new.arrived,
        "as_basin_said": float((new.ends == field.basin(starts)).mean()),
        "left_the_box": float((new.outside[near] > 0.25).mean()) if near.any() else 0.0,
        "patchwork_arrived": patched.arrived,
        "patchwork_as_basin_said": float((patched.ends == old.basin(few)).mean()),
        "patchwork_left_the_box": float((patched.outside[near_few] > 0.25).mean()) if near_few.any() else 0.0,
    }
    return new, patched, shares


def one_system(system: System, seed: int, starts: int) -> dict[str, float]:
    """Everything that is measured of one set of samples of a known system."""
    field, motions, duration = of_system(system.name, seed)
    old, box = Patchwork(motions, field.attractors), Box.of(field)
    rng = np.random.default_rng([seed, 1])
    x = box.uniform(rng, starts)
    # The found attractors in the order of the true ones; a true fate of -1 settles in none of them and is left out.
    names = np.linalg.norm(field.attractors[:, None] - system.attractors, axis=2).argmin(1)
    new, _, row = loops(field, old, x, PATIENCE * duration)
    true = system.fate(x)
    known = true >= 0
    # What Euler's steps do to the system's own equations, and what is left of it where `predict` is told the step.
    itself = drive(system.field, x, system.attractors, box, PATIENCE * duration)
    row["euler_on_the_system"] = float((itself.ends == true)[known].mean())
    few = x[::SPARSE]
    told = drive(lambda at: field.predict(at, 1 / RATE), few, field.attractors, box, PATIENCE * duration)
    row["told_arrived"], row["told_as_basin_said"] = told.arrived, float((told.ends == field.basin(few)).mean())
    row["found"], row["expected"] = field.n_attractors, len(system.attractors)
    row["fate"] = float(((new.ends >= 0) & (names[new.ends] == true))[known].mean())
    row["patchwork_fate"] = float((names[old.basin(x)] == true)[known].mean())
    wide = box.uniform(rng, 4 * starts)
    v = system.field(wide)
    row["cosine_error"] = metrics.cosine_error(field.predict(wide), v)
    row["patchwork_cosine_error"] = metrics.cosine_error(old.predict(wide), v)
    for label, predict in (("", field.predict), ("patchwork_", old.predict)):
        for apart, size in zip(NEARBY, jump(predict, box, NEARBY), strict=True):
            row[f"{label}jump_{apart:g}"] = size
    return row


def system_rows(name: str, by_seed: dict[int, dict[str, float]]) -> list[Row]:
    """The rows of one system: the worst of its seeds for what must always hold, their mean for accuracy."""
    rows = list(by_seed.values())
    least = ("arrived", "as_basin_said", "patchwork_arrived", "told_arrived", "told_as_basin_said")
    worst = {key: min(row[key] for row in rows) for key in least}
    most = {key: max(row[key] for row in rows) for key in rows[0]}
    mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    bar, limit = FATES.get(name), COSINES.get(name)
    better = all(row["fate"] > row["patchwork_fate"] for row in rows) or mean["fate"] == 1.0
    seeds = f"{name}, {len(rows)} seed{'s' if len(rows) > 1 else ''}"
    said = "; ".join(
        f"found {r['found']:.0f} attractors at seed {s}" for s, r in by_seed.items() if r["found"] != r["expected"]
    )
    lost = f"; {said}" if said else ""
    return [
        Row(
            f"{seeds}: loop on predict arrives / where basin said, worst",
            "100 % / 99.5 %",
            f"{worst['arrived']:.2%} / {worst['as_basin_said']:.2%}{lost}",
            f"patchwork {worst['patchwork_arrived']:.2%}, mean {mean['patchwork_arrived']:.2%}",
            worst["arrived"] == 1.0 and worst["as_basin_said"] >= 0.995,
        ),
        Row(
            f"{seeds}: loop on predict(x, dt) arrives / where basin said, worst",
            "100 % / 99.5 %",
            f"{worst['told_arrived']:.2%} / {worst['told_as_basin_said']:.2%}",
            f"the system's own equations by Euler's rule: {mean['euler_on_the_system']:.2%} where they should, mean",
            worst["told_arrived"] == 1.0 and worst["told_as_basin_said"] >= 0.995,
        ),
        Row(
            f"{seeds}: fate as the true system's, mean",
            "better than the patchwork" + (f", {bar}" if bar else ""),
            f"{mean['fate']:.3f}",
            f"patchwork's basin {mean['patchwork_fate']:.3f}",
            better and mean["fate"] >= (bar or 0.0),
        ),
        Row(
            f"{seeds}: cosine error over the box, mean",
            f"<= {limit}" if limit else "none",
            f"{mean['cosine_error']:.4f}",
            f"patchwork {mean['patchwork_cosine_error']:.4f}",
            limit is None or mean["cosine_error"] <= limit,
        ),
        Row(
            f"{seeds}: not-far starts that leave the box by a quarter, worst",
            "<= 1 %",
            f"{most['left_the_box']:.2%}",
            f"patchwork {most['patchwork_left_the_box']:.2%}",
            most["left_the_box"] <= 0.01,
        ),
        Row(
            f"{seeds}: largest jump over 1e-3, 1e-6, 1e-9 of the box, share of the top speed",
            "< 1e-6 at 1e-9",
            " / ".join(f"{most[f'jump_{a:g}']:.1e}" for a in NEARBY),
            "patchwork " + " / ".join(f"{most[f'patchwork_jump_{a:g}']:.1e}" for a in NEARBY),
            most["jump_1e-09"] < 1e-6,
        ),
    ]


def system_part(known: Sequence[System], seeds: Sequence[int], starts: int, keep: Callable[..., None]) -> None:
    for system in known:
        # Identification of random trajectories is not the same task at every seed; Duffing is asked at all of them.
        own = seeds if system.name == "duffing" else seeds[:1]
        by_seed = {seed: one_system(system, seed, starts) for seed in own}
        keep(system_rows(system.name, by_seed), **{f"system_{system.name}": by_seed})


def stroke_part(seeds: Iterable[int], starts: int) -> tuple[list[Row], Facts]:
    table = {}
    for seed in seeds:
        field, motions, duration = of_strokes(seed)
        box = Box.of(field)
        x = box.uniform(np.random.default_rng([seed, 1]), starts)
        table[seed] = loops(field, Patchwork(motions, field.attractors), x, 2 * PATIENCE * duration)[2]
    rows = list(table.values())
    worst = {key: (max if "left" in key else min)(row[key] for row in rows) for key in rows[0]}
    return [
        Row(
            f"pen strokes, {len(rows)} seed(s): loop on predict arrives / where basin said, worst",
            "100 % / 99.5 %",
            f"{worst['arrived']:.2%} / {worst['as_basin_said']:.2%}",
            f"patchwork {worst['patchwork_arrived']:.2%} / {worst['patchwork_as_basin_said']:.2%}",
            worst["arrived"] == 1.0 and worst["as_basin_said"] >= 0.995,
        ),
        Row(
            f"pen strokes, {len(rows)} seed(s): not-far starts that leave the box by a quarter, worst",
            "<= 1 %",
            f"{worst['left_the_box']:.2%}",
            f"patchwork {worst['patchwork_left_the_box']:.2%}",
            worst["left_the_box"] <= 0.01,
        ),
    ], {"strokes": table}


def side_part(sets: Sequence[Sequence[str]]) -> tuple[list[Row], Facts]:
    rows, facts = [], {}
    for shapes in sets:
        motions, goals = placed(shapes, 70.0, (0, 1, 2))
        tested, _ = placed(shapes, 70.0, (3, 4, 5, 6))
        field = learn_motions(motions, goals, memory=False, toward=False)
        told = Patchwork(motions, goals).fields
        x, v = (np.concatenate([path[k] for paths in tested for path in paths]) for k in (0, 1))
        apart = np.concatenate([told[q].predict(x) for q, paths in enumerate(tested) for x, _ in paths])
        starts = np.array([x[0] for paths in tested for x, _ in paths])
        own = np.repeat(np.arange(len(shapes)), [len(paths) for paths in tested])
        ends = drive(field.predict, starts, goals, Box.of(field), 100.0).ends
        joint, separate = metrics.cosine_error(field.predict(x), v), metrics.cosine_error(apart, v)
        right, arrived = float((ends == own).mean()), float((ends >= 0).mean())
        rows.append(
            Row(
                f"{', '.join(shapes)} side by side: test cosine error / test starts that end right",
                "below separate fields told the goal / 100 %",
                f"{joint:.4f} / {right:.1%}",
                f"separate fields told the goal {separate:.4f}; {arrived:.1%} of the loops arrive somewhere",
                joint < separate and right == 1.0,
            )
        )
        facts["-".join(shapes)] = {
            "joint": joint,
            "separate": separate,
            "right": right,
            "arrived": arrived,
            "ends": ends.tolist(),
        }
    return rows, {"side": facts}


def far_part(known: Sequence[System], shapes: Sequence[str], starts: int) -> tuple[list[Row], Facts]:
    fields = {system.name: of_system(system.name, 0)[0] for system in known}
    fields["strokes"] = of_strokes(0)[0]
    for shape in shapes:
        fields[shape] = learn_motions(*placed([shape], 0.0, (0, 1, 2)), memory=False)
    rows, table = [], {}
    for name, field in fields.items():
        box, rng, row = Box.of(field), np.random.default_rng(7), {}
        for times in (3, 10, 100):
            went = home(field.map, box.surface(rng, starts, times), box)
            row[f"arrived_{times}"] = float(went["arrived"].mean())
            for key in ("whole", "entry"):
                values = went[key][went["arrived"]]
                row[f"{key}_{times}"] = (
                    [float(q) for q in np.quantile(values, [0.5, 0.95])] if len(values) else [inf, inf]
                )
        table[name] = row
        whole = [f"{a:.2f}, {b:.2f}" for a, b in (row[f"whole_{times}"] for times in (3, 10))]
        entry = [f"{a:.2f}, {b:.2f}" for a, b in (row[f"entry_{times}"] for times in (3, 10))]
        rows.append(
            Row(
                f"{name}: path / straight distance (median, 95 %) from 3 x / 10 x the box; arrive from 100 x",
                "95 %: 2 / 1.5; 100 %",
                f"{' / '.join(whole)}; {row['arrived_100']:.1%}",
                f"until the box is entered {' / '.join(entry)}",
                row["whole_3"][1] <= 2 and row["whole_10"][1] <= 1.5 and row["arrived_100"] == 1.0,
            )
        )
    return rows, {"far": table}


def advance_part(known: Sequence[System], starts: int) -> tuple[list[Row], Facts]:
    """Until they have arrived; at 1,000 Hz the last steps of the way, since a whole one is tens of thousands."""
    rows, table = [], {}
    for system in known:
        field, _, _ = of_system(system.name, 0)
        rng = np.random.default_rng([0, 2])
        for rate, few in ((10.0, 1), (100.0, 5), (1000.0, 20)):
            x = Box.of(field).uniform(rng, max(10, starts // few), 3.0)
            if rate == 1000.0:
                x = nearly_there(field, x, LAST_STEPS / rate * rng.uniform(0.25, 1.0, len(x)))
            (loop,) = run_loops(field, x, rate, np.full(len(x), 3.0), "advance")
            said = f"{loop.arrived:.2%} / {loop.as_basin_said:.2%} / {loop.falling:.2%}"
            what = f"{system.name}: {len(x)} loops on advance at {rate:g} Hz arrive / where basin said / steps at which V falls"
            rows.append(Row(what, "100 %, all three", said, "", loop.holds))
            table[f"{system.name}_{rate:g}"] = [loop.arrived, loop.as_basin_said, loop.falling]
    return rows, {"advance": table}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two systems, few starts, one seed")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seeds", type=int, default=3, help="of Duffing and of pen strokes; the bars ask for 10")
    parser.add_argument("--name", default="fields", help="of the file in benchmarks/results")
    options = parser.parse_args(arguments)
    quick = options.quick
    starts, seeds = (60, range(1)) if quick else (1000, range(options.seeds))
    known = (systems.heart, systems.four_wells) if quick else KNOWN
    done: list[Row] = []
    facts: Facts = {}

    def keep(rows: list[Row], **more: object) -> None:
        """Written after every part: a run that is cut short loses only what it had not reached."""
        done.extend(rows)
        facts.update(more)
        report(options.name, done, **facts)

    if "systems" in options.parts:
        system_part(known, seeds, starts, keep)
    if "strokes" in options.parts:
        rows, more = stroke_part(seeds, starts)
        keep(rows, **more)
    if "side" in options.parts:
        rows, more = side_part(SIDES[:1] if quick else SIDES)
        keep(rows, **more)
    if "far" in options.parts:
        rows, more = far_part(known[:1] if quick else known, FAR[:1] if quick else FAR, starts // 5)
        keep(rows, **more)
    if "advance" in options.parts:
        rows, more = advance_part((systems.duffing, systems.three_d) if quick else KNOWN, starts)
        keep(rows, **more)
    if "speed" in options.parts:
        rows, more = speed_part()
        keep(rows, **more)
    if "single" in options.parts:
        rows, more = single_part()
        keep(rows, **more)
    if "exports" in options.parts:
        rows, more = export_part((systems.heart,) if quick else (systems.duffing, systems.four_wells), starts)
        keep(rows, **more)


if __name__ == "__main__":
    main()
