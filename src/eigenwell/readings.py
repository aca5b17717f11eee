"""From what was found, paths, cycles, a field or a graph, to an Identification."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ._types import BoolArray, FloatArray, IntArray
from .attractors import Attractor, eigenpairs_for, embedded, locate_on_graph, sub_dynamics
from .demonstrations import SHORTEST_PATH, Caution, DataError, Demonstrations
from .flow import Evidence, FlowFinding
from .flow.orbits import Orbit, group_with_orbits
from .graphs import Graph, Join, PathGraph
from .numbering import Alternative, by_place, canonical
from .paths import Odd, PathFinding
from .paths.beside import label_cautions, odd_cautions
from .paths.fragments import typical_length
from .paths.settings import DEFAULT
from .paths.told import NOTHING, Told
from .progress import advance
from .results import Identification
from .spectral import Masses, Spectrum, graph_spectra
from .wording import plural


def of_paths(
    demos: Demonstrations, found: PathFinding, join: Join, masses: Masses, told: Told = NOTHING
) -> Identification:
    paths = canonical(demos, found.graph)
    spectra, embeddings, located = _sub_dynamics(demos, paths, join, masses)
    # Numbers by place: which of them each had before.
    before = np.empty(len(located), dtype=np.intp)
    before[paths.labels[paths.nodes]] = found.graph.labels[paths.nodes]
    return Identification(
        demos=demos,
        labels=paths.labels,
        attractors=np.array([a.position for a in located]),
        located=located,
        embeddings=embeddings,
        spectra=spectra,
        graph=paths,
        grouping=found.grouping,
        arrived=found.arrived[before],
        confidence=found.grouping.probability,
        label_confidence=found.label_confidence,
        warnings=demos.warnings
        + found.warnings
        + odd_cautions(odd := _named(demos, found.odd))
        + label_cautions(found.doubtful_labels),
        alternatives=tuple(
            Alternative(r.n_groups, r.probability, replace(found.graph, group=r.group).labels)
            for r in found.alternatives
        ),
        odd=odd,
        told=tuple(t for t in (found.grouping.told, excluded(demos, told)) if t),
    )


def _sub_dynamics(
    demos: Demonstrations, paths: PathGraph, join: Join, masses: Masses
) -> tuple[tuple[Spectrum, ...], tuple[FloatArray, ...], tuple[Attractor, ...]]:
    """Spectrum, embedding and attractor of every group of paths."""
    count, total = eigenpairs_for(demos.dimension, paths.group), int(paths.group.max()) + 1
    parts = []
    for q in range(total):
        mine = [paths.path(int(k)) for k in paths.paths_of(q)]
        parts.append(sub_dynamics(demos.x, demos.v, mine, join, masses, count))
        advance("attractors", q + 1, total)
    spectra, embeddings, located = zip(*parts, strict=True)
    return spectra, embeddings, located


def _named(demos: Demonstrations, odd: tuple[Odd, ...]) -> tuple[Odd, ...]:
    return tuple(replace(o, name=demos.names[o.number]) for o in odd) if demos.names else odd


def excluded(demos: Demonstrations, told: Told) -> str:
    names = ", ".join(f"{k} ({demos.names[k]})" if demos.names else str(k) for k in told.exclude)
    shown = f"recordings {names}" if demos.ordered else plural(len(told.exclude), "sample")
    return f"without {shown}, by exclude" if told.exclude else ""


def of_orbits(demos: Demonstrations, closed: list[Orbit], join: Join, masses: Masses) -> Identification:
    """Trajectories of which some go round: these end on cycles, the others where they come to rest."""
    paths, cycles, rest = group_with_orbits(demos, closed)
    spectra, embeddings, places = _sub_dynamics(demos, paths, join, masses)
    places = tuple(cycles.get(q, place) for q, place in enumerate(places))
    order = by_place(np.array([a.position for a in places]), float(np.ptp(demos.x, axis=0).max()))
    rank = np.append(np.argsort(order), -1)
    located = tuple(places[k] for k in order)
    paths = replace(paths, group=rank[paths.group])
    return Identification(
        demos=demos,
        labels=paths.labels,
        attractors=np.array([a.position for a in located]),
        located=located,
        embeddings=tuple(embeddings[k] for k in order),
        spectra=tuple(spectra[k] for k in order),
        graph=paths,
        grouping=None if rest is None else rest.grouping,
        arrived=np.ones(len(located)),
        confidence=float(np.prod([o.steady for o in closed]) * (1.0 if rest is None else rest.grouping.probability)),
        label_confidence=(paths.labels >= 0).astype(np.float64),
        warnings=demos.warnings + (() if rest is None else rest.warnings),
    )


def of_flow(
    demos: Demonstrations,
    found: FlowFinding,
    join: Join,
    masses: Masses,
    evidence: Evidence,
    left_out: str = "",
) -> Identification:
    graph, count = found.graph, eigenpairs_for(demos.dimension, found.graph.group)
    groups = [[graph.path(int(k)) for k in graph.paths_of(q)] for q in range(len(found.located))]
    parts = [embedded(mine, join, masses, count, demos.dimension) for mine in groups]
    return Identification(
        demos=demos,
        labels=found.labels,
        attractors=np.array([a.position for a in found.located]).reshape(-1, demos.dimension),
        located=found.located,
        embeddings=tuple(embedding for _, embedding in parts),
        spectra=tuple(spectrum for spectrum, _ in parts),
        graph=graph,
        grouping=None,
        arrived=np.ones(len(found.located)),
        confidence=found.confidence,
        label_confidence=np.where(found.labels >= 0, found.fates[np.arange(demos.n_samples), found.labels], 0.0),
        warnings=demos.warnings + evidence.warnings + found.warnings,
        kind="snapshots",
        evidence=evidence,
        fates=found.fates,
        counts=found.counts,
        flow=found.field,
        known=found.known,
        spread=found.spread,
        exits=found.exits,
        told=tuple(t for t in (found.told, left_out) if t),
    )


def of_graph(demos: Demonstrations, graph: Graph, builder: Any) -> Identification:
    """Alg. 1 of the paper on any graph: a component is a sub-dynamics, its first eigenvectors the embedding."""
    spectra = graph_spectra(graph, 2 + demos.dimension)
    large = _large(np.array([len(s.nodes) for s in spectra]))
    whole = [s for s, enough in zip(spectra, large, strict=True) if enough]
    if not whole:
        raise DataError(
            f"Expected a graph with components of at least {SHORTEST_PATH} samples, got {len(spectra)} components, none "
            "that large. Raise sigma or theta_r, or lower eps."
        )
    located = [locate_on_graph(demos.x, demos.v, s.nodes, s.eigenvectors[:, 1:3]) for s in whole]
    order = by_place(np.array([a.position for a in located]), float(np.ptp(demos.x, axis=0).max()))
    labels = np.full(demos.n_samples, -1, dtype=np.intp)
    for q, k in enumerate(order):
        labels[whole[k].nodes] = q
    counts = _counts_nearby(demos, builder, len(whole))
    left_out = int((labels < 0).sum())
    cautions = () if left_out == 0 else (_unassigned(left_out, len(spectra) - len(whole)),)
    return Identification(
        demos=demos,
        labels=labels,
        attractors=np.array([located[k].position for k in order]),
        located=tuple(located[k] for k in order),
        embeddings=tuple(whole[k].eigenvectors[:, 1 : 1 + demos.dimension] for k in order),
        spectra=tuple(whole[k] for k in order),
        graph=graph,
        grouping=None,
        arrived=np.ones(len(order)),
        confidence=float("nan") if counts is None else counts.get(len(whole), 0.0),
        label_confidence=(labels >= 0).astype(np.float64),
        warnings=demos.warnings + cautions,
        kind="graph",
        counts=counts,
    )


def _large(sizes: IntArray) -> BoolArray:
    """Components large enough to count as sub-dynamics."""
    return np.asarray(sizes >= max(SHORTEST_PATH, DEFAULT.remainder * typical_length(sizes)))


def _counts_nearby(demos: Demonstrations, builder: Any, here: int) -> dict[int, float] | None:
    """Share of the settings near the builder's, its own among them, that give each number of components."""
    if not hasattr(builder, "nearby"):
        return None
    numbers = [here]
    others = builder.nearby(demos)
    for k, other in enumerate(others):
        _, labels = connected_components(other.build(demos).adjacency, directed=False)
        numbers.append(int(_large(np.bincount(labels)).sum()))
        advance("settings", k + 1, len(others))
    tally = Counter(numbers)
    return {q: tally[q] / len(numbers) for q in sorted(tally)}


def _unassigned(samples: int, components: int) -> Caution:
    return Caution(
        "unassigned-samples",
        f"{samples} samples lie in {components} components too small to trust and have label -1. Raise sigma or theta_r, "
        "or lower eps; or use SuccessorGraph, which has no parameters.",
    )
