"""learn, predict, simulate, certify, export: make, ask, check and export a field."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..wording import plural
from .options import IN_DOUBT, Known, Source, numbers
from .output import answer, cautions, command, interactive, offer_audit, print_json, say, table

if TYPE_CHECKING:
    from .._types import FloatArray


@command
def learn(
    output: Path,
    source: Source,
    known: Known,
    toward: bool | None = None,
    memory: bool | None = None,
    steps: int | None = None,
    seed: int = 0,
    force: bool = False,
    as_json: bool = False,
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
    recipe = None if steps is None else Recipe(steps=steps)
    field = fit(found, toward=toward, memory=memory, recipe=recipe, seed=seed)
    save(field, output, overwrite=force)
    asked = ("n_attractors", "attractors", "saddles", "fit", "map_fit", "warnings")
    said = {"model": str(output), "memory": field.has_memory, "toward": bool(field.goals)}
    stable = f"stable at {plural(field.n_attractors, 'attractor')}{', with memory' if field.has_memory else ''}"
    lines = [f"{output}: a field in {field.dimension}-D, {stable}", *([] if field.fit is None else [str(field.fit)])]
    answer(as_json, said | {name: getattr(field, name) for name in asked}, *lines)
    if as_json:
        return
    cautions(field.warnings)
    if field.warnings or found.odd:
        offer_audit(found.demos)


@command
def predict(
    model: Path,
    at: list[str] | None = None,
    states: Path | None = None,
    position: str | None = None,
    goal: int | None = None,
    as_json: bool = False,
) -> None:
    """Velocities of a saved model at given states, and where they lead."""
    import numpy as np

    x = _states(at, states, position)
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
    model: Path,
    start: list[str],
    duration: float,
    samples: int = 201,
    goal: int | None = None,
    memory: bool | None = None,
    output: Path | None = None,
    as_json: bool = False,
) -> None:
    """Roll a saved model out from given states."""
    import numpy as np

    if not duration > 0:
        raise typer.BadParameter(f"expected --duration > 0, got {duration}")
    x0 = np.array(numbers(start, "--from"))
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
        from ..report.wording import point

        rows = [(*map(point, (x[0], x[-1], a)), f"{g:.2g}") for x, a, g in zip(rolled, attractors, gap, strict=True)]
        if output is not None:
            say(f"{output}: {plural(len(rolled), 'trajectory', 'trajectories')} of {samples} samples")
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
    model: Path, samples: int = 50, rate: list[float] | None = None, seed: int = 0, as_json: bool = False
) -> None:
    """Put a saved model to the test by loops on its velocities; exits with 6 where it fails or does not follow its data."""
    certificate = _load(model).certificate(samples=samples, rates=tuple(rate or (100.0, 1000.0)), seed=seed)
    said = {
        "holds": certificate.holds,
        "verdicts": {one.name: one.holds for one in certificate.verdicts},
        "failures": certificate.failures(),
        "certificate": certificate,
    }
    answer(as_json, said, str(certificate))
    if not certificate.holds:
        raise typer.Exit(IN_DOUBT)


@command
def export(model: Path, onnx: Path | None = None, c: Path | None = None, as_json: bool = False) -> None:
    """Take a saved model to the robot: the map, each goal and the motions; agreement with the library is proved."""
    if (onnx is None) == (c is None):
        raise typer.BadParameter("expected --onnx FILE or --c FILE")
    from ..export import export_c, export_onnx

    write, output = (export_c, c) if onnx is None else (export_onnx, onnx)
    assert output is not None
    parity = write(_load(model), output)
    answer(as_json, {"file": str(output), "parity": parity}, f"{output}: {parity}")
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


def _states(at: list[str] | None, file: Path | None, position: str | None) -> FloatArray:
    import numpy as np

    if (not at) == (file is None):
        raise typer.BadParameter("expected --at x,y (once or more) or --states FILE")
    if file is None:
        return np.array(numbers(at or [], "--at"))
    from .. import files

    return files.read_positions(file, position=position)


def _number(value: Any) -> str:
    return f"{value:.4g}" if interactive() else repr(float(value))
