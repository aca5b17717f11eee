"""scikit-learn estimators: thin holders around identify()."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._types import FloatArray, IntArray
from .demonstrations import Demonstrations
from .errors import missing_extra
from .identification import Builder, Identification, identify

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import validate_data
except ImportError as error:
    raise missing_extra("AttractorIdentifier", "scikit-learn", "sklearn") from error


class AttractorIdentifier(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters samples by the attractor they run to.

    Parameters
    ----------
    graph : how samples become paths; None for the default of identify().

    Attributes
    ----------
    labels_ : sub-dynamics of every sample, -1 where unassigned
    attractors_ : (n_attractors_, d) places
    n_attractors_ : number of attractors
    identification_ : the whole Identification

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.heart.sample(seed=0).shuffled()
    >>> ew.AttractorIdentifier().fit(demos.x, demos.v).n_attractors_
    2
    """

    def __init__(self, graph: Builder | None = None):
        self.graph = graph

    def fit(self, X: Any, y: Any = None) -> AttractorIdentifier:
        """X: (n, d) positions in any order, y: their velocities, (n, d).

        Without velocities (y is None, or a vector, as scikit-learn's tools pass along) the rows of X are taken as one
        trajectory in order of time with steps of 1.
        """
        x = validate_data(self, X, dtype=np.float64, ensure_min_samples=4, ensure_min_features=2)
        moving = np.ndim(y) == 2
        demos = Demonstrations.from_samples(x, y) if moving else Demonstrations.from_trajectories([x], dt=1.0)
        self.identification_: Identification = identify(demos, graph=self.graph)
        self.labels_: IntArray = self.identification_.labels
        self.attractors_: FloatArray = self.identification_.attractors
        self.n_attractors_: int = self.identification_.n_attractors
        return self

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> IntArray:
        """Labels of fit(X, y). scikit-learn's own version would drop y, and with it the velocities."""
        return self.fit(X, y).labels_
