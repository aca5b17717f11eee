"""scikit-learn's own checks, and the one that cannot apply."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenwell as ew
from eigenwell.learning import Recipe

EXPECTED = {
    "check_clustering": "clusters static blobs by density; an attractor identifier clusters motions, and blobs do not move",
}


@parametrize_with_checks([ew.AttractorIdentifier()], expected_failed_checks=lambda estimator: EXPECTED)
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


def test_velocities_of_another_shape_are_refused():
    with pytest.raises(ew.DataError, match="same shape"):
        ew.AttractorIdentifier().fit(np.ones((9, 2)), np.ones((8, 2)))


SMALL = Recipe(layers=4, features=8, speed_features=8, steps=60, batch=60, neighbour_batch=40, nodes=200)


@pytest.fixture(scope="module")
def fitted():
    demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    return demos, ew.StableFieldRegressor(recipe=SMALL).fit(demos.x, demos.v)


def test_velocities_are_those_of_the_field(fitted):
    demos, regressor = fitted
    assert regressor.n_attractors_ == 2 and not regressor.field_.has_memory
    np.testing.assert_array_equal(regressor.predict(demos.x), regressor.field_.predict(demos.x))
    np.testing.assert_array_equal(regressor.predict(regressor.attractors_), 0)
    assert regressor.score(demos.x, demos.v) > 0.5  # r2, scikit-learn's own


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
