"""scikit-learn's own checks, and the one that cannot apply."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenwell as ew

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
