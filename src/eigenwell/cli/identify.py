"""identify, report, demo: the answer about data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..wording import plural
from .options import (
    Debug,
    Every,
    Exclude,
    Files,
    Json,
    Number,
    Position,
    Quaternion,
    Resolution,
    Seed,
    Task,
    Time,
    TimeStep,
    Trajectory,
    Velocity,
    excluded,
    read,
)
from .output import IN_DOUBT, cautions, command, interactive, note, offer_audit, print_json, progress, table

if TYPE_CHECKING:
    from ..demonstrations import Demonstrations
    from ..identification import Identification

_CLUSTER = "Cluster"


def register(app: typer.Typer) -> None:
    app.command()(demo)
    app.command()(identify)
    app.command()(report)


@command
def identify(
    file: Files,
    position: Position = None,
    velocity: Velocity = None,
    time: Time = None,
    trajectory: Trajectory = None,
    dt: TimeStep = None,
    every: Every = 1,
    n_attractors: Number = None,
    resolution: Resolution = None,
    exclude: Exclude = None,
    task: Task = None,
    quaternion: Quaternion = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="FILE", help="Write one label per sample to this text file.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help=f"Exit with {IN_DOUBT} when there are warnings.")] = False,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Run on the Dask cluster of this scheduler, or of this machine (local); FILEs are Parquet partitions.",
            rich_help_panel=_CLUSTER,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="With --dask: folder for result and work that all workers see; a broken run goes on from it.",
            rich_help_panel=_CLUSTER,
        ),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """How many attractors, where they are, and which sample belongs to which."""
    from ..files import replacing
    from ..identification import identify as find

    if dask is not None:
        if dt is not None or every != 1:
            raise typer.BadParameter("--dask reads partitions as they are; leave out --dt and --every")
        if any(given is not None for given in (n_attractors, resolution, exclude, task)):
            raise typer.BadParameter(
                "--dask decides alone; leave out --n-attractors, --resolution, --exclude and --task"
            )
        columns = {"position": position, "velocity": velocity, "time": time, "trajectory": trajectory}
        _on_cluster(dask, file, out or Path("eigenwell-result"), columns, labels, strict, as_json)
        return
    if out is not None:
        raise typer.BadParameter("--out goes with --dask ADDRESS")
    demos = read(file, position, velocity, time, trajectory, dt, every, task, quaternion)
    found = find(demos, n_attractors=n_attractors, resolution=resolution, exclude=excluded(exclude), labels=demos.task)
    if labels is not None:
        with replacing(labels) as temporary:
            temporary.write_text("\n".join(map(str, found.labels.tolist())) + "\n", encoding="utf-8")
    if as_json:
        print_json(_answer(demos, found))
    else:
        show(demos, found)
        if found.warnings or found.odd:
            offer_audit(demos)
    if strict and found.warnings:
        raise typer.Exit(IN_DOUBT)


def _on_cluster(
    address: str,
    files: list[Path],
    out: Path,
    columns: dict[str, Any],
    labels: Path | None,
    strict: bool,
    as_json: bool,
) -> None:
    """identify on Dask: the answer is printed, everything that has a row per sample stays in the folder."""
    from ..errors import missing_extra
    from ..files import replacing

    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise missing_extra("identify --dask", "dask", "dask") from error
    from .. import distributed

    with ExitStack() as stack:
        if address == "local":
            local: Any = LocalCluster
            address = stack.enter_context(local(processes=True, threads_per_worker=1, dashboard_address="127.0.0.1:0"))
        client = stack.enter_context(Client(address))  # type: ignore[no-untyped-call]
        if client.dashboard_link:
            note(f"dashboard: {client.dashboard_link}")
        tell = stack.enter_context(progress())
        found = distributed.identify([str(f) for f in files], out=out, client=client, progress=tell, **columns)
    if labels is not None:
        with replacing(labels) as temporary, temporary.open("w", encoding="utf-8") as handle:
            for k in range(len(found.partitions)):
                handle.write("\n".join(map(str, found.partition_labels(k).tolist())) + "\n")
    if as_json:
        print_json(
            {
                "n_attractors": found.n_attractors,
                "attractors": found.attractors,
                "uncertainty": found.uncertainty,
                "confidence": found.confidence,
                "n_samples": found.n_samples,
                "dimension": found.attractors.shape[1],
                "paths": found.paths_per_attractor,
                "samples": found.samples_per_attractor,
                "folder": str(found.folder),
                "warnings": [{"name": c.name, "message": c.message} for c in found.warnings],
            }
        )
    else:
        extents = found.high - found.low
        _headline(found.n_attractors, found.confidence)
        _places(found.attractors, found.uncertainty, extents, found.paths_per_attractor, found.samples_per_attractor)
        cautions(found.warnings)
        note(f"labels, paths and embeddings: {found.folder}")
    if strict and found.warnings:
        raise typer.Exit(IN_DOUBT)


@command
def report(
    file: Files,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PAGE", help="HTML page to write.")],
    position: Position = None,
    velocity: Velocity = None,
    time: Time = None,
    trajectory: Trajectory = None,
    dt: TimeStep = None,
    every: Every = 1,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="MODEL", help="Show this saved model beside the data.")
    ] = None,
    learn: Annotated[bool, typer.Option("--learn", help="Learn a field first and show it.")] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """One self-contained HTML page: the answer, the plots, the doubts, the certificate."""
    from ..identification import identify as find

    demos = read(file, position, velocity, time, trajectory, dt, every)
    found = find(demos)
    field: Any = None
    if model is not None:
        from ..models import load

        field = load(model)
    elif learn:
        field = _learned(found)
    _write_report(output, demos, found, field, title=", ".join(p.name for p in file))
    if as_json:
        print_json({"page": str(output), "bytes": output.stat().st_size, "n_attractors": found.n_attractors})
    else:
        typer.echo(f"{output}: {plural(found.n_attractors, 'attractor')}, {output.stat().st_size / 1e6:.1f} MB")


@command
def demo(
    system: Annotated[str, typer.Argument(help="A known system; `eigenwell datasets` lists them.")] = "duffing",
    seed: Seed = 0,
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Learn a stable field too.")] = True,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="PAGE", help="Write a report to this HTML page.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Samples of a known system, shuffled: find its attractors, learn its field, compare with the truth."""
    import numpy as np

    from ..identification import identify as find
    from .data import sample

    demos = sample(system, seed).shuffled(seed)
    found = find(demos)
    assert demos.truth is not None
    true = demos.truth.attractors
    error = np.linalg.norm(found.attractors[:, None] - true, axis=2).min(axis=1)
    answer = _answer(demos, found) | {"true_attractors": true, "error": error}
    if not as_json:
        typer.echo(f"{system}: {demos.n_samples} samples in {demos.dimension}-D, shuffled; {len(true)} true attractors")
        show(demos, found)
        typer.echo(f"largest distance to a true attractor: {error.max():.2g}")
    field: Any = None
    if learn:
        field = _learned(found)
        certificate = field.certificate()
        answer |= {"certificate": certificate}
        if not as_json:
            typer.echo(f"learned field {certificate}")
    if output is not None:
        _write_report(output, demos, found, field, title=system)
        answer |= {"page": str(output)}
        if not as_json:
            typer.echo(f"report: {output}")
    if as_json:
        print_json(answer)


def _learned(found: Identification) -> Any:
    from ..learning import learn

    with progress() as tell:
        return learn(found, progress=tell)


def _write_report(output: Path, demos: Demonstrations, found: Identification, field: Any, title: str) -> None:
    from ..report import write_report

    typed = " ".join(["eigenwell", *sys.argv[1:]])
    write_report(output, demos, found, field, title=title, command=typed)


def _answer(demos: Demonstrations, found: Identification) -> dict[str, Any]:
    return {
        "n_attractors": found.n_attractors,
        "attractors": found.attractors,
        "uncertainty": found.uncertainty,
        "confidence": found.confidence,
        "alternatives": [{"n_attractors": a.n_attractors, "confidence": a.confidence} for a in found.alternatives],
        "odd": [{"recording": o.number, "name": o.name, "kind": o.kind, "left_out": o.left_out} for o in found.odd],
        "told": list(found.told),
        "about": demos.about,
        "n_samples": demos.n_samples,
        "dimension": demos.dimension,
        "paths": [len(found.paths(q)) for q in range(found.n_attractors)],
        "samples": [int((found.labels == q).sum()) for q in range(found.n_attractors)],
        "labels": found.labels,
        "kind": found.kind,
        "evidence": None if found.evidence is None else str(found.evidence),
        "kinds": [a.form for a in found.located],
        "counts": found.counts,
        "warnings": [{"name": c.name, "message": c.message} for c in found.warnings],
    }


def show(demos: Demonstrations, found: Identification) -> None:
    """The answer first, then the places, then the doubts."""
    if demos.about:
        note(demos.about)
    _headline(found.n_attractors, found.confidence)
    for what in found.told:
        typer.echo(f"given: {what}")
    if found.alternatives:
        others = ", ".join(f"{a.n_attractors} (confidence {a.confidence:.2f})" for a in found.alternatives[:3])
        typer.echo(f"other readings: {others}")
    paths = [len(found.paths(q)) for q in range(found.n_attractors)]
    samples = [int((found.labels == q).sum()) for q in range(found.n_attractors)]
    _places(found.attractors, found.uncertainty, demos.x.max(axis=0) - demos.x.min(axis=0), paths, samples)
    if found.counts is not None:
        shares = ", ".join(f"{q} in {100 * share:.0f} %" for q, share in found.counts.items())
        note(f"snapshots ({found.evidence}); number of attractors in the replicates: {shares}")
        note("kinds: " + ", ".join(f"{q} {a.form}" for q, a in enumerate(found.located)))
    cautions(found.warnings)


def _headline(count: int, confidence: float) -> None:
    from ..report.wording import surety

    typer.secho(f"{plural(count, 'attractor')}, confidence {confidence:.2f} ({surety(confidence)})", bold=interactive())


def _places(places: Any, errors: Any, extents: Any, paths: Iterable[int], samples: Iterable[int]) -> None:
    from ..report.wording import quantity

    rows = []
    for q, (place, error, n_paths, n_samples) in enumerate(zip(places, errors, paths, samples, strict=True)):
        shown = ", ".join(quantity(*one) for one in zip(place[:4], error[:4], extents[:4], strict=True))
        more = f", … ({len(place)} coordinates)" if len(place) > 4 else ""
        rows.append((str(q), shown + more, str(n_paths), str(n_samples)))
    table(("#", "attractor", "paths", "samples"), rows, numbers_from=2)
