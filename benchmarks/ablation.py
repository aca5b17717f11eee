"""Does every number earn its place? Each constant of identification and learning halved, doubled or taken out.

python -m benchmarks.ablation SUITE ... [--only TEXT ...] [--factors 0.5 2] [--seeds N] [--minutes M] [--name NAME]
python -m benchmarks.ablation --list [--only TEXT ...]

Factor 0 takes a number out. Suites: see SUITES. What was measured is kept: after M minutes, or when it is stopped, the
next call with the same suites and seeds goes on. `--list` prints every constant with the reason beside it.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import eigenwell as ew
from benchmarks.constants import ROOMS, Constant, changed, constants
from benchmarks.table import RESULTS, Row, report
from eigenwell.demonstrations import Demonstrations

FIRST_SEED = 3000
"""No other benchmark and no test uses seeds from here on."""
SURE = 0.9
AS_THEY_ARE = "as they are"


@dataclass(frozen=True)
class Said:
    """What came out for one case: whether it is right, whether it is wrong and sure, and the answer in short."""

    right: float
    sure_and_wrong: bool
    answer: str


Ask = Callable[[], Said]
Table = dict[str, dict[str, list[list[object]]]]


def _identified(demos: Demonstrations) -> Ask:
    def ask() -> Said:
        from benchmarks.identify import right

        found = ew.identify(demos)
        good = right(demos, found.labels)
        labels = zlib.crc32(np.ascontiguousarray(found.labels, dtype=np.int64).tobytes())
        answer = f"{found.n_attractors}/{labels:08x}/{found.confidence:.2f}"
        return Said(good, not good and found.confidence >= SURE, answer)

    return ask


def _systems(seeds: range) -> Iterator[Ask]:
    return (_identified(s.sample(seed=k).shuffled(k)) for k in seeds for s in ew.systems.all_systems)


def _composites(**options: float) -> Callable[[range], Iterator[Ask]]:
    return lambda seeds: (_identified(ew.datasets.composite(k, **options)) for k in seeds)


def _snapshots(seeds: range) -> Iterator[Ask]:
    from benchmarks.snapshots import judged

    def ask(system: ew.systems.System, demos: Demonstrations) -> Said:
        one = judged(system, demos)
        good = bool(one["right"])
        return Said(good, not good and one["confidence"] >= SURE, f"{one['number']}/{one['fates']:.3f}")

    for seed in seeds:
        for system in ew.systems.snapshot_systems:
            demos = system.snapshots(1000, seed=seed, noise=0.2)
            yield lambda system=system, demos=demos: ask(system, demos)


def _plain(seeds: range) -> Iterator[Ask]:
    from benchmarks.plain import asked
    from benchmarks.plain_sets import cases

    def ask(case: object) -> Said:
        one = asked(case)
        return Said(one.right, one.sure_and_wrong, f"{one.found}/{one.labels:.3f}")

    for seed in seeds:
        for case in cases(seed):
            yield lambda case=case: ask(case)


def _lasa(seeds: range) -> Iterator[Ask]:
    """Leave-one-out inside the training demonstrations (`benchmarks.lasa --validate`); right is minus the mean DTWD."""
    from benchmarks.lasa import TRAIN, bundle, demonstrations, score
    from eigenwell.learning import Recipe, learn_bundles

    shapes = ew.datasets.lasa_shapes()[:: max(1, 26 // len(seeds))]

    def ask() -> Said:
        held = TRAIN[0]
        learned, _ = learn_bundles(
            [bundle(s, [k for k in TRAIN if k != held]) for s in shapes], recipe=Recipe().for_motions()
        )
        rows = [score(f, bundle(s), demonstrations(s, [held])) for s, f in zip(shapes, learned, strict=True)]
        mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        return Said(-mean["dtwd"], False, f"{mean['dtwd']:.4f}/{mean['cosine_error']:.4f}/{mean['end_error']:.4f}")

    yield ask


SUITES: dict[str, Callable[[range], Iterator[Ask]]] = {
    "systems": _systems,
    "composites": _composites(),
    "noise": _composites(noise=0.1),
    "dropped": _composites(drop=0.1),
    "recordings": lambda seeds: (_identified(ew.datasets.joint_recordings(k).shuffled(k)) for k in seeds),
    "strokes": lambda seeds: (_identified(ew.datasets.pen_strokes(k).shuffled(k)) for k in seeds),
    "snapshots": _snapshots,
    "plain": _plain,
    "lasa": _lasa,
}


def measured(suites: dict[str, list[Ask]]) -> dict[str, list[list[object]]]:
    """Every case of every suite; what raises is told by the name of its error, and is not right."""
    out: dict[str, list[list[object]]] = {}
    for name, cases in suites.items():
        out[name] = []
        for ask in cases:
            try:
                said = ask()
            except Exception as error:  # a number out of its range may break anything
                said = Said(0.0, False, type(error).__name__)
            out[name].append([float(said.right), bool(said.sure_and_wrong), said.answer])
    return out


def difference(usual: dict[str, list[list[object]]], got: dict[str, list[list[object]]]) -> str:
    """What a change of a constant changes, suite by suite; '' for nothing."""
    told = []
    for name, cases in usual.items():
        other = sum(a[2] != b[2] for a, b in zip(cases, got[name], strict=True))
        if not other:
            continue
        right, wrong = (sum(b[k] for b in got[name]) - sum(a[k] for a in cases) for k in (0, 1))
        errors = sorted({str(b[2]) for b in got[name] if "/" not in str(b[2])})
        more = f", sure and wrong {wrong:+d}" if wrong else ""
        told.append(f"{name}: {other} of {len(cases)} others, right {right:+.4g}{more} {' '.join(errors)}".strip())
    return "; ".join(told)


def tried(only: list[str] | None, factors: list[float]) -> Iterator[tuple[str, Constant, float]]:
    for one in chosen(only):
        for factor in factors:
            value = one.times(factor)
            if value != one.value and np.isfinite(one.value):
                yield f"{one} = {one.value:g} -> {value:g}", one, value


def chosen(only: list[str] | None, rooms: tuple[str, ...] = ROOMS) -> list[Constant]:
    return [one for one in constants(rooms) if not only or any(text in str(one) for text in only)]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], help="what is asked with each constant changed")
    parser.add_argument("--list", action="store_true", help="print the constants and stop")
    parser.add_argument("--only", nargs="+", default=None, help="constants whose name holds one of these texts")
    parser.add_argument("--factors", nargs="+", type=float, default=[0.5, 2.0], help="0 takes a number out")
    parser.add_argument("--seeds", type=int, default=3, help="how many of each kind")
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="the first seed")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long; call again to go on")
    parser.add_argument("--name", default="constants", help="of the file in benchmarks/results")
    options = parser.parse_args(arguments)
    if options.list:
        found = chosen(options.only)
        for one in found:
            print(f"{one} = {one.value:g}  {one.reason or '(no reason beside it)'}")
        print(f"{len(found)} numbers, {sum(not one.reason for one in found)} without a reason beside them")
        return
    if not options.suites:
        parser.error("expected at least one suite, or --list")
    sweep(options)


def sweep(options: argparse.Namespace) -> None:
    seeds = range(options.first, options.first + options.seeds)
    facts = {"suites": options.suites, "seeds": options.seeds, "first_seed": options.first}
    table = kept(options.name, facts)
    stop = time.monotonic() + 60 * options.minutes
    suites: dict[str, list[Ask]] = {}
    left = 0
    for key, one, value in [(AS_THEY_ARE, None, 0.0), *tried(options.only, options.factors)]:
        if key in table:
            continue
        if time.monotonic() >= stop:
            left += 1
            continue
        suites = suites or {name: list(SUITES[name](seeds)) for name in options.suites}
        if one is None:
            table[key] = measured(suites)
            continue
        with changed(one, value):
            table[key] = measured(suites)
        print(f"{key}: {difference(table[AS_THEY_ARE], table[key]) or 'nothing changes'}", flush=True)
    write(options.name, table, facts)
    print(f"{left} left" if left else "all done")


def kept(name: str, facts: dict[str, object]) -> Table:
    path = RESULTS / f"{name}.json"
    said = json.loads(path.read_text()) if path.exists() else {}
    return dict(said["table"]) if all(said.get(key) == value for key, value in facts.items()) else {}


def write(name: str, table: Table, facts: dict[str, object]) -> None:
    usual = table[AS_THEY_ARE]
    told = {key: difference(usual, got) for key, got in table.items() if key != AS_THEY_ARE}
    score = ", ".join(f"{suite} {sum(c[0] for c in cases):.4g} of {len(cases)}" for suite, cases in usual.items())
    idle = [key for key, said in told.items() if not said]
    rows = [Row(AS_THEY_ARE, "", score, "", True)]
    rows += [Row(key, "", said or "nothing changes", "", True) for key, said in told.items()]
    said = f"{len(idle)} of {len(told)}"
    rows.append(Row("changes that change nothing: constants that could go", "0", said, "", not idle))
    report(name, rows, **facts, table=table)


if __name__ == "__main__":
    main()
