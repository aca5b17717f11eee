"""Identification keeps linear algebra to one thread, and leaves the setting as it was."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import eigenwell as ew
from eigenwell.threads import one_thread


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_one_thread_inside_and_as_before_outside() -> None:
    before = threads()
    with one_thread():
        assert threads() == {1}
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before


def test_an_error_inside_leaves_the_setting_as_it_was() -> None:
    before = threads()
    with pytest.raises(ew.DataError):
        ew.identify(np.zeros((3, 2)), np.full((3, 2), np.nan))
    assert threads() == before


def test_calls_side_by_side_leave_the_setting_as_it_was() -> None:
    before = threads()
    demos = ew.systems.duffing.sample(seed=0)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ew.identify(demos).n_attractors, range(8)))
    assert found == [2] * 8
    assert threads() == before
