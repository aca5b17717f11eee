"""identify(): from samples to attractors, labels and linear coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from .cells import from_anndata, is_cells, write_back
from .checks import check_squares
from .demonstrations import DataError, Demonstrations, first_occurrence
from .flow import Evidence, FlowFinding, FlowGraph
from .flow.data_kind import weigh
from .flow.orbits import Orbit, orbits
from .flow.witness import SURE, by_two, second
from .graphs import Clique, Graph, Join, PathGraph
from .numbering import Alternative
from .paths import DEFAULT, PathFinding, PathSettings, SuccessorGraph, TrajectoryGraph
from .paths.builders import distinct, units
from .paths.told import Told, told_about
from .progress import Progress, advance, told
from .readings import excluded, of_flow, of_graph, of_orbits, of_paths
from .results import Identification, Result
from .spectral import ExactMasses, Masses
from .threads import one_thread

__all__ = ["Builder", "Identification", "Result", "identify"]


class Builder(Protocol):
    """Turns demonstrations into a grouped path graph (TrajectoryGraph, SuccessorGraph), a field between them (FlowGraph)
    or any graph (KernelGraph).

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
    settings: PathSettings | None = None,
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
    settings : PathSettings, optional
        What unordered samples are strung to paths by. The defaults serve all data we know.
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
    with told(progress), one_thread():
        if low is not None or high is not None:
            if graph is not None:
                raise DataError(
                    "Expected low and high without graph, got both. Pass graph=FlowGraph(low=..., high=...)."
                )
            graph = FlowGraph(low=low, high=high)
        _check_settings(settings, graph)
        if not is_cells(x):
            if basis is not None:
                raise DataError(
                    f"Expected basis={basis!r} with an AnnData object, got {type(x).__name__}. Leave it out."
                )
            demos = Demonstrations.of(x, v, dt=dt, time=time)
            given = told_about(demos, n_attractors, labels, resolution, exclude)
            return _identified(demos, graph, join, masses, given, settings)
        if refused := [
            name for name, value in {"v": v, "dt": dt, "time": time, "settings": settings}.items() if value is not None
        ]:
            raise DataError(
                f"Expected an AnnData object alone, got {' and '.join(refused)} besides. Leave them out, or pass arrays."
            )
        cells = from_anndata(x, basis)
        given = told_about(cells, n_attractors, labels, resolution, exclude)
        found = _identified(cells, FlowGraph() if graph is None else graph, join, masses, given)
        write_back(x, found)
        return found


def _identified(
    demos: Demonstrations,
    graph: Builder | None,
    join: Join | None,
    masses: Masses | None,
    given: Told,
    settings: PathSettings | None = None,
) -> Identification:
    if settings is not None and demos.ordered:
        raise DataError(
            "Expected settings with unordered samples, got trajectories: they are paths already. Leave settings out."
        )
    if graph is None:
        builder: Builder = TrajectoryGraph() if demos.ordered else SuccessorGraph(settings or DEFAULT)
    else:
        builder = graph
    if isinstance(builder, type) or not hasattr(builder, "build"):
        raise DataError(
            f"Expected graph as TrajectoryGraph(), SuccessorGraph(), KernelGraph(...) or another object with "
            f"build(demos), got {builder!r}. Pass an object, or leave it out."
        )
    check_squares(demos.x, demos.v)
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
        return _orbits_by_two(demos, of_orbits(demos, closed, *tie), tie)
    try:
        built = builder.build(demos)
    except DataError:
        # Where recordings go round, and their ends say nothing, the field may know the cycle that they settle on.
        cycles = _cycles_of_field(demos) if graph is None and demos.ordered else []
        if not cycles:
            raise
        return of_orbits(demos, cycles, *tie)
    if graph is None and isinstance(built, PathFinding):
        both = by_two(demos, built)
        if isinstance(both, list):
            return of_orbits(demos, both, *tie)
        built = both
        if isinstance(built, FlowFinding):
            evidence = replace(evidence or Evidence(), one_field=True)
    advance("paths", 1, 1)
    if isinstance(built, FlowFinding):
        return _asked_both_ways(of_flow(demos, built, *tie, evidence or Evidence(said=True)))
    if isinstance(built, Graph):
        _refuse_with_kernel(join=join, masses=masses)
        return of_graph(demos, built, builder)
    result = of_paths(demos, built, *tie)
    if evidence is None:
        return result
    return _asked_both_ways(replace(result, evidence=evidence, warnings=result.warnings + evidence.warnings))


def _cycles_of_field(demos: Demonstrations) -> list[Orbit]:
    offsets = demos.offsets
    assert offsets is not None  # recordings
    paths = PathGraph(demos.n_samples, np.arange(demos.n_samples), offsets, np.zeros(len(offsets) - 1, dtype=np.intp))
    other = second(demos, paths, {})
    return other.cycles if other is not None and other.agrees else []


def _orbits_by_two(demos: Demonstrations, found: Identification, tie: tuple[Join, Masses]) -> Identification:
    """Where turns are not sure to be closed, the field of all is asked whether the motion winds in or settles on a cycle."""
    paths = found.graph
    assert isinstance(paths, PathGraph)
    other = None if found.confidence >= SURE else second(demos, paths, {found.n_attractors: found.confidence})
    if other is None:
        return found
    if not other.agrees:
        return replace(found, confidence=other.said[found.n_attractors])
    built = other.trajectories(demos)
    return of_orbits(demos, built, *tie) if isinstance(built, list) else of_paths(demos, built, *tie)


def _asked_both_ways(found: Identification) -> Identification:
    """Where trajectories and snapshots are hard to tell apart the other reading is asked too, and its number counts as much as
    its kind is probable: agreement is confidence, disagreement doubt."""
    evidence = found.evidence
    if evidence is None or evidence.certainty == 1:
        return found
    builder: Builder = SuccessorGraph() if evidence.snapshots else FlowGraph()
    try:
        built = builder.build(found.demos)
    except DataError:
        return found  # it cannot be read so
    if isinstance(built, PathFinding):
        other = Alternative(built.grouping.n_groups, built.grouping.probability, built.graph.labels)
    elif isinstance(built, FlowFinding):
        other = Alternative(len(built.located), built.confidence, built.labels)
    other = replace(other, confidence=(1 - evidence.certainty) * other.confidence)
    mine = evidence.certainty * found.confidence
    if other.n_attractors == found.n_attractors:
        return replace(found, confidence=mine + other.confidence)
    ranked = sorted((*found.alternatives, other), key=lambda one: -one.confidence)
    return replace(found, confidence=mine, alternatives=tuple(ranked))


def _from_told(
    demos: Demonstrations, builder: Builder, told: Told, tie: tuple[Join, Masses], evidence: Evidence
) -> Identification:
    """With a decision taken by the user."""
    if isinstance(builder, FlowGraph):
        return of_flow(demos, builder.build(demos, told), *tie, evidence, excluded(demos, told))
    if not isinstance(builder, TrajectoryGraph | SuccessorGraph):
        raise DataError(
            "Expected paths or snapshots with n_attractors, labels, resolution or exclude, got "
            f"{type(builder).__name__}: its graph alone decides. Leave them out, or pass graph=SuccessorGraph()."
        )
    if demos.ordered or not told.exclude:
        return of_paths(demos, builder.build(demos, told), *tie, told)
    # Samples left out of an unordered set are in no path.
    rest = np.flatnonzero(told.kept(demos))
    labels = None if told.labels is None else told.labels[rest]
    part = builder.build(Demonstrations(demos.x[rest], demos.v[rest]), replace(told, exclude=(), labels=labels))
    sure = np.zeros(demos.n_samples)
    sure[rest] = part.label_confidence
    graph = replace(part.graph, n_samples=demos.n_samples, nodes=rest[part.graph.nodes])
    return of_paths(demos, replace(part, graph=graph, label_confidence=sure), *tie, told)


def _check_settings(settings: PathSettings | None, graph: Builder | None) -> None:
    if settings is not None and graph is not None:
        raise DataError(
            "Expected settings without graph, low and high, got both. Pass graph=SuccessorGraph(settings=...)."
        )
    if settings is not None and not isinstance(settings, PathSettings):
        raise DataError(f"Expected settings as PathSettings(...), got {settings!r}.")


def _refuse_with_kernel(**choices: Any) -> None:
    given = [f"{name}={choice!r}" for name, choice in choices.items() if choice is not None]
    if given:
        raise DataError(
            f"Expected no join and no masses with a graph that has no paths, got {' and '.join(given)}: there are no "
            "ends to join. Leave them out, or identify with SuccessorGraph() or TrajectoryGraph()."
        )
