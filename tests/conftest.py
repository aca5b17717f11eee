"""Property tests are deterministic, a busy machine is no failure, and tests of LASA are skipped where it is not.

`EIGENWELL_TESTS=nightly` looks for new examples instead, ten times as many, and prints how to repeat what it finds.
"""

import os

import pytest
from hypothesis import settings
from tests.browsers import FLAGS, chromium

from eigenwell import datasets
from eigenwell.demonstrations import DataError

settings.register_profile("eigenwell", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, derandomize=False, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("EIGENWELL_TESTS", "eigenwell"))

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


@pytest.fixture(scope="module")
def browser():
    """One browser a module: the event loop of a second one beside it would be refused."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = chromium()
    if executable is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as p:
        engine = p.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield engine
        engine.close()
