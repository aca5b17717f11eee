"""Data in partitions: the answer of a single machine, whatever the partitions and the cells."""

import json

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import eigenwell as ew
from distributed import Client, LocalCluster
from eigenwell import distributed
from eigenwell.cli.app import app
from eigenwell.distributed import run
from eigenwell.distributed.scan import Cells, Whole, by_cell, moments
from eigenwell.learning import Recipe

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def client():
    """Two workers in this process, which answer as those of processes do and need not be started: of these are the workers of
    tests/test_distributed_faults.py, and those of a cluster that is made here."""
    settings = dict(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None)
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        yield client


def frame(x, v, **more):
    names = [f"x{i + 1}" for i in range(x.shape[1])] + [f"v{i + 1}" for i in range(x.shape[1])]
    return pd.DataFrame(dict(zip(names, np.hstack([x, v]).T, strict=True)) | more)


def write(folder, table, parts):
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(table)), parts)):
        pq.write_table(pa.Table.from_pandas(table.iloc[rows], preserve_index=False), folder / f"part-{k}.parquet")
    return folder


def assert_same(found, alone, *, scraps=False):
    """Labels, paths, order along them, attractors, doubts: all that a single machine says.

    Scraps of samples are put into the paths they lie on by one machine; here they get their label alone.
    """
    np.testing.assert_array_equal(found.labels, alone.labels)
    if found.facts["cells"] == 1:
        np.testing.assert_allclose(found.label_confidence, alone.label_confidence, atol=1e-6)
    if scraps:
        assert len(np.unique(found.column("path"))) > alone.graph.n_paths
        np.testing.assert_allclose(found.attractors, alone.attractors, atol=1e-4)
        assert [w.name for w in found.warnings] == [w.name for w in alone.warnings]
        return
    path, position = np.full(len(alone.labels), -1), np.full(len(alone.labels), -1)
    for k in range(alone.graph.n_paths):
        nodes = alone.graph.path(k)
        path[nodes], position[nodes] = k, np.arange(len(nodes))
    np.testing.assert_array_equal(found.column("path"), path)
    np.testing.assert_array_equal(found.column("position"), position)
    np.testing.assert_allclose(found.attractors, alone.attractors, atol=1e-10)
    np.testing.assert_allclose(found.uncertainty, alone.uncertainty, rtol=1e-6)
    assert found.confidence == pytest.approx(alone.confidence, abs=1e-5)
    assert [str(w) for w in found.warnings] == [str(w) for w in alone.warnings]
    for q in range(alone.n_attractors):
        np.testing.assert_array_equal(found.members(q), alone.members(q))
        np.testing.assert_allclose(found.embeddings[q], alone.embeddings[q], atol=1e-9)
        np.testing.assert_allclose(found.eigenvalues[q], alone.spectra[q].eigenvalues, atol=1e-12)


@pytest.mark.parametrize("repeats", [0, 40])
def test_there_and_back_is_cut_at_rests_as_on_one_machine(client, tmp_path, repeats):
    """From A to B and back, four times in one recording: a rest is an end, whatever cell it lies in."""
    s = np.linspace(0, 1, 81)[1:, None]
    rise, slope = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2
    x, v, here = [], [], np.zeros(2)
    for k in range(8):
        there = np.array([1.5, 1.5]) * (1 - k % 2) + 0.01 * np.array([np.cos(k), np.sin(k)])
        bow = 0.05 * (1 + k) * np.array([-1.0, 1.0])
        x.append(here + rise * (there - here) + 4 * rise * (1 - rise) * bow)
        v.append(slope * (there - here) + 4 * slope * (1 - 2 * rise) * bow)
        here = there
    order = np.random.default_rng(0).permutation(640)
    x, v = np.concatenate(x)[order], np.concatenate(v)[order]
    x, v = np.concatenate([x, x[:repeats]]), np.concatenate([v, v[:repeats]])
    alone = ew.identify(x, v, graph=ew.SuccessorGraph())
    assert (alone.graph.group >= 0).sum() == 8 and alone.n_attractors == 2
    found = distributed.identify(
        write(tmp_path / "in", frame(x, v), 3), out=tmp_path / "out", client=client, samples_per_cell=160
    )
    assert found.facts["cells"] > 3
    assert_same(found, alone)


@pytest.mark.parametrize("parts", [1, 2, 7, 32])
@pytest.mark.parametrize("system", [ew.systems.heart, ew.systems.duffing, ew.systems.four_wells], ids=lambda s: s.name)
def test_every_partitioning_gives_the_answer_of_one_machine(client, tmp_path, system, parts):
    demos = system.sample(seed=parts, frequency=system.frequency / 2).shuffled(parts)
    alone = ew.identify(demos.x, demos.v)
    source = write(tmp_path / "in", frame(demos.x, demos.v), parts)
    found = distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=200 + 50 * parts)
    assert found.facts["way"] == "beyond doubt"
    assert found.facts["cells"] > 1
    assert_same(found, alone)


def spoiled(kind, rng):
    """Samples with gaps, with short chains beside the paths, with repeats, or with an orbit that closes exactly."""
    demos = ew.systems.heart.sample(seed=4)
    x, v, n = demos.x, demos.v, demos.n_samples
    if kind == "dropped":
        rows = np.flatnonzero(rng.random(n) > 0.03)
    elif kind == "gaps":
        lost = (rng.integers(0, n - 20, 25)[:, None] + np.arange(rng.integers(2, 12))).ravel()
        rows = np.setdiff1d(np.arange(n), lost)
    elif kind == "repeats":
        rows = np.concatenate([np.arange(n), rng.integers(0, n, 600)])
    elif kind == "short_chains":
        start = rng.integers(0, n - 20, 8)
        x = np.concatenate([x, *(x[a : a + 6] + 1e-4 for a in start)])
        v = np.concatenate([v, *(v[a : a + 6] for a in start)])
        rows = np.arange(len(x))
    else:
        angle = np.arange(1000) * 2 * np.pi / 1000
        x = np.concatenate([x, 5 + np.column_stack([np.cos(angle), np.sin(angle)])])
        v = np.concatenate([v, 0.2 * np.pi * np.column_stack([-np.sin(angle), np.cos(angle)])])
        rows = np.arange(len(x))
    rows = rng.permutation(rows)
    return x[rows], v[rows]


@pytest.mark.parametrize("kind", ["dropped", "gaps", "repeats", "short_chains", "closed"])
def test_gaps_crumbs_repeats_and_loops_across_cells(client, tmp_path, kind):
    x, v = spoiled(kind, np.random.default_rng(1))
    source = write(tmp_path / "in", frame(x, v), 5)
    found = distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=600)
    assert found.facts["way"] == "beyond doubt"
    assert_same(found, ew.identify(x, v), scraps=kind == "short_chains")


def test_snapshots_are_refused_where_they_need_several_cells(client, tmp_path):
    demos = ew.systems.four_wells.snapshots(2000, seed=0, noise=0.1)
    source = write(tmp_path / "in", frame(demos.x, demos.v), 3)
    with pytest.raises(ew.DataError, match="velocities at scattered places"):
        distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=500)


def test_snapshots_of_one_task_are_identified_as_on_one_machine(client, tmp_path):
    demos = ew.systems.van_der_pol.snapshots(600, seed=0)
    source = write(tmp_path / "in", frame(demos.x, demos.v), 3)
    found = distributed.identify(source, out=tmp_path / "out", client=client)
    alone = ew.identify(demos.x, demos.v)
    assert found.kind == alone.kind == "snapshots"
    assert_same(found, alone)
    assert found.kinds == alone.kinds == ("cycle",)
    np.testing.assert_array_equal(found.located[0].curve, alone.located[0].curve)
    here = found.in_memory(most=100)  # snapshots cannot be thinned along paths
    np.testing.assert_array_equal(here.fates, alone.fates)
    np.testing.assert_allclose(here.flow(demos.x[:5]), alone.flow(demos.x[:5]))


def test_closed_orbits_of_known_trajectories(client, tmp_path):
    demos = ew.systems.van_der_pol.sample(seed=0)
    alone = ew.identify(demos)
    assert alone.kinds == ("cycle",)
    owner = np.repeat(np.arange(demos.n_trajectories), np.diff(demos.offsets))
    table = frame(demos.x, demos.v, trajectory=owner)
    found = distributed.identify(write(tmp_path / "in", table, 3), out=tmp_path / "out", client=client)
    assert_same(found, alone)
    assert found.kinds == alone.kinds and found.located[0].period == pytest.approx(alone.located[0].period)


@pytest.mark.parametrize("factor", [1e-3, 500.0])
def test_columns_have_units_of_their_own_in_cells_too(client, tmp_path, factor):
    """Metres beside radians or millimetres: the answer of one machine, which is that of comparable units."""
    demos = ew.systems.four_wells.sample(seed=0, frequency=50.0).shuffled(0)
    unit = np.array([1.0, factor])
    alone, plain = ew.identify(demos.x * unit, demos.v * unit), ew.identify(demos.x, demos.v)
    assert len(set(zip(alone.labels, plain.labels, strict=True))) == alone.n_attractors == 4
    source = write(tmp_path / "in", frame(demos.x * unit, demos.v * unit), 3)
    found = distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=600)
    assert found.facts["cells"] > 3 and found.facts["way"] == "beyond doubt"
    assert_same(found, alone)


def test_samples_that_have_converged_repeat_each_other_across_cells(client, tmp_path):
    """Places that differ by a few roundings are one place, on whichever side of a border they lie."""
    demos = ew.systems.heart.sample(seed=1, frequency=50.0)
    rng = np.random.default_rng(0)
    twice = rng.integers(0, demos.n_samples, 500)
    x = np.concatenate([demos.x, demos.x[twice] + rng.uniform(-1e-13, 1e-13, (500, 2))])
    v = np.concatenate([demos.v, demos.v[twice]])
    order = rng.permutation(len(x))
    x, v = x[order], v[order]
    source = write(tmp_path / "in", frame(x, v), 3)
    found = distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=500)
    assert found.facts["cells"] > 3
    assert_same(found, ew.identify(x, v))


def test_three_dimensions(client, tmp_path):
    demos = ew.systems.three_d.sample(seed=0, n_per_attractor=4).shuffled(0)
    source = write(tmp_path / "in", frame(demos.x, demos.v), 3)
    found = distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=2000)
    assert_same(found, ew.identify(demos.x, demos.v))


@pytest.mark.lasa
@pytest.mark.parametrize("parts", [2, 7])
def test_composites_that_fit_in_one_cell(client, tmp_path, parts):
    demos = ew.datasets.composite(parts, every=2)
    source = write(tmp_path / "in", frame(demos.x, demos.v), parts)
    found = distributed.identify(source, out=tmp_path / "out", client=client)
    assert found.facts["way"] == "alone"
    assert_same(found, ew.identify(demos.x, demos.v))


@pytest.mark.lasa
@pytest.mark.parametrize(("seed", "options"), [(0, {}), (2, {"noise": 0.1})], ids=["strokes", "noise"])
def test_noisy_samples_in_several_cells(client, tmp_path, seed, options):
    """Cells far too small for these bundles, which agree on noise and bending first."""
    demos = ew.datasets.composite(seed, **options)
    source = write(tmp_path / "in", frame(demos.x, demos.v), 3)
    found = distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=4000)
    assert found.facts["way"] == "likelihood"
    assert found.facts["cells"] > 1
    assert "matched-in-cells" in {w.name for w in found.warnings}
    np.testing.assert_array_equal(found.labels, ew.identify(demos.x, demos.v).labels)


def test_freed_memory_goes_back_when_a_task_is_done_or_fails(monkeypatch):
    calls = []

    class Libc:
        def mallopt(self, name, value):
            calls.append((name, value))

        def malloc_trim(self, pad):
            calls.append("trimmed")

    monkeypatch.setattr(run.ctypes, "CDLL", lambda _: Libc())
    with pytest.raises(ValueError, match="task"), run.freed_memory_kept():
        assert dict(calls) == {-3: 1 << 25, -1: 1 << 28}
        raise ValueError("task")
    assert dict(calls[:-1]) == {-1: 1 << 16, -3: 1 << 17}
    assert calls[-1] == "trimmed"


def test_dask_collections(client, tmp_path):
    demos = ew.systems.heart.sample(seed=0, frequency=50).shuffled(0)
    alone = ew.identify(demos.x, demos.v)
    table = dd.from_pandas(frame(demos.x, demos.v), npartitions=3, sort=False)
    found = distributed.identify(table, out=tmp_path / "frame", client=client, samples_per_cell=1000)
    assert_same(found, alone)
    labels = found.frame()
    assert labels.npartitions == len(found.partitions)
    np.testing.assert_array_equal(labels["label"].compute(), alone.labels)
    array = da.from_array(np.hstack([demos.x, demos.v]), chunks=(700, 3))
    assert_same(distributed.identify(array, out=tmp_path / "array", client=client, samples_per_cell=1000), alone)


def test_known_trajectories_in_any_order(client, tmp_path):
    demos = ew.systems.heart.sample(seed=0, frequency=50)
    alone = ew.identify(demos)
    owner = np.repeat([f"run {k}" for k in range(demos.n_trajectories)], np.diff(demos.offsets))
    time = np.concatenate([np.arange(len(x)) / 50 for x, _ in demos.trajectories()])
    table = frame(demos.x, demos.v, trajectory=owner, time=time)
    order = np.random.default_rng(0).permutation(len(table))
    source = write(tmp_path / "in", table.iloc[order], 4)
    found = distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=800)
    assert found.facts["way"] == "trajectories"
    np.testing.assert_array_equal(found.labels, alone.labels[order])
    np.testing.assert_allclose(found.attractors, alone.attractors, atol=1e-10)
    assert found.confidence == pytest.approx(alone.confidence)
    # A partition given twice adds rows, and nothing else.
    again = distributed.identify(
        [*sorted(source.iterdir()), source / "part-1.parquet"],
        out=tmp_path / "again",
        client=client,
        samples_per_cell=800,
    )
    np.testing.assert_array_equal(again.labels[: len(order)], alone.labels[order])
    np.testing.assert_allclose(again.attractors, found.attractors, atol=1e-2)
    # Time stamps alone are enough: velocities are estimated as on one machine.
    positions = write(tmp_path / "positions", table.drop(columns=["v1", "v2"]).iloc[order], 2)
    timed = distributed.identify(positions, out=tmp_path / "out2", client=client)
    np.testing.assert_array_equal(timed.labels, alone.labels[order])
    assert "velocities-estimated" in {w.name for w in timed.warnings}


def test_learned_fields_are_stable_at_their_attractors(client, tmp_path):
    demos = ew.systems.heart.sample(seed=0, frequency=20).shuffled()
    source = write(tmp_path / "in", frame(demos.x, demos.v), 2)
    found = distributed.identify(source, out=tmp_path / "out", client=client, samples_per_cell=500)
    told = []
    field = distributed.learn(
        found,
        client=client,
        recipe=Recipe(steps=20, layers=2, features=8, velocity=False),
        progress=lambda *said: told.append(said),
    )
    assert field.n_attractors == 2 and field.fit is not None
    np.testing.assert_allclose(field.attractors, found.attractors, atol=1e-5)
    np.testing.assert_array_equal(field.predict(field.attractors), 0)
    assert told == [("learn", 0, 1), ("learn", 1, 1)]
    np.testing.assert_array_equal(field.basin(field.attractors), [0, 1])


def test_without_a_client_a_cluster_is_made_and_closed(tmp_path, monkeypatch):
    demos = ew.systems.heart.sample(seed=0, frequency=20).shuffled()
    source = write(tmp_path / "in", frame(demos.x, demos.v), 2)
    import distributed as dask_distributed

    made = []

    class Watched(LocalCluster):
        def __init__(self, **settings):
            super().__init__(n_workers=1, **settings)
            made.append(self)

    monkeypatch.setattr(dask_distributed, "LocalCluster", Watched)
    monkeypatch.setattr(dask_distributed, "get_client", lambda: (_ for _ in ()).throw(ValueError()))
    found = distributed.identify(source, out=tmp_path / "out")
    assert found.n_attractors == 2
    assert [one.status.name for one in made] == ["closed"]


def test_the_command_line(client, tmp_path):
    demos = ew.systems.heart.sample(seed=0, frequency=50).shuffled()
    source = write(tmp_path / "in", frame(demos.x, demos.v), 3)
    files = [str(p) for p in sorted(source.iterdir())]
    address = client.scheduler.address
    options = ["--dask", address, "--out", str(tmp_path / "out"), "--labels", str(tmp_path / "labels.txt")]
    done = CliRunner().invoke(app, ["identify", *options, "--json", *files])
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    alone = ew.identify(demos.x, demos.v)
    assert answer["n_attractors"] == 2
    np.testing.assert_allclose(answer["attractors"], alone.attractors, atol=1e-10)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "labels.txt"), alone.labels)
    plain = CliRunner().invoke(app, ["identify", *options, *files])
    assert plain.stdout.startswith("2 attractors")
    refused = CliRunner().invoke(app, ["identify", "--dask", address, "--dt", "0.1", *files])
    assert refused.exit_code == 2


def test_cells_share_points_out_evenly_and_reach_all_that_is_near():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(5000, 3))
    cells = Cells.of(points, 7)
    home = cells.home(points)
    assert cells.count == 7
    np.testing.assert_allclose(np.bincount(home) / len(points), 1 / 7, rtol=0.02)
    radius = rng.uniform(0, 0.3, len(points))
    row, cell = cells.reached(points, radius)
    reached = set(zip(row.tolist(), cell.tolist(), strict=True))
    assert len(reached) == len(row)
    for _ in range(20):
        step = rng.normal(size=points.shape)
        near = points + step / np.linalg.norm(step, axis=1)[:, None] * (radius * rng.random(len(radius)))[:, None]
        assert set(zip(range(len(points)), cells.home(near).tolist(), strict=True)) <= reached


def test_sorting_by_cell_keeps_the_order_within():
    cell = np.array([2, 0, 2, 1, 0])
    order, bounds = by_cell(cell, 4)
    np.testing.assert_array_equal(order, [1, 4, 3, 0, 2])
    np.testing.assert_array_equal(bounds, [0, 2, 3, 5, 5])


def test_moments_of_parts_are_those_of_the_whole():
    x = np.random.default_rng(0).normal(loc=1e6, size=(1000, 2))
    pooled = Whole.of([moments(part) for part in np.split(x, [10, 500])])
    np.testing.assert_allclose(pooled.mean, x.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(pooled.variance, x.var(axis=0), rtol=1e-9)


def test_a_result_in_files_answers_what_one_in_memory_answers(client, tmp_path):
    demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    alone = ew.identify(demos.x, demos.v)
    folder = write(tmp_path / "data", frame(demos.x, demos.v), 3)
    found = distributed.identify(folder, out=tmp_path / "out", client=client)
    assert isinstance(found, ew.results.Result) and found.n_samples == alone.n_samples
    assert [len(u) for u in found.embeddings] == [len(u) for u in alone.embeddings]
    assert found.kinds == alone.kinds
    for q in range(alone.n_attractors):
        np.testing.assert_array_equal(found.members(q), alone.members(q))
        for mine, other in zip(found.paths(q), alone.paths(q), strict=True):
            np.testing.assert_array_equal(mine, other)
    here = found.in_memory()
    np.testing.assert_allclose(here.attractors, alone.attractors)
    np.testing.assert_array_equal(here.demos.x, demos.x)
    assert here.confidence == pytest.approx(alone.confidence)
    np.testing.assert_array_equal(here.embeddings[0], alone.embeddings[0])
    # What takes a result takes either.
    assert ew.plotting.plot_samples(found) is not None
    assert "2 attractors" in ew.report.report(found) and "2 attractors" in found._repr_html_()
    few = found.in_memory(most=100)
    assert few.n_samples < 150 and [len(p) > 2 for p in few.paths(0)] == [True] * 3
    # Matched in cells, it has the samples that have a path.
    found = distributed.identify(folder, out=tmp_path / "cells", client=client, samples_per_cell=300)
    here = found.in_memory()
    np.testing.assert_array_equal(here.demos.x, np.concatenate([demos.x[alone.members(q)] for q in range(2)]))
    np.testing.assert_allclose(np.abs(here.embeddings[0]), np.abs(alone.embeddings[0]), atol=1e-9)
