"""identify, report, demo: the answer about data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import say
from .options import Debug, Every, Files, Json, Position, Seed, Time, TimeStep, Trajectory, Velocity, read

if TYPE_CHECKING:
    from ..demonstrations import Demonstrations
    from ..identification import Identification


def register(app: typer.Typer) -> None:
    app.command()(demo)
    app.command()(identify)
    app.command()(report)


@say.command
def identify(
    file: Files,
    position: Position = None,
    velocity: Velocity = None,
    time: Time = None,
    trajectory: Trajectory = None,
    dt: TimeStep = None,
    every: Every = 1,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="FILE", help="Write one label per sample to this text file.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help=f"Exit with {say.IN_DOUBT} when there are warnings.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """How many attractors, where they are, and which sample belongs to which."""
    from ..files import replacing
    from ..identification import identify as find

    demos = read(file, position, velocity, time, trajectory, dt, every)
    found = find(demos)
    if labels is not None:
        with replacing(labels) as temporary:
            temporary.write_text("\n".join(map(str, found.labels.tolist())) + "\n", encoding="utf-8")
    if as_json:
        say.print_json(_answer(demos, found))
    else:
        show(demos, found)
    if strict and found.warnings:
        raise typer.Exit(say.IN_DOUBT)


@say.command
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
        field = _learned(demos, found)
    _write_report(output, demos, found, field, title=", ".join(p.name for p in file))
    if as_json:
        say.print_json({"page": str(output), "bytes": output.stat().st_size, "n_attractors": found.n_attractors})
    else:
        typer.echo(f"{output}: {found.n_attractors} attractors, {output.stat().st_size / 1e6:.1f} MB")


@say.command
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
    from .about_data import sample

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
        field = _learned(demos, found)
        certificates = field.certificate()
        answer |= {"certificate": certificates}
        if not as_json:
            held = sum(bool(c.holds) for c in certificates)
            typer.echo(f"learned field: stable at {held} of {len(certificates)} attractors, by certificate")
    if output is not None:
        _write_report(output, demos, found, field, title=system)
        answer |= {"page": str(output)}
        if not as_json:
            typer.echo(f"report: {output}")
    if as_json:
        say.print_json(answer)


def _learned(demos: Demonstrations, found: Identification) -> Any:
    from ..learning import learn

    with say.progress("Learning") as tell:
        return learn(demos, found, callback=tell)


def _write_report(output: Path, demos: Demonstrations, found: Identification, field: Any, title: str) -> None:
    from ..report import write_report

    command = " ".join(["eigenwell", *sys.argv[1:]])
    write_report(output, demos, found, field, title=title, command=command)


def _answer(demos: Demonstrations, found: Identification) -> dict[str, Any]:
    return {
        "n_attractors": found.n_attractors,
        "attractors": found.attractors,
        "uncertainty": found.uncertainty,
        "confidence": found.confidence,
        "n_samples": demos.n_samples,
        "dimension": demos.dimension,
        "paths": [len(found.paths(q)) for q in range(found.n_attractors)],
        "samples": [int((found.labels == q).sum()) for q in range(found.n_attractors)],
        "labels": found.labels,
        "warnings": [{"name": c.name, "message": c.message} for c in found.warnings],
    }


def show(demos: Demonstrations, found: Identification) -> None:
    """The answer first, then the places, then the doubts."""
    from ..report.wording import quantity, surety

    word = "attractor" if found.n_attractors == 1 else "attractors"
    headline = f"{found.n_attractors} {word}, confidence {found.confidence:.2f} ({surety(found.confidence)})"
    typer.secho(headline, bold=say.interactive())
    extents = demos.x.max(axis=0) - demos.x.min(axis=0)
    rows = []
    for q, (place, error) in enumerate(zip(found.attractors, found.uncertainty, strict=True)):
        shown = ", ".join(quantity(*one) for one in zip(place[:4], error[:4], extents[:4], strict=True))
        more = f", … ({len(place)} coordinates)" if len(place) > 4 else ""
        rows.append((str(q), shown + more, str(len(found.paths(q))), str(int((found.labels == q).sum()))))
    say.table(("#", "attractor", "paths", "samples"), rows, numbers_from=2)
    say.cautions(found.warnings)
