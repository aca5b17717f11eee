"""When something breaks: the same answer, or an error that names the partition; never half a result."""

import os
import random
import signal
import threading
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

import eigenwell as ew
from distributed import Client, LocalCluster
from eigenwell import distributed
from eigenwell.distributed.store import StageFileLost, fetch
from test_distributed import assert_same, frame, write

CELL = 700

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def client():
    settings = dict(processes=True, n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def demos():
    return ew.systems.heart.sample(seed=0, frequency=50).shuffled(0)


@pytest.fixture(scope="module")
def alone(demos):
    return ew.identify(demos.x, demos.v)


@pytest.fixture
def source(demos, tmp_path):
    return write(tmp_path / "in", frame(demos.x, demos.v), 4)


def identify(source, tmp_path, client, **options):
    return distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=CELL, **options)


def pids(client):
    return list(client.run(os.getpid).values())


@pytest.mark.parametrize("seed", range(3))
def test_a_worker_killed_at_a_random_moment(client, source, tmp_path, alone, seed):
    rng = random.Random(seed)
    after = rng.randrange(1, 40)
    seen = []

    def progress(stage, done, total):
        seen.append(stage)
        if len(seen) == after:
            os.kill(victim, signal.SIGKILL)

    victim = rng.choice(pids(client))
    assert_same(identify(source, tmp_path, client, progress=progress), alone)
    assert len(seen) >= after
    client.wait_for_workers(2, timeout=60)  # another one takes its place
    assert victim not in pids(client)
    assert not list((tmp_path / "out").rglob(".*"))


def test_a_worker_that_stalls(client, source, tmp_path, alone):
    victim = pids(client)[0]

    def stall():
        os.kill(victim, signal.SIGSTOP)
        time.sleep(2)
        os.kill(victim, signal.SIGCONT)

    thread = threading.Thread(target=stall)
    thread.start()
    try:
        assert_same(identify(source, tmp_path, client), alone)
    finally:
        thread.join()


class Broken(Exception):
    """A run that is broken off."""


def broken_off(at):
    def progress(stage, done, total):
        if stage == at and done == total:
            raise Broken

    return progress


@pytest.mark.parametrize("at", ["split", "match", "assemble", "label"])
def test_a_run_goes_on_from_the_stages_it_finished(client, source, tmp_path, alone, at):
    out = tmp_path / "out"
    with pytest.raises(Broken):
        identify(source, tmp_path, client, progress=broken_off(at))
    with pytest.raises(ew.DataError, match="no whole summary"):
        distributed.DistributedIdentification.open(out)
    before = {p: p.stat().st_mtime_ns for p in (out / "work" / at).iterdir()}
    assert before
    found = identify(source, tmp_path, client, tidy=False)
    assert {p: p.stat().st_mtime_ns for p in (out / "work" / at).iterdir()} == before
    assert_same(found, alone)


@pytest.mark.parametrize("how", ["truncated", "changed", "lost"])
@pytest.mark.parametrize("stage", ["split", "match", "assemble"])
def test_a_spoiled_stage_file_is_made_again(client, source, tmp_path, alone, stage, how):
    with pytest.raises(Broken):
        identify(source, tmp_path, client, progress=broken_off(stage))
    path = sorted((tmp_path / "out" / "work" / stage).glob("*.rows.npy"))[1]
    whole = path.read_bytes()
    if how == "truncated":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "changed":
        path.write_bytes(whole[:-64] + bytes(64))
    else:
        path.unlink()
    assert_same(identify(source, tmp_path, client), alone)


def test_a_stage_file_lost_on_the_way_is_made_again(client, source, tmp_path, alone):
    lost = []

    def progress(stage, done, total):
        if stage == "match" and not lost:
            lost.append(sorted((tmp_path / "out" / "work" / "split").glob("*.rows.npy"))[0])
            with lost[0].open("r+b") as file:
                file.truncate(200)

    assert_same(identify(source, tmp_path, client, progress=progress), alone)
    assert lost


def test_a_finished_result_is_taken_as_it_is_and_mended_when_spoiled(client, source, tmp_path, alone):
    identify(source, tmp_path, client)
    told = []
    found = identify(source, tmp_path, client, progress=lambda *said: told.append(said))
    assert told == []
    assert_same(found, alone)
    path = tmp_path / "out" / "labels" / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:100])
    assert_same(identify(source, tmp_path, client), alone)


def test_other_data_in_the_same_folder_are_not_mixed_up(client, source, tmp_path):
    identify(source, tmp_path, client)
    other = ew.systems.four_wells.sample(seed=0, frequency=50).shuffled(0)
    fresh = write(tmp_path / "other", frame(other.x, other.v), 2)
    assert_same(identify(fresh, tmp_path, client), ew.identify(other.x, other.v))
    assert len(list((tmp_path / "out" / "labels").iterdir())) == 2


def test_a_repeated_partition_follows_the_one_it_repeats(client, demos, source, tmp_path):
    files = [*sorted(source.iterdir()), source / "part-2.parquet"]
    part = pq.read_table(files[2]).to_pandas().to_numpy()
    x, v = np.vstack([demos.x, part[:, :2]]), np.vstack([demos.v, part[:, 2:]])
    found = identify(files, tmp_path, client)
    assert_same(found, ew.identify(x, v))
    assert "duplicated-samples" in {w.name for w in found.warnings}


@pytest.mark.parametrize("how", ["missing", "truncated", "nan", "columns", "text"])
def test_a_bad_partition_is_named(client, source, tmp_path, how):
    files = sorted(source.iterdir())
    table = pq.read_table(files[2]).to_pandas()
    if how == "missing":
        files[2].unlink()
    elif how == "truncated":
        files[2].write_bytes(files[2].read_bytes()[:2000])
    else:
        if how == "nan":
            table.loc[7, "v1"] = np.nan
        elif how == "columns":
            table = table.rename(columns={"x2": "height"})
        else:
            table["x2"] = "here"
        table.to_parquet(files[2])
    with pytest.raises(ew.DataError, match=r"part-2\.parquet") as caught:
        identify([str(f) for f in files], tmp_path, client)
    assert "artition 2" in str(caught.value)
    assert not (tmp_path / "out" / "summary.json").exists()


def test_a_partition_lost_on_the_way_is_named(client, source, tmp_path):
    def progress(stage, done, total):
        if stage == "scan" and done == total:
            (source / "part-3.parquet").unlink(missing_ok=True)

    with pytest.raises(ew.DataError, match=r"partition 3 .*part-3\.parquet.*it was there when the run began"):
        identify(source, tmp_path, client, progress=progress)


def test_what_is_no_input_is_refused(client, tmp_path):
    with pytest.raises(ew.DataError, match="What fits in memory"):
        identify(np.zeros((10, 4)), tmp_path, client)
    with pytest.raises(ew.DataError, match="found none"):
        identify(str(tmp_path / "*.parquet"), tmp_path, client)
    with pytest.raises(ew.DataError, match=r"dask\.distributed Client"):
        distributed.identify("x", out=tmp_path / "out", client="tcp://somewhere")


def test_a_file_cut_short_is_noticed_when_it_is_read(tmp_path):
    place = tmp_path / "work" / "stage"
    place.mkdir(parents=True)
    np.save(place / "task.rows.npy", np.zeros((100, 3)))
    assert fetch(tmp_path, "stage", "task", "rows").shape == (100, 3)
    with (place / "task.rows.npy").open("r+b") as file:
        file.truncate(500)
    with pytest.raises(StageFileLost, match="stage task"):
        fetch(tmp_path, "stage", "task", "rows")
