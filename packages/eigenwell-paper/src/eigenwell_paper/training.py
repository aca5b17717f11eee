"""Loss over epochs and training time: the paper's Laplacian embedding (LE) against Euclideanizing Flows (EF)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from eigenwell._types import FloatArray
from eigenwell.learning import PAPER, Bundle, LaplacianTarget
from eigenwell.palette import Theme

from .drawing import sheet, titled
from .drawn_fields import DrawnFields
from .drawn_fields import bundles as bundles_of
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study


def make(study: Study) -> Outcome:
    drawn = study.drawn_fields
    epochs = study.effort.epochs
    bundles = bundles_of(drawn.demos, drawn.found)
    at, ours = _embedding_losses(drawn, bundles)
    study.tell(f"Euclideanizing Flows, {epochs} epochs")
    theirs, seconds, work = _flow_losses(bundles, epochs, study.seed)
    relative = {"LE": ours / ours[0], "EF": theirs / theirs[0]}
    times = {"LE": epochs * drawn.course.seconds_per_step, "EF": seconds}
    worked = {"LE": epochs * drawn.course.work_per_step, "EF": work}
    half = {
        "LE": float(np.interp(0.5, relative["LE"][::-1], at[::-1])),
        "EF": float(np.argmax(relative["EF"] < 0.5)) if (relative["EF"] < 0.5).any() else None,
    }
    rows: list[tuple[Cell, ...]] = [
        (name, "fast, exponential" if name == "LE" else "more epochs", float(relative[name][-1]), half[name])
        for name in relative
    ]
    table = Table(
        "losses",
        f"Loss after {epochs} epochs over the loss of the identity, and epochs until it has halved. The two losses measure "
        "different things, positions in the embedding and velocities; only their decay compares.",
        ("method", "printed", "loss at the end / at the start", "epochs to half"),
        tuple(rows),
    )
    names = {"LE": "Laplacian embedding, seconds", "EF": "Euclideanizing Flows, seconds"}
    return Outcome(
        verdict=f"After {epochs} epochs the loss of the Laplacian embedding is {100 * relative['LE'][-1]:.1f} % of its start, "
        f"that of Euclideanizing Flows {100 * relative['EF'][-1]:.1f} %: "
        + ("LE decays faster, as printed." if relative["LE"][-1] < relative["EF"][-1] else "not as printed."),
        timing=f"On this machine {epochs} epochs took {times['LE']:.1f} s for LE and {times['EF']:.1f} s for EF, without "
        f"compilation: {times['LE'] / times['EF']:.2f} of the time ({worked['LE'] / worked['EF']:.2f} of the processor time, "
        "which other programs disturb less), where the paper says about half.",
        tables=(table,),
        figures=(
            Figure(
                "training-loss",
                f"Loss over {epochs} epochs, each relative to its start; mean over the sub-dynamics of the drawn example.",
                _draw_losses(at, relative),
            ),
            Figure("training-time", f"Seconds for {epochs} epochs without compilation.", _draw_times(times)),
        ),
        checks=(Check("the loss of LE falls below its start", bool(relative["LE"][-1] < 1)),),
        settings={
            "epochs": epochs,
            "samples": PAPER.batch,
            "LE": "10 layers, 200 features, length 0.45, Adam 1e-3 with cosine decay",
            "EF": "10 layers, 200 features, length 0.45, Adam 1e-4, substitution in the place of matrix inversion",
        },
        times={names[name]: round(value, 2) for name, value in times.items()}
        | {f"{names[name]} of the processor": round(value, 2) for name, value in worked.items()},
    )


def _embedding_losses(drawn: DrawnFields, bundles: list[Bundle]) -> tuple[FloatArray, FloatArray]:
    """Epochs and losses of the paper's recipe: the identity's first, then the mean over every tenth of the epochs."""
    from eigenwell.learning.guide import no_guide
    from eigenwell.learning.training import training_set

    sets = [training_set([b], LaplacianTarget(), PAPER, no_guide([b]), count=PAPER.batch) for b in bundles]
    start = np.mean([((s.x - s.known.attractors[0] - s.target) ** 2).sum(axis=1).mean() for s in sets])
    middle = drawn.course.steps - np.diff(drawn.course.steps, prepend=0) / 2
    return np.concatenate([[0], middle]), np.concatenate([[start], drawn.course.losses.mean(axis=1)])


def _flow_losses(bundles: list[Bundle], epochs: int, seed: int) -> tuple[FloatArray, float, float]:
    """Mean loss of every epoch; seconds of training and of processor time, with compilation done before."""
    import jax
    import jax.numpy as jnp

    from .baselines import euclideanizing as flows

    settings = flows.PublishedSettings()
    cast = partial(jnp.asarray, dtype=jnp.float32)
    net = jax.tree.map(cast, flows._initial(bundles[0].dimension, settings, seed))
    x, v = (cast(np.stack(a)) for a in zip(*(flows._samples(b, settings.samples) for b in bundles), strict=True))
    attractors = cast(np.stack([b.attractor for b in bundles]))
    program = flows._train.lower(net, x, v, attractors, settings, epochs).compile()
    began, worked = time.perf_counter(), time.process_time()
    _, losses = program(net, x, v, attractors)
    mean = np.asarray(losses, dtype=np.float64).mean(axis=0)  # waits for the program to end
    return mean, time.perf_counter() - began, time.process_time() - worked


_NAMES = {"LE": "Laplacian embedding", "EF": "Euclideanizing Flows"}


def _draw_losses(at: FloatArray, relative: dict[str, FloatArray]) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        figure, axes = sheet(1, 1, width=7.5, height=3.4)
        ax = axes[0, 0]
        ax.plot(at, relative["LE"], "o-", color=theme.colour(0), ms=4, lw=1.5, label=_NAMES["LE"])
        ax.plot(relative["EF"], color=theme.colour(1), lw=1.5, label=_NAMES["EF"])
        ax.set_yscale("log")
        titled(ax, "", "epoch", "loss / loss at the start")
        ax.legend(loc="center right")
        return figure

    return draw


def _draw_times(times: dict[str, float]) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        figure, axes = sheet(1, 1, width=7.5, height=1.7)
        ax = axes[0, 0]
        for k, (name, seconds) in enumerate(times.items()):
            ax.barh(_NAMES[name], seconds, color=theme.colour(k), height=0.6)
            ax.annotate(f"{seconds:.1f} s", (seconds, k), xytext=(4, 0), textcoords="offset points", va="center")
        ax.invert_yaxis()
        ax.margins(x=0.12)
        ax.tick_params(axis="y", length=0, labelcolor=theme.ink)
        titled(ax, "", "seconds")
        return figure

    return draw
