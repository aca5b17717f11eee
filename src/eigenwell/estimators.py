"""scikit-learn estimators, holders around identify() and learn()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from ._types import FloatArray, IntArray
from .arguments import is_sequence_of_trajectories
from .demonstrations import DataError, Demonstrations
from .errors import missing_extra
from .identification import Builder, identify
from .results import Identification

try:
    from sklearn.base import BaseEstimator, ClusterMixin, MultiOutputMixin, RegressorMixin
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data
except ImportError as error:
    raise missing_extra("AttractorIdentifier", "scikit-learn", "sklearn") from error

if TYPE_CHECKING:
    from .fields import Field
    from .learning import Recipe

__all__ = ["AttractorIdentifier", "StableFieldRegressor"]

# Axes scaled apart by less than this turn a velocity by less than noise does.
STRETCHED = 1.3
# Steps and velocities along motions agree this well in direction.
ALONG = 0.9


class AttractorIdentifier(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters samples by the attractor they run to.

    Parameters
    ----------
    graph : Builder, optional
        How samples become paths; None for the default of identify().
    dt : float, optional
        The sampling step of positions in order of time: the rows of X are then one trajectory, or X is a list of them.
        Without it, a table X has columns [x, v].

    Notes
    -----
    `AttractorIdentifier(dt=1.0)` passes scikit-learn's `check_estimator` except for `check_clustering`, which clusters blobs by
    density: an attractor identifier clusters motions, and blobs do not move. Without `dt` a table needs an even number of
    columns, and the checks that pass others fail with the sentence that says so.

    Attributes
    ----------
    labels_ : (n,) int array
        Sub-dynamics of every sample, -1 where unassigned.
    attractors_ : (n_attractors_, d) array
        Their places.
    n_attractors_ : int
        Number of attractors.
    identification_ : Identification
        The whole result.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    >>> X = np.hstack([demos.x, demos.v])
    >>> fitted = ew.AttractorIdentifier().fit(X)
    >>> fitted.n_attractors_
    2
    >>> bool((fitted.predict(X) == fitted.labels_).all())
    True
    """

    def __init__(self, graph: Builder | None = None, dt: float | None = None):
        self.graph = graph
        self.dt = dt

    def fit(self, X: Any, y: Any = None) -> AttractorIdentifier:
        """Find the attractors of some samples.

        Parameters
        ----------
        X : (n, 2 d) array, list of arrays or list of (x, v) pairs
            Columns of positions and then of velocities, rows in any order. Or trajectories: (x, v) pairs, or positions in
            order of time with `dt`. Or positions (n, d) with their velocities as y.
        y : (n, d) array, optional
            Velocities, where X holds positions alone. A vector, as scikit-learn's tools pass along, is not looked at.

        Returns
        -------
        AttractorIdentifier
            Itself.

        Raises
        ------
        DataError
            For positions alone in no order, which say nothing of any dynamics.

        Examples
        --------
        >>> import eigenwell as ew
        >>> demos = ew.systems.heart.sample(seed=0, frequency=20.0)
        >>> ew.AttractorIdentifier(dt=1 / 20).fit([x for x, v in demos.trajectories()]).n_attractors_
        2
        """
        self.identification_: Identification = identify(self._demonstrations(X, y), graph=self.graph)
        self.labels_: IntArray = self.identification_.labels
        self.attractors_: FloatArray = self.identification_.attractors
        self.n_attractors_: int = self.identification_.n_attractors
        return self

    def _demonstrations(self, X: Any, y: Any) -> Demonstrations:
        moving = np.ndim(y) == 2
        if isinstance(X, list | tuple) and is_sequence_of_trajectories(X):
            if moving:
                raise DataError("Expected trajectories alone, or as (x, v) pairs, got y besides. Leave y out.")
            demos = Demonstrations.from_trajectories(X, dt=self.dt)
            self.n_features_in_ = demos.dimension
            return demos
        table = validate_data(self, X, dtype=np.float64, ensure_min_samples=4, ensure_min_features=2)
        if moving:
            if self.dt is not None:
                raise DataError("Expected dt for positions alone, got it with velocities. Leave one of them out.")
            return _samples(table, y)
        if self.dt is not None:
            return Demonstrations.from_trajectories([table], dt=self.dt)
        if table.shape[1] % 2:
            raise DataError(
                f"Expected columns of positions and then of velocities, got {table.shape[1]} columns, an odd number. "
                "Positions alone in no order say nothing of any dynamics: pass np.hstack([x, v]), or fit(x, v), or dt for "
                "rows in order of time."
            )
        half = table.shape[1] // 2
        return _samples(table[:, :half], table[:, half:])

    def predict(self, X: Any) -> IntArray:
        """The sub-dynamics of samples: that of the nearest sample it was fitted to.

        Parameters
        ----------
        X : (n, 2 d) or (n, d) array
            Columns of positions and then of velocities, by which samples are told apart where motions cross; or
            positions alone.

        Returns
        -------
        (n,) int array
            -1 where the nearest sample is unassigned.

        Raises
        ------
        ValueError
            For another number of columns.
        """
        check_is_fitted(self)
        demos = self.identification_.demos
        d = demos.dimension
        if np.ndim(X) == 2 and np.shape(X)[1] in (d, 2 * d):
            table = check_array(X, dtype=np.float64)
        else:  # the message for another number of columns is scikit-learn's own
            table = validate_data(self, X, dtype=np.float64, reset=False)
        known = np.hstack([demos.x, demos.v]) if table.shape[1] == 2 * d else demos.x
        # Each column in units of its spread: positions and velocities have none in common.
        spread = np.maximum(known.std(axis=0), np.finfo(np.float64).tiny)
        nearest = cKDTree(known / spread).query(table / spread)[1]
        return np.asarray(self.labels_[nearest])

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> IntArray:
        """Labels of `fit(X, y)`. scikit-learn's own version would drop y, and with it the velocities.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        (n,) int array
        """
        return self.fit(X, y).labels_


class StableFieldRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts velocities by one field that is stable at every attractor.

    Parameters
    ----------
    graph : Builder, optional
        How samples become paths; None for the default of identify().
    recipe : Recipe, optional
        How to train; None for the default of learn().
    seed : int
        Of the training.

    Notes
    -----
    The checks of scikit-learn's `check_estimator` that fit a regressor cannot apply: they pass one target, or targets of another
    number of columns than X, and y here is the velocity of X, of its shape. The others (parameters, cloning, tags, text,
    not fitted) hold. A Pipeline in front has to scale X and y alike; one that scales X alone is refused with a sentence.

    Attributes
    ----------
    field_ : Field
        The learned field.
    identification_ : Identification
        What it was learned from.
    attractors_ : (n_attractors_, d) array
        Places where the field is zero and stable.
    n_attractors_ : int
        Number of attractors.

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

    def fit(self, X: Any, y: Any) -> StableFieldRegressor:
        """Identify the attractors and learn a field; the map is learned, not the motions: `predict` knows no past.

        Parameters
        ----------
        X : (n, d) array
            Positions, in any order.
        y : (n, d) array
            Their velocities.

        Returns
        -------
        StableFieldRegressor
            Itself.

        Raises
        ------
        DataError
            For data that cannot be used.
        """
        from .learning import learn

        x = validate_data(self, X, dtype=np.float64, ensure_min_samples=4, ensure_min_features=2)
        self.identification_: Identification = identify(_samples(x, y), graph=self.graph)
        self.field_: Field = learn(self.identification_, toward=False, memory=False, recipe=self.recipe, seed=self.seed)
        self.attractors_: FloatArray = self.field_.attractors
        self.n_attractors_: int = self.field_.n_attractors
        return self

    def predict(self, X: Any) -> FloatArray:
        """Velocities at some positions; zero at the attractors.

        Parameters
        ----------
        X : (n, d) array

        Returns
        -------
        (n, d) array
        """
        check_is_fitted(self)
        return self.field_.predict(validate_data(self, X, dtype=np.float64, reset=False))


def _samples(x: FloatArray, v: Any) -> Demonstrations:
    """Unordered samples, whose velocities have to be in the units of the positions, axis by axis."""
    demos = Demonstrations.from_samples(x, v)
    _check_scaled(demos.x, demos.v)
    return demos


def _check_scaled(x: FloatArray, v: FloatArray) -> None:
    """Refuse velocities that fit the steps only after each axis is stretched: a Pipeline has scaled x and not v.

    Where samples were taken along motions, the nearest one lies before or behind: dx = c v, with any c. Stretched axes make it
    dx = c D v, D diagonal; the ratios of D are the medians of those of dx and v. Where D brings v onto the line of dx and v alone
    is far from it, the axes were scaled apart.
    """
    moving = np.flatnonzero((np.ptp(x, axis=0) > 0) & (np.ptp(v, axis=0) > 0))
    if len(x) < 50 or len(moving) < 2:
        return
    nearest = cKDTree(x).query(x, k=2)[1][:, 1]
    dx, u = (x[nearest] - x)[:, moving], v[:, moving]
    good = (dx != 0).all(axis=1) & (u != 0).all(axis=1)
    if good.sum() < 50:
        return
    dx, u = dx[good], u[good]
    ratio = np.log(np.abs(dx) / np.abs(u))
    # About the mean over the axes, c is gone.
    stretch = np.exp(np.median(ratio - ratio.mean(axis=1, keepdims=True), axis=0))
    before, after = _along(dx, u), _along(dx, u * stretch)
    if stretch.max() > STRETCHED * stretch.min() and after > ALONG and 1 - before > 4 * (1 - after):
        raise DataError(
            "Expected velocities in the units of the positions, got velocities that fit the steps only after their axes are "
            f"stretched by {', '.join(f'{s:.2g}' for s in stretch)}: it looks as if x was scaled, by a StandardScaler say, "
            "and v was not, or each by itself. Scale both by the same numbers and shift only x, or leave the scaling out: "
            "identify needs none."
        )


def _along(dx: FloatArray, v: FloatArray) -> float:
    """The median |cosine| between steps and velocities."""
    both = np.abs(np.einsum("ij,ij->i", dx, v))
    return float(np.median(both / (np.linalg.norm(dx, axis=1) * np.linalg.norm(v, axis=1))))
