"""Metrics against hand calculation and plain dynamic programming."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwell.metrics import cosine_error, dtw_total, dtwd, end_error, moving, velocity_rmse


def plain_dtw(a: np.ndarray, b: np.ndarray) -> tuple[float, int]:
    cost = np.linalg.norm(a[:, None] - b[None], axis=-1)
    total = np.full((len(a) + 1, len(b) + 1), np.inf)
    total[0, 0] = 0
    for i in range(len(a)):
        for j in range(len(b)):
            total[i + 1, j + 1] = cost[i, j] + min(total[i, j], total[i, j + 1], total[i + 1, j])
    i, j, length = len(a), len(b), 0
    while i or j:
        length += 1
        options = [(total[i - 1, j - 1], i - 1, j - 1), (total[i, j - 1], i, j - 1), (total[i - 1, j], i - 1, j)]
        _, i, j = min(options, key=lambda option: option[0])
    return float(total[-1, -1]), length


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 12), m=st.integers(1, 12), d=st.integers(1, 3), seed=st.integers(0, 1000))
def test_warping_is_the_textbook_recursion(n: int, m: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    total, length = plain_dtw(a, b)
    assert dtw_total(a, b) == pytest.approx(total)
    assert dtwd(a, b) == pytest.approx(total / length)
    assert dtw_total(a, b) == pytest.approx(dtw_total(b, a))


def test_warping_agrees_with_dtaidistance() -> None:
    ndim = pytest.importorskip("dtaidistance.dtw_ndim")
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (40, 1)).astype(float), rng.integers(0, 2, (50, 1)).astype(float)
    # dtaidistance sums squared distances and takes a root; ours sums distances, which of zeros and ones are their squares.
    assert ndim.distance(a, b) ** 2 == pytest.approx(dtw_total(a, b)) and dtw_total(a, b) > 0


def test_a_repeated_curve_costs_nothing() -> None:
    a = np.random.default_rng(1).normal(size=(30, 2))
    assert dtwd(a, np.repeat(a, 3, axis=0)) == 0


def test_cosine_error_counts_only_what_moves() -> None:
    v = np.array([[1.0, 0.0], [0.0, 1.0], [1e-6, 0.0]])
    f = np.array([[2.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    assert moving(v).tolist() == [True, True, False]
    assert cosine_error(f, v) == pytest.approx(0.5)
    assert cosine_error(np.zeros((3, 2)), v) == pytest.approx(1.0)


def test_simple_ones_by_hand() -> None:
    assert velocity_rmse(np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros((2, 2))) == pytest.approx(2.5)
    assert end_error(np.array([[9.0, 9.0], [3.0, 4.0]]), np.zeros(2)) == pytest.approx(5.0)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="same shape"):
        cosine_error(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="two curves"):
        dtwd(np.zeros((3, 2)), np.zeros((3, 3)))
