"""identify(): from samples to the number of attractors, labels, attractors and linear embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ._types import FloatArray, IntArray
from .attractors import Attractor, locate, locate_on_graph
from .cells import from_anndata, is_cells, write_back
from .demonstrations import SHORTEST_PATH, Caution, DataError, Demonstrations, first_occurrence
from .flow import EstimatedField, Evidence, FlowFinding, FlowGraph, Orbit, group_with_orbits, orbits, weigh
from .graphs import Clique, Graph, Join, PathGraph
from .numbering import Alternative, by_place, canonical
from .paths import (
    DEFAULT,
    NOTHING,
    Grouping,
    Odd,
    PathFinding,
    SuccessorGraph,
    Told,
    TrajectoryGraph,
    odd_cautions,
    told_about,
    typical_length,
)
from .spectral import ExactMasses, Masses, Spectrum, graph_spectra, joined_spectrum


class Builder(Protocol):
    """Turns demonstrations into a grouped path graph (TrajectoryGraph, SuccessorGraph) or any graph (KernelGraph)."""

    def build(self, demos: Demonstrations) -> PathFinding | FlowFinding | Graph: ...


@dataclass(frozen=True, eq=False)
class Identification:
    """What identify() found; sub-dynamics are numbered by the position of their attractor, first coordinate first.

    demos         the Demonstrations it was found in: what is learned from the result is learned from them
    labels        (n,) sub-dynamics of every sample, -1 where unassigned
    attractors    (Q, d) their places; `located[q]` has the standard error and the single estimates
    embeddings    Q arrays (n_q, m), m = min(K_q - 1, d), at least 1: straight lines that meet in the attractor; row i
                  belongs to sample `members(q)[i]`
    spectra       Q spectra of the graph Laplacian, the constant eigenvector first
    graph         the paths: `graph.path(k)` lists sample indices in order of time; or the kernel's graph
    grouping      how the ends were grouped; None for a kernel graph, whose components are the answer
    arrived       share of the attractors at which a path comes to rest
    confidence    0 to 1: posterior probability of Q given the ends (`paths.evidence`), times `arrived`; for a kernel
                  graph the share of samples that have a label; for snapshots the share of replicates with Q, times known
    alternatives  other numbers of attractors, the likeliest first, each with its confidence and labels
    odd           recordings that break off, run backwards, repeat another or end alone, and whether they were left out
    told          which decisions were the user's (n_attractors, labels, resolution, exclude)
    warnings      doubts, each with a name and a sentence
    kind          "trajectories", "snapshots" (velocities at scattered places) or "graph" (a kernel's); `evidence` says why
    fates         snapshots: (n, Q + 1) probability of each attractor, and last that of leaving the data; else None
    counts        snapshots: how often each number of attractors came out of the replicates; else None
    known, flow   snapshots: the share of the field that is determined between samples (else 1), and the estimated field
    """

    demos: Demonstrations
    labels: IntArray
    attractors: FloatArray
    located: tuple[Attractor, ...]
    embeddings: tuple[FloatArray, ...]
    spectra: tuple[Spectrum, ...]
    graph: PathGraph | Graph
    grouping: Grouping | None
    arrived: float
    warnings: tuple[Caution, ...]
    alternatives: tuple[Alternative, ...] = ()
    odd: tuple[Odd, ...] = ()
    told: tuple[str, ...] = ()
    kind: str = "trajectories"
    evidence: Evidence | None = None
    fates: FloatArray | None = None
    counts: dict[int, float] | None = None
    flow: EstimatedField | None = None
    known: float = 1.0

    @property
    def n_attractors(self) -> int:
        return len(self.attractors)

    @property
    def confidence(self) -> float:
        if self.counts is not None:
            return self.counts.get(self.n_attractors, 0.0) * self.known
        if self.grouping is None:
            return float((self.labels >= 0).mean())
        return self.grouping.confidence * self.arrived

    @property
    def uncertainty(self) -> FloatArray:
        """(Q, d) standard errors of the attractors."""
        return np.array([a.standard_error for a in self.located]).reshape(self.attractors.shape)

    @property
    def kinds(self) -> tuple[str, ...]:
        """ "point" or "cycle" for every attractor."""
        return tuple(a.kind for a in self.located)

    def members(self, q: int) -> IntArray:
        """Samples of sub-dynamics q, path after path in order of time: the rows of embeddings[q]."""
        self._check(q)
        return self.spectra[q].nodes

    def paths(self, q: int) -> list[IntArray]:
        """Sample indices of every path of sub-dynamics q, in order of time; of snapshots those along one solution of the
        estimated field, by the time they have to go."""
        self._check(q)
        if isinstance(self.graph, Graph):
            raise DataError("A kernel graph has no paths; identify with SuccessorGraph or TrajectoryGraph to get them.")
        return [self.graph.path(int(k)) for k in self.graph.paths_of(q)]

    def _check(self, q: int) -> None:
        if not 0 <= q < self.n_attractors:
            raise DataError(
                f"Expected a sub-dynamics 0 to {self.n_attractors - 1}, got {q}. Unassigned samples are "
                "np.flatnonzero(found.labels < 0)."
            )

    def __repr__(self) -> str:
        doubts = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"Identification({self.n_attractors} attractors, confidence {self.confidence:.2f}{doubts})"

    def __str__(self) -> str:
        word = "attractor" if self.n_attractors == 1 else "attractors"
        lines = [f"{self.n_attractors} {word}, confidence {self.confidence:.2f}"]
        # Coordinates that are rounding error beside the others are zero to a reader.
        places = np.where(
            np.abs(self.attractors) < 1e-9 * np.abs(self.attractors).max(initial=0.0), 0.0, self.attractors
        )
        for q in range(self.n_attractors):
            place = ", ".join(
                f"{c:.4g} ± {e:.1g}" for c, e in zip(places[q], self.located[q].standard_error, strict=True)
            )
            paths = f"{len(self.graph.paths_of(q))} paths, " if isinstance(self.graph, PathGraph) else ""
            what = f"{self.located[q].form} at" if self.located[q].form != "point" else "x* ="
            lines.append(f"  {q}: {what} ({place}), {paths}{int((self.labels == q).sum())} samples")
        lines += [f"  given: {what}" for what in self.told]
        if self.alternatives:
            others = ", ".join(f"{a.n_attractors} (confidence {a.confidence:.2f})" for a in self.alternatives[:3])
            lines.append(f"  or {others}")
        lines += [f"  ! {caution}" for caution in self.warnings]
        return "\n".join(lines)


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
    basis: str | None = None,
) -> Identification:
    """How many attractors, which sample belongs to which, where each is, and in which coordinates it is linear.

    `identify(demos)`, `identify(x, v)` for unordered samples, `identify([(x1, v1), ...])` or
    `identify([x1, x2, ...], dt=0.01)` for trajectories; `identify(adata, basis="pca")` for cells with velocities, which
    takes the answer back as `obs["eigenwell"]`, `obsm["eigenwell_fates"]` and `uns["eigenwell"]`.

    `graph` chooses how samples become paths: by default the order given; unordered samples are taken for trajectories
    (SuccessorGraph) or for velocities at scattered places (FlowGraph), whichever they look like: `found.kind` and
    `found.evidence` say which and why. `join` (default Clique) and `masses` (default ExactMasses) choose how the paths of
    one attractor are tied together; the defaults make every embedding exactly linear. A kernel graph has no paths to
    tie, and takes neither.

    Say what you know, and it takes the place of one decision: `n_attractors`, their number; `resolution`, the distance
    in units of the data within which ends are one place; `labels`, one for each trajectory or sample (the task), -1 for
    none; `exclude`, trajectories to leave out, by number or name. `found.told` repeats it.
    """
    if is_cells(x):
        found = identify(
            from_anndata(x, basis), graph=FlowGraph() if graph is None else graph, join=join, masses=masses
        )
        write_back(x, found)
        return found
    if basis is not None:
        raise DataError(f"Expected basis={basis!r} with an AnnData object, got {type(x).__name__}. Leave it out.")
    demos = Demonstrations.of(x, v, dt=dt, time=time)
    builder = (TrajectoryGraph() if demos.ordered else SuccessorGraph()) if graph is None else graph
    if isinstance(builder, type) or not hasattr(builder, "build"):
        raise DataError(
            f"Expected graph as TrajectoryGraph(), SuccessorGraph(), KernelGraph(...) or another object with "
            f"build(demos), got {builder!r}. Pass an object, or leave it out."
        )
    tie = (Clique() if join is None else join, ExactMasses() if masses is None else masses)
    evidence = None
    if graph is None and not demos.ordered:
        first = first_occurrence(demos.x, demos.v)
        evidence = weigh(demos.x[first], demos.v[first])
        builder = FlowGraph() if evidence.snapshots else builder
    told = told_about(demos, n_attractors, labels, resolution, exclude)
    if told:
        return _from_told(demos, builder, told, tie)
    if graph is None and demos.ordered and (closed := orbits(demos)):
        return _with_orbits(demos, closed, *tie)
    built = builder.build(demos)
    if isinstance(built, FlowFinding):
        return _from_flow(demos, built, *tie, evidence or Evidence(said=True))
    if isinstance(built, Graph):
        _refuse_with_kernel(join=join, masses=masses)
        return _from_graph(demos, built)
    result = _from_paths(demos, built, *tie)
    return (
        result if evidence is None else replace(result, evidence=evidence, warnings=result.warnings + evidence.warnings)
    )


def _from_told(demos: Demonstrations, builder: Builder, told: Told, tie: tuple[Join, Masses]) -> Identification:
    """With a decision taken by the user, who speaks of paths."""
    if not isinstance(builder, TrajectoryGraph | SuccessorGraph):
        raise DataError(
            "Expected samples along trajectories with n_attractors, labels, resolution or exclude, got "
            f"{type(builder).__name__}: its graph alone decides. Leave them out, or pass graph=SuccessorGraph()."
        )
    return _from_paths(demos, builder.build(demos, told), *tie, told)


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
    for q in range(int(paths.group.max()) + 1):
        mine = [paths.path(int(k)) for k in paths.paths_of(q)]
        spectrum, embedding, place = sub_dynamics(demos.x, demos.v, mine, join, masses, count)
        spectra.append(spectrum)
        embeddings.append(embedding)
        located.append(place)
    return Identification(
        demos=demos,
        labels=paths.labels,
        attractors=np.array([a.position for a in located]),
        located=tuple(located),
        embeddings=tuple(embeddings),
        spectra=tuple(spectra),
        graph=paths,
        grouping=found.grouping,
        arrived=found.arrived,
        warnings=demos.warnings + found.warnings + odd_cautions(odd := _named(demos, found.odd)),
        alternatives=tuple(
            Alternative(r.n_groups, r.probability * found.arrived, replace(found.graph, group=r.group).labels)
            for r in found.alternatives
        ),
        odd=odd,
        told=tuple(t for t in (found.grouping.told, _excluded(demos, told)) if t),
    )


def _named(demos: Demonstrations, odd: tuple[Odd, ...]) -> tuple[Odd, ...]:
    return tuple(replace(o, name=demos.names[o.number]) for o in odd) if demos.names else odd


def _excluded(demos: Demonstrations, told: Told) -> str:
    shown = ", ".join(f"{k} ({demos.names[k]})" if demos.names else str(k) for k in told.exclude)
    return f"without recordings {shown}, by exclude" if shown else ""


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
        arrived=1.0 if rest is None else rest.arrived,
        warnings=demos.warnings + (() if rest is None else rest.warnings),
    )


def _from_flow(
    demos: Demonstrations, found: FlowFinding, join: Join, masses: Masses, evidence: Evidence
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
        arrived=1.0,
        warnings=demos.warnings + evidence.warnings + found.warnings,
        kind="snapshots",
        evidence=evidence,
        fates=found.fates,
        counts=found.counts,
        flow=found.field,
        known=found.known,
    )


def eigenpairs_for(dimension: int, group: IntArray) -> int:
    """The constant vector, the embedding of the richest group, and one more, to see the gap behind it."""
    most = int(np.bincount(group[group >= 0]).max())
    return 2 + max(1, min(dimension, most - 1))


def sub_dynamics(
    x: FloatArray, v: FloatArray, paths: list[IntArray], join: Join, masses: Masses, count: int
) -> tuple[Spectrum, FloatArray, Attractor]:
    """Spectrum of `count` eigenpairs, embedding and attractor of the paths of one sub-dynamics."""
    spectrum, embedding = embedded(paths, join, masses, count, x.shape[1])
    return spectrum, embedding, locate(x, v, paths, embedding)


def embedded(
    paths: list[IntArray], join: Join, masses: Masses, count: int, dimension: int
) -> tuple[Spectrum, FloatArray]:
    """Spectrum of `count` eigenpairs of the joined paths, and the embedding."""
    nodes = np.concatenate(paths)
    found = joined_spectrum(np.array([len(p) for p in paths]), join, masses, min(count, len(nodes)))
    spectrum = Spectrum(nodes, found.eigenvalues, found.eigenvectors)
    return spectrum, spectrum.eigenvectors[:, 1 : 1 + max(1, min(dimension, len(paths) - 1))]


def _from_graph(demos: Demonstrations, graph: Graph) -> Identification:
    """Alg. 1 of the paper on any graph: a component is a sub-dynamics, its first eigenvectors the embedding."""
    spectra = graph_spectra(graph, 2 + demos.dimension)
    typical = typical_length(np.array([len(s.nodes) for s in spectra]))
    whole = [s for s in spectra if len(s.nodes) >= max(SHORTEST_PATH, DEFAULT.remainder * typical)]
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
        arrived=1.0,
        warnings=demos.warnings + cautions,
        kind="graph",
    )


def _unassigned(samples: int, components: int) -> Caution:
    return Caution(
        "unassigned-samples",
        f"{samples} samples lie in {components} components too small to trust and have label -1. Raise sigma or theta_r, "
        "or lower eps; or use SuccessorGraph, which has no parameters.",
    )
