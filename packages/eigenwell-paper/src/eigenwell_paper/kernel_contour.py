"""The velocity-augmented kernel around a reference point of the expanding field xdot = x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenwell._types import FloatArray
from eigenwell.palette import Theme
from eigenwell.spectral import CorrectedFilter, CorrectedGamma, PrintedFilter, PrintedGamma, VelocityAugmentedKernel

from .drawing import sheet, streams, titled
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study

REFERENCE = np.array([0.6, 0.6])
SIGMA, THETA, FILTER = 0.15, 0.6, 0.01
SIDE = np.linspace(0.0, 1.2, 121)


def make(study: Study) -> Outcome:
    kernels = {
        "as printed": VelocityAugmentedKernel(SIGMA, THETA, FILTER, PrintedGamma(), PrintedFilter()),
        "as the text wants it": VelocityAugmentedKernel(SIGMA, THETA, FILTER, CorrectedGamma(), CorrectedFilter()),
    }
    along = REFERENCE / np.linalg.norm(REFERENCE)
    across = np.array([-along[1], along[0]])
    rows: list[tuple[Cell, ...]] = []
    for name, kernel in kernels.items():
        ahead, behind, aside = (_value(kernel, REFERENCE + SIGMA * way) for way in (along, -along, across))
        rows.append((name, ahead, behind, aside, aside / ahead))
    table = Table(
        "values",
        "The kernel one σ from the reference point, along its velocity, against it and to its side. 'About 99 %' of the weight "
        "is to be taken at the angle θ_r already, so next to nothing should be left at a right angle.",
        ("formula", "ahead", "behind", "to the side", "side / ahead"),
        tuple(rows),
    )
    fixed = rows[1]
    return Outcome(
        verdict="The lobes of the figure appear with the formula that does what the text says: high along the velocity, alike "
        "ahead and behind, nothing to the side. With gamma as printed the side keeps "
        f"{100 * float(rows[0][4] or 0):.0f} % of what is ahead: the directions hardly count.",
        tables=(table,),
        figures=(
            Figure(
                "kernel-contour",
                "The field ẋ = x with the reference point and its velocity; contours of the kernel with the formulas as printed, "
                "and as the text wants them.",
                _draw(kernels),
            ),
        ),
        checks=(
            Check("alike ahead and behind within 2 %", abs(float(fixed[1] or 0) - float(fixed[2] or 0)) < 0.02),
            Check("less than 1 % to the side", float(fixed[4] or 0) < 0.01),
        ),
        settings={"sigma": SIGMA, "theta_r": THETA, "sigma_f": FILTER, "reference": REFERENCE.tolist()},
    )


def _value(kernel: VelocityAugmentedKernel, x: FloatArray) -> float:
    return float(kernel(REFERENCE[None], REFERENCE[None], x[None], x[None])[0])


def _draw(kernels: dict[str, VelocityAugmentedKernel]) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        figure, axes = sheet(1, 3, height=3.4)
        grid = np.stack(np.meshgrid(SIDE, SIDE), axis=-1)
        streams(axes[0, 0], theme, lambda x: x, grid.reshape(-1, 2))
        titled(axes[0, 0], "ẋ = x", "x₁", "x₂")
        for ax, (name, kernel) in zip(axes[0, 1:], kernels.items(), strict=True):
            value = kernel(np.broadcast_to(REFERENCE, grid.shape), np.broadcast_to(REFERENCE, grid.shape), grid, grid)
            ax.contourf(SIDE, SIDE, value, levels=np.linspace(0.05, 1, 11), cmap=_shades(theme))
            titled(ax, f"kernel, {name}", "x₁")
        for ax in axes.flat:
            ax.set_aspect("equal")
            ax.plot(*REFERENCE, "o", color=theme.ink, ms=4)
            ax.annotate(
                "",
                REFERENCE + 0.16,
                REFERENCE,
                arrowprops={"arrowstyle": "-|>", "color": theme.ink, "lw": 1.2, "shrinkA": 0, "shrinkB": 0},
            )
            ax.set_xlim(0, 1.2)
            ax.set_ylim(0, 1.2)
        return figure

    return draw


def _shades(theme: Theme) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("kernel", (theme.paper, theme.colour(0)))
