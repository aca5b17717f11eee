"""What the worker answers to strokes: the identification as plain numbers, small enough to send after every stroke."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._types import FloatArray, IntArray
from ..demonstrations import DataError
from ..flow import FlowGraph
from ..graphs import Clique, Graph, PathGraph
from ..identification import Identification, identify
from ..paths import SuccessorGraph
from ..progress import Progress
from ..report.wording import surety
from ..spectral import KernelGraph, linearity
from ..spectral.shown import eigenvalues
from . import messages
from .messages import doubts
from .protocol import Options
from .strokes import Drawing, NeverRests, Stroke, drawing
from .training import WRITTEN

MOST_LINKS, MOST_JOINS = 2000, 600
"""Lines of the graph that are drawn; more cannot be told apart on a screen, and each costs 30 bytes."""
EMBEDDED = 50
"""Points sent of a path's embedding: it is a straight line, or visibly not one."""
DIGITS = 5
# Start of the sliders. Among the angles and levels tried on made-up pen strokes this pair was right most often; three
# times in four, which is what the sliders are there to show.
THETA_R, EPS = 0.35, 0.3
RESTING, TOP = 0.1, 0.95
"""The kernel's direction filter opens below a tenth of the top speed, which 95 % of the samples stay below: the paper's
maximum is one wild sample's."""
KERNEL_SAMPLES = 800
"""Of a kernel graph. Samples at rest lie within sigma of each other by the hundred, and eigenvectors of such a graph take
seconds from twice as many on."""


REPLICATES = 20
"""Of the flow of samples from a brush. Half the usual: somebody is waiting, and five percent is how sure one can see."""


@dataclass(frozen=True, eq=False)
class DrawnResult:
    """Demonstrations as `identify` saw them, with what it found; for learning and for the report.

    Its demonstrations are the samples `rows` of the drawing's: some of them, or all in another order.
    """

    drawing: Drawing
    rows: IntArray
    found: Identification

    @property
    def labels(self) -> IntArray:
        """Of every sample of the drawing; one that was left out has that of the last before it that was not."""
        order = np.argsort(self.rows)
        place = np.searchsorted(self.rows[order], np.arange(self.drawing.demos.n_samples), side="right") - 1
        return np.asarray(self.found.labels[order][place])

    def numbered(self, numbers: Sequence[int]) -> DrawnResult:
        """The goals with the page's numbers; as they are where it has none, or others."""
        if len(numbers) != self.found.n_attractors or list(numbers) == list(range(len(numbers))):
            return self
        return replace(self, found=self.found.renumbered(numbers))


@dataclass(frozen=True)
class KernelSettings:
    """What the kernel graph is built with."""

    sigma: float
    theta_r: float
    eps: float
    sigma_f: float
    every: int

    @classmethod
    def of(cls, drawn: Drawing, options: Options) -> KernelSettings:
        """What the page set, and otherwise where one would start: sigma is the paper's, top speed times sampling step."""
        top = float(np.quantile(np.linalg.norm(drawn.demos.v, axis=1), TOP))
        every = -(-drawn.demos.n_samples // KERNEL_SAMPLES)
        return cls(
            # Four digits, so that the Python lines are short and do exactly the same.
            sigma=float(f"{top * drawn.step * every:.4g}") if options.sigma is None else options.sigma,
            theta_r=THETA_R if options.theta_r is None else options.theta_r,
            eps=EPS if options.eps is None else options.eps,
            sigma_f=float(f"{(RESTING * top) ** 2:.4g}"),
            every=every,
        )

    def shown(self) -> dict[str, float]:
        return {name: shown(getattr(self, name)) for name in ("sigma", "theta_r", "eps")}


def find(drawn: Drawing, options: Options, progress: bool | Progress = False) -> DrawnResult:
    """Identify a drawing as the page asks for it. Without order the samples are shuffled indeed."""
    demos, rows = drawn.demos, np.arange(drawn.demos.n_samples)
    if options.graph == "kernel":
        kernel = KernelSettings.of(drawn, options)
        rows = rows[:: kernel.every]
        graph = KernelGraph(kernel.theta_r, kernel.sigma_f, kernel.eps, sigma=kernel.sigma)
        return DrawnResult(drawn, rows, identify(demos.take(rows), graph=graph))
    if drawn.scattered:
        return DrawnResult(drawn, rows, identify(demos, graph=FlowGraph(replicates=REPLICATES), progress=progress))
    if options.order == "unordered":
        rows = np.random.default_rng(0).permutation(rows)
        return DrawnResult(drawn, rows, identify(demos.take(rows), graph=SuccessorGraph()))
    return DrawnResult(drawn, rows, identify(demos))


def compared(strokes: Sequence[Stroke]) -> dict[str, Any]:
    """The same samples read in three ways, all of them without their order but the last: the paper's kernel graph at its own
    sigma, our paths, and our paths with the order known."""
    drawn, answer = drawing(strokes), {}
    ways = {"kernel": Options(graph="kernel"), "unordered": Options(order="unordered"), "known": Options()}
    for name, options in ways.items():
        began = time.perf_counter()
        try:
            result = find(drawn, options)
        except DataError:
            answer[name] = {"n": 0, "labels": dict.fromkeys(drawn.ids, -1)}
        else:
            answer[name] = {"n": result.found.n_attractors, "labels": _labels(drawn, result.labels)}
        answer[name]["ms"] = round(1000 * (time.perf_counter() - began))
    return {"ways": answer, "kernel": KernelSettings.of(drawn, Options()).shown()}


def identified(strokes: Sequence[Stroke], options: Options, progress: bool | Progress = False) -> dict[str, Any]:
    """The answer to the page, without its revision."""
    try:
        drawn = drawing(strokes)
    except NeverRests as error:
        why = {"why": messages.NEVER_RESTS, "labels": {}, "warnings": [], "kernel": {}, "python": ""}
        return NOTHING | why | _question(strokes, error.rounds)
    kernel = KernelSettings.of(drawn, options)
    same = {"kernel": kernel.shown(), "python": messages.python_lines(options, kernel, WRITTEN, drawn.scattered)}
    same |= _question(strokes, drawn.rounds)
    try:
        result = find(drawn, options, progress)
    except DataError as error:
        if options.graph != "kernel":
            raise
        # Sliders set so that nothing hangs together: a picture of that, and no failure.
        why = {"why": f"With these settings the samples do not hang together. {error}"}
        return NOTHING | why | {"labels": dict.fromkeys(drawn.ids, -1), "warnings": doubts(drawn.cautions)} | same
    found = result.found
    return {
        "n_attractors": found.n_attractors,
        "confidence": shown(found.confidence) if messages.telling(found) else None,
        "confidence_words": surety(found.confidence) if messages.telling(found) else messages.unsure(found),
        "why": messages.why(found, options),
        "labels": _labels(drawn, result.labels),
        "fates": _fates(result),
        "attractors": [
            {"x": shown(a), "error": shown(e), "colour": q} | _arriving(drawn, found, q)
            for q, (a, e) in enumerate(zip(found.attractors, found.uncertainty, strict=True))
        ],
        "spectra": [_spectrum(found, q) for q in range(found.n_attractors)],
        "embeddings": [_embedding(found, q) for q in range(found.n_attractors)],
        "graph": _links(found.demos.x, found.graph),
        "warnings": doubts([*drawn.cautions, *found.warnings], found.n_attractors, early=not messages.telling(found)),
    } | same


def _question(strokes: Sequence[Stroke], rounds: Sequence[str]) -> dict[str, Any]:
    """What only the hand can know: where strokes should stop that never rest."""
    numbers = [k for k, stroke in enumerate(strokes, start=1) if stroke.id in rounds]
    return {"question": messages.where_to_stop(numbers, len(strokes)) if numbers else None, "rounds": list(rounds)}


def shown(values: Any) -> Any:
    """Numbers rounded to five digits of the largest among them, as plain lists; more is invisible on a screen."""
    array = np.nan_to_num(np.asarray(values, dtype=np.float64), posinf=1e12, neginf=-1e12)
    largest = max(float(np.abs(array).max(initial=0.0)), 1e-12)
    return np.round(array, DIGITS - 1 - int(np.floor(np.log10(largest)))).tolist()


NOTHING: dict[str, Any] = {
    "n_attractors": 0,
    "confidence": None,
    "confidence_words": "",
    **{key: [] for key in ("attractors", "spectra", "embeddings")},
    "graph": {"links": [], "joins": []},
}
"""The answer where nothing was found."""


def _labels(drawn: Drawing, labels: IntArray) -> dict[str, Any]:
    """One label a stroke, or one for each of its events where they differ."""
    out: dict[str, Any] = {}
    for name, rows in zip(drawn.ids, drawn.nearest, strict=True):
        mine = labels[rows]
        out[name] = int(mine[0]) if (mine == mine[0]).all() else mine.tolist()
    return out


def _fates(result: DrawnResult) -> dict[str, list[float]]:
    """Of samples from a brush: how sure each is to end where its label says, or to leave."""
    fates, drawn = result.found.fates, result.drawing
    if fates is None:
        return {}
    sure = np.round(np.take_along_axis(fates, result.found.labels[:, None], axis=1)[:, 0], 2)
    bounds = zip(drawn.ids, drawn.offsets[:-1], drawn.offsets[1:], strict=True)
    return {name: sure[a:b].tolist() for name, a, b in bounds}


def _arriving(drawn: Drawing, found: Identification, q: int) -> dict[str, int]:
    """How many strokes, or samples of a brush, end there; nothing where a graph has no paths."""
    if drawn.scattered:
        return {"samples": int((found.labels == q).sum())}
    return {"strokes": len(found.graph.paths_of(q))} if isinstance(found.graph, PathGraph) else {}


def _spectrum(found: Identification, q: int) -> dict[str, Any]:
    values, below = eigenvalues(found.graph, found.spectra, q)
    return {"values": shown(values), "gap_after": below}


def _embedding(found: Identification, q: int) -> dict[str, Any]:
    u = found.embeddings[q][:, :2]
    if u.shape[1] == 1:
        u = np.column_stack([u, np.zeros(len(u))])
    if isinstance(found.graph, Graph):
        # No paths: the nodes as one cloud.
        some = u[:: max(1, len(u) // (10 * EMBEDDED))]
        return {"paths": [shown(some)], "linearity": None}
    lengths = [len(path) for path in found.paths(q)]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
    parts = [u[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    thinned = [part[np.unique(np.linspace(0, len(part) - 1, EMBEDDED).astype(int))] for part in parts]
    lines = np.split(np.asarray(shown(np.concatenate(thinned))), np.cumsum([len(t) for t in thinned])[:-1])
    linear = shown(linearity(found.embeddings[q], offsets).min())
    return {"paths": [line.tolist() for line in lines], "linearity": linear}


def _links(x: FloatArray, graph: Graph | PathGraph) -> dict[str, Any]:
    """Lines of the graph. Along paths each goes over as many samples as keeps their number down; joins are between ends."""
    if isinstance(graph, Graph):
        upper = sp.triu(graph.adjacency, k=1).tocoo()
        # A fixed seed: the picture does not flicker while a slider moves.
        chosen = np.random.default_rng(0).permutation(len(upper.row))[:MOST_LINKS]
        return {"links": _lines(x, np.column_stack([upper.row[chosen], upper.col[chosen]])), "joins": []}
    every = max(1, -(-graph.n_samples // MOST_LINKS))
    links = [np.empty((0, 2), np.intp)]
    for k in np.flatnonzero(graph.group >= 0).tolist():
        nodes = graph.path(k)[np.unique(np.append(np.arange(0, graph.lengths[k], every), graph.lengths[k] - 1))]
        links.append(np.column_stack([nodes[:-1], nodes[1:]]))
    groups = range(int(graph.group.max(initial=-1)) + 1)
    joins = np.concatenate([links[0], *(Clique().edges(graph.terminals[graph.paths_of(q)]) for q in groups)])
    return {"links": _lines(x, np.concatenate(links)), "joins": _lines(x, joins[:MOST_JOINS])}


def _lines(x: FloatArray, pairs: IntArray) -> list[list[float]]:
    rows: list[list[float]] = np.round(x[pairs].reshape(-1, 4), DIGITS - 1).tolist()
    return rows
