"""Audits: good sets get no complaint, each planted fault is found and named, nothing is written where one only looks."""

import io
import json
from contextlib import redirect_stdout
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

import eigenwell as ew
from eigenwell.auditing.api import audited
from eigenwell.auditing.copies import keep_list, parts
from eigenwell.auditing.episodes import Episode, Episodes
from eigenwell.auditing.measures import rests
from eigenwell.auditing.page import page
from eigenwell.auditing.tails import LEVEL, excess, judged, spread
from eigenwell.cli import main


def reach(rng, start, goal, seconds=None, rest=0.2, via=None):
    """A reach of minimum jerk over a via point with rests and noise, 50 samples a second."""
    seconds = seconds or rng.uniform(2, 3)
    t = np.arange(0, seconds + 2 * rest, 0.02)
    s = np.clip((t - rest) / seconds, 0, 1)
    ds = np.where((s > 0) & (s < 1), 30 * s**2 * (1 - s) ** 2, 0)[:, None] / seconds
    s = (s**3 * (10 - 15 * s + 6 * s**2))[:, None]
    via = (start + goal) / 2 + np.array([0, 0, 0.2]) + 0.02 * rng.normal(size=3) if via is None else via
    x = (1 - s) ** 2 * start + 2 * s * (1 - s) * via + s**2 * goal
    v = (2 * (1 - s) * (via - start) + 2 * s * (goal - via)) * ds
    return x + 3e-4 * rng.normal(size=x.shape), t, v


GOALS = np.array([[0.6, 0.0, 0.1], [-0.4, 0.5, 0.2]])


def made(seed=0, count=20, share=2):
    """`count` reaches; every `share`-th goes to the first goal, the others to the second."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(count):
        task = int(k % share != 0)
        start = np.array([0, -0.6, 0.5]) + 0.06 * rng.normal(size=3)
        x, t, v = reach(rng, start, GOALS[task] + 0.004 * rng.normal(size=3))
        out.append(Episode(k, x, t, v, task))
    return out


def names(found):
    return {v.episode: [f.name for f in v.faults] for v in found.verdicts if v.faults}


# --- the model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [excess, spread])
def test_what_is_far_out_depends_on_no_unit(model):
    values = np.append(np.random.default_rng(0).uniform(size=30), 40.0)
    found = judged(values, 0.5, model)
    scaled = judged(1e3 * values, 0.5e3, model)
    np.testing.assert_allclose(found.p, scaled.p)
    assert found.bad.sum() == 1 and found.bad[-1] and scaled.threshold == pytest.approx(1e3 * found.threshold)
    assert (found.bad == (values >= found.threshold)).all()
    order = np.random.default_rng(1).permutation(31)
    np.testing.assert_allclose(judged(values[order], 0.5, model).p, found.p[order])


@pytest.mark.parametrize(("model", "draw"), [(excess, "exponential"), (excess, "uniform"), (spread, "normal")])
@pytest.mark.parametrize("n", [6, 12, 40, 200])
def test_good_sets_are_accused_as_rarely_as_promised(model, draw, n):
    rng = np.random.default_rng(n)
    sets = 2000
    accused = sum(judged(getattr(rng, draw)(size=n), 1e-9, model).bad.any() for _ in range(sets))
    # A binomial count with the mean of 1 % of the sets, and four of its standard deviations.
    assert accused <= LEVEL * sets * 1.5 + 4 * np.sqrt(LEVEL * sets)


def test_too_few_are_never_judged():
    assert not judged(np.array([0, 0, 0, 1e9]), 1.0, excess).bad.any()


# --- the verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_good_set_gets_no_complaint(seed):
    found = audited(Episodes(tuple(made(seed))))
    assert not found.bad and len(found.goals) == 2 and found.keep == tuple(range(20)) and not found.missing


def test_a_rarer_goal_is_no_fault():
    found = audited(Episodes(tuple(made(3, count=18, share=6))))
    assert not found.bad and sorted(len(g.episodes) for g in found.goals) == [3, 15]


def stretched(e, factor):
    new = np.linspace(0, len(e) - 1, int(factor * len(e)))
    x, v = (np.column_stack([np.interp(new, np.arange(len(e)), c) for c in a.T]) for a in (e.x, e.v))
    return replace(e, x=x, v=v / factor, t=0.02 * np.arange(len(new)))


def rested(e, at, n=250):
    pause = np.repeat(e.x[at : at + 1], n, axis=0) + 3e-4 * np.random.default_rng(0).normal(size=(n, 3))
    x, v = np.vstack([e.x[:at], pause, e.x[at:]]), np.vstack([e.v[:at], 0 * pause, e.v[at:]])
    return replace(e, x=x, v=v, t=0.02 * np.arange(len(x)))


def cut(e, rows):
    return replace(e, x=e.x[rows], v=e.v[rows], t=e.t[rows])


def changed(e, rows, by, columns=slice(None)):
    x = e.x.copy()
    x[rows, columns] = by if np.ndim(by) == 0 else x[rows, columns] + by
    return replace(e, x=x)


def held(e, a, b, columns=slice(None)):
    x = e.x.copy()
    x[a:b, columns] = x[a, columns]
    return replace(e, x=x)


def away(e):
    s = np.linspace(0, 1, len(e))[:, None]
    return [0.3, 0.3, 0.1] * (s**3 * (10 - 15 * s + 6 * s**2)) * (1 + 0.4 * (e.number % 2))


def turned_round(e):
    return replace(e, x=e.x[::-1].copy(), v=-e.v[::-1])


def over(e):
    rng = np.random.default_rng(5)
    x, t, v = reach(rng, e.x[0], e.x[-1], via=np.array([0.9, 0.9, -0.9]))
    return replace(e, x=x, t=t, v=v)


FAULTS = {
    "cut-off": lambda e: cut(e, slice(0, len(e) // 2)),
    "no-goal": lambda e: replace(e, x=e.x + away(e)),
    "backwards": turned_round,
    "other-goal": lambda e: replace(e, task=1 - e.task),
    "idle-start": lambda e: rested(e, 0),
    "idle-middle": lambda e: rested(e, len(e) // 2),
    "idle-end": lambda e: rested(e, len(e) - 1),
    "jump": lambda e: changed(e, slice(60, 66), np.array([0.3, 0.2, 0.1])),
    "time-gap": lambda e: cut(e, np.r_[0:40, 70 : len(e)]),
    "frozen": lambda e: held(e, 55, 80),
    "slow": lambda e: stretched(e, 5),
    "fast": lambda e: stretched(e, 0.2),
    "unlike": over,
    "too-short": lambda e: cut(e, slice(0, 6)),
    "velocity-sign": lambda e: replace(e, v=-e.v),
    "velocity-scale": lambda e: replace(e, v=1000 * e.v),
    "velocity": lambda e: replace(e, v=np.roll(e.v, 1, axis=1)),
    "units": lambda e: replace(e, x=1000 * e.x, v=1000 * e.v),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_and_named(name):
    items = made(7)
    for k in (6, 13):
        items[k] = FAULTS[name](items[k])
    found = audited(Episodes(tuple(items)))
    assert {k: said[0] for k, said in names(found).items()} == {6: name, 13: name}
    for verdict in found.bad:
        first = verdict.faults[0]
        assert 0 <= first.severity <= 1 and first.confidence > 0.8 and first.value >= first.threshold
        assert first.message.endswith((".", "?")) and verdict.keep == (first.action == "trim")


@pytest.mark.parametrize("seed", range(3))
def test_what_identification_finds_odd_is_never_called_good(seed):
    # Three of twenty that end where none does: too many to be unusual, and yet each of them is named.
    episodes = made(seed)
    episodes[13] = turned_round(episodes[13])
    episodes[15] = replace(episodes[15], x=episodes[15].x[:, [1, 0, 2]], v=episodes[15].v[:, [1, 0, 2]])
    episodes[17] = replace(episodes[17], x=episodes[17].x + np.array([0.3, 0, 0]))
    named = ew.identify([e.x for e in episodes], dt=0.02)
    found = audited(Episodes(tuple(episodes)))
    assert {o.number for o in named.odd} == {13, 15, 17} == {v.episode for v in found.bad}
    assert names(found)[13] == ["backwards"] and names(found)[15] == names(found)[17] == ["no-goal"]
    assert all(0 < f.confidence <= named.confidence + 0.05 for v in found.bad for f in v.faults)
    assert all(found.verdicts[k].goal == -1 and k not in found.keep for k in (13, 15, 17))


def test_one_column_frozen_or_flipped_is_told():
    items = made(8)
    items[4], items[9] = held(items[4], 50, 80, 1), replace(items[9], v=items[9].v * [1, -1, 1])
    found = {v.episode: v.faults[0] for v in audited(Episodes(tuple(items))).bad}
    assert found[4].name == "frozen" and "Column 1" in found[4].message
    assert found[9].name == "velocity-sign" and "column 1" in found[9].message


def test_copies_and_flipped_quaternions():
    items = made(9)
    items[11] = replace(items[3], number=11)
    found = audited(Episodes(tuple(items)))
    assert names(found) == {11: ["repeated"]} and "episode 3" in found.bad[0].faults[0].message
    turned = []
    for e in items[:10]:
        q = ew.poses.exponential(np.linspace(0.5, 1.2, len(e))[:, None] * [0, 0, 1.0])
        turned.append(replace(e, x=np.hstack([e.x, q]), v=None))
    x = turned[5].x.copy()
    x[40:, 3:] *= -1
    turned[5] = replace(turned[5], x=x)
    assert names(audited(Episodes(tuple(turned)))) == {5: ["quaternion-flip"]}


def test_nothing_depends_on_units_axes_or_order():
    items = made(10)
    for k, name in ((2, "cut-off"), (5, "idle-end"), (8, "slow"), (15, "jump")):
        items[k] = FAULTS[name](items[k])
    found = names(audited(Episodes(tuple(items))))
    assert set(found) == {2, 5, 8, 15}
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    other = [replace(e, x=40 * e.x @ rotation + 7, v=40 * e.v @ rotation / 3, t=3 * e.t + 11) for e in items]
    assert names(audited(Episodes(tuple(other)))) == found
    assert names(audited(Episodes(tuple(items[::-1])))) == found


def test_rests_are_where_nothing_moves():
    rng = np.random.default_rng(0)
    x, t, _ = reach(rng, np.zeros(3), np.ones(3), seconds=2.0, rest=1.0)
    found = rests(Episode(0, x, t), 1.7)
    assert 45 <= found.start <= 75 and 125 <= found.stop <= 155 and found.middle == (0, 0)
    slow = Episode(
        0, np.linspace(0, 0.05, 400)[:, None] * np.ones(3) + 1e-3 * rng.normal(size=(400, 3)), 0.02 * np.arange(400)
    )
    assert rests(slow, 1.0).still.mean() < 0.2  # slow motion under noise is motion


def test_parts_are_the_motions_between_rests():
    rng = np.random.default_rng(2)
    items = []
    for k in range(8):
        there, back = reach(rng, np.zeros(3), GOALS[0], rest=0.5)[0], reach(rng, GOALS[0], GOALS[1], rest=0.5)[0]
        x = np.vstack([there, back])
        items.append(Episode(k, x, 0.02 * np.arange(len(x))))
    assert {len(rows) for rows in parts(audited(Episodes(tuple(items)))).values()} == {2}


# --- in and out ---------------------------------------------------------------------------------------


def test_arrays_demonstrations_and_files_say_the_same(tmp_path):
    items = made(11)
    items[6] = FAULTS["cut-off"](items[6])
    for e in items:
        table = np.hstack([e.t[:, None], e.x, e.v])
        np.savetxt(tmp_path / f"{e.number:02}.csv", table, delimiter=",", header="time,x,y,z,vx,vy,vz", comments="")
    xs, vs, ts = ([getattr(e, a) for e in items] for a in "xvt")
    by_files = ew.audit(tmp_path)
    assert (
        names(ew.audit(xs, vs, time=ts))
        == names(by_files)
        == names(ew.audit(ew.files.read(tmp_path)))
        == {6: ["cut-off"]}
    )
    assert by_files.verdicts[6].name == "06.csv" and by_files.keep == tuple(k for k in range(20) if k != 6)
    assert names(ew.audit(xs)) == {6: ["cut-off"]} and "no times" in ew.audit(xs).missing[0]


def test_what_cannot_be_read_is_skipped_with_a_word(tmp_path):
    for e in made(12, count=8):
        np.save(tmp_path / f"{e.number}.npy", np.hstack([e.t[:, None], e.x]))
    (tmp_path / "8.npy").write_bytes(b"nothing")
    np.save(
        tmp_path / "9.npy",
        np.column_stack([0.02 * np.arange(50), np.random.default_rng(0).normal(size=(50, 2)).cumsum(0)]),
    )
    found = ew.audit(tmp_path)
    assert len(found.verdicts) == 8 and {name for name, _ in found.skipped} == {"8.npy", "9.npy"}
    assert "2 coordinates where most have 3" in dict(found.skipped)["9.npy"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ew.DataError, match="found none"):
        ew.audit(tmp_path / "empty")
    with pytest.raises(ew.DataError, match="unordered samples"):
        ew.audit(ew.systems.heart.sample(seed=0, frequency=20.0).shuffled())


def lerobot(root, items, v3):
    """A data set in LeRobot's documented layout, of version 3 or 2.1."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (root / "meta").mkdir(parents=True)
    (root / "data" / "chunk-000").mkdir(parents=True)
    kinds = ("observation.state", "action", "timestamp", "frame_index", "episode_index", "index", "task_index")
    info = {"codebase_version": "v3.0" if v3 else "v2.1", "fps": 50, "features": {k: {"names": None} for k in kinds}}
    (root / "meta" / "info.json").write_text(json.dumps(info))
    tables = []
    for e in items:
        state = list(e.x.astype(np.float32))
        n = len(e)
        columns = dict(zip(kinds, (state, state[1:] + state[-1:], np.arange(n) / 50, np.arange(n)), strict=False))
        columns |= {
            "episode_index": np.full(n, e.number + 100),
            "index": np.arange(n),
            "task_index": np.full(n, e.task),
        }
        tables.append(pa.table(columns))
    if v3:
        pq.write_table(pa.concat_tables(tables), root / "data" / "chunk-000" / "file-000.parquet")
        pq.write_table(pa.table({"task_index": [0, 1], "task": ["cup", "drawer"]}), root / "meta" / "tasks.parquet")
    else:
        for k, table in enumerate(tables):
            pq.write_table(table, root / "data" / "chunk-000" / f"episode_{k:06}.parquet")
        lines = [json.dumps({"task_index": i, "task": name}) for i, name in enumerate(("cup", "drawer"))]
        (root / "meta" / "tasks.jsonl").write_text("\n".join(lines))


@pytest.mark.parametrize("v3", [True, False])
def test_lerobot_sets_are_looked_at_in_place(tmp_path, v3):
    items = made(13)
    items[4], items[9] = replace(items[4], task=1 - items[4].task), FAULTS["cut-off"](items[9])
    lerobot(tmp_path / "set", items, v3)
    before = {p: p.read_bytes() for p in (tmp_path / "set").rglob("*") if p.is_file()}
    found = ew.audit(tmp_path / "set")
    assert names(found) == {104: ["other-goal"], 109: ["cut-off"]} and "(drawer)" in found.verdicts[4].faults[0].message
    assert keep_list(found)["keep"] == [100 + k for k in range(20) if k not in (4, 9)]
    assert {p: p.read_bytes() for p in (tmp_path / "set").rglob("*") if p.is_file()} == before


def command(*args):
    out = io.StringIO()
    with (
        patch("sys.argv", ["eigenwell", "audit", *map(str, args)]),
        redirect_stdout(out),
        pytest.raises(SystemExit) as end,
    ):
        main()
    return end.value.code, out.getvalue()


def test_the_command_writes_what_others_can_use(tmp_path):
    items = made(14)
    items[5], items[9] = FAULTS["idle-end"](items[5]), FAULTS["jump"](items[9])
    (tmp_path / "set").mkdir()
    for e in items:
        rows = np.hstack([e.t[:, None], e.x, np.full((len(e), 1), 7.0)])
        head = "time,x,y,z,gripper"
        np.savetxt(
            tmp_path / "set" / f"demo_{e.number}.csv", rows, delimiter=",", header=head, comments="", fmt="%.17g"
        )
    options = ("--keep", tmp_path / "keep.json", "-o", tmp_path / "page.html", "--trim", tmp_path / "trimmed")
    code, out = command(tmp_path / "set", *options, "--split", tmp_path / "parts", "--json")
    said = json.loads(out)
    assert code == 0 and {e["episode"]: e["faults"][0]["name"] for e in said["episodes"] if e["faults"]} == {
        5: "idle-end",
        9: "jump",
    }
    assert said["keep"] == json.loads((tmp_path / "keep.json").read_text())["keep"] == [k for k in range(20) if k != 9]
    text = (tmp_path / "page.html").read_text()
    assert (
        "2 of 20 episodes" in text
        and "http" not in text
        and text.count("<article>") == 2
        and text.count("<figure") == 18
    )
    copies = sorted((tmp_path / "trimmed").iterdir())
    assert len(copies) == 19 and copies[0].read_text().startswith("time,x,y,z,gripper\n")
    lines = (tmp_path / "set" / "demo_5.csv").read_text().splitlines()
    kept = (tmp_path / "trimmed" / "demo_5.csv").read_text().splitlines()
    a, b = next(e["moving"] for e in said["episodes"] if e["episode"] == 5)
    assert kept == lines[:1] + lines[1 + a : 1 + b] and len(kept) < 200
    assert not ew.audit(tmp_path / "trimmed").bad
    assert command(tmp_path / "set", "--strict")[0] == 6
    assert "2 of 20 episodes look bad" in command(tmp_path / "set")[1]


def test_a_page_of_one_coordinate_and_of_many():
    for d in (1, 2, 7):
        rng = np.random.default_rng(d)
        x = [np.exp(-np.linspace(0, 6, 50))[:, None] * rng.normal(size=d) for _ in range(6)]
        text = page(ew.audit(x, dt=0.1), "<set>")
        assert (text.count("<figure"), text.count("<article"), "&lt;set&gt;" in text, "<set>" in text) == (
            6,
            0,
            True,
            False,
        )


def test_what_a_set_lacks_is_said():
    rng = np.random.default_rng(15)
    starts = np.array([[0, -0.6, 0.5], [0, -0.6, -0.7], [0.1, 1.0, 0.0]])
    shown = [(s, g) for s in range(3) for g in range(2) if (s, g) != (2, 1)]
    items = []
    for k, (s, g) in enumerate(shown * 4):
        x, t, _ = reach(rng, starts[s] + 0.03 * rng.normal(size=3), GOALS[g] + 0.004 * rng.normal(size=3))
        items.append(Episode(k, x, t))
    found = audited(Episodes(tuple(items)))
    assert not found.bad and len(found.missing) == 1
    assert found.missing[0].startswith("Goal 0 is never reached from the start near (0.0878, 1.01")
    x, t, _ = reach(rng, starts[0], np.array([1.5, -1.2, 0.9]))
    few = audited(Episodes((*items, Episode(20, x, t), Episode(21, x + 0.002, t))))
    assert any("is reached by 2 episodes only" in said for said in few.missing)


def test_how_sure_the_goals_are_is_said_where_it_matters():
    sure = audited(Episodes(tuple(made(3))))
    assert sure.confidence > 0.9 and not sure.missing
    # Two pairs of ends, a tenth of the way apart: one place or two.
    rng = np.random.default_rng(1)
    ends = [GOALS[0] + [away, 0, 0] for away in (0.0, 0.02, 0.2, 0.22)]
    made_of = [reach(rng, np.array([0, -0.6, 0.5]) + 0.06 * rng.normal(size=3), end) for end in ends]
    found = audited(Episodes(tuple(Episode(k, x, t) for k, (x, t, _) in enumerate(made_of))))
    said = f"with confidence {found.confidence:.2f}"
    assert found.confidence < 0.9 and said in str(found) and said in page(found, "set")
    assert found.to_dict()["confidence"] == found.confidence and said in found.to_dict()["missing"][0]


def test_an_audit_is_a_frame():
    items = made(16)
    items[3] = FAULTS["jump"](items[3])
    table = audited(Episodes(tuple(items))).frame()
    assert len(table) == 20 and table.loc[3, "fault"] == "jump" and not table.loc[3, "keep"]
    assert table.keep.sum() == 19
