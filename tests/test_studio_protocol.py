"""What the studio makes of messages and strokes: nothing a client sends is more than an error in words."""

import base64
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.untrained import field_of

import eigenwell as ew
from eigenwell.demonstrations import Caution
from eigenwell.report.numbers import of_field
from eigenwell.studio import documents, gallery, messages, presets, protocol, training, work
from eigenwell.studio.access import AccessRules, is_loopback
from eigenwell.studio.identify import compared, find, identified, shown
from eigenwell.studio.messages import doubts
from eigenwell.studio.presets import fit_to_view
from eigenwell.studio.protocol import BadMessage, Options, Strokes, parse
from eigenwell.studio.session import Session, Tickets
from eigenwell.studio.strokes import DOT, Stroke, drawing, goes_round, increasing

TYPES = ["strokes", "learn", "compare", "cancel", "preset", "pictures", "load", "restore", "take", "ping"]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
fields = st.sampled_from(
    [
        "rev",
        "strokes",
        "options",
        "id",
        "t",
        "x",
        "v",
        "numbers",
        "name",
        "base64",
        "what",
        "view",
        "order",
        "graph",
        "sigma",
    ]
)
finite = st.floats(-2, 2)
PLAIN = protocol.Request("take", 1, "studio")


def said(**message) -> str:
    return json.dumps(message)


def stroke(n=5, **changes):
    return {"id": "s1", "t": list(range(n)), "x": [[0.1 * k, 0.0] for k in range(n)]} | changes


def complaint(text: str) -> BadMessage:
    with pytest.raises(BadMessage) as caught:
        parse(text)
    assert len(str(caught.value)) < 400 and caught.value.about in {*TYPES, "message"}
    return caught.value


# --- messages -----------------------------------------------------------------------------------------


def answered(text: str) -> None:
    """A message or a complaint, whatever the text is."""
    try:
        assert isinstance(parse(text), protocol.Message)
    except BadMessage as error:
        assert len(str(error)) < 400


@given(st.text())
def test_any_text(text):
    answered(text)


@given(values)
def test_any_json(value):
    answered(json.dumps(value))


@given(st.sampled_from(TYPES), st.dictionaries(fields, values))
def test_any_fields(kind, rest):
    answered(json.dumps({"type": kind} | rest))


@given(st.dictionaries(fields, values), values)
def test_any_stroke(row, options):
    answered(said(type="strokes", rev=1, strokes=[row], options=options))


@given(st.lists(st.tuples(st.floats(0, 1e6), finite, finite), min_size=1, max_size=30), st.integers(0, 2**53))
def test_good_strokes_arrive_as_they_are(rows, rev):
    t, x = [r[0] for r in rows], [list(r[1:]) for r in rows]
    message = parse(said(type="strokes", rev=rev, strokes=[{"id": "a", "t": t, "x": x}]))
    assert isinstance(message, Strokes) and message.rev == rev and message.options == Options()
    assert message.strokes[0].t.tolist() == t and message.strokes[0].x.tolist() == x


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        '{"type":' + "[" * 50_000,
        '{"a":' * 50_000,
        "9" * 10_000,
        '{"type":"strokes","rev":1,"strokes":[{"id":"s","t":[0,1],"x":[[NaN,0],[1,1]]}]}',
        '{"type":"strokes","rev":1,"strokes":[{"id":"s","t":[0,1],"x":[[Infinity,0],[1,1]]}]}',
        '{"type":"strokes","rev":1,"strokes":[{"id":"s","t":[0,1],"x":[[1e999,0],[1,1]]}]}',
        '{"type":"strokes","rev":1,"strokes":[{"id":"s","t":[0,1],"x":[[1' + "0" * 400 + ",0],[1,1]]}]}",
        " " * (protocol.MESSAGE_BYTES + 1),
    ],
)
def test_texts_that_are_no_messages(text):
    complaint(text)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "strokes", "rev": 1, "strokes": [stroke() | {"id": f"s{k}"} for k in range(protocol.STROKES + 1)]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(protocol.STROKE_SAMPLES + 1)]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(9000) | {"id": f"s{k}"} for k in range(5)]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(), stroke()]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(x=[[0, 0, 0]] * 5)]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(x=[[0, "1"]] * 5)]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(x=[[0, True]] * 5)]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(x=[[0, 1e9]] * 5)]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(t=[0, 1])]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(t=[], x=[])]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(id="")]},
        {"type": "strokes", "rev": 1, "strokes": [stroke(id="a" * 65)]},
        {"type": "strokes", "rev": -1, "strokes": []},
        {"type": "strokes", "rev": 1.5, "strokes": []},
        {"type": "strokes", "rev": True, "strokes": []},
        {"type": "strokes", "rev": 1, "strokes": [], "options": {"order": "any"}},
        {"type": "strokes", "rev": 1, "strokes": [], "options": {"graph": ["paths"]}},
        {"type": "strokes", "rev": 1, "strokes": [], "options": {"eps": 1}},
        {"type": "strokes", "rev": 1, "strokes": [], "options": {"theta_r": 4}},
        {"type": "learn"},
        {"type": "restore", "rev": 1},
        {"type": "restore", "rev": 1, "base64": "#"},
        {"type": "take", "rev": 1, "what": "csv", "view": [0, 0, 0, 1]},
        {"type": "take", "rev": 1, "what": "csv", "view": {"centre": [0, "a"], "zoom": 1}},
        {"type": "take", "rev": 1, "what": "csv", "view": {"centre": [0, 0], "zoom": 0}},
        {"type": "take", "rev": 1, "what": "csv", "goals": [[0, 0]]},
        {"type": "take", "rev": 1, "what": "csv", "goals": [[0, 0, "red"]]},
        {"type": "preset", "name": "a\nb"},
        {"type": "take", "rev": 1, "what": "../../etc/passwd"},
        {"type": "load", "name": "a.csv", "base64": "###"},
        {"type": "load", "name": "no suffix", "base64": ""},
        {"type": "load", "name": "a./../../x", "base64": ""},
    ],
)
def test_messages_outside_the_rules_are_told_what_was_expected(message):
    error = complaint(json.dumps(message))
    assert error.about == message["type"] and str(error).startswith("Expected ")
    assert error.rev == (1 if message.get("rev") == 1 and message["rev"] is not True else None)


def test_of_a_file_name_only_the_suffix_is_left():
    data = base64.b64encode(b"x").decode()
    for name in ("a.csv", "../../../a.csv", "/etc/passwd.csv", "a\x00b.CSV", "C:\\x.csv", ".csv"):
        message = parse(said(type="load", name=name, base64=data))
        assert message.kind == "load" and message.name == ".csv" and message.data == b"x"


# --- strokes ------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_clocks_increase_whatever_the_stamps_say(stamps):
    t = increasing(np.array(stamps))
    assert t[0] == 0 and len(t) == len(stamps) and np.isfinite(t).all()
    # Two stamps may be closer than the digits of a large number can tell.
    assert (np.diff(t) >= 0).all() and t[-1] >= max(stamps) - stamps[0]


@given(st.lists(st.integers(0, 5), min_size=2, max_size=50))
def test_clocks_of_coarse_stamps_increase_strictly_and_stay_near(stamps):
    t = increasing(np.array(stamps, dtype=float))
    assert (np.diff(t) > 0).all()


def bell(n: int, seconds: float, seed: int | None = None):
    """A reach from (-0.8, 0) to (0.6, 0.4), at rest at both ends, with the clock of a browser."""
    rng = np.random.default_rng(seed)
    t = np.sort(np.linspace(0, seconds, n) + (0 if seed is None else rng.uniform(-0.4, 0.4, n) * seconds / n))
    t -= t[0]
    s = t / t[-1]
    rise = (s**3 * (10 - 15 * s + 6 * s**2))[:, None]
    rate = (30 * s**2 * (1 - s) ** 2 / t[-1])[:, None]
    step = np.array([[1.4, 0.4]])
    return t, np.array([[-0.8, 0.0]]) + rise * step, rate * step


@pytest.mark.parametrize("seed", range(5))
def test_velocities_of_uneven_clocks_and_rounded_pixels_are_sane(seed):
    t, x, v = bell(120, 1.5, seed)
    drawn = drawing([Stroke("a", t + 1e5, np.round(x * 400) / 400)])
    true = np.column_stack([np.interp(drawn.demos.time, t, v[:, i]) for i in (0, 1)])
    error = np.linalg.norm(drawn.demos.v - true, axis=1)
    assert (
        np.median(error) < 0.05 * np.linalg.norm(v, axis=1).max()
        and error.max() < 0.25 * np.linalg.norm(v, axis=1).max()
    )


def test_a_pen_lifted_at_speed_stops_there_and_one_at_rest_is_left_alone():
    t = np.linspace(0, 1, 80)
    even = np.column_stack([t, 0 * t])
    drawn = drawing([Stroke("a", t, even)])
    speed = np.linalg.norm(drawn.demos.v, axis=1)
    assert speed[-1] < 0.2 * np.median(speed)
    assert np.allclose(drawn.demos.x[[0, -1]], even[[0, -1]])
    rested = drawing([Stroke("a", *bell(120, 1.5)[:2])])
    assert rested.demos.time[-1] <= 1.5 + 1e-5


def test_long_rests_count_as_short_ones():
    t, x, _ = bell(120, 1.5)
    t = np.concatenate([[0.0], t + 30, [t[-1] + 90]])
    drawn = drawing([Stroke("a", t, np.vstack([x[:1], x, x[-1:]]))])
    assert drawn.demos.time[-1] < 1.5 + 0.3


def test_dots_and_repeated_stamps_do_not_spoil_the_rest():
    t, x, _ = bell(100, 1.5)
    coarse = np.floor(t * 10) / 10
    strokes = [
        Stroke("tap", np.zeros(1), np.zeros((1, 2))),
        Stroke("press", np.arange(5.0), np.full((5, 2), 0.3) + 0.2 * DOT * np.arange(5)[:, None]),
        Stroke("coarse", coarse, x),
        Stroke("timeless", np.zeros(100), x + 0.02),
        Stroke("backwards", t[::-1].copy(), x - 0.02),
    ]
    drawn = drawing(strokes)
    assert drawn.ids == ("coarse", "timeless", "backwards") and drawn.cautions[0].name == "dots"
    answer = identified(strokes, Options())
    assert answer["n_attractors"] == 1 and answer["labels"] == dict.fromkeys(drawn.ids, 0)
    assert "dots" in [w["name"] for w in answer["warnings"]]
    with pytest.raises(ew.DataError, match="dots alone"):
        drawing(strokes[:2])


def test_drawing_twice_changes_nothing():
    """What is taken away as a file and loaded again is the same drawing."""
    first = drawing(strokes_of("crossing")).demos
    bounds = zip(first.offsets[:-1], first.offsets[1:], strict=True)
    again = drawing([Stroke(f"s{k}", first.time[a:b], first.x[a:b]) for k, (a, b) in enumerate(bounds)]).demos
    assert again.n_samples == first.n_samples and np.abs(again.x - first.x).max() < 1e-3


# --- answers ------------------------------------------------------------------------------------------


def strokes_of(name: str) -> list[Stroke]:
    made = presets.strokes_of(name)["strokes"]
    return [Stroke(s["id"], np.array(s["t"]), np.array(s["x"])) for s in made]


@pytest.mark.parametrize("order", ["known", "unordered"])
@pytest.mark.parametrize(
    ("name", "count"),
    [("crossing", 2), ("corner", 1), ("pen", 3), ("heart", 2), ("pendulum", 2), ("four_wells", 4)],
)
def test_presets_are_in_view_and_have_their_attractors(name, count, order):
    strokes = strokes_of(name)
    assert 6 <= len(strokes) <= 16 and max(len(s.t) for s in strokes) <= 200
    assert max(np.abs(s.x).max() for s in strokes) <= 1.0
    answer = identified(strokes, Options(order=order))
    assert answer["n_attractors"] == count and answer["confidence"] > 0.7
    assert set(answer["labels"]) == {s.id for s in strokes}
    assert [a["colour"] for a in answer["attractors"]] == list(range(count))
    assert all(e["linearity"] > 0.999 for e in answer["embeddings"])
    for one, spectrum in zip(answer["attractors"], answer["spectra"], strict=True):
        values, gap = spectrum["values"], spectrum["gap_after"]
        assert gap == one["strokes"] and len(values) == gap + 3 and values[0] < 1e-9
        assert values[gap] > 1.5 * values[gap - 1] and values[gap - 1] <= 1.001 * values[1]
    assert len(json.dumps(answer, allow_nan=False)) < 200_000


def test_labels_differ_within_a_stroke_only_sample_by_sample():
    strokes = strokes_of("crossing")
    whole, torn = (identified(strokes, Options(graph="kernel", theta_r=theta))["labels"] for theta in (0.05, 0.02))
    for s in strokes:
        assert whole[s.id] in (0, 1)
        assert len(torn[s.id]) == len(s.t) and len(set(torn[s.id])) > 1


def test_the_kernel_is_not_sure_of_anything():
    answer = identified(strokes_of("crossing"), Options(graph="kernel"))
    assert answer["confidence"] is None and "sliders" in answer["confidence_words"]
    # Its doubts are told to somebody who draws, not to somebody who programs.
    told = " ".join(w["text"] for w in identified(strokes_of("corner"), Options(graph="kernel"))["warnings"])
    assert "dashed" in told and not re.search(r"Graph|label -1|Pass |pass ", told)


def test_every_doubt_is_in_the_words_of_somebody_who_draws():
    """All cautions of the rooms that read and learn strokes: a sentence of the studio's own, or no news."""
    names = set()
    for room in ("paths", "flow", "learning", "checks.py", "arguments.py", "identification.py", "grids.py"):
        place = Path(ew.__file__).parent / room
        for file in place.rglob("*.py") if place.is_dir() else [place]:
            names |= set(re.findall(r'Caution\(\s*"([a-z-]+)"[,)]', file.read_text()))
            names |= {
                f"recording-{kind.replace(' ', '-')}" for kind in re.findall(r'Odd\(\s*"([a-z ]+)"', file.read_text())
            }
    assert len(names) > 30
    library = re.compile(r"found\.|field\.|identify|recording|trajector|sub-dynamics|attractor|samples? per|d \+ 1")
    for name in names - {"noisy"}:  # an example in a docstring
        for said in doubts([Caution(name, "Sub-dynamics 0 of found.labels keeps to field.motion, 352 % of the box.")]):
            assert not library.search(said["text"]), name


@pytest.mark.parametrize("strokes, shown", [(1, False), (2, True), (3, True)])
def test_no_confidence_is_shown_before_it_means_something(strokes, shown):
    t = np.linspace(0, 1, 40)
    u = (1 - (1 - t) ** 2)[:, None]
    ways = [np.array([np.cos(1.3 * k), np.sin(1.3 * k)]) * 0.7 for k in range(strokes)]
    answer = identified([Stroke(f"s{k}", t, w * (1 - u) + 0.02 * k * u) for k, w in enumerate(ways)], Options())
    assert answer["n_attractors"] == 1 and (answer["confidence"] is not None) == shown
    assert ("too early" in answer["confidence_words"]) != shown


def circle(turns, rng, n=160, shrink=0.0):
    angle = np.linspace(0, 2 * np.pi * turns, n) + rng.uniform(0, 6)
    wobble = 1 + 0.05 * np.convolve(rng.normal(size=n + 40), np.ones(41) / 6, "valid")
    return (0.5 * wobble * np.exp(-shrink * (angle - angle[0])))[:, None] * np.column_stack(
        [np.cos(angle), np.sin(angle)]
    )


def test_what_goes_round_is_asked_about_and_not_counted():
    rng = np.random.default_rng(1)
    t = np.linspace(0, 4, 160)
    rounds = [Stroke(f"r{k}", t, circle(turns, rng)) for k, turns in enumerate((3, 3, 1.8))]
    answer = identified(rounds, Options())
    assert answer["n_attractors"] == 0 and answer["rounds"] == ["r0", "r1", "r2"] and answer["confidence"] is None
    assert "Where should they stop?" in answer["question"]
    # Beside strokes that rest they are left out, and named by their numbers.
    resting = [Stroke(f"s{k}", t, np.linspace([1, k - 1], [0, 0], 160)) for k in range(3)]
    answer = identified([*resting, rounds[0]], Options())
    assert answer["n_attractors"] == 1 and answer["rounds"] == ["r0"] and "Stroke 4" in answer["question"]
    # A spiral that comes to rest, an eight, a loop on the way and a letter are no question; nor is one turn.
    named = ("eight", "loop", "letter", "heart")
    drawn = [np.array(row["x"]) for name in named for row in presets.strokes_of(name)["strokes"]]
    for line in (circle(3, rng, shrink=0.12), circle(1.2, rng), *drawn):
        assert not goes_round(line)


def test_a_close_call_is_called_one():
    """Two pairs of ends a little farther apart than the ends of a pair: one loose goal, or two."""
    t = np.linspace(0, 1, 30)
    rise = (t**3 * (10 - 15 * t + 6 * t**2))[:, None]
    starts = [np.array([-1 + 0.1 * k, 0.6]) for k in range(4)]
    ends = np.array([[0, 0], [0.03, 0.01], [0.3, 0.02], [0.32, -0.02]])
    strokes = [Stroke(f"s{k}", t, a + rise * (b - a)) for k, (a, b) in enumerate(zip(starts, ends, strict=True))]
    assert "close call" in identified(strokes, Options())["why"]
    assert "close call" not in identified(strokes_of("crossing"), Options())["why"]


def test_sliders_that_tear_everything_apart_give_a_picture_and_no_failure():
    answer = identified(strokes_of("crossing"), Options(graph="kernel", sigma=1e-5, theta_r=0.01, eps=0.99))
    assert answer["n_attractors"] == 0 and "hang together" in answer["why"]
    assert answer["kernel"] == {"sigma": 1e-5, "theta_r": 0.01, "eps": 0.99}


@pytest.mark.parametrize("options", [Options(), Options(order="unordered"), Options(graph="kernel")])
def test_the_python_lines_do_the_same(options, tmp_path, monkeypatch):
    strokes = strokes_of("pen")
    answer = identified(strokes, options)
    name, _, content = documents.taken(find(drawing(strokes), Options()), None, "csv")
    (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    lines = answer["python"].split("from eigenwell.learning")[0]
    space: dict = {}
    exec(lines, space)
    assert np.allclose(space["found"].attractors, [a["x"] for a in answer["attractors"]], atol=1e-3)


@given(
    st.lists(
        st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=3, max_size=300),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_is_loaded_is_in_view(rows):
    xs = [np.array(r) for r in rows]
    answer = fit_to_view(xs, [np.linspace(0, 100, len(x)) for x in xs])
    for one in answer["strokes"]:
        assert len(one["t"]) == len(one["x"]) <= 200 and one["t"][-1] <= 20
        assert np.abs(one["x"]).max() <= 2.5


def test_files_of_any_kind_load_and_others_say_why(tmp_path):
    demos = ew.systems.duffing.sample(seed=0)
    for suffix in (".csv", ".npz", ".parquet", ".mat"):
        ew.files.write(tmp_path / f"a{suffix}", demos)
        answer = documents.recording(suffix, (tmp_path / f"a{suffix}").read_bytes())
        assert len(answer["strokes"]) == demos.n_trajectories and "faster" in answer["scale"]["note"]
    ew.files.write(tmp_path / "b.csv", demos.shuffled())
    answer = documents.recording(".csv", (tmp_path / "b.csv").read_bytes())
    assert len(answer["strokes"]) == demos.n_trajectories and "pieced together" in answer["scale"]["note"]
    ew.files.write(tmp_path / "c.csv", ew.systems.three_d.sample(seed=0))
    for suffix, data in (
        (".csv", (tmp_path / "c.csv").read_bytes()),
        (".npz", b"PK"),
        (".csv", b"a,b\n1,x\n"),
        (".exe", b""),
    ):
        with pytest.raises(ew.DataError) as caught:
            documents.recording(suffix, data)
        assert "/tmp" not in str(caught.value) and "recording" not in str(caught.value)


# --- files that come back exactly ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def heart():
    return ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))


def scribbles():
    """Strokes with every digit a pen may have, as the page sends them."""
    rng = np.random.default_rng(4)
    rows = []
    for k in range(6):
        goal = np.array([0.6, 0.1]) if k % 2 else np.array([-0.5, -0.3])
        u = np.linspace(0, 1, 40)[:, None] ** 0.5
        x = (1 - u) * rng.uniform(-1, 1, 2) + u * goal
        rows.append({"id": f"s{k + 1}", "t": np.linspace(0, 1, 40).tolist(), "x": x.tolist()})
    return parse(said(type="strokes", rev=1, strokes=rows)).strokes


def test_a_drawing_comes_back_to_the_last_digit_with_its_field_and_view():
    strokes, options = scribbles(), Options("unordered", "paths", 0.1, None, 0.2)
    found = find(drawing(strokes), Options()).found
    field = field_of(found, bend=0.2, memory=True)
    seen = protocol.Request(
        "take", 1, "studio", look=protocol.Look((0.25, -1 / 3), 2.5), goals=((0.1, 0.2, 3.0), (0.3, 0.4, 0.0))
    )
    name, _, data = documents.written(strokes, options, field, seen)
    assert name.endswith(documents.SUFFIX)
    back = json.loads(work.load(documents.SUFFIX, data, tell=print))
    for stroke, row in zip(strokes, back["strokes"], strict=True):
        assert row["t"] == stroke.t.tolist() and row["x"] == stroke.x.tolist()
    assert Options(**back["options"]) == options and back["view"] == {"centre": [0.25, -1 / 3], "zoom": 2.5}
    assert back["goals"] == [[0.1, 0.2, 3.0], [0.3, 0.4, 0.0]]
    answer, _ = work.restore(strokes, Options(), (), base64.b64decode(back["model"]), tell=print)
    assert json.loads(answer)["field"] == json.loads(json.dumps(training.told(_result(strokes), field)))["field"]
    bare = json.loads(work.load(documents.SUFFIX, documents.written(strokes, options, None, PLAIN)[2], tell=print))
    assert bare["model"] is None and bare["view"] is None


def test_a_model_from_python_opens_with_its_samples_as_strokes(heart, tmp_path):
    field = field_of(heart, bend=0.1)
    field.save(tmp_path / "heart.eigenwell")
    back = documents.read((tmp_path / "heart.eigenwell").read_bytes())
    starts = [row["x"][0] for row in back["strokes"]]
    assert np.allclose(starts, field.samples[field.phases == 1.0])
    for row in back["strokes"]:
        assert len(row["t"]) == len(row["x"]) and (np.diff(row["t"]) > 0).all()
    strokes = parse(said(type="strokes", rev=1, strokes=[{"id": f"m{k}"} | r for k, r in enumerate(back["strokes"])]))
    answer = training.told(_result(strokes.strokes), field)
    assert len(answer["field"]["map"]["attractors"]) == 2


def _result(strokes):
    return find(drawing(strokes), Options())


def test_a_field_of_other_strokes_is_refused(heart):
    with pytest.raises(ew.DataError, match="of these strokes"):
        training.told(_result(scribbles()), field_of(heart))


@pytest.mark.parametrize("damage", ["cut", "empty", "other zip", "schema", "strokes", "huge", "no model"])
def test_files_that_are_no_drawings_say_so(damage):
    import io
    import zipfile

    whole = documents.written(scribbles(), Options(), None, PLAIN)[2]
    content = json.loads(zipfile.ZipFile(io.BytesIO(whole)).read(documents.DRAWING))

    def zipped(**files):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name.replace("_", "."), text)
        return made.getvalue()

    data = {
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "other zip": zipped(other_txt="hello"),
        "schema": zipped(drawing_json=json.dumps(content | {"schema": 99})),
        "strokes": zipped(drawing_json=json.dumps(content | {"strokes": [{"t": [0, "a"], "x": 3}]})),
        "huge": zipped(drawing_json=b" " * (documents.LARGEST + 1)),
        "no model": b"not a model at all",
    }[damage]
    with pytest.raises(ew.DataError, match="Expected") as caught:
        documents.read(data)
    assert "/tmp" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_bad_fit_names_its_stroke(heart):
    names = [(f"s{k}", k + 1) for k in range(6)]
    good = messages.followed(field_of(heart), names)
    assert good["good"] and good["head"] == "Follows your strokes: 99 %."
    bad = messages.followed(field_of(heart, good=False), names)
    assert not bad["good"] and bad["head"] == "Does not follow 1 of 6 strokes." and "stroke 6" in bad["words"]


def test_one_stroke_is_spoken_of_as_one():
    """Of a single stroke "1 of 1" was not followed, "stroke 1 least", and more were called for twice."""
    strokes = strokes_of("ess")
    one = find(drawing(strokes[:1]), Options())
    names = [(strokes[0].id, 1)]
    for good in (True, False):
        said = messages.followed(field_of(one.found, good=good), names)
        assert said["head"] == ("Follows your stroke: 99 %." if good else "Does not follow your stroke.")
        assert not re.search(r"stroke 1|them|their|\d%", said["words"])
    assert "draw more" in identified(strokes[:1], Options())["why"]
    assert identified(strokes[:1], Options())["warnings"] == []


def test_nobody_hears_of_crossings_that_are_not_there(heart):
    """Of a spiral it was said that strokes cross."""
    field = field_of(heart, memory=True)
    assert "cross" not in messages.remembering(field) and messages.REMEMBERS in messages.remembering(field)
    crossed = replace(field, warnings=(Caution("crossing", "They cross."),))
    assert "cross" in messages.remembering(crossed)
    assert messages.remembering(field_of(heart)) is None


def test_what_is_shown_is_what_its_words_are_about(heart):
    """A field learned with memory whose map follows better: the panel spoke of the map, and the page showed motions."""
    field = field_of(heart, memory=True)
    assert field.by_motion and len(of_field(field)["lifted"]) == len(of_field(field)["goals"]) == field.n_attractors
    better = replace(field, fit=replace(field.fit, by="map"))
    assert of_field(better)["lifted"] == of_field(better)["goals"] == []


# --- access and tickets ---------------------------------------------------------------------------------


def test_hosts():
    here = AccessRules("127.0.0.1", 8000)
    for host in ("127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"):
        assert here.host_allowed(host)
    for host in ("", "127.0.0.1", "localhost:80", "evil.example:8000", "127.0.0.1.nip.io:8000", "127.0.0.1:8000.evil.example",
                 "10.0.0.1:8000", "localhost:8000:8000", ":8000", "[::1]"):  # fmt: skip
        assert not here.host_allowed(host)
    everywhere = AccessRules("0.0.0.0", 8000, "t" * 16)
    assert everywhere.host_allowed("192.168.1.5:8000") and everywhere.host_allowed("[fe80::1]:8000")
    assert not everywhere.host_allowed("rebound.example:8000")
    named = AccessRules("studio.local", 8000, "t" * 16)
    assert named.host_allowed("studio.local:8000") and not named.host_allowed("other.local:8000")
    assert AccessRules("127.0.0.1", 80).host_allowed("localhost")


def test_origins_and_loopback():
    rules = AccessRules("127.0.0.1", 8000)
    assert rules.origin_allowed("http://127.0.0.1:8000", "127.0.0.1:8000")
    for origin in (
        "null",
        "http://localhost:8000",
        "https://127.0.0.1:8000",
        "http://127.0.0.1:8001",
        "http://evil.example",
    ):
        assert not rules.origin_allowed(origin, "127.0.0.1:8000")
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.com", "")))


@given(st.binary(max_size=60), st.text(max_size=60))
def test_no_guess_shows_the_token(query, cookies):
    rules = AccessRules("0.0.0.0", 8000, "correct-horse-battery")
    assert not rules.known(query, cookies)
    assert rules.known(b"token=correct-horse-battery", cookies)
    assert rules.known(query, f"{rules.cookie}=correct-horse-battery")


def test_tickets_are_good_once_for_a_minute_and_few():
    now = [0.0]
    tickets, page, other = Tickets(lambda: now[0]), object(), object()
    first = tickets.issue(page, "a.csv", "text/csv", b"a")
    assert tickets.redeem("x" * 43) is None
    assert tickets.redeem(first).content == b"a" and tickets.redeem(first) is None
    late = tickets.issue(page, "a.csv", "text/csv", b"a")
    now[0] += Tickets.SECONDS
    assert tickets.redeem(late) is None and len(tickets) == 0
    many = [tickets.issue(page, "a.csv", "text/csv", b"a") for _ in range(3 * Tickets.EACH)]
    kept = tickets.issue(other, "b.csv", "text/csv", b"b")
    assert len(tickets) == Tickets.EACH + 1 and tickets.redeem(many[-1]) is not None
    tickets.forget(page)
    assert len(tickets) == 1 and tickets.redeem(kept) is not None


def test_numbers_are_short_and_never_more_than_json_knows():
    assert shown([1.23456789, 1e-12]) == [1.2346, 0.0]
    assert shown(0.0) == 0.0 and all(map(math.isfinite, shown([math.inf, math.nan])))


# --- a brush, other numbers, other methods beside ours ---------------------------------------------------


def sprayed(seed=0, count=70):
    """Samples of two wells as a brush leaves them: scattered places, each with the velocity that the flow has there."""
    rng = np.random.default_rng(seed)
    for k, goal in enumerate(([-0.5, 0.0], [0.5, 0.1])):
        x = np.array(goal) + rng.uniform(-0.4, 0.4, (count, 2))
        yield Stroke(f"b{k}", np.arange(float(count)), x, 1.5 * (np.array(goal) - x) + rng.normal(0, 0.02, x.shape))


def test_a_brush_is_read_as_snapshots_and_tells_fates():
    strokes = list(sprayed())
    answer = identified(strokes, Options())
    assert answer["n_attractors"] == 2 and "carried along the flow" in answer["why"] and "FlowGraph" in answer["python"]
    for k, stroke in enumerate(strokes):
        assert np.mean(np.array(answer["labels"][stroke.id]) == k) > 0.95
        assert len(answer["fates"][stroke.id]) == len(stroke.x) and min(answer["fates"][stroke.id]) >= 0
    assert gallery.labelled(find(drawing(strokes), Options()))[0]["dots"].count(0) > 60
    # A stroke beside a brush is samples, too; every event of it still finds its label.
    both = drawing([*strokes, *strokes_of("crossing")[:1]])
    assert both.scattered and len(both.offsets) == 4 and both.offsets[-1] == both.demos.n_samples
    assert np.array_equal(both.demos.x[both.nearest[-1]], strokes[-1].x) and both.ids[1:] == ("b0", "b1")
    # As the page sends it, and as the file keeps it.
    rows = [{"id": s.id, "t": s.t.tolist(), "x": s.x.tolist(), "v": s.v.tolist()} for s in strokes]
    message = protocol.parse(json.dumps({"type": "strokes", "rev": 1, "strokes": rows}))
    assert all(a.same_as(b) for a, b in zip(message.strokes, strokes, strict=True))
    assert not message.strokes[0].same_as(Stroke("b0", strokes[0].t, strokes[0].x))
    file = documents.written(strokes, Options(), None, protocol.Request("take", 1, "studio"))[2]
    assert documents.read(file)["strokes"][1]["v"] == rows[1]["v"]
    with pytest.raises(BadMessage, match="velocities of stroke 1"):
        protocol.parse(json.dumps({"type": "strokes", "rev": 1, "strokes": [rows[0] | {"v": [[0, 1]]}]}))


def test_without_order_the_samples_are_shuffled_and_every_label_comes_back():
    strokes = strokes_of("crossing")
    known, found = (find(drawing(strokes), Options(order=order)) for order in ("known", "unordered"))
    assert not np.array_equal(found.rows, np.sort(found.rows)), "they were not shuffled"
    assert np.array_equal(found.labels, known.labels)


def test_the_page_s_numbers_are_those_of_what_is_taken_away():
    result = find(drawing(strokes_of("crossing")), Options())
    other = result.numbered((1, 0))
    assert np.array_equal(other.found.attractors, result.found.attractors[::-1])
    assert np.array_equal(other.labels, 1 - result.labels) and other.numbered((0, 1)) is other
    for q in (0, 1):
        assert np.array_equal(np.concatenate(other.found.paths(q)), np.concatenate(result.found.paths(1 - q)))
    with pytest.raises(ew.DataError, match="once"):
        result.found.renumbered([0, 0])
    assert protocol.parse('{"type": "learn", "rev": 3, "numbers": [1, 0]}').numbers == (1, 0)
    for bad in ("[0, 0]", "[1]", "[0.5]", "7", "[true, 0]"):
        with pytest.raises(BadMessage, match="each of 0, 1"):
            protocol.parse(f'{{"type": "learn", "rev": 3, "numbers": {bad}}}')


def test_the_paper_s_method_stands_beside_ours():
    said = compared(strokes_of("crossing"))
    assert said["ways"]["known"]["n"] == said["ways"]["unordered"]["n"] == 2
    assert set(said["ways"]["kernel"]["labels"]) == {stroke.id for stroke in strokes_of("crossing")}
    assert said["kernel"]["sigma"] > 0


class Waiting:
    """A queue whose work is done when the test says so."""

    def __init__(self):
        self.jobs = []

    def put(self, job):
        self.jobs = [old for old in self.jobs if old.slot != job.slot] + [job]

    def drop(self, owner, slot=None):
        self.jobs = [job for job in self.jobs if slot not in (None, job.slot)]

    def finish(self, answer):
        self.jobs.pop(0).done(answer)


def test_undo_and_redo_before_the_certificate_lose_nothing():
    queues = {kind: Waiting() for kind in ("drawing", "learning", "errands", "testing")}
    drawing_queue, learning, _, testing = queues.values()
    session = Session(queues, Tickets())

    def told(kind):
        said = [json.loads(session.outbox.get_nowait()) for _ in range(session.outbox.qsize())]
        return [one for one in said if one["type"] == kind]

    def draw(rev, count):
        rows = [{"id": f"s{k}", "t": [0, 1], "x": [[k, 0], [0, 1]]} for k in range(count)]
        session.take(parse(json.dumps({"type": "strokes", "rev": rev, "strokes": rows, "options": {}})))
        drawing_queue.finish("{}")

    draw(1, 2)
    session.take(protocol.Request("learn", 1))
    learning.finish(("{}", b"field of two"))
    assert len(testing.jobs) == 1 and told("learned")
    # One stroke less; learning that begins, and drops the test of the older field; and back.
    draw(2, 1)
    session.take(protocol.Request("learn", 2))
    assert testing.jobs == []
    draw(3, 2)
    session.take(protocol.Request("cancel"))
    assert told("identified")[-1]["field"] and len(testing.jobs) == 1, "nobody tests it any more"
    # Looked at once more while it is in test: no second test; and one answer, for the strokes as they are called now.
    draw(4, 2)
    assert len(testing.jobs) == 1
    testing.finish('{"holds":true,"words":"yes"}')
    assert [one["rev"] for one in told("certified")] == [4]
    # From now on it is known, and told at once.
    draw(5, 1)
    assert told("certified") == []
    draw(6, 2)
    assert [one["rev"] for one in told("certified")] == [6] and testing.jobs == []
