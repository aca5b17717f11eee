"""No parameter to set: every constant of path recovery halved and doubled, on data never looked at before.

python -m benchmarks.sensitivity [--quick] [--seeds N] [--only NAME ...] [--minutes M]

What was measured is kept: after M minutes, or when it is stopped, the next call with as many seeds goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

import eigenwell as ew
from benchmarks.identify import right
from benchmarks.table import RESULTS, Row, report
from eigenwell.demonstrations import Demonstrations
from eigenwell.errors import EigenwellError
from eigenwell.paths import DEFAULT, PathSettings, SuccessorGraph

FIRST_SEED = 3000
"""No other benchmark and no test uses seeds from here on."""
COMPLEMENTS = ("common", "trim", "on_path")
"""Shares close to one: what is halved and doubled is what they leave out."""


def kinds(n: int) -> dict[str, list[Demonstrations]]:
    seeds = range(FIRST_SEED, FIRST_SEED + n)
    return {
        "composites": [ew.datasets.composite(seed) for seed in seeds],
        "noise 10 %": [ew.datasets.composite(seed, noise=0.1) for seed in seeds],
        "10 % dropped": [ew.datasets.composite(seed, drop=0.1) for seed in seeds],
        "recordings": [ew.datasets.joint_recordings(seed).shuffled(seed) for seed in seeds],
        "pen strokes": [ew.datasets.pen_strokes(seed).shuffled(seed) for seed in seeds],
        "clean systems": [
            system.sample(seed=seed).shuffled(seed)
            for seed in seeds[: max(1, n // 5)]
            for system in ew.systems.all_systems
        ],
    }


def changed(name: str, factor: float) -> PathSettings:
    value = getattr(DEFAULT, name)
    if name in COMPLEMENTS:
        return replace(DEFAULT, **{name: 1 - factor * (1 - value)})
    if isinstance(value, int):
        return replace(DEFAULT, **{name: max(1, round(factor * value))})
    return replace(DEFAULT, **{name: factor * value})


def scores(data: dict[str, list[Demonstrations]], settings: PathSettings) -> dict[str, int]:
    out = {}
    for kind, cases in data.items():
        good = 0
        for demos in cases:
            try:
                good += right(demos, ew.identify(demos, graph=SuccessorGraph(settings)).labels)
            except EigenwellError:  # refused: not right
                continue
        out[kind] = good
    return out


def variants(only: list[str] | None) -> Iterator[tuple[str, float, PathSettings]]:
    for field in fields(PathSettings):
        if only and field.name not in only:
            continue
        for factor in (0.5, 2.0):
            settings = changed(field.name, factor)
            if settings != DEFAULT:
                yield field.name, factor, settings


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three of each kind")
    parser.add_argument("--seeds", type=int, default=None, help="how many of each kind (default 20)")
    parser.add_argument("--only", nargs="+", default=None, help="these constants")
    parser.add_argument("--name", default=None, help="of the file in benchmarks/results")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long; call again to go on")
    chosen = parser.parse_args(arguments)
    n = chosen.seeds or (3 if chosen.quick else 20)
    name = chosen.name or ("sensitivity-quick" if chosen.quick else "sensitivity")
    table = kept(name, n)
    stop = time.monotonic() + 60 * chosen.minutes
    data: dict[str, list[Demonstrations]] = {}
    left = 0
    for key, settings in [("as they are", DEFAULT), *((f"{k} x {f:g}", s) for k, f, s in variants(chosen.only))]:
        if key in table:
            continue
        if time.monotonic() >= stop:
            left += 1
            continue
        data = data or kinds(n)
        table[key] = scores(data, settings)
        write(name, table, n)
        print(f"{key}: {sum(table[key].values())}", flush=True)
    write(name, table, n)
    print(f"{left} left" if left else "all done")


def kept(name: str, n: int) -> dict[str, dict[str, int]]:
    path = RESULTS / f"{name}.json"
    said = json.loads(path.read_text()) if path.exists() else {}
    return dict(said["table"]) if (said.get("seeds"), said.get("first_seed")) == (n, FIRST_SEED) else {}


def write(name: str, table: dict[str, dict[str, int]], n: int) -> None:
    """The table so far; what changed is against the constants as they are."""
    usual = table["as they are"]
    size = {kind: n for kind in usual} | {"clean systems": max(1, n // 5) * len(ew.systems.all_systems)}
    total = sum(size.values())
    said = ", ".join(f"{kind} {good} of {size[kind]}" for kind, good in usual.items())
    rows = [Row("as they are", "", f"{sum(usual.values())} of {total}", said, True)]
    for key, got in list(table.items())[1:]:
        moved = {kind: got[kind] - usual[kind] for kind in got if got[kind] != usual[kind]}
        said = ", ".join(f"{kind} {change:+d}" for kind, change in moved.items()) or "nothing changes"
        rows.append(Row(key, "", f"{sum(got.values())} of {total}", said, True))
    change = np.array([sum(got.values()) - sum(usual.values()) for got in list(table.values())[1:]] or [0])
    within = int((np.abs(change) <= 0.02 * total).sum())
    rows.append(
        Row(
            f"constants halved or doubled that change at most 2 % of {total} answers",
            "as many as possible",
            f"{within} of {len(change)}; worst {change.min():+d}, best {change.max():+d}",
            "",
            True,
        )
    )
    report(name, rows, seeds=n, first_seed=FIRST_SEED, table=table)


if __name__ == "__main__":
    main()
