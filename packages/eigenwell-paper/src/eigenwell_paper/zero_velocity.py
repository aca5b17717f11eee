"""The quasi-zero-velocity heuristic: where the pen is slow, and how many of these places are no attractors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from eigenwell._types import FloatArray, IntArray
from eigenwell.demonstrations import Demonstrations
from eigenwell.identification import identify
from eigenwell.palette import Theme

from .drawing import cross, lines, sheet, titled
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study, with_ends

SHARES = (0.10, 0.05, 0.01)
# Slow samples within a twentieth of the drawing are one place, and a place that near to an attractor is right.
NEAR = 0.05


def make(study: Study) -> Outcome:
    demos = with_ends(study.drawn)
    assert demos.truth is not None
    speed = np.linalg.norm(demos.v, axis=1)
    slow = {share: np.flatnonzero(speed < share * speed.mean()) for share in SHARES}
    places = {share: _places(demos.x, index) for share, index in slow.items()}
    rows: list[tuple[Cell, ...]] = []
    for share in SHARES:
        true, false, missed = _judged(demos, places[share])
        rows.append(
            (f"slower than {100 * share:g} % of the mean", len(slow[share]), len(places[share]), true, false, missed)
        )
    found = identify(demos)
    true, false, missed = _judged(demos, found.attractors)
    rows.append(("eigenwell", None, found.n_attractors, true, false, missed))
    table = Table(
        "places",
        "Places are groups of slow samples within 5 % of the drawing's extent. The paper prints no counts.",
        ("rule", "slow samples", "places", "of these attractors", "false attractors", "attractors missed"),
        tuple(rows),
    )
    errors = [int(row[4] or 0) + int(row[5] or 0) for row in rows]
    wrong = sum(error > 0 for error in errors[:3])
    return Outcome(
        verdict=f"As printed, places of rest mislead: {wrong} of 3 thresholds give false attractors or miss one. "
        f"eigenwell finds {found.n_attractors}, {false} of them false.",
        tables=(table,),
        figures=(
            Figure(
                "zero-velocity",
                "Slow samples at 10 %, 5 % and 1 % of the mean speed; rings are the places they form, crosses the attractors.",
                _draw(demos, slow, places),
            ),
        ),
        checks=(Check("eigenwell: no false attractor, none missed", errors[3] == 0),),
        settings={"thresholds": list(SHARES), "near": NEAR},
    )


def _reach(x: FloatArray) -> float:
    return NEAR * float(np.ptp(x, axis=0).max())


def _places(x: FloatArray, index: IntArray) -> FloatArray:
    """Centres of groups of samples that lie together."""
    if len(index) < 2:
        return x[index]
    group = fcluster(linkage(x[index], method="single"), _reach(x), criterion="distance")
    return np.array([x[index[group == g]].mean(axis=0) for g in np.unique(group)])


def _judged(demos: Demonstrations, places: FloatArray) -> tuple[int, int, int]:
    """Places at an attractor, places elsewhere, attractors without a place."""
    assert demos.truth is not None
    if len(places) == 0:
        return 0, 0, len(demos.truth.attractors)
    gap = np.linalg.norm(places[:, None] - demos.truth.attractors, axis=2) < _reach(demos.x)
    return int(gap.any(axis=1).sum()), int((~gap.any(axis=1)).sum()), int((~gap.any(axis=0)).sum())


def _draw(
    demos: Demonstrations, slow: dict[float, IntArray], places: dict[float, FloatArray]
) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        assert demos.truth is not None
        figure, axes = sheet(1, 3, sharey=True)
        for k, (ax, share) in enumerate(zip(axes.flat, SHARES, strict=True)):
            lines(ax, [x for x, _ in demos.trajectories()], theme.unassigned, 0.7)
            ax.scatter(*demos.x[slow[share]].T, s=8, color=theme.colour(1), linewidths=0, zorder=3)
            if len(places[share]):
                ax.scatter(*places[share].T, s=130, facecolors="none", edgecolors=theme.colour(0), lw=1.2, zorder=4)
            cross(ax, theme, demos.truth.attractors)
            titled(ax, f"{100 * share:g} % of the mean speed", "x₁", "x₂" if k == 0 else "")
        return figure

    return draw
