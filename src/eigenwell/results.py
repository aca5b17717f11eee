"""What an identification says: what all results share, and the result in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import repr_html
from ._types import FloatArray, IntArray
from .attractors import Attractor
from .data_frames import Framed, sample_columns
from .demonstrations import Caution, DataError, Demonstrations
from .flow import EstimatedField, Evidence, Exit
from .graphs import Graph, PathGraph
from .numbering import Alternative
from .paths import Grouping, Odd
from .spectral import Spectrum
from .wording import headline, plural

__all__ = ["Identification", "Result"]


class Result(ABC):
    """What every identification says, in memory (`Identification`) or in files (`DistributedIdentification`).

    Both have `n_samples`, `labels`, `embeddings`, `eigenvalues`, `members(q)`, `paths(q)` and how many paths and samples each
    attractor has. Plots, reports and `learn` take either: they ask for `in_memory()`.

    Examples
    --------
    >>> import eigenwell as ew
    >>> isinstance(ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0)), ew.results.Result)
    True
    """

    attractors: FloatArray
    located: tuple[Attractor, ...]
    confidence: float
    warnings: tuple[Caution, ...]
    paths_per_attractor: IntArray
    samples_per_attractor: IntArray

    @property
    def n_attractors(self) -> int:
        """Q, the number of attractors."""
        return len(self.attractors)

    @property
    def uncertainty(self) -> FloatArray:
        """(Q, d) standard errors of the attractors."""
        return np.array([a.standard_error for a in self.located]).reshape(self.attractors.shape)

    @property
    def kinds(self) -> tuple[str, ...]:
        """ "point" or "cycle" for every attractor."""
        return tuple(a.kind for a in self.located)

    @abstractmethod
    def in_memory(self) -> Identification:
        """The result with its samples in memory, thinned along the paths where there are very many; itself where it has them.

        Returns
        -------
        Identification
        """

    @abstractmethod
    def members(self, q: int) -> IntArray:
        """Samples of sub-dynamics q, path after path in order of time: the rows of `embeddings[q]`.

        Parameters
        ----------
        q : int
            The sub-dynamics, 0 to Q - 1.

        Returns
        -------
        (n_q,) int array

        Raises
        ------
        DataError
            For a number that no sub-dynamics has.

        Examples
        --------
        >>> import eigenwell as ew
        >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
        >>> len(found.members(0)) == len(found.embeddings[0])
        True
        """

    @abstractmethod
    def paths(self, q: int) -> list[IntArray]:
        """Sample indices of every path of sub-dynamics q, in order of time.

        Of snapshots, a path is the samples along one solution of the estimated field, by the time they have to go.

        Parameters
        ----------
        q : int
            The sub-dynamics, 0 to Q - 1.

        Returns
        -------
        list of int arrays

        Raises
        ------
        DataError
            For a number that no sub-dynamics has, and for a kernel graph, which has no paths.

        Examples
        --------
        >>> import eigenwell as ew
        >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
        >>> [len(path) for path in found.paths(1)]
        [201, 201, 201]
        """

    def _check(self, q: int) -> None:
        if not 0 <= q < self.n_attractors:
            raise DataError(
                f"Expected a sub-dynamics 0 to {self.n_attractors - 1}, got {q}. Unassigned samples are "
                "np.flatnonzero(found.labels < 0)."
            )

    def _repr_html_(self) -> str:
        places = repr_html.places(self.attractors, self.uncertainty)
        counted = {"paths": self.paths_per_attractor, "samples": self.samples_per_attractor}
        counted = {name: count for name, count in counted.items() if count.any()}
        rows = [
            [str(q), a.form, places[q], *(f"{count[q]:,}" for count in counted.values())]
            for q, a in enumerate(self.located)
        ]
        return repr_html.panel(
            headline(self.n_attractors, self.confidence),
            self._picture(),
            repr_html.table(["", "kind", "x* ± std. error", *counted], rows),
            [str(caution) for caution in self.warnings],
        )

    def _picture(self) -> str:
        return ""

    def __repr__(self) -> str:
        doubts = f", {plural(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"{type(self).__name__}({headline(self.n_attractors, self.confidence)}{doubts})"


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Result, Framed):
    """What `identify` found; sub-dynamics are numbered by the position of their attractor, first coordinate first.

    Attributes
    ----------
    demos : Demonstrations
        What it was found in: what is learned from the result is learned from them.
    labels : (n,) int array
        Sub-dynamics of every sample, -1 where unassigned.
    attractors : (Q, d) array
        Their places; `located[q]` has the standard error and the single estimates.
    located : tuple of Attractor
        Every attractor with its standard error and kind.
    embeddings : tuple of (n_q, m) arrays
        m = min(K_q - 1, d), at least 1, for K_q paths: straight lines that meet in the attractor. Row i belongs to sample
        `members(q)[i]`.
    spectra : tuple of Spectrum
        Lowest eigenpairs of each graph Laplacian, the constant eigenvector first.
    graph : PathGraph or Graph
        The paths: `graph.path(k)` lists sample indices in order of time; or a kernel's graph.
    grouping : Grouping or None
        How the ends of the paths were grouped; None where no ends were.
    arrived : (Q,) array
        How near to rest the motion came at every attractor: 1 less the slowest end of a path there, as a share of its own
        speed on the way; 1 for cycles and snapshots.
    confidence : float
        0 to 1, how sure the number of attractors is. Paths: the posterior probability of Q given their ends (`paths.evidence`),
        times how steady closed orbits are. Snapshots: the share of replicates with this number, times `known`, less for
        attractors at the edge of the data. A kernel graph: the share of settings near the given ones with this number, NaN where
        the graph has no settings to change.
    label_confidence : (n,) array
        Probability that the label of a sample is right, given the number; 0 where it has none.
    warnings : tuple of Caution
        Doubts, each with a name and a sentence.
    alternatives : tuple of Alternative
        Other numbers of attractors, the likeliest first, each with its confidence and labels.
    odd : tuple of Odd
        Recordings that break off, run backwards, repeat another or end alone, and whether they were left out.
    told : tuple of str
        Which decisions were the user's (n_attractors, labels, resolution, exclude).
    kind : str
        "trajectories", "snapshots" (velocities at scattered places) or "graph" (a kernel's); `evidence` says why.
    evidence : Evidence or None
        Why unordered samples were taken for trajectories or for snapshots.
    fates : (n, Q + 1) array or None
        Snapshots: probability of each attractor, and last that of leaving the data.
    counts : dict or None
        How often each number of attractors came out: of the replicates of snapshots, of the settings near those of a
        kernel graph.
    flow : EstimatedField or None
        Snapshots: the estimated field, a function of x (n, d).
    spread, exits : (R, Q + 1) array or None, tuple of Exit
        Snapshots: how the shares of the fates in the replicates differ from those of the estimate; regions through which samples
        leave the data.
    known : float
        Snapshots: the share of the field's variance between the samples that they determine; else 1.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> found
    Identification(2 attractors, confidence 0.99)
    >>> found.attractors.round(1)
    array([[-1.,  2.],
           [ 1.,  2.]])
    """

    demos: Demonstrations
    labels: IntArray
    attractors: FloatArray
    located: tuple[Attractor, ...]
    embeddings: tuple[FloatArray, ...]
    spectra: tuple[Spectrum, ...]
    graph: PathGraph | Graph
    grouping: Grouping | None
    arrived: FloatArray
    confidence: float
    label_confidence: FloatArray
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
    spread: FloatArray | None = None
    exits: tuple[Exit, ...] = ()

    def _frame_columns(self) -> dict[str, NDArray[Any]]:
        columns = sample_columns(self.demos) | {"label": self.labels, "label_confidence": self.label_confidence}
        names = [*(f"fate{q}" for q in range(self.n_attractors)), "leaves"]
        return columns if self.fates is None else columns | dict(zip(names, self.fates.T, strict=True))

    @property
    def n_samples(self) -> int:
        """Samples that were identified."""
        return self.demos.n_samples

    @property
    def paths_per_attractor(self) -> IntArray:  # type: ignore[override]
        """(Q,) paths of each; none of a kernel graph."""
        return np.array(
            [len(self.graph.paths_of(q)) if isinstance(self.graph, PathGraph) else 0 for q in range(self.n_attractors)]
        )

    @property
    def samples_per_attractor(self) -> IntArray:  # type: ignore[override]
        """(Q,) samples of each."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_attractors)

    @property
    def eigenvalues(self) -> tuple[FloatArray, ...]:
        """Q arrays: the lowest eigenvalues of each graph Laplacian, the zero first."""
        return tuple(spectrum.eigenvalues for spectrum in self.spectra)

    @property
    def has_paths(self) -> bool:
        """False for a kernel graph, in which no sample comes after another."""
        return isinstance(self.graph, PathGraph)

    def members(self, q: int) -> IntArray:
        self._check(q)
        return self.spectra[q].nodes

    def paths(self, q: int) -> list[IntArray]:
        self._check(q)
        if isinstance(self.graph, Graph):
            raise DataError("A kernel graph has no paths; identify with SuccessorGraph or TrajectoryGraph to get them.")
        return [self.graph.path(int(k)) for k in self.graph.paths_of(q)]

    def renumbered(self, order: Sequence[int]) -> Identification:
        """The same answer with other numbers: sub-dynamics `order[q]` becomes q. What is learned from it has them too.

        Parameters
        ----------
        order : sequence of int
            Each of 0 to Q - 1 once.

        Returns
        -------
        Identification

        Examples
        --------
        >>> import eigenwell as ew
        >>> ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0)).renumbered([1, 0]).attractors[0].round(1)
        array([1., 2.])
        """
        if sorted(old := list(order)) != list(range(self.n_attractors)):
            raise DataError(f"Expected each of 0 to {self.n_attractors - 1} once, got {old}.")
        new, graph = np.append(np.argsort(old), -1), self.graph
        of: dict[str, Any] = {k: tuple(getattr(self, k)[q] for q in old) for k in ("located", "embeddings", "spectra")}
        return replace(
            self,
            **of,
            labels=new[self.labels],
            attractors=self.attractors[old],
            graph=replace(graph, group=new[graph.group]) if isinstance(graph, PathGraph) else graph,
            fates=None if self.fates is None else self.fates[:, [*old, -1]],
            spread=None if self.spread is None else self.spread[:, [*old, -1]],
        )

    def in_memory(self) -> Identification:
        return self

    def _picture(self) -> str:
        return repr_html.scatter(self.demos.x, self.labels, self.attractors)

    def __str__(self) -> str:
        lines = [headline(self.n_attractors, self.confidence)]
        # Coordinates that are rounding error beside the others are zero to a reader.
        size = np.abs(self.attractors)
        places = np.where(size < 1e-9 * size.max(initial=0.0), 0.0, self.attractors)
        for q in range(self.n_attractors):
            errors = self.located[q].standard_error
            place = ", ".join(f"{c:.4g} ± {e:.1g}" for c, e in zip(places[q], errors, strict=True))
            paths = f"{plural(len(self.graph.paths_of(q)), 'path')}, " if isinstance(self.graph, PathGraph) else ""
            what = f"{self.located[q].form} at" if self.located[q].form != "point" else "x* ="
            lines.append(f"  {q}: {what} ({place}), {paths}{self.samples_per_attractor[q]} samples")
        lines += [f"  {region}" for region in self.exits]
        lines += [f"  given: {what}" for what in self.told]
        if self.alternatives:
            others = ", ".join(f"{a.n_attractors} (confidence {a.confidence:.2f})" for a in self.alternatives[:3])
            lines.append(f"  or {others}")
        lines += [f"  ! {caution}" for caution in self.warnings]
        return "\n".join(lines)
