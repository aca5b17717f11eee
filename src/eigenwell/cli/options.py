"""Options that several commands share, and the one reading of files behind them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..demonstrations import Demonstrations
    from ..identification import Identification

_COLUMNS = "Columns"
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="CSV (.gz too), Parquet, Feather, JSON lines, NPZ, MAT, h5ad or a ROS bag; several files or a folder, one "
        "trajectory each; a LeRobot data set.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="File of a saved model.")]
Goal = Annotated[
    int | None,
    typer.Option("--goal", metavar="Q", min=0, help="Go to this attractor alone; by default wherever it leads."),
]
Position = Annotated[str | None, typer.Option(metavar="x,y", help="Columns of positions.", rich_help_panel=_COLUMNS)]
Velocity = Annotated[str | None, typer.Option(metavar="vx,vy", help="Columns of velocities.", rich_help_panel=_COLUMNS)]
Time = Annotated[str | None, typer.Option(metavar="t", help="Column of time.", rich_help_panel=_COLUMNS)]
Trajectory = Annotated[
    str | None, typer.Option(metavar="id", help="Column that tells trajectories apart.", rich_help_panel=_COLUMNS)
]
TimeStep = Annotated[
    float | None,
    typer.Option("--dt", metavar="SECONDS", help="Time step, where the file has no time.", rich_help_panel=_COLUMNS),
]
Every = Annotated[int, typer.Option(min=1, metavar="N", help="Keep each N-th sample.", rich_help_panel=_COLUMNS)]
Quaternion = Annotated[
    str | None,
    typer.Option(metavar="xyzw|wxyz", help="Order of quaternions in columns without names.", rich_help_panel=_COLUMNS),
]
_KNOWN = "What you know"
Number = Annotated[
    int | None, typer.Option("--n-attractors", min=1, metavar="N", help="Their number.", rich_help_panel=_KNOWN)
]
Resolution = Annotated[
    float | None,
    typer.Option(
        metavar="DISTANCE", help="Ends nearer than this, in units of the data, are one place.", rich_help_panel=_KNOWN
    ),
]
Exclude = Annotated[
    str | None,
    typer.Option(metavar="3,demo_7.csv", help="Recordings to leave out, by number or name.", rich_help_panel=_KNOWN),
]
Task = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that says which goal a recording was meant for, as task_index.",
        rich_help_panel=_KNOWN,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")]


@dataclass(frozen=True)
class Source:
    """What a command reads, and how its columns are called."""

    file: Files
    position: Position = None
    velocity: Velocity = None
    time: Time = None
    trajectory: Trajectory = None
    dt: TimeStep = None
    every: Every = 1
    quaternion: Quaternion = None

    @property
    def columns(self) -> dict[str, Any]:
        """All but the files, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)[1:]}

    @property
    def name(self) -> str:
        """Of the files, for a title."""
        return ", ".join(path.name or str(path) for path in self.file)

    def read(self, task: str | None = None) -> Demonstrations:
        from .. import files

        return files.read(self.file, task=task, **self.columns)


@dataclass(frozen=True)
class Known:
    """What the user knows about the attractors."""

    n_attractors: Number = None
    resolution: Resolution = None
    exclude: Exclude = None
    task: Task = None

    def identify(self, source: Source) -> Identification:
        from ..identification import identify

        demos, left_out = source.read(self.task), excluded(self.exclude)
        return identify(
            demos, n_attractors=self.n_attractors, resolution=self.resolution, exclude=left_out, labels=demos.task
        )


def excluded(text: str | None) -> list[int | str]:
    """'3,demo_7.csv' -> [3, 'demo_7.csv']."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    return [int(part) if part.isdigit() else part for part in parts]


def states(texts: list[str], what: str) -> list[list[float]]:
    """'1,2' -> [1.0, 2.0], one for every option given."""
    rows = []
    for text in texts:
        try:
            rows.append([float(part) for part in text.split(",")])
        except ValueError:
            raise typer.BadParameter(f"expected numbers with commas, as in {what} 1.5,-2, got {text!r}") from None
    if len({len(row) for row in rows}) > 1:
        raise typer.BadParameter(f"expected states of one dimension, got {texts}")
    return rows
