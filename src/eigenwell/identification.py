"""identify(): from samples to attractors, labels and linear coordinates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from scipy.sparse.csgraph import connected_components

from ._types import BoolArray, IntArray
from .attractors import eigenpairs_for, embedded, locate_on_graph, sub_dynamics
from .cells import from_anndata, is_cells, write_back
from .demonstrations import SHORTEST_PATH, Caution, DataError, Demonstrations, first_occurrence
from .flow import Evidence, FlowFinding, FlowGraph
from .flow.data_kind import weigh
from .flow.orbits import Orbit, group_with_orbits, orbits
from .graphs import Clique, Graph, Join
from .numbering import Alternative, by_place, canonical
from .paths import Odd, PathFinding, SuccessorGraph, TrajectoryGraph
from .paths.builders import distinct, units
from .paths.merging import typical_length
from .paths.odd import label_cautions, odd_cautions
from .paths.settings import DEFAULT
from .paths.told import NOTHING, Told, told_about
from .progress import Progress, advance, told
from .results import Identification, Result
from .spectral import ExactMasses, Masses, graph_spectra
from .wording import plural

__all__ = ["Builder", "Identification", "Result", "identify"]


class Builder(Protocol):
    """Turns demonstrations into a grouped path graph (TrajectoryGraph, SuccessorGraph) or any graph (KernelGraph).

    A builder of graphs without paths may also have `nearby(demos)`, builders with other settings: how many of them give
    the same number of components is the confidence of the result.
    """

    def build(self, demos: Demonstrations) -> PathFinding | FlowFinding | Graph:
        """The graph of these samples.

        Parameters
        ----------
        demos : Demonstrations

        Returns
        -------
        PathFinding, FlowFinding or Graph
        """
        ...


def identify(
    x: Any,
    v: Any = None,
    *,
    dt: float | None = None,
    time: Any = None,
    graph: Builder | None = None,
    join: Join | None = None,
    masses: Masses | None = None,
    n_attractors: int | None = None,
    labels: Any = None,
    resolution: float | None = None,
    exclude: Sequence[int | str] = (),
    low: Any = None,
    high: Any = None,
    basis: str | None = None,
    progress: bool | Progress = False,
) -> Identification:
    """How many attractors, which sample belongs to which, where each is, and in which coordinates it is linear.

    `identify(demos)`, `identify(x, v)` for unordered samples, `identify([(x1, v1), ...])` or
    `identify([x1, x2, ...], dt=0.01)` for trajectories; `identify(adata, basis="pca")` for cells with velocities, which
    takes the answer back as `obs["eigenwell"]`, `obsm["eigenwell_fates"]` and `uns["eigenwell"]`.

    Parameters
    ----------
    x : array, list of arrays, Demonstrations, data frame, AnnData
        Positions (n, d), trajectories, or data that hold their velocities.
    v : array or list of arrays, optional
        Velocities, of the shape of x. Estimated from trajectories with `dt` or `time` where left out.
    dt, time : float; array or list of arrays, optional
        The sampling step, or the time of every sample: the rows of x are then in order of time.
    graph : Builder, optional
        How samples become paths. By default in the order given; unordered samples are taken for trajectories
        (SuccessorGraph) or for velocities at scattered places (FlowGraph), whichever they look like: `found.kind` and
        `found.evidence` say which and why.
    join, masses : Join, Masses, optional
        How the paths of one attractor are tied together, by default Clique() and ExactMasses(), which make every embedding
        exactly linear. A kernel graph has no paths to tie, and takes neither.
    n_attractors : int, optional
        Their number, where you know it. This and the next three each take the place of one decision; `found.told`
        repeats it.
    labels : array, optional
        One for each trajectory or sample (the task, the known fate), -1 for none.
    resolution : float, optional
        The distance in units of the data within which ends, or attractors of snapshots, are one place.
    exclude : sequence of int or str
        Trajectories to leave out, by number or name; of unordered samples, samples by number or mask.
    low, high : float or sequence of float, optional
        Of snapshots: walls that nothing crosses (concentrations are not negative); see FlowGraph.
    basis : str, optional
        Of an AnnData object: which embedding to take.
    progress : bool or callable
        True prints how far it is; a function is called as progress(stage, done, total).

    Returns
    -------
    Identification
        Doubts are in `.warnings`.

    Raises
    ------
    DataError
        For data that cannot be used, and for arguments that contradict each other.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.duffing.sample(seed=0).shuffled()
    >>> found = ew.identify(demos.x, demos.v)
    >>> found.n_attractors
    2
    """
    with told(progress):
        if low is not None or high is not None:
            if graph is not None:
                raise DataError(
                    "Expected low and high without graph, got both. Pass graph=FlowGraph(low=..., high=...)."
                )
            graph = FlowGraph(low=low, high=high)
        if not is_cells(x):
            if basis is not None:
                raise DataError(
                    f"Expected basis={basis!r} with an AnnData object, got {type(x).__name__}. Leave it out."
                )
            demos = Demonstrations.of(x, v, dt=dt, time=time)
            given = told_about(demos, n_attractors, labels, resolution, exclude)
            return _identified(demos, graph, join, masses, given)
        if refused := [name for name, value in {"v": v, "dt": dt, "time": time}.items() if value is not None]:
            raise DataError(
                f"Expected an AnnData object alone, got {' and '.join(refused)} besides. Leave them out, or pass arrays."
            )
        cells = from_anndata(x, basis)
        given = told_about(cells, n_attractors, labels, resolution, exclude)
        found = _identified(cells, FlowGraph() if graph is None else graph, join, masses, given)
        write_back(x, found)
        return found


def _identified(
    demos: Demonstrations, graph: Builder | None, join: Join | None, masses: Masses | None, given: Told
) -> Identification:
    builder = (TrajectoryGraph() if demos.ordered else SuccessorGraph()) if graph is None else graph
    if isinstance(builder, type) or not hasattr(builder, "build"):
        raise DataError(
            f"Expected graph as TrajectoryGraph(), SuccessorGraph(), KernelGraph(...) or another object with "
            f"build(demos), got {builder!r}. Pass an object, or leave it out."
        )
    tie = (Clique() if join is None else join, ExactMasses() if masses is None else masses)
    advance("paths", 0, 1)
    evidence = None
    if graph is None and not demos.ordered:
        unit = units(demos.x, demos.v)
        first = first_occurrence(*distinct(demos.x / unit, demos.v / unit)) & given.kept(demos)
        evidence = weigh(demos.x[first] / unit, demos.v[first] / unit)
        builder = FlowGraph() if evidence.snapshots else builder
    if given:
        return _from_told(demos, builder, given, tie, evidence or Evidence(said=True))
    if graph is None and demos.ordered and (closed := orbits(demos)):
        return _with_orbits(demos, closed, *tie)
    built = builder.build(demos)
    advance("paths", 1, 1)
    if isinstance(built, FlowFinding):
        return _from_flow(demos, built, *tie, evidence or Evidence(said=True))
    if isinstance(built, Graph):
        _refuse_with_kernel(join=join, masses=masses)
        return _from_graph(demos, built, builder)
    result = _from_paths(demos, built, *tie)
    return (
        result if evidence is None else replace(result, evidence=evidence, warnings=result.warnings + evidence.warnings)
    )


def _from_told(
    demos: Demonstrations, builder: Builder, told: Told, tie: tuple[Join, Masses], evidence: Evidence
) -> Identification:
    """With a decision taken by the user."""
    if isinstance(builder, FlowGraph):
        return _from_flow(demos, builder.build(demos, told), *tie, evidence, _excluded(demos, told))
    if not isinstance(builder, TrajectoryGraph | SuccessorGraph):
        raise DataError(
            "Expected paths or snapshots with n_attractors, labels, resolution or exclude, got "
            f"{type(builder).__name__}: its graph alone decides. Leave them out, or pass graph=SuccessorGraph()."
        )
    if demos.ordered or not told.exclude:
        return _from_paths(demos, builder.build(demos, told), *tie, told)
    # Samples left out of an unordered set are in no path.
    rest = np.flatnonzero(told.kept(demos))
    labels = None if told.labels is None else told.labels[rest]
    part = builder.build(Demonstrations(demos.x[rest], demos.v[rest]), replace(told, exclude=(), labels=labels))
    sure = np.zeros(demos.n_samples)
    sure[rest] = part.label_confidence
    graph = replace(part.graph, n_samples=demos.n_samples, nodes=rest[part.graph.nodes])
    return _from_paths(demos, replace(part, graph=graph, label_confidence=sure), *tie, told)


def _refuse_with_kernel(**choices: Any) -> None:
    given = [f"{name}={choice!r}" for name, choice in choices.items() if choice is not None]
    if given:
        raise DataError(
            f"Expected no join and no masses with a graph that has no paths, got {' and '.join(given)}: there are no "
            "ends to join. Leave them out, or identify with SuccessorGraph() or TrajectoryGraph()."
        )


def _from_paths(
    demos: Demonstrations, found: PathFinding, join: Join, masses: Masses, told: Told = NOTHING
) -> Identification:
    paths = canonical(demos, found.graph)
    count = eigenpairs_for(demos.dimension, paths.group)
    spectra, embeddings, located = [], [], []
    total = int(paths.group.max()) + 1
    for q in range(total):
        mine = [paths.path(int(k)) for k in paths.paths_of(q)]
        spectrum, embedding, place = sub_dynamics(demos.x, demos.v, mine, join, masses, count)
        spectra.append(spectrum)
        embeddings.append(embedding)
        located.append(place)
        advance("attractors", q + 1, total)
    # Numbers by place: which of them each had before.
    before = np.empty(total, dtype=np.intp)
    before[paths.labels[paths.nodes]] = found.graph.labels[paths.nodes]
    sure, labelled = found.label_confidence, paths.labels >= 0
    return Identification(
        demos=demos,
        labels=paths.labels,
        attractors=np.array([a.position for a in located]),
        located=tuple(located),
        embeddings=tuple(embeddings),
        spectra=tuple(spectra),
        graph=paths,
        grouping=found.grouping,
        arrived=found.arrived[before],
        confidence=found.grouping.probability,
        label_confidence=sure,
        warnings=demos.warnings
        + found.warnings
        + odd_cautions(odd := _named(demos, found.odd))
        + label_cautions(float((1 - sure[labelled]).mean()) if labelled.any() else 0.0),
        alternatives=tuple(
            Alternative(r.n_groups, r.probability, replace(found.graph, group=r.group).labels)
            for r in found.alternatives
        ),
        odd=odd,
        told=tuple(t for t in (found.grouping.told, _excluded(demos, told)) if t),
    )


def _named(demos: Demonstrations, odd: tuple[Odd, ...]) -> tuple[Odd, ...]:
    return tuple(replace(o, name=demos.names[o.number]) for o in odd) if demos.names else odd


def _excluded(demos: Demonstrations, told: Told) -> str:
    names = ", ".join(f"{k} ({demos.names[k]})" if demos.names else str(k) for k in told.exclude)
    shown = f"recordings {names}" if demos.ordered else plural(len(told.exclude), "sample")
    return f"without {shown}, by exclude" if told.exclude else ""


def _with_orbits(demos: Demonstrations, closed: list[Orbit], join: Join, masses: Masses) -> Identification:
    """Trajectories of which some go round: these end on cycles, the others where they come to rest."""
    paths, cycles, rest = group_with_orbits(demos, closed)
    count = eigenpairs_for(demos.dimension, paths.group)
    parts = []
    for q in range(int(paths.group.max()) + 1):
        mine = [paths.path(int(k)) for k in paths.paths_of(q)]
        spectrum, embedding, place = sub_dynamics(demos.x, demos.v, mine, join, masses, count)
        parts.append((cycles.get(q, place), spectrum, embedding))
    order = by_place(np.array([p[0].position for p in parts]), float(np.ptp(demos.x, axis=0).max()))
    rank = np.append(np.argsort(order), -1)
    located, spectra, embeddings = zip(*(parts[int(k)] for k in order), strict=True)
    paths = replace(paths, group=rank[paths.group])
    return Identification(
        demos=demos,
        labels=paths.labels,
        attractors=np.array([a.position for a in located]),
        located=located,
        embeddings=embeddings,
        spectra=spectra,
        graph=paths,
        grouping=None if rest is None else rest.grouping,
        arrived=np.ones(len(located)),
        confidence=float(np.prod([o.steady for o in closed]) * (1.0 if rest is None else rest.grouping.probability)),
        label_confidence=(paths.labels >= 0).astype(np.float64),
        warnings=demos.warnings + (() if rest is None else rest.warnings),
    )


def _from_flow(
    demos: Demonstrations, found: FlowFinding, join: Join, masses: Masses, evidence: Evidence, left_out: str = ""
) -> Identification:
    spectra, embeddings = [], []
    for q in range(len(found.located)):
        mine = [found.graph.path(int(k)) for k in found.graph.paths_of(q)]
        count = eigenpairs_for(demos.dimension, found.graph.group)
        spectrum, embedding = embedded(mine, join, masses, count, demos.dimension)
        spectra.append(spectrum)
        embeddings.append(embedding)
    return Identification(
        demos=demos,
        labels=found.labels,
        attractors=np.array([a.position for a in found.located]).reshape(-1, demos.dimension),
        located=found.located,
        embeddings=tuple(embeddings),
        spectra=tuple(spectra),
        graph=found.graph,
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


def _from_graph(demos: Demonstrations, graph: Graph, builder: Builder) -> Identification:
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
