"""Property tests are deterministic, a busy machine is no failure, and tests of LASA are skipped where it is not."""

import pytest
from hypothesis import settings

from eigenwell import datasets
from eigenwell.demonstrations import DataError

settings.register_profile("eigenwell", deadline=None, derandomize=True)
settings.load_profile("eigenwell")

# What a fixture costs, its tests cost.
MARKS = {
    "browser": (pytest.mark.browser,),
    "learned": (pytest.mark.slow,),
    "model": (pytest.mark.slow,),
    "quick": (pytest.mark.slow, pytest.mark.lasa),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in set(getattr(item, "fixturenames", ())) & set(MARKS):
            for mark in MARKS[name]:
                item.add_marker(mark)
    try:
        datasets.lasa_folder()
    except DataError as error:
        for item in items:
            if item.get_closest_marker("lasa"):
                item.add_marker(pytest.mark.skip(reason=str(error)))
