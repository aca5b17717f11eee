"""learn, predict, simulate, certify, export: make, ask, check and export a field."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..wording import plural
from .options import Goal, Json, Known, Model, Position, Seed, Source, states
from .output import IN_DOUBT, cautions, command, interactive, offer_audit, print_json, progress, table

if TYPE_CHECKING:
    from .._types import FloatArray


@command
def learn(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="File to save the model in.")],
    source: Source,
    known: Known,
    toward: Annotated[
        bool | None,
        typer.Option(
            "--toward/--no-toward",
            help="Also learn a field for each attractor alone; by default where motions to different attractors cross.",
        ),
    ] = None,
    memory: Annotated[
        bool | None,
        typer.Option("--memory/--no-memory", help="Also learn motions with memory; by default where paths cross."),
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps; fewer are faster and rougher.")] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace what is already there.")] = False,
    as_json: Json = False,
) -> None:
    """Learn one field that is stable at exactly the attractors found, and save it."""
    from ..files import CannotWrite

    if output.exists() and not force:
        raise CannotWrite(
            f"Expected a new name for the model, got {output}, which is there already. Say --force to replace it."
        )
    from ..learning import learn as fit
    from ..learning.recipes import Recipe
    from ..models import check_target, save

    check_target(output, overwrite=force)  # before the work, not after it
    found = known.identify(source)
    with progress() as tell:
        recipe = None if steps is None else Recipe(steps=steps)
        field = fit(found, toward=toward, memory=memory, recipe=recipe, seed=seed, progress=tell)
    save(field, output, overwrite=force)
    if as_json:
        asked = ("n_attractors", "attractors", "saddles", "fit", "map_fit", "warnings")
        said = {"model": str(output), "memory": field.has_memory, "toward": bool(field.goals)}
        print_json(said | {name: getattr(field, name) for name in asked})
        return
    memory_word = ", with memory" if field.has_memory else ""
    typer.echo(
        f"{output}: a field in {field.dimension}-D, stable at {plural(field.n_attractors, 'attractor')}{memory_word}"
    )
    if field.fit is not None:
        typer.echo(str(field.fit))
    cautions(field.warnings)
    if field.warnings or found.odd:
        offer_audit(found.demos)


@command
def predict(
    model: Model,
    at: Annotated[list[str] | None, typer.Option("--at", metavar="x,y", help="A state; may be repeated.")] = None,
    file: Annotated[
        Path | None, typer.Option("--states", metavar="FILE", help="States from the positions of a file.")
    ] = None,
    position: Position = None,
    goal: Goal = None,
    as_json: Json = False,
) -> None:
    """Velocities of a saved model at given states, and where they lead."""
    import numpy as np

    x = _states(at, file, position, "--at")
    field = _load(model, goal)
    v, far = field.predict(x), field.far(x)
    basin = field.basin(x) if goal is None else np.full(len(x), goal)
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
    goal: Goal = None,
    memory: Annotated[
        bool | None,
        typer.Option(
            "--memory/--no-memory",
            help="Follow the motions that were shown, or the map; by default the motions where the model has them.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the trajectories here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Roll a saved model out from given states."""
    import numpy as np

    if not duration > 0:
        raise typer.BadParameter(f"expected --duration > 0, got {duration}")
    x0 = np.array(states(start, "--from"))
    field = _load(model) if goal is None else _load(model, goal, keep_motions=True)
    t = np.linspace(0.0, duration, samples)
    if goal is not None and (field.by_motion if memory is None else memory):
        whole = _load(model)
        begins = [np.append(x, whole.motion(x, goal).phase) for x in x0]
        rolled = whole.lifted[goal].simulate(begins, t=t)[..., :-1]
    else:
        rolled = field.simulate(x0, t=t, memory=memory if goal is None else False)
    gaps = np.linalg.norm(rolled[:, -1:] - field.attractors, axis=2)
    attractors, gap = field.attractors[gaps.argmin(axis=1)], gaps.min(axis=1)
    if output is not None:
        from .. import files
        from ..demonstrations import Demonstrations

        # Velocities along the roll-outs themselves: a motion with memory has none that depends on the state alone.
        v = [np.gradient(path, t, axis=0) for path in rolled]
        files.write(output, Demonstrations.from_trajectories(list(rolled), v, time=[t] * len(rolled)))
    if as_json:
        print_json({"time": t, "states": rolled, "attractors": attractors, "distance_to_attractor": gap})
    elif interactive() or output is not None:
        rows = [
            (*(_point(p) for p in (x[0], x[-1], a)), f"{g:.2g}")
            for x, a, g in zip(rolled, attractors, gap, strict=True)
        ]
        if output is not None:
            typer.echo(f"{output}: {plural(len(rolled), 'trajectory', 'trajectories')} of {samples} samples")
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
        int, typer.Option(min=1, help="Loops at the coarsest rate, from the box of the data and from three times it.")
    ] = 50,
    rate: Annotated[
        list[float] | None,
        typer.Option("--rate", metavar="HZ", help="Control rate of the loops; may be repeated. Default: 100 and 1000."),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Put a saved model to the test by loops on its velocities; exits with 6 where it fails or does not follow its data."""
    certificate = _load(model).certificate(samples=samples, rates=tuple(rate or (100.0, 1000.0)), seed=seed)
    if as_json:
        print_json(
            {
                "holds": certificate.holds,
                "verdicts": {one.name: one.holds for one in certificate.verdicts},
                "failures": certificate.failures(),
                "certificate": certificate,
            }
        )
    else:
        typer.echo(str(certificate))
    if not certificate.holds:
        raise typer.Exit(IN_DOUBT)


@command
def export(
    model: Model,
    onnx: Annotated[
        Path | None, typer.Option("--onnx", metavar="FILE", help="Write ONNX graphs: FILE, and others beside it.")
    ] = None,
    c: Annotated[
        Path | None, typer.Option("--c", metavar="FILE", help="Write a C99 header without dependencies.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Take a saved model to the robot: the map, each goal and the motions; agreement with the library is proved."""
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


def _load(model: Path, goal: int | None = None, *, keep_motions: bool = False) -> Any:
    """A saved model as a Field; with `goal`, the field of that attractor alone, with the data of all."""
    from dataclasses import replace

    from ..models import as_field, load

    if goal is None:
        return as_field(load(model))
    one = as_field(load(model, goal=goal))
    try:
        whole = as_field(load(model))
    except ValueError:  # an old model has its goals and nothing joint
        return one
    return replace(whole, map=one.map, goals=(), lifted=whole.lifted if keep_motions else ())


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
