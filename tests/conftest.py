"""Property tests are deterministic, a busy machine is no failure, and tests of LASA are skipped where it is not.

The longest files come first, so that workers end together; what training compiles is compiled once for all of them, and what
was trained from the same numbers by the same code is not trained again.

`EIGENWELL_TESTS=nightly` looks for new examples instead, ten times as many, and prints how to repeat what it finds. It
trains every field anew.
"""

import gc
import hashlib
import mmap
import os
import pickle
import shutil
import tempfile
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from tests.browsers import FLAGS, chromium
from tests.untrained import compared_little

from eigenwell import datasets, learning, progress
from eigenwell.demonstrations import DataError
from eigenwell.export import parity
from eigenwell.learning import Recipe, learner

pytest_plugins = ["tests.studio_hands"]


def compiler_knows(flag: str) -> bool:
    """Whether the installed XLA has this flag: one that it does not know ends the process."""
    found = find_spec("jaxlib")
    name = flag.strip("-").partition("=")[0].encode()
    for library in Path(found.origin).parent.glob("*.so") if found is not None and found.origin else ():
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            if whole.find(name) >= 0:
                return True
    return False


# The same examples every day, of which the second fifty say little more than the first; new ones at night.
settings.register_profile("eigenwell", deadline=None, derandomize=True, database=None, max_examples=50)
settings.register_profile("nightly", deadline=None, derandomize=False, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("EIGENWELL_TESTS", "eigenwell"))

# Tests write and remove thousands of files: in memory, where there is room.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# Programs that training compiles: kept for the other workers and the next run, but not at home.
os.environ.setdefault("EIGENWELL_CACHE", str(Path(__file__).parents[1] / ".pytest_cache" / "eigenwell"))

# Compiled programs run for a moment here: their compiler had better be quick than thorough. At night it is as for users.
NIGHTLY = os.environ.get("EIGENWELL_TESTS") == "nightly"
QUICK = ("--xla_backend_optimization_level=0", "--xla_cpu_use_fusion_emitters=false")
if not NIGHTLY:
    os.environ.setdefault("XLA_FLAGS", " ".join(flag for flag in QUICK if compiler_knows(flag)))

# The objects of what is imported are many, and stay: a collector that looks through them each time takes a fifteenth of it all.
gc.set_threshold(200_000, 50, 100)

LONGEST = (
    "studio_page",
    "studio_trust",
    "studio_flow",
    "studio_server",
    "export",
    "distributed",
    "reproduce",
    "docs",
    "snapshots",
    "ends",
    "readme",
    "fields",
    "distributed_faults",
    "identification",
    "training",
    "audit",
    "warps_export",
    "comparison",
    "cli",
    "release",
    "report",
)
"""Files, by how long all their tests take."""

# What a fixture costs, its tests cost.
MARKS = {
    "browser": (pytest.mark.browser,),
    "learned": (pytest.mark.slow,),
    "pages": (pytest.mark.slow,),
    "quick": (pytest.mark.slow, pytest.mark.lasa),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {f"test_{name}": k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
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


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@cache
def training_code() -> bytes:
    """What a trained model depends on besides its data: the code it is made by, and the compiler."""
    root = Path(datasets.__file__).parents[1]
    code = [path.read_bytes() for room in ("learning", "fields") for path in sorted((root / room).glob("*.py"))]
    code.append(Path(__file__).read_bytes())
    return hashlib.blake2b(b"".join(code) + os.environ.get("XLA_FLAGS", "").encode() + version("jax").encode()).digest()


def remembered(train, sets, recipe, **options):
    """Training is a function of its data: where nobody looks on, models are kept beside the compiled programs."""
    about_training = "test_training.py" in os.environ.get("PYTEST_CURRENT_TEST", "")
    if about_training or progress._listener.get() is not None:
        yield from train(sets, recipe, **options)
        return
    from jax import tree

    said = pickle.dumps((tree.map(np.asarray, list(sets)), repr(recipe), repr(options)))
    folder = Path(os.environ["EIGENWELL_CACHE"]) / "trained"
    kept = folder / hashlib.blake2b(training_code() + said, digest_size=16).hexdigest()
    if not kept.exists():
        made = [tuple(grown) for grown in train(sets, recipe, **options)]
        folder.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps(made))
        part.replace(kept)
    yield from pickle.loads(kept.read_bytes())


def learned(*args, learn_bundles=learning.learn_bundles, **options):
    """`learn_bundles`, by models that are kept: those of the same data are trained once for all files and runs."""
    try:
        from eigenwell.learning import training  # not before: JAX takes a second to import
    except ImportError:
        return learn_bundles(*args, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "train", partial(remembered, training.train))
        return learn_bundles(*args, **options)


if not NIGHTLY:
    # Here, before test files import it from where it is.
    learning.learn_bundles = learner.learn_bundles = learned
    # NumPy takes motions one at a time: two fifths of them are advanced by day, all at night.
    parity.ADVANCED = 40


@pytest.fixture
def trains_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """`learn` without a recipe, and the command, train a small model: stable as any, and enough to run what follows it.

    Exports of it are compared with it at a tenth of the usual states, and in few loops: tests/test_export.py has all of them.
    """
    compared_little(monkeypatch.setattr)
    monkeypatch.setattr(parity, "CROSSING", 50)
    # Spirals arrive as straight ways do: loops on a field that only decays take thousands of steps.
    small = {"layers": 4, "features": 12, "batch": 100}
    little = Recipe(steps=40, focus_softening=0.02, **small)
    for module in ("learner", "recipes"):
        monkeypatch.setattr(f"eigenwell.learning.{module}.Recipe", lambda **given: replace(little, **given))


def alone(fixture_name: str, config: pytest.Config) -> str:
    return "session" if config.option.markexpr == "browser" else "module"


@pytest.fixture(scope=alone)
def browser():
    """One browser for all where only browsers are tested, else one a module: event loops of others would be refused beside it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = chromium()
    if executable is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as p:
        engine = p.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield engine
        engine.close()
