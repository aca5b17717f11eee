"""scikit-learn estimators: thin holders around identify() and learn()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import FloatArray, IntArray
from .demonstrations import Demonstrations
from .errors import missing_extra
from .identification import Builder, Identification, identify

try:
    from sklearn.base import BaseEstimator, ClusterMixin, MultiOutputMixin, RegressorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise missing_extra("AttractorIdentifier", "scikit-learn", "sklearn") from error

if TYPE_CHECKING:
    from .fields import Field
    from .learning import Recipe


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


class StableFieldRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts velocities by one field that is stable at every attractor.

    Parameters
    ----------
    graph : how samples become paths; None for the default of identify().
    recipe : how to train; None for the default of learn().
    seed : of the training.

    Attributes
    ----------
    field_ : the learned Field
    identification_ : the Identification it was learned from
    attractors_ : (n_attractors_, d) places where the field is zero and stable
    n_attractors_ : number of attractors

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.heart.sample(seed=0).shuffled()
    >>> regressor = ew.StableFieldRegressor().fit(demos.x, demos.v)  # doctest: +SKIP
    >>> regressor.predict(demos.x[:3])  # doctest: +SKIP
    """

    def __init__(self, graph: Builder | None = None, recipe: Recipe | None = None, seed: int = 0):
        self.graph = graph
        self.recipe = recipe
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> StableFieldRegressor:
        """X: (n, d) positions in any order, y: their velocities, (n, d).

        Without velocities the rows of X are taken as one trajectory in order of time with steps of 1, as by
        AttractorIdentifier. The map is learned, not the motions: `predict` knows a place and no past.
        """
        from .learning import learn

        x = validate_data(self, X, dtype=np.float64, ensure_min_samples=4, ensure_min_features=2)
        demos = Demonstrations.from_trajectories([x], dt=1.0) if y is None else Demonstrations.from_samples(x, y)
        self.identification_: Identification = identify(demos, graph=self.graph)
        self.field_: Field = learn(self.identification_, toward=False, memory=False, recipe=self.recipe, seed=self.seed)
        self.attractors_: FloatArray = self.field_.attractors
        self.n_attractors_: int = self.field_.n_attractors
        return self

    def predict(self, X: Any) -> FloatArray:
        """Velocities (n, d) at positions (n, d); zero at the attractors."""
        check_is_fitted(self)
        return self.field_.predict(validate_data(self, X, dtype=np.float64, reset=False))
