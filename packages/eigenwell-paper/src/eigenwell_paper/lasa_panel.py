"""The LASA panel: identity field, learned field, embedding and potential of every shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenwell import datasets
from eigenwell._types import FloatArray
from eigenwell.fields import Field, StableField
from eigenwell.graphs import PathGraph
from eigenwell.identification import Identification, identify
from eigenwell.palette import Theme
from eigenwell.spectral import linearity

from .drawing import bare, cross, heights, lines, sheet, streams, titled
from .handwriting import ATTRACTOR, EVERY, OURS, PAPERS, TRAIN, Handwriting, demonstrations
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study


def make(study: Study) -> Outcome:
    panel = study.effort.panel
    work = study.handwriting
    found = {shape: identify(datasets.lasa(shape, TRAIN, every=EVERY)) for shape in panel}
    rows: list[tuple[Cell, ...]] = []
    straight, single, stable = 1.0, True, True
    for shape in panel:
        one = found[shape]
        assert isinstance(one.graph, PathGraph)
        worst = float(linearity(one.embeddings[0], one.graph.offsets).min()) if one.n_attractors == 1 else 0.0
        learned = _field(work.fields[OURS][shape], [x for x, _, _ in demonstrations(shape, TRAIN)])
        certificate = learned.certificate(samples=study.effort.rollouts, rates=(100.0,), seed=study.seed)
        straight, single = min(straight, worst), single and one.n_attractors == 1
        stable &= certificate.holds
        rows.append((shape, one.n_attractors, 1 - worst, "yes" if certificate.holds else "no"))
    table = Table(
        "embeddings",
        "From three demonstrations each. Where demonstrations crossed, the paper rebuilt the graph by hand; here their order "
        "is the path.",
        ("shape", "attractors found", "1 - R² of the paths to lines", "learned field stable"),
        tuple(rows),
    )
    caption = (
        "Of every shape: the field of the identity, the learned field, the embedding of the three demonstrations, and the "
        "potential"
    )
    return Outcome(
        verdict="As printed: three demonstrations become three straight lines, and the map that straightens them turns the "
        "linear field into one that follows the hand. In the paper's source the column named CShape shows DoubleBendedLine.",
        tables=(table,),
        figures=(
            Figure("lasa-panel", f"{caption}; eigenwell's recipe.", _draw(panel, work, found, OURS)),
            Figure("lasa-panel-paper", f"{caption}; the paper's recipe.", _draw(panel, work, found, PAPERS)),
        ),
        checks=(
            Check("one attractor for every shape", single),
            Check("paths are straight lines, R² above 1 - 1e-9", straight > 1 - 1e-9),
            Check("every learned field is stable, by certificate", stable),
        ),
        settings={"shapes": list(panel), "steps": study.effort.steps, "train": list(TRAIN), "every": EVERY},
    )


def _field(one: StableField, paths: list[FloatArray]) -> Field:
    """One stable field as `learn` returns it, with the samples that say where its data are."""
    x = np.concatenate(paths)
    phases = np.concatenate([np.linspace(1.0, 0.0, len(path)) for path in paths])
    return Field(one, (), (), x, np.zeros(len(x), dtype=np.intp), phases)


def _draw(
    panel: tuple[str, ...], work: Handwriting, found: dict[str, Identification], method: str
) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        figure, axes = sheet(4, len(panel), width=max(6.0, 2.1 * len(panel)), height=1.9)
        for k, shape in enumerate(panel):
            paths = [x for x, _, _ in demonstrations(shape, TRAIN)]
            x, field, one = np.concatenate(paths), work.fields[method][shape], found[shape]
            streams(axes[0, k], theme, _linear, x)
            streams(axes[1, k], theme, field.predict, x)
            assert isinstance(one.graph, PathGraph)
            for a, b in zip(one.graph.offsets[:-1], one.graph.offsets[1:], strict=True):
                axes[2, k].plot(*one.embeddings[0][a:b].T, color=theme.colour(0), lw=1.4)
            heights(axes[3, k], theme, field.potential, x)
            for row in range(4):
                if row != 2:
                    lines(axes[row, k], paths, theme.colour(0), 1.2)
                cross(axes[row, k], theme, ATTRACTOR)
                bare(axes[row, k])
            titled(axes[0, k], shape)
        for row, name in enumerate(("identity", "learned field", "embedding", "potential")):
            axes[row, 0].set_ylabel(name)
        return figure

    return draw


def _linear(x: FloatArray) -> FloatArray:
    return np.asarray(ATTRACTOR - x)
