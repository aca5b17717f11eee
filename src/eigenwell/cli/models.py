"""learn, predict, simulate, certify, export: make, ask, check and export a field."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import (
    Debug,
    Every,
    Files,
    Json,
    Model,
    Position,
    Seed,
    Time,
    TimeStep,
    Trajectory,
    Velocity,
    read,
    states,
)
from .output import IN_DOUBT, cautions, command, interactive, print_json, progress, table

if TYPE_CHECKING:
    from .._types import FloatArray


def register(app: typer.Typer) -> None:
    for function in (learn, predict, simulate, certify, export):
        app.command()(function)


@command
def learn(
    file: Files,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Folder to save the model in.")],
    position: Position = None,
    velocity: Velocity = None,
    time: Time = None,
    trajectory: Trajectory = None,
    dt: TimeStep = None,
    every: Every = 1,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps; fewer are faster and rougher.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn a field that is globally stable at every attractor found, and save it."""
    from ..identification import identify
    from ..learning import learn as fit
    from ..learning.recipes import Recipe
    from ..models import save

    demos = read(file, position, velocity, time, trajectory, dt, every)
    found = identify(demos)
    with progress("Learning") as tell:
        recipe = None if steps is None else Recipe(steps=steps)
        field = fit(demos, found, recipe=recipe, seed=seed, callback=tell)
    save(field, output)
    if as_json:
        doubts = [{"name": c.name, "message": c.message} for c in field.warnings]
        print_json(
            {
                "model": str(output),
                "n_attractors": field.n_attractors,
                "attractors": field.attractors,
                "warnings": doubts,
            }
        )
        return
    word = "attractor" if field.n_attractors == 1 else "attractors"
    typer.echo(f"{output}: a field in {field.dimension}-D, stable at {field.n_attractors} {word}")
    cautions(field.warnings)


@command
def predict(
    model: Model,
    at: Annotated[list[str] | None, typer.Option("--at", metavar="x,y", help="A state; may be repeated.")] = None,
    file: Annotated[
        Path | None, typer.Option("--states", metavar="FILE", help="States from the positions of a file.")
    ] = None,
    position: Position = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Velocities of a saved model at given states."""
    x = _states(at, file, position, "--at")
    field = _load(model)
    v, basin, far = field.predict(x), field.basin(x), field.far(x)
    if as_json:
        print_json({"states": x, "velocities": v, "basin": basin, "far_from_data": far})
        return
    d = x.shape[1]
    headings = (*(f"x{i + 1}" for i in range(d)), *(f"v{i + 1}" for i in range(d)), "attractor", "far")
    rows = [
        (*map(_number, a), *map(_number, b), str(int(q)), "yes" if f else "no")
        for a, b, q, f in zip(x, v, basin, far, strict=True)
    ]
    table(headings, rows, numbers_from=0)


@command
def simulate(
    model: Model,
    start: Annotated[list[str], typer.Option("--from", metavar="x,y", help="A start; may be repeated.")],
    duration: Annotated[float, typer.Option(metavar="T", help="Seconds.")],
    samples: Annotated[int, typer.Option(min=2, help="States to return, start and end included.")] = 201,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the trajectories here.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Roll a saved model out from given states."""
    import numpy as np

    if not duration > 0:
        raise typer.BadParameter(f"expected --duration > 0, got {duration}")
    x0 = np.array(states(start, "--from"))
    field = _load(model)
    t = np.linspace(0.0, duration, samples)
    rolled = field.simulate(x0, t=t)
    if output is not None:
        from .. import files
        from ..demonstrations import Demonstrations

        v = [field.fields[int(q)].predict(x) for q, x in zip(field.basin(x0), rolled, strict=True)]
        files.write(output, Demonstrations.from_trajectories(list(rolled), v, time=[t] * len(rolled)))
    attractors = field.attractors[field.basin(x0)]
    gap = np.linalg.norm(rolled[:, -1] - attractors, axis=1)
    if as_json:
        print_json({"time": t, "states": rolled, "attractors": attractors, "distance_to_attractor": gap})
    elif interactive() or output is not None:
        rows = [
            (*(_point(p) for p in (x[0], x[-1], a)), f"{g:.2g}")
            for x, a, g in zip(rolled, attractors, gap, strict=True)
        ]
        if output is not None:
            typer.echo(f"{output}: {len(rolled)} trajectories of {samples} samples")
        table(("from", f"after {duration:g} s", "attractor", "distance"), rows, numbers_from=3)
    else:
        table(
            ("trajectory", "time_s", *(f"x{i + 1}" for i in range(rolled.shape[2]))),
            (
                (str(k), repr(float(s)), *(repr(float(c)) for c in x))
                for k, path in enumerate(rolled)
                for s, x in zip(t, path, strict=True)
            ),
        )


@command
def certify(
    model: Model,
    samples: Annotated[
        int, typer.Option(min=1, help="States drawn per attractor, from three times the box of its data.")
    ] = 1000,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Put the stability of a saved model to the test; exits with 6 where it does not hold."""
    certificates = _load(model).certificate(samples=samples, seed=seed)
    holds = all(c.holds for c in certificates)
    if as_json:
        print_json({"holds": holds, "certificates": certificates})
    else:
        rows = [
            (
                _point(c.attractor),
                f"{c.speed_at_attractor:.1g}",
                f"{c.decreasing:.2%}",
                f"{c.converged:.2%}",
                f"{c.monotone:.2%}",
                f"{c.smallest_singular_value:.2g} to {c.largest_singular_value:.2g}",
                "yes" if c.holds else "NO",
            )
            for c in certificates
        ]
        table(("attractor", "|f(x*)|", "dV/dt < 0", "converged", "V falls", "singular values of J", "holds"), rows)
    if not holds:
        raise typer.Exit(IN_DOUBT)


@command
def export(
    model: Model,
    onnx: Annotated[Path | None, typer.Option("--onnx", metavar="FILE", help="Write an ONNX graph.")] = None,
    c: Annotated[
        Path | None, typer.Option("--c", metavar="FILE", help="Write a C99 header without dependencies.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Take a saved model to the robot; agreement with the library is proved at export."""
    if (onnx is None) == (c is None):
        raise typer.BadParameter("expected --onnx FILE or --c FILE")
    field = _load(model)
    if onnx is not None:
        from ..export import export_onnx

        output, parity = onnx, export_onnx(field, onnx)
    else:
        from ..export import export_c

        assert c is not None
        output, parity = c, export_c(field, c)
    if as_json:
        print_json({"file": str(output), "parity": parity})
    else:
        typer.echo(f"{output}: {parity}")
    if not parity.proved:
        raise typer.Exit(IN_DOUBT)


def _load(model: Path) -> Any:
    from ..models import load

    return load(model)


def _states(at: list[str] | None, file: Path | None, position: str | None, option: str) -> FloatArray:
    import numpy as np

    if (not at) == (file is None):
        raise typer.BadParameter("expected --at x,y (once or more) or --states FILE")
    if file is None:
        return np.array(states(at or [], option))
    from .. import files

    return files.read_positions(file, position=position)


def _number(value: Any) -> str:
    return f"{value:.4g}" if interactive() else repr(float(value))


def _point(point: Any) -> str:
    shown = ", ".join(f"{c:.4g}" for c in point[:4])
    return f"({shown}, …)" if len(point) > 4 else f"({shown})"
