"""Is the number of attractors right, or at least unsure, on plain data? The first thing to run before identification changes.

python -m benchmarks.plain [--first SEED] [--seeds N] [--families NAME ...] [--parts cases same] [--workers N] [--show]

A case is right when the number is, and 90 % of the labels are. Seeds from 1000 are kept for a last look: nothing was
tuned on them.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

import eigenwell as ew
from benchmarks.plain_fresh import FAMILIES as FRESH
from benchmarks.plain_sets import FAMILIES, Case, cases
from benchmarks.table import Row, report

LIMIT = 10.0
"""Seconds for up to 10,000 samples."""
PATIENCE = 60
"""Seconds of processor time after which a case is given up: others may use the machine meanwhile."""
SURE = 0.9


@dataclass(frozen=True)
class Answer:
    """What came out for one case."""

    family: str
    name: str
    wanted: int
    found: int
    labels: float
    confidence: float
    label_confidence: float
    seconds: float
    knowable: bool
    error: str = ""

    @property
    def right(self) -> bool:
        return self.found == self.wanted and self.labels >= 0.9

    @property
    def sure_and_wrong(self) -> bool:
        """A wrong number, or labels that nobody doubts; a number that nobody can know must not be sure even where it is right."""
        if self.confidence < SURE or not self.knowable:
            return self.confidence >= SURE
        return self.found != self.wanted or (self.labels < 0.9 <= self.label_confidence)


def agreement(wanted: np.ndarray, found: np.ndarray) -> float:
    """Share of samples with the right label, under the best match of the two numberings."""
    table = np.zeros((wanted.max() + 1, max(found.max(), 0) + 1))
    np.add.at(table, (wanted[found >= 0], found[found >= 0]), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(wanted))


def _late(*_: object) -> None:
    raise TimeoutError(f"no answer in {PATIENCE} s")


def asked(case: Case) -> Answer:
    """The answer of the plainest call."""
    x, v, label = case.samples
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    began = time.process_time()
    try:
        found = ew.identify(case.paths) if case.ordered else ew.identify(x, v)
        number, labels, confidence, error = found.n_attractors, found.labels, float(found.confidence), ""
        share, sure = agreement(label, np.asarray(labels)), float(found.label_confidence.mean())
    except ew.EigenwellError as refused:
        number, share, confidence, sure, error = -1, 0.0, 0.0, 0.0, f"refused: {refused}"
    except Exception as broken:
        number, share, confidence, sure, error = -1, 0.0, 0.0, 0.0, f"{type(broken).__name__}: {broken}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - began
    return Answer(
        case.family, case.name, case.n_attractors, number, share, confidence, sure, seconds, case.knowable, error
    )


def _asked_of(job: tuple[int, str]) -> list[Answer]:
    seed, family = job
    return [replace(asked(case), name=f"{seed}: {case.name}") for case in cases(seed, (family,))]


def answers(seeds: range, families: tuple[str, ...], workers: int) -> list[Answer]:
    jobs = [(seed, family) for seed in seeds for family in families]
    if workers == 1:
        return [a for job in jobs for a in _asked_of(job)]
    with ProcessPoolExecutor(workers) as pool:
        return [a for part in pool.map(_asked_of, jobs) for a in part]


def table(done: list[Answer], show: bool) -> list[Row]:
    """One row a family, then the bars."""
    by_family: dict[str, list[Answer]] = defaultdict(list)
    for a in done:
        by_family[a.family].append(a)
    print(
        f"{'family':10} {'cases':>6} {'right':>6} {'sure, wrong':>12} {'refused':>8} {'broken':>7} {'median s':>9} {'worst':>7}"
    )
    for family, mine in by_family.items():
        known = [a for a in mine if a.knowable]
        print(
            f"{family:10} {len(mine):6} {sum(a.right for a in known):6} {sum(a.sure_and_wrong for a in mine):12} "
            f"{sum(a.error.startswith('refused') for a in mine):8} {sum(_broken(a) for a in mine):7} "
            f"{np.median([a.seconds for a in mine]):9.2f} {max(a.seconds for a in mine):7.1f}"
        )
    if show:
        for a in done:
            if a.sure_and_wrong or _broken(a) or a.seconds > LIMIT or (a.knowable and not a.right):
                mark = "!!" if a.sure_and_wrong else "  "
                print(
                    f"{mark} {a.family} {a.name}: {a.found} for {a.wanted}, {a.confidence:.2f} sure, labels "
                    f"{a.labels:.2f} ({a.label_confidence:.2f} sure), {a.seconds:.1f} s {a.error}"
                )
    known = [a for a in done if a.knowable]
    right, sure = np.mean([a.right for a in known]), np.mean([a.sure_and_wrong for a in done])
    halfway = [a for a in known if 0.5 <= a.confidence < SURE]
    said, held = (
        (np.mean([a.confidence for a in halfway]), np.mean([a.right for a in halfway])) if halfway else (0.0, 0.0)
    )
    late = sum(a.seconds > LIMIT for a in done)
    return [
        Row(
            "number right and 90 % of the labels",
            ">= 98 %",
            f"{sum(a.right for a in known)} of {len(known)} = {100 * right:.1f} %",
            "",
            bool(right >= 0.98),
        ),
        Row(
            f"wrong with confidence >= {SURE}",
            "<= .5 %",
            f"{sum(a.sure_and_wrong for a in done)} of {len(done)} = {100 * sure:.1f} %",
            "",
            bool(sure <= 0.005),
        ),
        Row(
            "confidence in [.5, .9): said / right",
            "within .1",
            f"{said:.2f} / {held:.2f} of {len(halfway)}",
            "; ".join(reliability(known)),
            abs(said - held) <= 0.1 or not halfway,
        ),
        Row(
            "answers within 10 s; exceptions without a name",
            "all; 0",
            f"{late} later; {sum(_broken(a) for a in done)}",
            "",
            late == 0 and not any(map(_broken, done)),
        ),
    ]


def _broken(a: Answer) -> bool:
    return bool(a.error) and not a.error.startswith("refused")


def reliability(known: list[Answer]) -> Iterator[str]:
    """Share right among the answers of every tenth of confidence."""
    for low in np.arange(0, 1, 0.1):
        part = [a.right for a in known if low <= a.confidence < low + 0.1 or (low > 0.85 and a.confidence == 1.0)]
        if part:
            yield f"{low:.1f}-{low + 0.1:.1f}: {np.mean(part):.2f} of {len(part)}"


# --- the same answer ------------------------------------------------------------------------------------


def versions(case: Case, rng: np.random.Generator) -> Iterator[tuple[str, Case]]:
    """The same data turned, moved, in other units, in another order, thinned, in single precision."""
    d = case.paths[0][0].shape[1]
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    shift = 10 * rng.standard_normal(d) * max(float(np.ptp(x)) for x, _ in case.paths)
    one = np.where(np.arange(d) == rng.integers(d), 100.0, 1.0)
    yield "turned", _moved(case, lambda x: x @ turn.T)
    yield "moved", replace(case, paths=[(x + shift, v) for x, v in case.paths])
    yield "units of all", _moved(case, lambda x: 25.4 * x)
    yield "units of one column", _moved(case, lambda x: x * one)
    yield "time in milliseconds", replace(case, paths=[(x, v / 1000) for x, v in case.paths])
    yield "single precision", _moved(case, lambda x: np.float32(x))
    if case.ordered:
        mixed = rng.permutation(len(case.paths))
        yield "order", replace(case, paths=[case.paths[k] for k in mixed], label=case.label[mixed])
        yield "every second sample", replace(case, paths=[(x[::2], v[::2]) for x, v in case.paths])
    else:
        yield "order", case.shuffled(rng)


def _moved(case: Case, move) -> Case:  # type: ignore[no-untyped-def]
    return replace(case, paths=[(move(x), move(v)) for x, v in case.paths])


def _same_of(job: tuple[int, str]) -> list[tuple[str, str, bool]]:
    seed, family = job
    rng = np.random.default_rng([seed, 99])
    out = []
    every = list(cases(seed, (family,)))
    for k in rng.choice(len(every), min(4, len(every)), replace=False):
        first = asked(every[k])
        out += [
            (
                kind,
                f"{seed}: {every[k].name}: {first.found} ({first.confidence:.2f}), then {then.found} ({then.confidence:.2f})",
                then.found == first.found,
            )
            for kind, other in versions(every[k], rng)
            for then in [asked(other)]
        ]
    return out


def same(seeds: range, workers: int, show: bool) -> list[Row]:
    jobs = [(seed, family) for seed in seeds for family in ("wells", "systems", "reaches")]
    with ProcessPoolExecutor(workers) as pool:
        pairs = [p for part in pool.map(_same_of, jobs) for p in part]
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for kind, name, equal in pairs:
        by_kind[kind].append(equal)
        if show and not equal:
            print(f"   {kind}: {name}")
    share = np.mean([equal for *_, equal in pairs])
    parts = ", ".join(f"{kind} {sum(e)} of {len(e)}" for kind, e in by_kind.items())
    return [Row("the same answer", ">= 99 %", f"{100 * share:.1f} % of {len(pairs)}", parts, bool(share >= 0.99))]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=[*FAMILIES, *FRESH, "fresh"])
    parser.add_argument("--parts", nargs="+", default=["cases", "same"], choices=["cases", "same"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="every case that is not right")
    parser.add_argument("--name", default="plain", help="of the file in benchmarks/results")
    given = parser.parse_args(arguments)
    seeds = range(given.first, given.first + given.seeds)
    families = tuple(name for one in given.families for name in (FRESH if one == "fresh" else (one,)))
    rows = []
    if "cases" in given.parts:
        rows += table(answers(seeds, families, given.workers), given.show)
    if "same" in given.parts:
        rows += same(seeds, given.workers, given.show)
    report(given.name, rows, seeds=[seeds.start, seeds.stop], families=list(families))


if __name__ == "__main__":
    main()
