"""What training is told between the paths: smooth, and the same numbers as the features of the run time."""

import numpy as np
import pytest

from eigenwell.fields.flows import fourier_features
from eigenwell.learning.guide import way_home
from eigenwell.learning.targets import BESIDE, Bundle, UnitBox


@pytest.mark.parametrize(("dtype", "near"), [(np.float32, 2e-6), (np.float64, 1e-12)])
@pytest.mark.parametrize("passing", [1, 2])
def test_the_features_of_training_are_those_of_the_run_time(dtype, near, passing):
    jax = pytest.importorskip("jax")
    from eigenwell.learning.layers import features
    from eigenwell.learning.training import double_precision

    rng = np.random.default_rng(0)
    frequencies, p = 6 * rng.standard_normal((16, passing)), rng.uniform(-5, 5, (passing, 200))
    with double_precision(dtype == np.float64):
        a, b = (jax.numpy.asarray(one, dtype=dtype) for one in (frequencies, p))
        phi, slope = jax.jvp(lambda p: features(a, p), (b,), (jax.numpy.ones_like(b),))
        exact = jax.jvp(lambda p: fourier_features(a, p), (b,), (jax.numpy.ones_like(b),))
    np.testing.assert_allclose(phi, exact[0], atol=near)
    np.testing.assert_allclose(slope, exact[1], atol=near * np.abs(frequencies).sum(1).max())


def two_ways():
    t = np.linspace(0, 1, 80)[:, None]
    left = np.hstack([-0.5 + 0.4 * t, 0.5 - t])
    right = left * [-1, 1]
    v = np.array([0.4, -1.0])
    rows = [(left, np.tile(v, (80, 1))), (right, np.tile(v * [-1, 1], (80, 1)))]
    frame = UnitBox.around([[row] for row in rows])
    return [Bundle.of([row], row[0][-1], frame=frame) for row in rows]


def test_the_way_home_is_mirrored_where_the_data_are():
    home = way_home(two_ways(), outside=False)
    # Between two mirrored ways it goes down, neither to the left nor to the right.
    middle = np.abs(home.x[:, 0, 0]) < 0.01
    assert middle.any()
    assert np.abs(home.v[:, 0][middle & (np.abs(home.x[:, 0, 1]) < 0.4), 0]).max() < 0.1


def test_the_way_home_leads_from_behind_a_place_to_it():
    home = way_home(two_ways(), outside=False)
    np.testing.assert_allclose(np.linalg.norm(home.v, axis=2), 1, atol=1e-9)
    np.testing.assert_allclose(home.x[:, 1] + BESIDE * home.v[:, 0], home.x[:, 0], atol=1e-12)
    # Ways that are joined smoothly: two places that near each other nearly always agree.
    assert np.median((home.v[:, 0] * home.v[:, 1]).sum(1)) > 0.98


def test_outside_means_outside():
    bundles = two_ways()
    x = np.concatenate([one for bundle in bundles for one in bundle.x])
    home = way_home(bundles, outside=True)
    beyond = ((home.x < x.min(0)) | (home.x > x.max(0))).any(2)
    assert beyond[:, 0].all() and beyond[:, 1].mean() > 0.99
