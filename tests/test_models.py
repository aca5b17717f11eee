"""Saved models: the same numbers to the last bit, or one named error; whole or not there at all."""

import json
import os
import shutil
import struct
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from eigenwell.demonstrations import Caution, DataError
from eigenwell.fields import Field, Fit, Followed, Speed, StableField, StableModel
from eigenwell.fields.flows import identity_flow
from eigenwell.files import CannotWrite
from eigenwell.models import ModelError, as_field, load, save
from eigenwell.models.file import _digest
from eigenwell.models.schema import SCHEMA


def stable_field(
    dimension: int,
    seed: int,
    *,
    attractors: int = 1,
    layers: int = 4,
    features: int = 6,
    offset: float = 0.0,
    window: float = 1.0,
) -> StableField:
    """Any numbers make a stable field: nothing here is trained."""
    rng = np.random.default_rng(seed)
    flow = identity_flow(dimension, layers=layers, features=features, length=0.4, window=window, seed=seed)
    draw = np.random.default_rng(seed).standard_normal(flow.frequencies.shape)
    flow = flow._replace(frequencies=draw / (0.4 * np.sqrt(draw.shape[-1])))
    turn = rng.normal(0, seed % 2, (dimension, dimension))
    model = StableModel(
        flow._replace(weights=rng.normal(0, 0.1, flow.weights.shape)),
        Speed(rng.normal(0, 2, (8, dimension)), rng.normal(0, 0.3, 16), np.asarray(0.2), np.asarray(window)),
        rng.uniform(-0.4, 0.4, (attractors, dimension)),
        np.linspace(0, 0.3, attractors),
        np.repeat((turn - turn.T)[None], attractors, axis=0),
        np.full(attractors, 0.02),
        rng.uniform(0.1, 1, dimension),
    )
    return StableField(model, rng.normal(0, 3, dimension) + offset, rng.uniform(0.5, 4, dimension), 1.7)


def lifted(one: StableField, seed: int) -> StableField:
    """A field of (x, phase) over the same space that ends where `one` does."""
    raised = stable_field(one.dimension + 1, seed).model
    model = raised._replace(
        # Bent a little only: the phase of a learned motion falls all the way.
        flow=raised.flow._replace(weights=0.2 * raised.flow.weights),
        attractors=np.append(one.model.attractors[0], -1.0)[None],
        brake=np.append(one.model.brake, 0.0),
    )
    return StableField(model, np.append(one.centre, 0.5), np.append(one.scale, 0.5), one.pace)


def many(
    dimension: int = 2,
    attractors: int = 2,
    samples: int = 60,
    *,
    seed: int = 0,
    toward: bool = False,
    memory: bool = False,
    **choices: float,
) -> Field:
    """A field of several attractors, with fields for each alone and motions where they are asked for."""
    whole = stable_field(dimension, seed, attractors=attractors, **choices)
    rng = np.random.default_rng(99)
    x = whole.from_unit(rng.uniform(-0.5, 0.5, (samples * attractors, dimension)))
    alone = [whole.alone(q) for q in range(attractors)]
    goals = []
    for q, one in enumerate(alone):
        model = stable_field(dimension, 7 + q, **choices).model
        goals.append(replace(one, model=model._replace(attractors=one.model.attractors)))
    rows = [Followed(f"demonstration {q} é", q, 0.1 / 3, 0.02, np.nan, bool(q)) for q in range(attractors)]
    return Field(
        whole,
        tuple(goals) if toward else (),
        tuple(lifted(one, 20 + q) for q, one in enumerate(alone)) if memory else (),
        x,
        np.repeat(np.arange(attractors), samples),
        rng.uniform(0, 1, len(x)),
        fit=Fit(tuple(rows), "motion" if memory else "map"),
        map_fit=Fit(tuple(rows[:1]), "map"),
        warnings=(Caution("crossing", "7 % of the samples cross — é."),),
    )


def states(field: Field) -> np.ndarray:
    return np.concatenate([field.samples[:50], field.attractors, 3 * field.samples[:10]])


def assert_same(a: Field, b: Field) -> None:
    x = states(a)
    for ask in ("predict", "potential", "potential_gradient", "basin", "far"):
        np.testing.assert_array_equal(getattr(a, ask)(x), getattr(b, ask)(x), strict=True)
    np.testing.assert_array_equal(a.predict(x[0]), b.predict(x[0]))
    np.testing.assert_array_equal(a.attractors, b.attractors)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "field.eigenwell"
    save(many(toward=True, memory=True), path)
    return path


@pytest.fixture
def file(saved: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copy(saved, tmp_path / "field.eigenwell"))


def metadata(data: bytes) -> dict[str, str]:
    size = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + size])["__metadata__"]


def forge(path: Path, tensors: dict[str, np.ndarray] | None = None, text: str | None = None) -> None:
    """Other tensors or another configuration, with a checksum that fits them."""
    data = path.read_bytes()
    tensors = unpack(data) if tensors is None else tensors
    text = metadata(data)["eigenwell"] if text is None else text
    path.write_bytes(pack(tensors, {"eigenwell": text, "sha256": _digest(text, tensors)}))


def edit(path: Path, **changes: object) -> None:
    forge(path, text=json.dumps(json.loads(metadata(path.read_bytes())["eigenwell"]) | changes))


@pytest.mark.parametrize("kinds", [{}, {"toward": True}, {"memory": True}, {"toward": True, "memory": True}])
@pytest.mark.parametrize(("dimension", "attractors"), [(2, 1), (2, 3), (7, 2)])
def test_the_same_numbers_to_the_last_bit(dimension: int, attractors: int, kinds: dict, tmp_path: Path) -> None:
    field = many(dimension, attractors, **kinds)
    save(field, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert isinstance(again, Field)
    assert_same(field, again)
    start = field.samples[:3]
    np.testing.assert_array_equal(field.simulate(start, duration=2.0), again.simulate(start, duration=2.0))
    for q in range(attractors):
        np.testing.assert_array_equal(field.toward(q).predict(start), again.toward(q).predict(start))
        alone = load(tmp_path / "model.safetensors", goal=q)
        assert isinstance(alone, StableField)
        np.testing.assert_array_equal(field.toward(q).predict(start), alone.predict(start))
    for name in ("samples", "labels", "phases"):
        np.testing.assert_array_equal(getattr(field, name), getattr(again, name), strict=True)
    assert again.warnings == field.warnings and repr(again.fit) == repr(field.fit)
    assert again.map_fit is not None and again.map_fit.by == "map"
    assert len(again.goals) == len(field.goals) and len(again.lifted) == len(field.lifted)
    if field.has_memory:
        assert again.motion(start[0]).phase == field.motion(start[0]).phase
        np.testing.assert_array_equal(
            again.motion(start[0]).step(start[0], 0.01), field.motion(start[0]).step(start[0], 0.01)
        )
    assert list(tmp_path.iterdir()) == [tmp_path / "model.safetensors"]


def test_a_stable_field_alone_comes_back_as_one(tmp_path: Path) -> None:
    for dimension, attractors in ((2, 1), (4, 3), (7, 1)):
        one = stable_field(dimension, 1, attractors=attractors)
        save(one, tmp_path / "one")
        again = load(tmp_path / "one")
        assert isinstance(again, StableField) and again.n_attractors == attractors
        x = one.from_unit(np.random.default_rng(0).uniform(-0.5, 0.5, (50, dimension)))
        np.testing.assert_array_equal(again.predict(x), one.predict(x))
        goal = load(tmp_path / "one", goal=attractors - 1)
        np.testing.assert_array_equal(goal.attractors[0], one.attractors[-1])


def test_a_stable_field_as_a_field_has_its_box_for_samples() -> None:
    for dimension in (2, 4, 7):
        one = stable_field(dimension, 0)
        field = as_field(one)
        x = one.from_unit(np.random.default_rng(0).uniform(-0.5, 0.5, (50, dimension)))
        assert [c.name for c in field.warnings] == ["samples-unknown"]
        np.testing.assert_allclose(field.box, one.scale)
        assert dimension > 4 or not field.far(x).any()
        assert field.far(one.from_unit(np.full(dimension, 0.8)))


def test_loading_and_predicting_needs_no_jax(saved: Path) -> None:
    code = (
        "import sys; from eigenwell.models import load\n"
        f"f = load({str(saved)!r}); f.predict(f.samples); f.simulate(f.samples[0], duration=1.0)\n"
        "assert not {'jax', 'optax', 'onnx', 'pyarrow', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("goal", [2, -1, 0.0, True, "0"])
def test_a_goal_that_is_not_there(saved: Path, goal: object) -> None:
    with pytest.raises(ModelError, match="Expected a goal 0 to 1 of"):
        load(saved, goal=goal)  # type: ignore[arg-type]


GOLDEN = {
    2: (
        [[-2.326285702945893, -0.36128288730047253], [2.3710437598640275, 0.871816473740843],
         [4.328652317050022, 0.44975924862562444]],
        [0.08780281368546566, 0.24496334516758572, 0.525672726943917],
        [-0.4648092138950614, -2.671908618409223],
    ),
    3: (
        [[-2.1032091862335673, -4.15726748764694, -1.4058654759892186],
         [1.0206345129929633, 4.97597583335744, -0.039324817722365984],
         [0.21748690724533107, 12.015886774312303, 1.3947178686524833]],
        [0.099070951251811, 0.5803929639052439, 0.3465950396586919],
        [7.902884487984911, 0.20853242285750784, -3.9432366637058403],
    ),
}  # fmt: skip
"""Velocities, potentials and the end of a roll-out that eigenwell has given for these very numbers since 0.1."""


@pytest.mark.parametrize(("dimension", "seed"), [(2, 1), (3, 0)])
def test_the_same_model_says_what_it_always_said(dimension: int, seed: int) -> None:
    one = stable_field(dimension, seed, window=0.0)
    x = one.from_unit(np.random.default_rng(5).uniform(-0.8, 0.8, (3, dimension)))
    velocity, potential, end = GOLDEN[dimension]
    np.testing.assert_allclose(one.predict(x), velocity, rtol=1e-12)
    np.testing.assert_allclose(one.potential(x), potential, rtol=1e-12)
    # The timing of a roll-out is a quadrature, and a finer one than before.
    np.testing.assert_allclose(one.simulate(x[0], duration=1.0)[-1], end, rtol=1e-5)


def test_a_newer_schema_is_refused_with_what_to_do(file: Path) -> None:
    edit(file, schema=SCHEMA + 1, eigenwell="9.9.0")
    with pytest.raises(ModelError, match=r"schema 3 or older.*got 4.*9\.9\.0.*pip install --upgrade eigenwell"):
        load(file)


# --- what is not a model ------------------------------------------------------------------------------


def test_named_errors_are_data_errors() -> None:
    assert issubclass(ModelError, DataError) and issubclass(ModelError, ValueError)


@pytest.mark.parametrize("name", ["model.pkl", "model.pt", "model"])
def test_pickles_are_refused_unread(name: str, tmp_path: Path) -> None:
    import pickle

    (tmp_path / name).write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelError, match=r"pickle.*run code.*save the model again"):
        load(tmp_path / name)
    if "." in name:
        with pytest.raises(ModelError, match="pickle"):
            load(tmp_path)


def test_what_is_not_there_or_not_a_model(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty.safetensors").touch()
    (tmp_path / "other.safetensors").write_bytes(pack({"a": np.zeros(3)}, {"format": "pt"}))
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    for name in ("nothing", "notes.txt", "empty.safetensors", "other.safetensors", "empty", "loop", "pipe"):
        with pytest.raises(ModelError, match="Expected"):
            load(tmp_path / name)


@pytest.mark.parametrize("keep", [0, 1, 8, 100, -1, -1000])
def test_truncated_files(keep: int, file: Path) -> None:
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(ModelError, match=r"Expected .*Copy the model again"):
        load(file)


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(data)


def test_tampered_tensors_and_words(file: Path, saved: Path) -> None:
    _flip(file)
    with pytest.raises(ModelError, match="sha256"):
        load(file)
    file.write_bytes(saved.read_bytes().replace(b"7 % of the samples", b"0 % of the samples"))
    with pytest.raises(ModelError, match="sha256"):
        load(file)


def changed(name: str, value: object) -> object:
    def change(tensors: dict[str, np.ndarray]) -> None:
        if value is None:
            del tensors[name]
        else:
            tensors[name] = np.asarray(value)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed("map.swirls", None), r"Expected 78 tensors for 5 stable fields.*got 77"),
        (changed("surplus", 1.0), "got 79"),
        (changed("samples", np.zeros((120, 3))), r"samples.*float64 \(n, 2\), got float64 \(120, 3\)"),
        (changed("samples", np.zeros((120, 2), dtype=np.float32)), "got float32"),
        (changed("samples", np.zeros((120, 2))), "samples that differ"),
        (changed("labels", np.zeros(119, dtype=np.int64)), r"labels.*int64 \(120\)"),
        (changed("labels", np.full(120, 2)), "labelled 0 to 1"),
        (changed("labels", np.full(120, -1)), "labelled 0 to 1"),
        (changed("phases", np.full(120, 1.5)), "phases from 0 to 1"),
        (changed("goals.1.pace", -1.0), "pace > 0"),
        (changed("lifted.1.softening", [0.0]), "softening > 0"),
        (changed("map.brake", [-1.0, 1.0]), "brake >= 0"),
        (changed("map.flow.window", -1.0), "flow.window >= 0"),
        (changed("map.scale", [1.0, np.nan]), "finite"),
        (changed("map.attractors", np.zeros((2, 2))), "different places"),
        (changed("goals.0.swirls", np.eye(2)[None]), "skew"),
        (
            changed("map.flow.frequencies", np.zeros((4, 6, 2))),
            r"flow.frequencies.*\(n, n, 1\), got float64 \(4, 6, 2\)",
        ),
        (changed("map.flow.weights", np.zeros((4, 2, 11))), r"\(4, 2, 12\), got float64 \(4, 2, 11\)"),
        (changed("lifted.0.speed.frequencies", np.zeros((0, 3))), r"lifted\.0\.speed\.frequencies.*\(n, 3\), got"),
    ],
)
def test_tensors_of_the_wrong_kind_are_named_even_with_the_right_checksum(
    change: object, message: str, file: Path
) -> None:
    tensors = unpack(file.read_bytes())
    change(tensors)  # type: ignore[operator]
    forge(file, tensors)
    with pytest.raises(ModelError, match=message):
        load(file)


def test_a_renamed_tensor_is_missing(file: Path) -> None:
    tensors = unpack(file.read_bytes())
    tensors["map.other"] = tensors.pop("map.swirls")
    forge(file, tensors)
    with pytest.raises(ModelError, match=r"Expected tensor map\.swirls.*got none"):
        load(file)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "dream"}, "one of the kinds field"),
        ({"goals": 1}, "one for each of 2 attractors"),
        ({"kind": "stable field"}, "no further fields"),
        ({"n_attractors": 0}, "'n_attractors' >= 1"),
        ({"fit": {"by": "map", "demonstrations": []}}, "Expected demonstrations"),
        ({"fit": {"by": "map", "demonstrations": [{"goal": 7, "name": "", "arrives": True}]}}, "goal below 2"),
        ({"fit": 5}, "Expected 'fit' as a fit"),
        ({"warnings": [5]}, "name and message"),
        ({"schema": 2}, "Expected schema 3"),
    ],
)
def test_other_configurations_with_the_right_checksum(changes: dict, message: str, file: Path) -> None:
    edit(file, **changes)
    with pytest.raises(ModelError, match=message):
        load(file)


def test_a_checksum_cannot_be_left_out(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(pack(unpack(data), {"eigenwell": metadata(data)["eigenwell"]}))
    with pytest.raises(ModelError, match="sha256"):
        load(file)


# --- fuzz: only named errors --------------------------------------------------------------------------

fuzz = settings(max_examples=150, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])


def load_or_refuse(path: Path, truth: Field) -> None:
    try:
        field = load(path)
    except ModelError as error:
        assert "Expected" in str(error) and "\n" not in str(error)
    else:
        assert_same(field, truth)


@pytest.fixture(scope="module")
def bench(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Field]:
    field = load(saved)
    assert isinstance(field, Field)
    return saved, tmp_path_factory.mktemp("fuzz") / "model", field


Bench = tuple[Path, Path, Field]


@fuzz
@given(data=st.data(), header=st.booleans())
def test_flipped_and_missing_bytes(bench: Bench, data: st.DataObject, header: bool) -> None:
    saved, path, truth = bench
    raw = bytearray(saved.read_bytes())
    last = 8 + struct.unpack("<Q", raw[:8])[0] if header else len(raw)
    for place in data.draw(st.lists(st.integers(0, last - 1), max_size=4)):
        raw[place] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(raw)) | st.just(len(raw)))
    path.write_bytes(raw[:cut] + data.draw(st.binary(max_size=8)))
    load_or_refuse(path, truth)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@fuzz
@given(data=st.data(), value=values, drop=st.booleans())
def test_other_json_with_the_right_checksum(bench: Bench, data: st.DataObject, value: object, drop: bool) -> None:
    """The parser behind the checksum is asked too."""
    saved, path, truth = bench
    shutil.copy(saved, path)
    said = json.loads(metadata(path.read_bytes())["eigenwell"])
    inside = data.draw(st.sampled_from([said, said["fit"], said["fit"]["demonstrations"][0], said["warnings"][0]]))
    key = data.draw(st.sampled_from(sorted(inside)))
    if drop:
        del inside[key]
    else:
        inside[key] = value
    forge(path, text=json.dumps(said))
    load_or_refuse(path, truth)


@pytest.mark.parametrize("text", ["", "[]", "null", "[" * 100_000, '{"a":' * 50_000, "9" * 5000])
def test_hostile_json(text: str, file: Path) -> None:
    forge(file, text=text)
    with pytest.raises(ModelError, match="Expected"):
        load(file)


# --- writing ------------------------------------------------------------------------------------------


def test_overwriting_replaces_a_model_and_leaves_nothing_else(file: Path) -> None:
    other = many(3, 1)
    save(other, file)
    assert_same(load(file), other)
    assert [p.name for p in file.parent.iterdir()] == [file.name]
    file.write_bytes(file.read_bytes()[:-5])  # a damaged model is a model still
    save(other, file)
    assert_same(load(file), other)


def test_what_is_not_a_model_is_left_alone_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "notes.txt").write_text("words")
    (tmp_path / "other.safetensors").write_bytes(pack({"a": np.zeros(3)}))
    before = sorted((str(p), p.is_dir() or p.read_bytes()) for p in tmp_path.rglob("*"))
    another = "Expected a.*Choose another name"
    for name, said in {
        "thesis": "it is a folder. Name a file",
        "notes.txt": another,
        "other.safetensors": another,
    }.items():
        with pytest.raises(CannotWrite, match=said):
            save(many(3, 1), tmp_path / name)
    assert sorted((str(p), p.is_dir() or p.read_bytes()) for p in tmp_path.rglob("*")) == before
    with pytest.raises(CannotWrite, match="folder"):
        save(many(3, 1), tmp_path / "thesis", overwrite=True)
    save(many(3, 1), tmp_path / "notes.txt", overwrite=True)
    assert load(tmp_path / "notes.txt").dimension == 3


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "such" / "place", Path("/proc/model")):
        with pytest.raises(CannotWrite, match="Cannot write"):
            save(many(), path)
    assert list(tmp_path.iterdir()) == []


def test_a_save_that_fails_half_way_leaves_the_old_model(
    file: Path, saved: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    for path in (file, tmp_path / "new"):
        with pytest.raises(CannotWrite, match="No space left"):
            save(many(3, 1), path)
    monkeypatch.undo()
    assert file.read_bytes() == saved.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == [file.name]


def test_whoever_loads_while_another_saves_gets_one_or_the_other(file: Path) -> None:
    first, second = load(file), many(2, 2, samples=30)
    stop = threading.Event()

    def keep_saving() -> None:
        while not stop.is_set():
            save(second, file)
            save(first, file)

    writer = threading.Thread(target=keep_saving)
    writer.start()
    try:
        sizes = {len(load(file).samples) for _ in range(100)}
    finally:
        stop.set()
        writer.join()
    assert sizes <= {len(first.samples), len(second.samples)}


def test_a_field_that_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    good = stable_field(2, 0)
    bad = replace(good, model=good.model._replace(attractors=np.array([[np.nan, 0.0]])))
    with pytest.raises(ModelError, match=r"finite numbers in tensor map\.attractors of the field to save"):
        save(bad, tmp_path / "bad")
    with pytest.raises(ModelError, match=r"Expected a Field or a StableField, got str"):
        save("field", tmp_path / "bad")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
