"""Saved models: the same numbers to the last bit, or one named error; whole or not there at all."""

import copy
import hashlib
import json
import os
import shutil
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
from eigenwell.fields import MultiAttractorField, StableField
from eigenwell.fields.flows import identity_flow
from eigenwell.fields.stable import Speed, StableModel
from eigenwell.files import CannotWrite, MissingExtra
from eigenwell.models import ModelError, load, save
from eigenwell.models.schema import MIGRATIONS, SCHEMA


def stable_field(dimension: int, seed: int, *, layers: int = 4, features: int = 6, offset: float = 0.0) -> StableField:
    """Any numbers make a stable field: nothing here is trained."""
    rng = np.random.default_rng(seed)
    flow = identity_flow(dimension, layers=layers, features=features, length=0.4, seed=seed)
    turn = rng.normal(0, seed % 2, (dimension, dimension))
    model = StableModel(
        flow._replace(weights=rng.normal(0, 0.1, flow.weights.shape)),
        Speed(rng.normal(0, 2, (8, dimension)), rng.normal(0, 0.3, 16), np.asarray(0.2)),
        rng.uniform(-0.4, 0.4, dimension),
        turn - turn.T,
        np.asarray(0.02),
        rng.uniform(0.1, 1, dimension),
    )
    return StableField(model, rng.normal(0, 3, dimension) + offset, rng.uniform(0.5, 4, dimension), 1.7)


def many(dimension: int = 2, attractors: int = 2, samples: int = 60, **choices: float) -> MultiAttractorField:
    fields = tuple(stable_field(dimension, seed, **choices) for seed in range(attractors))
    rng = np.random.default_rng(99)
    x = np.concatenate([one.from_unit(rng.uniform(-0.5, 0.5, (samples, dimension))) for one in fields])
    doubts = (Caution("crossing", "7 % of the samples cross — é."),)
    return MultiAttractorField(fields, x, np.repeat(np.arange(attractors), samples), warnings=doubts)


def states(field: MultiAttractorField) -> np.ndarray:
    return np.concatenate([field.samples[:50], field.attractors, 3 * field.samples[:10]])


def assert_same(a: MultiAttractorField, b: MultiAttractorField) -> None:
    x = states(a)
    for ask in ("predict", "potential", "potential_gradient", "basin", "far"):
        np.testing.assert_array_equal(getattr(a, ask)(x), getattr(b, ask)(x), strict=True)
    np.testing.assert_array_equal(a.predict(x[0]), b.predict(x[0]))
    np.testing.assert_array_equal(a.attractors, b.attractors)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "model"
    save(many(), folder)
    return folder


@pytest.fixture
def model(saved: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


def tensor_file(folder: Path) -> Path:
    return next(folder.glob("*.safetensors"))


def edit(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def forge(folder: Path, tensors: dict[str, np.ndarray]) -> None:
    """Other tensors with a checksum that fits them."""
    data = pack(tensors)
    tensor_file(folder).write_bytes(data)
    described = {"file": tensor_file(folder).name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    edit(folder, tensors=described)


@pytest.mark.parametrize(("dimension", "attractors"), [(2, 1), (2, 3), (3, 2), (7, 2)])
def test_the_same_numbers_to_the_last_bit(dimension: int, attractors: int, tmp_path: Path) -> None:
    field = many(dimension, attractors)
    save(field, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_same(field, again)
    np.testing.assert_array_equal(
        field.simulate(field.samples[:3], duration=2.0), again.simulate(field.samples[:3], duration=2.0)
    )
    assert field.certificate(samples=20) == again.certificate(samples=20)
    assert again.warnings == field.warnings
    assert sorted(p.suffix for p in (tmp_path / "model").iterdir()) == [".json", ".safetensors"]
    assert list(tmp_path.iterdir()) == [tmp_path / "model"]


def test_a_single_field_is_saved_as_a_field_with_one_attractor(tmp_path: Path) -> None:
    for dimension in (2, 4, 7):
        one = stable_field(dimension, 0)
        save(one, tmp_path / "one")
        again = load(tmp_path / "one")
        x = one.from_unit(np.random.default_rng(0).uniform(-0.5, 0.5, (50, dimension)))
        np.testing.assert_array_equal(again.predict(x), one.predict(x))
        assert [c.name for c in again.warnings] == ["samples-unknown"]
        np.testing.assert_allclose(again.box, one.scale)
        if dimension <= 4:
            assert not again.far(x).any()
        assert again.far(one.from_unit(np.full(dimension, 0.8)))


def test_loading_and_predicting_needs_no_jax(saved: Path) -> None:
    code = (
        "import sys; from eigenwell.models import load\n"
        f"f = load({str(saved)!r}); f.predict(f.samples); f.simulate(f.samples[0], duration=1.0)\n"
        "assert not {'jax', 'optax', 'onnx', 'pyarrow', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("ask", [load, lambda folder: save(many(), folder)])
def test_a_missing_extra_names_its_pip_line(ask: object, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(MissingExtra, match=r'pip install "eigenwell\[models\]"'):
        ask(saved)  # type: ignore[operator]


# --- older and newer schemas --------------------------------------------------------------------------


def to_schema_1(folder: Path) -> None:
    tensors = unpack(tensor_file(folder).read_bytes())
    forge(folder, {name: tensor for name, tensor in tensors.items() if not name.endswith(".brake")})
    edit(folder, schema=1)


def to_schema_0(folder: Path) -> None:
    to_schema_1(folder)
    config = json.loads((folder / "config.json").read_text())
    kept = {key: config[key] for key in ("format", "eigenwell", "dimension", "n_attractors")}
    kept |= {"schema": 0, "tensors": config["tensors"]["file"]}
    (folder / "config.json").write_text(json.dumps(kept))


def unbraked(field: MultiAttractorField) -> MultiAttractorField:
    """The same field before there was a limit of speed."""
    fields = [replace(one, model=one.model._replace(brake=np.zeros(field.dimension))) for one in field.fields]
    return replace(field, fields=tuple(fields))


def test_schema_1_migrates_without_a_limit_of_speed_and_says_so(model: Path, saved: Path) -> None:
    to_schema_1(model)
    old = load(model)
    assert_same(old, unbraked(load(saved)))
    assert old.speed_limit == np.inf and np.isfinite(load(saved).speed_limit)
    assert [c.name for c in old.warnings] == ["crossing", "no-speed-limit"]


def test_a_brake_in_a_model_that_says_it_has_none_is_refused(model: Path) -> None:
    edit(model, schema=1)
    with pytest.raises(ModelError, match="no brake"):
        load(model)


def test_schema_0_migrates_and_says_that_it_could_not_be_checked(model: Path, saved: Path) -> None:
    to_schema_0(model)
    old = load(model)
    assert_same(old, unbraked(load(saved)))
    assert [c.name for c in old.warnings] == ["unchecked-model", "no-speed-limit"]
    save(old, model)
    assert json.loads((model / "config.json").read_text())["schema"] == SCHEMA
    assert_same(old, load(model))


def test_every_older_schema_has_its_migration() -> None:
    assert set(MIGRATIONS) == set(range(SCHEMA))


def test_a_newer_schema_is_refused_with_what_to_do(model: Path) -> None:
    edit(model, schema=SCHEMA + 1, eigenwell="9.9.0")
    with pytest.raises(ModelError, match=r"schema 2 or older.*got 3.*9\.9\.0.*pip install --upgrade eigenwell"):
        load(model)


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


def test_what_is_not_there_or_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "config.json")
    for name in ("nothing", "notes.txt", "empty", "loop", "pipe"):
        with pytest.raises(ModelError, match="Expected"):
            load(tmp_path / name)


@pytest.mark.parametrize("keep", [0, 1, 8, 100, -1])
def test_truncated_tensors(keep: int, model: Path) -> None:
    file = tensor_file(model)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(ModelError, match=r"Expected \d+ bytes.*cut short"):
        load(model)


def test_tampered_tensors(model: Path) -> None:
    file = tensor_file(model)
    data = bytearray(file.read_bytes())
    data[-9] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelError, match="sha256"):
        load(model)


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
        (changed("0.swirl", None), r"Expected 26 tensors for 2 attractors.*got 25"),
        (changed("surplus", 1.0), "got 27"),
        (changed("samples", np.zeros((120, 3))), r"samples.*float64 \(n, 2\), got float64 \(120, 3\)"),
        (changed("samples", np.zeros((120, 2), dtype=np.float32)), "got float32"),
        (changed("samples", np.zeros((120, 2))), "samples that differ"),
        (changed("labels", np.zeros(119, dtype=np.int64)), r"labels.*int64 \(120\)"),
        (changed("labels", np.full(120, 2)), "labelled 0 to 1"),
        (changed("labels", np.full(120, -1)), "labelled 0 to 1"),
        (changed("1.pace", -1.0), "pace > 0"),
        (changed("1.softening", 0.0), "softening > 0"),
        (changed("1.brake", [-1.0, 1.0]), "brake >= 0"),
        (changed("0.scale", [1.0, np.nan]), "finite"),
        (changed("0.swirl", np.eye(2)), "skew"),
        (changed("0.flow.frequencies", np.zeros((4, 6, 2))), "for 2 dimensions"),
        (changed("0.flow.weights", np.zeros((4, 2, 11))), r"\(4, 2, 12\), got float64 \(4, 2, 11\)"),
        (changed("0.speed.frequencies", np.zeros((0, 2))), "frequencies of attractor 0"),
    ],
)
def test_tensors_of_the_wrong_kind_are_named_even_with_the_right_checksum(
    change: object, message: str, model: Path
) -> None:
    tensors = unpack(tensor_file(model).read_bytes())
    change(tensors)  # type: ignore[operator]
    forge(model, tensors)
    with pytest.raises(ModelError, match=message):
        load(model)


def test_a_renamed_tensor_is_missing(model: Path) -> None:
    tensors = unpack(tensor_file(model).read_bytes())
    tensors["0.other"] = tensors.pop("0.swirl")
    forge(model, tensors)
    with pytest.raises(ModelError, match=r"Expected tensor 0\.swirl.*got none"):
        load(model)


@pytest.mark.parametrize("name", ["../outside.safetensors", "/etc/passwd", "field.bin", "a\\b.safetensors", ""])
def test_a_model_names_no_file_outside_itself(name: str, model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    edit(model, tensors=config["tensors"] | {"file": name})
    with pytest.raises(ModelError, match=r"name of a \.safetensors file beside"):
        load(model)


def test_a_checksum_cannot_be_left_out(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    edit(model, tensors={"file": config["tensors"]["file"], "size": None, "sha256": None})
    with pytest.raises(ModelError, match="Expected 'size'"):
        load(model)


# --- fuzz: only named errors --------------------------------------------------------------------------

fuzz = settings(max_examples=150, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])


def load_or_refuse(folder: Path, truth: MultiAttractorField) -> None:
    try:
        field = load(folder)
    except ModelError as error:
        assert "Expected" in str(error) and "\n" not in str(error)
    else:
        assert_same(field, truth)


@pytest.fixture(scope="module")
def bench(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, MultiAttractorField]:
    return saved, tmp_path_factory.mktemp("fuzz") / "model", load(saved)


Bench = tuple[Path, Path, MultiAttractorField]


@fuzz
@given(data=st.data(), which=st.sampled_from(["config.json", "tensors"]), old=st.booleans())
def test_flipped_and_missing_bytes(bench: Bench, data: st.DataObject, which: str, old: bool) -> None:
    saved, folder, truth = bench
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, folder)
    if old and which == "config.json":
        to_schema_0(folder)
    file = folder / which if which == "config.json" else tensor_file(folder)
    raw = bytearray(file.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(raw) - 1), max_size=4)):
        raw[place] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(raw)) | st.just(len(raw)))
    file.write_bytes(raw[:cut] + data.draw(st.binary(max_size=8)))
    load_or_refuse(folder, truth)


@fuzz
@given(data=st.data())
def test_broken_headers_with_the_right_checksum(bench: Bench, data: st.DataObject) -> None:
    """The parser behind the checksum is asked too: bytes of the header change and the checksum follows."""
    saved, folder, _ = bench
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, folder)
    file = tensor_file(folder)
    raw = bytearray(file.read_bytes())
    header = 8 + int.from_bytes(raw[:8], "little")
    for place in data.draw(st.lists(st.integers(0, header - 1), min_size=1, max_size=3)):
        raw[place] = data.draw(st.integers(0, 255))
    file.write_bytes(raw)
    edit(folder, tensors={"file": file.name, "size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()})
    try:
        assert np.isfinite(load(folder).predict([[0.1, 0.2]])).all()
    except ModelError as error:
        assert "Expected" in str(error)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@fuzz
@given(data=st.data(), value=values, drop=st.booleans())
def test_other_json(bench: Bench, data: st.DataObject, value: object, drop: bool) -> None:
    saved, folder, truth = bench
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, folder)
    config = json.loads((folder / "config.json").read_text())
    place = copy.deepcopy(config)
    inside = place["tensors"] if data.draw(st.booleans()) else place
    key = data.draw(st.sampled_from(sorted(inside)))
    if drop:
        del inside[key]
    else:
        inside[key] = value
    (folder / "config.json").write_text(json.dumps(place))
    load_or_refuse(folder, truth)


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b"9" * 5000])
def test_hostile_json(text: bytes, model: Path) -> None:
    (model / "config.json").write_bytes(text)
    with pytest.raises(ModelError, match="Expected"):
        load(model)


# --- writing ------------------------------------------------------------------------------------------


def test_overwriting_replaces_a_model_and_leaves_nothing_else(model: Path) -> None:
    stray = model / ".config.json.abc.json"
    stray.write_text("{")  # of a save that was killed
    other = many(3, 1)
    save(other, model)
    assert_same(load(model), other)
    assert len(list(model.iterdir())) == 2


def test_a_folder_that_is_not_a_model_is_left_alone(tmp_path: Path, model: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("words")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "config.json").write_text('{"port": 80}')
    (tmp_path / "file").write_text("words")
    (model / "notes.txt").write_text("mine")
    for folder in (tmp_path / "thesis", tmp_path / "app", tmp_path / "file", model):
        before = sorted(str(p) for p in tmp_path.rglob("*"))
        with pytest.raises(CannotWrite, match=r"Expected a.*Choose another name"):
            save(many(3, 1), folder)
        assert sorted(str(p) for p in tmp_path.rglob("*")) == before
    assert load(model).dimension == 2


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for folder in (tmp_path / "no" / "such" / "place", Path("/proc/model")):
        with pytest.raises(CannotWrite, match="Cannot write"):
            save(many(), folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("killed_at", ["tensors", "config"])
def test_a_save_that_fails_half_way_leaves_the_old_model(
    killed_at: str, model: Path, saved: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes" if killed_at == "tensors" else "write_text", full)
    with pytest.raises(CannotWrite, match="No space left"):
        save(many(3, 1), model)
    with pytest.raises(CannotWrite, match="No space left"):
        save(many(3, 1), tmp_path / "new")
    monkeypatch.undo()
    assert_same(load(model), load(saved))
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_whoever_loads_while_another_saves_gets_one_or_the_other(model: Path) -> None:
    first, second = load(model), many(2, 2, samples=30)
    stop = threading.Event()

    def keep_saving() -> None:
        while not stop.is_set():
            save(second, model)
            save(first, model)

    writer = threading.Thread(target=keep_saving)
    writer.start()
    try:
        sizes = {len(load(model).samples) for _ in range(100)}
    finally:
        stop.set()
        writer.join()
    assert sizes <= {len(first.samples), len(second.samples)}


def test_a_field_that_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    good = stable_field(2, 0)
    bad = StableField(good.model._replace(attractor=np.array([np.nan, 0.0])), good.centre, good.scale, good.pace)
    with pytest.raises(ModelError, match=r"finite numbers in tensor 0\.attractor of the field to save"):
        save(bad, tmp_path / "bad")
    with pytest.raises(ModelError, match=r"StableField or a MultiAttractorField, got str"):
        save("field", tmp_path / "bad")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
