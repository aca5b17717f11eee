"""Examples 1 to 4 alike: cluster by every method, compare with the printed table, draw the four pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenwell._types import FloatArray
from eigenwell.demonstrations import Demonstrations
from eigenwell.identification import Identification
from eigenwell.palette import Theme
from eigenwell.plotting import plot_embedding
from eigenwell.wording import plural

from . import rivals
from .drawing import cross, points, sheet, streams, titled
from .printed import CLUSTERED, Clustered, Shares
from .results import Cell, Check, Figure, Outcome, Table
from .rivals import Clustering, attractor_errors
from .study import Study

LETTERS = "ABCDEFGH"
IN_ORDER = "eigenwell, whole trajectories"


@dataclass(frozen=True, eq=False)
class Example:
    """One example of the paper: `demos` in order of time with their truth, and the field they come from, if known."""

    name: str
    demos: Demonstrations
    frequency: float | None
    """Samples per second, which the paper's kernel wants to know."""
    field: Callable[[FloatArray], FloatArray] | None = None
    in_order: bool = False
    """Whether identification from whole trajectories is shown too."""


def compare(example: Example, study: Study) -> Outcome:
    """Tables, pictures and the verdict of one example."""
    effort, seed = study.effort, study.seed
    demos = example.demos.shuffled(seed)
    study.tell(f"{example.name}: eigenwell")
    methods = [rivals.on_successors(demos)]
    if example.in_order:
        ordered = rivals.on_successors(example.demos, IN_ORDER)
        back = np.random.default_rng(seed).permutation(demos.n_samples)
        methods.append(replace(ordered, labels=ordered.labels[back]))
    study.tell(f"{example.name}: the paper's kernel graph, {len(effort.kernels)} settings")
    kernel_graph = rivals.on_kernel_graph(demos, example.frequency, effort)
    study.tell(f"{example.name}: Kernel K-means, Spectral Clustering, Gaussian Mixture")
    k_means, kernel = rivals.kernel_k_means(demos, effort, seed)
    told = [k_means, rivals.spectral(demos, effort, seed), rivals.mixture(demos, effort, seed)]
    study.tell(f"{example.name}: errors over iterations, {effort.trials} trials")
    wrong = rivals.over_iterations(demos, kernel, effort, seed)
    methods += [kernel_graph, *told]
    as_printed = CLUSTERED[example.name]
    assert kernel_graph.found is not None
    # The paper's own estimate, not the one that identify() prefers on such a graph.
    meet = np.array([place.by_intersection for place in kernel_graph.found.located])
    kernel_errors = attractor_errors(example.demos, meet)
    ours = [one for one in methods if one.found is not None and one is not kernel_graph]
    checks = [Check(f"{one.method}: every sample right", one.right == 1.0) for one in ours]
    checks += [
        Check(
            f"{one.method}: attractor errors at or below the printed {as_printed.error_as_printed}", _near(example, one)
        )
        for one in ours
    ]
    return Outcome(
        verdict=_verdict(methods, told, as_printed, all(c.holds for c in checks), kernel_errors),
        tables=(_shares_table(methods, demos, as_printed), _errors_table(example, [*ours, kernel_graph], as_printed)),
        figures=(
            Figure(f"{example.name}-data", _data_caption(example), _data(example, ours[-1], kernel_graph, demos)),
            Figure(
                f"{example.name}-clusters",
                "The clusters in the plane, numbered like the sub-dynamics they cover best; grey samples have no cluster.",
                _clusters(demos, methods),
            ),
            Figure(
                f"{example.name}-iterations",
                f"Samples in the wrong cluster over iterations: mean of {effort.trials} random starts, and their range.",
                _iterations(wrong),
            ),
        ),
        checks=tuple(checks),
        settings={
            "samples": demos.n_samples,
            "trials": effort.trials,
            "chosen": {one.method: one.setting for one in methods},
            "share_right_of_every_setting": {one.method: one.tried for one in methods if one.tried},
            "wrong_percent_after_iterations": {name: float(rows[:, -1].mean()) for name, rows in wrong.items()},
        },
        notes=(rivals.RULE,),
    )


def _near(example: Example, one: Clustering) -> bool:
    assert one.found is not None
    errors = attractor_errors(example.demos, one.found.attractors)
    return bool((errors <= CLUSTERED[example.name].attractor_error).all())


# --- tables -------------------------------------------------------------------------------------------


def _printed_shares(one: Clustering, as_printed: Clustered) -> Shares | None:
    return {
        "eigenwell, successor graph": as_printed.ours,
        "the paper's kernel graph": as_printed.ours,
        "Kernel K-means": as_printed.kernel_k_means,
        "Spectral Clustering": as_printed.spectral,
        "Gaussian Mixture": as_printed.mixture,
    }.get(one.method)


def _shares_table(methods: list[Clustering], demos: Demonstrations, as_printed: Clustered) -> Table:
    truth = rivals.truth_of(demos)
    count = int(truth.max()) + 1
    rows: list[tuple[Cell, ...]] = []
    for one in methods:
        here, there = rivals.shares(one.labels, truth), _printed_shares(one, as_printed)
        for q in range(count):
            known = there is not None and count == 2
            old: list[Cell] = list(there[q]) if known and there is not None else [None] * count
            first = q == 0
            rows.append(
                (
                    one.method if first else "",
                    f"cluster {q + 1}",
                    *old,
                    *(float(s) for s in here[q]),
                    100 * one.right if first else None,
                    one.setting if first else "",
                )
            )
    columns = (
        "method",
        "",
        *(f"printed {LETTERS[q]} %" for q in range(count)),
        *(f"here {LETTERS[q]} %" for q in range(count)),
        "right, of all samples %",
        "setting here",
    )
    caption = (
        "Of every cluster, the share that belongs to each sub-dynamics. Rows with eigenwell's name are told nothing. "
        "Where the page says how much was right in print, it is what the printed shares imply when half of the samples are A."
    )
    return Table("clusters", caption, columns, tuple(rows))


def _errors_table(example: Example, methods: list[Clustering], as_printed: Clustered) -> Table:
    assert example.demos.truth is not None
    rows: list[tuple[Cell, ...]] = []
    for one in methods:
        found = one.found
        assert found is not None
        crossing = np.array([a.by_intersection for a in found.located])
        errors = [attractor_errors(example.demos, places) for places in (found.attractors, crossing)]
        for q, true in enumerate(example.demos.truth.attractors):
            place = f"({true[0]:.4g}, {true[1]:.4g})"
            rows.append(
                (
                    one.method if q == 0 else "",
                    f"{LETTERS[q]} at {place}",
                    as_printed.error_as_printed,
                    100 * float(errors[0][q]),
                    100 * float(errors[1][q]),
                )
            )
    caption = (
        "Attractor errors e(x*), with the standard deviations of the samples in the place of the variances, as the paper "
        "has it; for heart it prints no percent sign. The last column is the paper's estimate on the same graph, where the lines "
        "of the embedding meet."
    )
    columns = ("method", "attractor", "printed", "here %", "here, by intersection of lines %")
    return Table("attractors", caption, columns, tuple(rows))


def _verdict(
    methods: list[Clustering], told: list[Clustering], as_printed: Clustered, good: bool, kernel_errors: FloatArray
) -> str:
    ours = methods[0]
    assert ours.found is not None
    said = (
        f"eigenwell finds {plural(ours.found.n_attractors, 'attractor')} and puts {100 * ours.right:.2f} % of the samples "
        "right, "
    )
    said += "with errors at or below the printed ones." if good else "and misses a bar; see the checks."
    for one in methods:
        if one.method == IN_ORDER and one.found is not None:
            said += f" From whole trajectories: {plural(one.found.n_attractors, 'attractor')}, {100 * one.right:.2f} %."
    kernel = next(one for one in methods if "kernel graph" in one.method)
    said += f" The paper's kernel graph reaches {100 * kernel.right:.2f} % with its three parameters set by an oracle,"
    said += f" and attractor errors up to {100 * max(kernel_errors):.1f} %."
    better = []
    for one in told:
        printed = _printed_right(_printed_shares(one, as_printed))
        if one.right > printed + 0.005:
            better.append(f"{one.method} {100 * one.right:.1f} % (printed: about {100 * printed:.0f} %)")
    if better:
        said += f" Peers that do better here than printed: {', '.join(better)}."
    return said


def _printed_right(shares: Shares | None) -> float:
    """Share right that a printed table implies: sizes of the clusters follow from half of the samples being A.

    With a_q the share of A in cluster q and w the size of the first, w a_1 + (1 - w) a_2 = 1/2. Where no size solves this
    the table contradicts itself, and the better of its clusters is all there is to say.
    """
    if shares is None:
        return 1.0
    a, b = shares[0][0] / 100, shares[1][0] / 100
    weight = (0.5 - b) / (a - b) if abs(a - b) > 1e-9 else -1.0
    if not 0 <= weight <= 1:
        return max(a, 1 - a, b, 1 - b) if abs(a - b) > 1e-9 else 0.5
    right = weight * a + (1 - weight) * (1 - b)
    return max(right, 1 - right)


# --- pictures -----------------------------------------------------------------------------------------


def _data_caption(example: Example) -> str:
    start = "The vector field, the" if example.field is not None else "The"
    return (
        f"{start} trajectories (A and B, attractors as crosses), and the embedding of either sub-dynamics: on the "
        "successor graph, where every path is a straight line into the attractor, and on the paper's kernel graph."
    )


def _data(example: Example, ours: Clustering, kernel: Clustering, demos: Demonstrations) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        assert example.demos.truth is not None and ours.found is not None and kernel.found is not None
        figure, axes = sheet(2, 3)
        x, truth = example.demos.x, example.demos.truth
        if example.field is not None:
            streams(axes[0, 0], theme, example.field, x)
            cross(axes[0, 0], theme, truth.attractors)
            titled(axes[0, 0], "vector field", "x₁", "x₂")
        else:
            speed = np.linalg.norm(example.demos.v, axis=1)
            axes[0, 0].plot(
                np.sort(speed) / speed.mean(), np.linspace(0, 100, len(speed)), color=theme.colour(0), lw=1.4
            )
            titled(axes[0, 0], "how slow the pen is", "speed / mean speed", "share of samples, %")
        points(axes[1, 0], theme, x, truth.labels)
        cross(axes[1, 0], theme, truth.attractors)
        titled(axes[1, 0], f"{len(x):,} samples", "x₁", "x₂")
        for q in range(2):
            letter = LETTERS[q]
            if q < ours.found.n_attractors:
                plot_embedding(ours.found, q, axes[q, 1])
            titled(axes[q, 1], f"{letter}: successor graph", "u₂", "u₃")
            _cloud(axes[q, 2], theme, kernel.found, q)
            titled(axes[q, 2], f"{letter}: paper's kernel graph", "u₂", "u₃")
        return figure

    return draw


def _cloud(ax: Any, theme: Theme, found: Identification, q: int) -> None:
    if q < found.n_attractors and found.embeddings[q].shape[1] > 1:
        ax.scatter(*found.embeddings[q][:, :2].T, s=4, color=theme.colour(q), linewidths=0, rasterized=True)


def _clusters(demos: Demonstrations, methods: list[Clustering]) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        columns = 3
        rows = -(-(len(methods)) // columns)
        figure, axes = sheet(rows, columns, sharex=True, sharey=True)
        for ax, one in zip(axes.flat, methods, strict=False):
            points(ax, theme, demos.x, one.labels)
            titled(ax, f"{one.method}: {100 * one.right:.1f} %")
        left = list(axes.flat)[len(methods) :]
        for ax in left:
            ax.axis("off")
        if left:
            left[0].axis("on")
            points(left[0], theme, demos.x, rivals.truth_of(demos))
            titled(left[0], "the truth")
        return figure

    return draw


def _iterations(wrong: dict[str, FloatArray]) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        figure, axes = sheet(1, 2, width=8.0, sharey=True)
        for k, (ax, (name, rows)) in enumerate(zip(axes.flat, wrong.items(), strict=True)):
            at = np.arange(1, rows.shape[1] + 1)
            ax.fill_between(at, rows.min(axis=0), rows.max(axis=0), color=theme.colour(k), alpha=0.2, lw=0)
            ax.plot(at, rows.mean(axis=0), color=theme.colour(k), lw=1.8)
            ax.set_ylim(0, 55)
            ax.xaxis.get_major_locator().set_params(integer=True)
            titled(ax, name, "iteration", "samples wrong, %" if k == 0 else "")
        return figure

    return draw
