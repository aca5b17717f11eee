"""What all items of one run share: the seed, how much to spend, the drawing, and models that several of them need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from eigenwell.datasets import pen_strokes
from eigenwell.demonstrations import DataError, Demonstrations
from eigenwell.files import FileError, read

from . import printed

if TYPE_CHECKING:
    from .drawn_fields import DrawnFields
    from .handwriting import Handwriting


@dataclass(frozen=True)
class Effort:
    """How much to spend. Peers are offered every setting in the grids and keep the best, told the truth."""

    quick: bool
    trials: int
    """Starts of every iterative method."""
    iterations: int
    """Shown in the pictures of errors over iterations."""
    kernels: tuple[tuple[float, float, float], ...]
    """theta_r, eps and sigma_f of the paper's graph: radians, a threshold, and a share of the squared mean speed."""
    finalists: int
    """Of the settings that get most samples right, so many with the fewest edges are compared by attractor errors."""
    widths: tuple[float, ...]
    """Of kernel k-means, in standard deviations of the features."""
    neighbours: tuple[int, ...]
    """Of spectral clustering."""
    steps: int
    """Training steps of eigenwell's recipe."""
    rollouts: int
    """Random states by which a learned field is certified."""
    rate: float
    """Of the loops by which it is certified, in hertz."""
    epochs: int
    """Of the paper's recipe and of Euclideanizing Flows where their losses are compared."""
    panel: tuple[str, ...]
    """LASA shapes in the panel and in the table of metrics."""
    every_shape: bool
    """Whether all thirty shapes are learned."""
    flow_epochs: int
    """Epochs of the Euclideanizing Flows trained here on the shapes of the panel; 0 leaves them out."""


FULL = Effort(
    quick=False,
    trials=10,
    iterations=30,
    kernels=tuple(product((0.05, 0.1, 0.2, 0.4, 0.8), (0.05, 0.1, 0.3, 0.6), (0.001, 0.01, 0.1))),
    finalists=4,
    widths=(0.1, 0.25, 0.5, 1.0, 2.0, 4.0),
    neighbours=(5, 10, 20, 50, 100),
    steps=1200,
    rollouts=200,
    rate=1000.0,
    epochs=1000,
    panel=printed.LASA_SHAPES,
    every_shape=True,
    flow_epochs=3000,
)
QUICK = Effort(
    quick=True,
    trials=3,
    iterations=15,
    kernels=((0.1, 0.1, 0.01), (0.2, 0.1, 0.001), (0.8, 0.1, 0.01)),
    finalists=1,
    widths=(1.0, 2.0),
    neighbours=(10, 50),
    steps=200,
    rollouts=10,
    rate=100.0,
    epochs=80,
    panel=("Angle", "GShape"),
    every_shape=False,
    flow_epochs=0,
)


def _silent(what: str) -> None:
    return None


@dataclass(frozen=True, eq=False)
class Study:
    """One run. `tell` takes a sentence about what is being done."""

    effort: Effort = FULL
    seed: int = 0
    drawing: Path | None = None
    tell: Callable[[str], None] = field(default=_silent)

    @cached_property
    def drawn(self) -> Demonstrations:
        """Example 4: the file the user points to, or our own pen strokes."""
        if self.drawing is None:
            return pen_strokes(self.seed)
        try:
            return with_ends(read(self.drawing))
        except FileError:
            raise
        except DataError:
            # Positions alone do not say how fast they were drawn; nothing here depends on the unit of time.
            return with_ends(read(self.drawing, dt=1.0))

    @cached_property
    def drawn_fields(self) -> DrawnFields:
        from .drawn_fields import DrawnFields

        return DrawnFields.learned(self)

    @cached_property
    def handwriting(self) -> Handwriting:
        from .handwriting import Handwriting

        return Handwriting.learned(self)


def with_ends(demos: Demonstrations) -> Demonstrations:
    """Truth for a drawing: trajectories whose ends lie together, attractors at the mean of their last points.

    The paper takes the mean of the last points as real location too. Ends are together below the widest gap, in
    ratio, between merging distances of single linkage.
    """
    assert demos.offsets is not None
    ends = demos.x[demos.offsets[1:] - 1]
    tree = linkage(ends, method="single")
    # Nothing is nearer than a hundredth of the drawing: a hand does not end twice on one spot.
    nearest = 0.01 * float(np.ptp(demos.x, axis=0).max())
    heights = np.log(np.maximum(np.concatenate([[0.0], tree[:, 2]]), nearest))
    widest = int(np.argmax(np.diff(heights)))
    label = fcluster(tree, np.exp((heights[widest] + heights[widest + 1]) / 2), criterion="distance") - 1
    places = np.array([ends[label == q].mean(axis=0) for q in range(int(label.max()) + 1)])
    # A is the sub-dynamics whose attractor lies farthest left, as in identify().
    rank = np.argsort(np.lexsort(places.T[::-1]))
    owner = rank[label]
    return demos.with_truth(np.repeat(owner, np.diff(demos.offsets)), places[np.argsort(rank)])
