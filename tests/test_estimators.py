"""scikit-learn's own checks, and the one that cannot apply."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import eigenwell as ew
from eigenwell.learning import Recipe

with pytest.MonkeyPatch.context() as patch:
    # These checks of scikit-learn 1.6 cannot be imported without it beside array_api_compat, which AnnData brings.
    patch.setenv("SCIPY_ARRAY_API", "1")
    from sklearn.utils.estimator_checks import parametrize_with_checks

EXPECTED = {
    "check_clustering": "clusters static blobs by density; an attractor identifier clusters motions, and blobs do not move",
}


# The checks pass tables of all widths: positions in order of time.
@parametrize_with_checks([ew.AttractorIdentifier(dt=1.0)], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_it_is_identify_in_other_clothes():
    demos = ew.systems.heart.sample(seed=0).shuffled()
    fitted = ew.AttractorIdentifier().fit(demos.x, demos.v)
    found = ew.identify(demos)
    np.testing.assert_array_equal(fitted.labels_, found.labels)
    np.testing.assert_array_equal(fitted.attractors_, found.attractors)
    np.testing.assert_array_equal(ew.AttractorIdentifier().fit_predict(demos.x, demos.v), found.labels)
    assert fitted.n_attractors_ == 2


def test_columns_of_positions_and_velocities_are_the_same_as_two_tables():
    demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    fitted = ew.AttractorIdentifier().fit(np.hstack([demos.x, demos.v]))
    np.testing.assert_array_equal(fitted.labels_, ew.AttractorIdentifier().fit(demos.x, demos.v).labels_)
    assert fitted.n_features_in_ == 4


def test_trajectories_are_fitted_in_their_order():
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    pairs = list(demos.trajectories())
    found = ew.identify(demos)
    np.testing.assert_array_equal(ew.AttractorIdentifier().fit(pairs).labels_, found.labels)
    estimated = ew.AttractorIdentifier(dt=1 / 20).fit([x for x, _ in pairs])
    np.testing.assert_array_equal(estimated.labels_, found.labels)


@pytest.mark.parametrize("order", [np.ones((9, 3)), np.ones((9, 5))])
def test_positions_alone_in_no_order_are_refused(order):
    with pytest.raises(ew.DataError, match="Positions alone in no order"):
        ew.AttractorIdentifier().fit(order)


def test_what_would_be_ignored_is_refused():
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    with pytest.raises(ew.DataError, match="Leave y out"):
        ew.AttractorIdentifier().fit(list(demos.trajectories()), demos.v)
    with pytest.raises(ew.DataError, match="Leave one of them out"):
        ew.AttractorIdentifier(dt=0.1).fit(demos.x, demos.v)


def test_new_samples_belong_where_their_neighbours_do():
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    fitted = ew.AttractorIdentifier().fit(demos.x, demos.v)
    fresh = ew.systems.heart.sample(seed=1, frequency=20.0)
    for states in (fresh.x, np.hstack([fresh.x, fresh.v])):
        assert (fitted.predict(states) == fresh.truth.labels).mean() > 0.95
    np.testing.assert_array_equal(fitted.predict(np.hstack([demos.x, demos.v])), fitted.labels_)
    with pytest.raises(ValueError, match="features"):
        fitted.predict(np.ones((3, 7)))


def test_velocities_tell_motions_apart_where_they_cross():
    """Two straight strokes through one place: at the crossing positions alone cannot tell."""
    steps = np.linspace(1, 0, 60)[:, None] ** 2
    starts, ends = np.array([[-1.0, -1.0], [1.0, -1.05]]), np.array([[1.0, 1.0], [-1.0, 0.95]])
    x = [end + steps * (start - end) for start, end in zip(starts, ends, strict=True)]
    v = [np.gradient(one, axis=0) for one in x]
    fitted = ew.AttractorIdentifier().fit(list(zip(x, v, strict=True)))
    assert fitted.n_attractors_ == 2
    labels = fitted.predict(np.vstack([np.hstack(pair) for pair in zip(x, v, strict=True)]))
    np.testing.assert_array_equal(labels, fitted.labels_)


def test_velocities_of_another_shape_are_refused():
    with pytest.raises(ew.DataError, match="same shape"):
        ew.AttractorIdentifier().fit(np.ones((9, 2)), np.ones((8, 2)))


SMALL = Recipe(layers=4, features=8, steps=60, batch=60)


@pytest.fixture(scope="module")
def fitted():
    demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    return demos, ew.StableFieldRegressor(recipe=SMALL).fit(demos.x, demos.v)


@pytest.mark.slow
def test_velocities_are_those_of_the_field(fitted):
    demos, regressor = fitted
    assert regressor.n_attractors_ == 2 and not regressor.field_.has_memory
    np.testing.assert_array_equal(regressor.predict(demos.x), regressor.field_.predict(demos.x))
    np.testing.assert_array_equal(regressor.predict(regressor.attractors_), 0)
    assert regressor.score(demos.x, demos.v) > 0.5  # r2, scikit-learn's own


@pytest.mark.slow
def test_a_regressor_clones_pickles_and_says_what_it_wants(fitted):
    demos, regressor = fitted
    assert clone(regressor).get_params() == {"graph": None, "recipe": SMALL, "seed": 0}
    again = pickle.loads(pickle.dumps(regressor))
    np.testing.assert_array_equal(again.predict(demos.x), regressor.predict(demos.x))
    with pytest.raises(NotFittedError):
        ew.StableFieldRegressor().predict(demos.x)
    with pytest.raises(ValueError, match="features"):
        regressor.predict(np.ones((3, 5)))
    with pytest.raises(ew.DataError, match="same shape"):
        ew.StableFieldRegressor().fit(np.ones((9, 2)), np.ones((8, 2)))
