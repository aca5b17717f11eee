"""A toy set with two attractors: null vectors that tell the sub-dynamics apart, and one embedding for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from eigenwell._types import BoolArray, FloatArray, IntArray
from eigenwell.graphs import Cycle, Graph
from eigenwell.palette import Theme
from eigenwell.spectral import UnitMasses, joined_laplacian

from .alg_1 import assign_eigenvectors, null_vectors
from .drawing import cross, sheet, titled
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study

# Three paths each; of different lengths, or the eigenvalues of A and B would be equal and any solver would mix them.
LENGTHS = ((9, 9, 9), (8, 8, 8))


def make(study: Study) -> Outcome:
    laplacians = [joined_laplacian(np.array(n), Cycle(), UnitMasses())[0] for n in LENGTHS]
    laplacian = sp.block_diag(laplacians, format="csr")
    values, vectors = eigh(laplacian.toarray())
    owner = np.repeat([0, 1], [sum(n) for n in LENGTHS])
    graph = Graph(sp.csr_array((laplacian < 0).astype(np.int8)))
    indicators = null_vectors(graph)
    first = vectors[:, 2:6]
    belongs = assign_eigenvectors(indicators, first)
    others = [float(np.abs(first[owner == 1 - int(np.argmax(b)), i]).max()) for i, b in enumerate(belongs.T)]
    rows: list[tuple[Cell, ...]] = [
        (f"u{i + 3}", float(values[i + 2]), "AB"[int(np.argmax(belongs[:, i]))], others[i]) for i in range(4)
    ]
    table = Table(
        "assignment",
        "Alg. 1: which sub-dynamics an eigenvector belongs to, by its overlap with the null vectors, and its largest entry on "
        "the other one. The paper's numbers of the components depend on its data; that each belongs to one does not.",
        ("eigenvector", "λ", "belongs to", "largest entry elsewhere"),
        tuple(rows),
    )
    each = bool((belongs.sum(axis=0) == 1).all() and (belongs.sum(axis=1) == 2).all())
    return Outcome(
        verdict="As printed: every eigenvector spreads one sub-dynamics out and holds the other in zero, two for each.",
        tables=(table,),
        figures=(
            Figure(
                "two-attractors",
                "The two null vectors over the nodes, and the embedding of either sub-dynamics; the other is compressed into "
                "the cross.",
                _draw(indicators, first, belongs, owner),
            ),
        ),
        checks=(
            Check("each of u₃ to u₆ belongs to one sub-dynamics, two to each", each),
            Check("entries on the other sub-dynamics below 1e-9", max(others) < 1e-9),
        ),
        settings={"path_lengths": [list(n) for n in LENGTHS], "join": "cycle"},
    )


def _draw(indicators: FloatArray, first: FloatArray, belongs: BoolArray, owner: IntArray) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        figure, axes = sheet(1, 3)
        for q in range(2):
            axes[0, 0].step(np.arange(1, len(owner) + 1), indicators[:, q], color=theme.colour(q), lw=1.5, where="mid")
            at = 0.4 * np.sum(owner == 0) if q == 0 else np.sum(owner == 0) + 0.4 * np.sum(owner == 1)
            axes[0, 0].annotate(
                f"of {'AB'[q]}",
                (at, indicators[:, q].max()),
                xytext=(0, 4),
                textcoords="offset points",
                color=theme.colour(q),
            )
        axes[0, 0].margins(y=0.18)
        titled(axes[0, 0], "null vectors", "node", "entry")
        for q in range(2):
            ax = axes[0, q + 1]
            i, j = np.flatnonzero(belongs[q])[:2]
            for k in (1 - q, q):
                ax.plot(*first[owner == k][:, [i, j]].T, "o", color=theme.colour(k), ms=4, ls="none")
            cross(ax, theme, np.zeros(2))
            titled(ax, f"embedding of {'AB'[q]}", f"u{i + 3}", f"u{j + 3}")
        return figure

    return draw
