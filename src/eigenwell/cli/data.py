"""datasets, convert: data in and out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..wording import plural
from .options import Source
from .output import answer, cautions, command, listed, note

if TYPE_CHECKING:
    from ..demonstrations import Demonstrations


@command
def datasets(
    name: str | None = None,
    output: Path | None = None,
    shuffle: bool = False,
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """List the data sets eigenwell knows, or write one to a file."""
    from .. import files

    if name is None:
        listed(("name", "dimension", "attractors", "samples"), _catalogue(), as_json)
        if not as_json:
            note("Write one with: eigenwell datasets NAME -o FILE. Shapes: eigenwell datasets lasa:Angle -o angle.csv")
        return
    demos = sample(name, seed)
    demos = demos.shuffled(seed) if shuffle else demos
    if output is not None:
        files.write(output, demos)
    _described(demos, output, as_json)


@command
def convert(output: Path, source: Source, as_json: bool = False) -> None:
    """Read files of any format and write them as one, every number to its last bit."""
    from .. import files

    demos = source.read()
    files.write(output, demos)
    _described(demos, output, as_json)


def sample(name: str, seed: int) -> Demonstrations:
    """A known data set by name."""
    from .. import datasets as sets
    from .. import systems
    from ..demonstrations import DataError

    kind, _, rest = name.partition(":")
    if kind == "lasa" and rest:
        return sets.lasa(rest)
    if kind == "composite" and (not rest or rest.isdigit()):
        return sets.composite(int(rest) if rest else seed)
    if kind == "pen_strokes":
        return sets.pen_strokes(seed)
    known = {system.name: system for system in (*systems.all_systems, systems.duffing_short)}
    if name not in known:
        raise DataError(
            f"Expected the name of a data set, got {name!r}; there are {', '.join(known)}, pen_strokes, "
            "lasa:SHAPE and composite:SEED."
        )
    return known[name].sample(seed)


def _catalogue() -> list[tuple[str, int, int, int]]:
    from .. import datasets as sets
    from .. import systems
    from ..demonstrations import DataError

    rows = []
    for system in (*systems.all_systems, systems.duffing_short):
        count = len(system.attractors)
        samples = count * system.n_per_attractor * (round(system.duration * system.frequency) + 1)
        rows.append((system.name, system.dimension, count, samples))
    strokes = sets.pen_strokes(0)
    rows.append(("pen_strokes", 2, 2, strokes.n_samples))
    try:
        sets.lasa_folder()
    except DataError:
        return rows
    return [*rows, ("lasa:SHAPE", 2, 1, 7000), ("composite:SEED", 2, 3, 9000)]


def _described(demos: Demonstrations, output: Path | None, as_json: bool) -> None:
    kind, asked = "unordered samples", ("n_samples", "dimension", "n_trajectories", "warnings")
    if demos.n_trajectories is not None:
        kind = plural(demos.n_trajectories, "trajectory", "trajectories")
    answer(
        as_json,
        {"file": None if output is None else str(output)} | {name: getattr(demos, name) for name in asked},
        f"{'' if output is None else f'{output}: '}{demos.n_samples} samples in {demos.dimension}-D, {kind}",
    )
    if not as_json:
        cautions(demos.warnings)
