"""What every option of every command is called and does, in one table; and the one reading of files behind them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ..demonstrations import Demonstrations
    from ..identification import Identification

_COLUMNS, _KNOWN, _CLUSTER, _WRITTEN = "Columns", "What you know", "Cluster", "Files to write"


def _option(help: str, metavar: str | None = None, *flags: str, panel: str | None = None, **more: Any) -> Any:
    return typer.Option(*flags, help=help, metavar=metavar, rich_help_panel=panel, **more)


OPTIONS: dict[str, Any] = {
    "file": typer.Argument(
        metavar="FILE",
        help="CSV (.gz too), Parquet, Feather, JSON lines, NPZ, MAT, h5ad or a ROS bag; several files or a folder, one "
        "trajectory each; a LeRobot data set.",
    ),
    "model": typer.Argument(metavar="MODEL", help="File of a saved model."),
    # How the columns of files are called.
    "position": _option("Columns of positions.", "x,y", panel=_COLUMNS),
    "velocity": _option("Columns of velocities.", "vx,vy", panel=_COLUMNS),
    "time": _option("Column of time.", "t", panel=_COLUMNS),
    "trajectory": _option("Column that tells trajectories apart.", "id", panel=_COLUMNS),
    "dt": _option("Time step, where the file has no time.", "SECONDS", "--dt", panel=_COLUMNS),
    "every": _option("Keep each N-th sample.", "N", panel=_COLUMNS, min=1),
    "quaternion": _option("Order of quaternions in columns without names.", "xyzw|wxyz", panel=_COLUMNS),
    # What the user knows about the attractors.
    "n_attractors": _option("Their number.", "N", panel=_KNOWN, min=1),
    "resolution": _option("Ends nearer than this, in units of the data, are one place.", "DISTANCE", panel=_KNOWN),
    "exclude": _option("Recordings to leave out, by number or name.", "3,demo_7.csv", panel=_KNOWN),
    "task": _option(
        "Column that says which goal a recording was meant for, as task_index.", "COLUMN", panel=_KNOWN
    ),
    # What several commands take.
    "as_json": _option("Print one JSON object.", None, "--json"),
    "debug": _option("On an error, show the traceback.", None, "--debug"),
    "seed": _option("Seed of the random numbers.", min=0),
    "goal": _option("Go to this attractor alone; by default wherever it leads.", "Q", "--goal", min=0),
    "plot": _option("Draw it: a .png, .svg or .pdf file.", "FILE", "--plot"),
    "identify.labels": _option("Write one label per sample to this text file.", "FILE", "--labels"),
    "identify.strict": _option("Exit with 6 when there are warnings.", None, "--strict"),
    "identify.dask": _option(
        "Run on the Dask cluster of this scheduler, or of this machine (local); FILEs are Parquet partitions.",
        "ADDRESS", "--dask", panel=_CLUSTER,
    ),
    "identify.out": _option(
        "With --dask: folder for result and work that all workers see; a broken run goes on from it.",
        "FOLDER", "--out", panel=_CLUSTER,
    ),
    "report.output": _option("HTML page to write.", "PAGE", "--output", "-o"),
    "report.model": _option("Show this saved model beside the data.", "MODEL", "--model"),
    "report.learn": _option("Learn a field first and show it.", None, "--learn"),
    "demo.system": typer.Argument(help="A known system; `eigenwell datasets` lists them."),
    "demo.learn": _option("Learn a stable field too.", None, "--learn/--no-learn"),
    "demo.output": _option("Write a report to this HTML page.", "PAGE", "--output", "-o"),
    "audit.output": _option("HTML page with a thumbnail per episode.", "PAGE", "--output", "-o", panel=_WRITTEN),
    "audit.keep": _option("Numbers and rows of the episodes to keep.", "keep.json", "--keep", panel=_WRITTEN),
    "audit.trim": _option(
        "Copies of the episodes to keep, without the rests at start and end.", "FOLDER", "--trim", panel=_WRITTEN
    ),
    "audit.split": _option(
        "The motions between rests as recordings of their own (subtasks).", "FOLDER", "--split", panel=_WRITTEN
    ),
    "audit.strict": _option("Exit with 6 when an episode is bad.", None, "--strict"),
    "sweep.by": _option(
        "Column of the parameter: of one CSV, Parquet, Feather or .h5ad file.", "COLUMN", "--by"
    ),
    "sweep.values": _option(
        "The parameter, one value for each of several files of any format.", "0.1,0.2,0.5", "--values"
    ),
    "learn.output": _option("File to save the model in.", "MODEL", "--output", "-o"),
    "learn.toward": _option(
        "Also learn a field for each attractor alone; by default where motions to different attractors cross.",
        None, "--toward/--no-toward",
    ),
    "learn.memory": _option(
        "Also learn motions with memory; by default where paths cross.", None, "--memory/--no-memory"
    ),
    "learn.steps": _option("Training steps; fewer are faster and rougher.", min=1),
    "learn.force": _option("Replace what is already there.", None, "--force"),
    "predict.at": _option("A state; may be repeated.", "x,y", "--at"),
    "predict.states": _option("States from the positions of a file.", "FILE", "--states"),
    "simulate.start": _option("A start; may be repeated.", "x,y", "--from"),
    "simulate.duration": _option("Seconds.", "T"),
    "simulate.samples": _option("States to return, start and end included.", min=2),
    "simulate.memory": _option(
        "Follow the motions that were shown, or the map; by default the motions where the model has them.",
        None, "--memory/--no-memory",
    ),
    "simulate.output": _option("Write the trajectories here.", "FILE", "--output", "-o"),
    "certify.samples": _option(
        "Loops at the coarsest rate, from the box of the data and from three times it.", min=1
    ),
    "certify.rate": _option(
        "Control rate of the loops; may be repeated. Default: 100 and 1000.", "HZ", "--rate"
    ),
    "export.onnx": _option("Write ONNX graphs: FILE, and others beside it.", "FILE", "--onnx"),
    "export.c": _option("Write a C99 header without dependencies.", "FILE", "--c"),
    "datasets.name": typer.Argument(
        help="A system, pen_strokes, lasa:SHAPE or composite:SEED; none lists what there is."
    ),
    "datasets.output": _option("Write the samples here.", "FILE", "--output", "-o"),
    "datasets.shuffle": _option("Forget order and time.", None, "--shuffle"),
    "convert.output": _option("File to write; its suffix is the format.", "FILE", "--output", "-o"),
    "reproduce.only": _option("Only this item; repeat, or separate by commas.", "NAME", "--only"),
    "reproduce.quick": _option("A rougher run in under three minutes instead of an hour.", None, "--quick"),
    "reproduce.out": _option("Folder for the page, figures and numbers.", "DIR", "--out"),
    "reproduce.drawing": _option("Use this drawing in example 4, a MAT file say.", "FILE", "--drawing"),
    "reproduce.list_items": _option("List the items and stop.", None, "--list"),
    "studio.port": _option("Port to listen on; 0 is any free one.", min=0, max=65535),
    "studio.host": _option("Address to listen on. Others than this machine need a token.", "ADDRESS"),
    "studio.token": _option("Ask every page for this token; made up where one is needed.", "TOKEN", "--token"),
    "studio.static": _option(
        "Write a gallery that needs no server into this folder instead, and stop. It learns for minutes.",
        "FOLDER", "--static",
    ),
    "studio.browser": _option("Open the page.", None, "--browser/--no-browser"),
}  # fmt: skip
"""By parameter, or by command and parameter where only one command has it."""


@dataclass(frozen=True)
class Source:
    """What a command reads, and how its columns are called."""

    file: list[Path]
    position: str | None = None
    velocity: str | None = None
    time: str | None = None
    trajectory: str | None = None
    dt: float | None = None
    every: int = 1
    quaternion: str | None = None

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

    n_attractors: int | None = None
    resolution: float | None = None
    exclude: str | None = None
    task: str | None = None

    def identify(self, source: Source) -> Identification:
        from ..identification import identify

        demos, parts = source.read(self.task), [part.strip() for part in (self.exclude or "").split(",")]
        left_out = [int(part) if part.isdigit() else part for part in parts if part]
        return identify(
            demos, n_attractors=self.n_attractors, resolution=self.resolution, exclude=left_out, labels=demos.task
        )


def numbers(texts: list[str], what: str) -> list[list[float]]:
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
