"""No parameter to set: every constant of path recovery halved and doubled, on data never looked at before.

python -m benchmarks.sensitivity [--quick] [--seeds N] [--only NAME ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

import eigenwell as ew
from benchmarks.identify import right
from benchmarks.table import Row, report
from eigenwell.demonstrations import Demonstrations
from eigenwell.errors import EigenwellError
from eigenwell.paths import DEFAULT, PathSettings, SuccessorGraph

FIRST_SEED = 2000
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
    chosen = parser.parse_args(arguments)
    n = chosen.seeds or (3 if chosen.quick else 20)
    data = kinds(n)
    total = sum(map(len, data.values()))
    usual = scores(data, DEFAULT)
    said = ", ".join(f"{kind} {good} of {len(data[kind])}" for kind, good in usual.items())
    rows = [Row("as they are", "", f"{sum(usual.values())} of {total}", said, True)]
    print(f"as they are: {said}", flush=True)
    table = {"as they are": usual}
    for name, factor, settings in variants(chosen.only):
        got = scores(data, settings)
        table[f"{name} x {factor:g}"] = got
        moved = {kind: got[kind] - usual[kind] for kind in got if got[kind] != usual[kind]}
        value = getattr(settings, name)
        said = ", ".join(f"{kind} {change:+d}" for kind, change in moved.items()) or "nothing changes"
        rows.append(
            Row(f"{name} = {value:g} for {getattr(DEFAULT, name):g}", "", f"{sum(got.values())} of {total}", said, True)
        )
        print(f"{name} {getattr(DEFAULT, name):g} -> {value:g}: {sum(got.values())} of {total}; {said}", flush=True)
    change = np.array([sum(got.values()) - sum(usual.values()) for got in list(table.values())[1:]])
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
    report(
        chosen.name or ("sensitivity-quick" if chosen.quick else "sensitivity"),
        rows,
        seeds=n,
        first_seed=FIRST_SEED,
        table=table,
    )


if __name__ == "__main__":
    main()
