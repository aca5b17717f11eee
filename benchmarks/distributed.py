"""Distributed identification against its bars: size, memory, equality with one machine, and workers that die.

python -m benchmarks.distributed [--quick] [--parts PART ...] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import adjusted_rand_score

import eigenwell as ew
from benchmarks.table import Row, report
from eigenwell import distributed
from eigenwell.demonstrations import Demonstrations
from eigenwell.systems import integrate

LENGTH = 1000
PER_ATTRACTOR = 50
ROWS = 500_000
"""Rows of a partition."""


@contextmanager
def workers(memory: str = "2GB", count: int = 2) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    settings = dict(
        processes=True, n_workers=count, threads_per_worker=1, memory_limit=memory, dashboard_address="127.0.0.1:0"
    )
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        yield client


# --- data ---------------------------------------------------------------------------------------------


def make(folder: Path, n_trajectories: int, seed: int = 0) -> None:
    """Trajectories of a system of many wells in the plane, fifty for every attractor, shuffled over all partitions.

    Made a few attractors at a time; nothing is ever held whole. Beside the Parquet files lie the true labels.
    """
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    n_attractors = max(1, n_trajectories // PER_ATTRACTOR)
    side = int(np.ceil(np.sqrt(n_attractors)))
    site = np.stack(np.divmod(np.arange(n_attractors), side), axis=1)
    centres = site * 3.0 + rng.uniform(-0.3, 0.3, (n_attractors, 2))
    gap = np.linalg.norm(centres[:, None] - centres, axis=2)
    near = np.argsort(gap, axis=1)[:, : min(9, n_attractors)]  # farther ones weigh less than rounding
    rate = np.array([[1.0, -1.5], [1.5, 1.0]])
    n_parts = max(1, -(-n_trajectories * LENGTH // ROWS))
    heaps = [open(folder / f"heap-{k}", "wb") for k in range(n_parts)]  # noqa: SIM115
    for first in range(0, n_trajectories, 500):
        owner = np.arange(first, min(first + 500, n_trajectories)) % n_attractors
        around = centres[near[owner]]

        def field(x: np.ndarray, around: np.ndarray = around) -> np.ndarray:
            e = -((x[:, None] - around) ** 2).sum(-1) / 0.5
            w = np.exp(e - e.max(axis=1, keepdims=True))
            return ((w / w.sum(axis=1, keepdims=True))[:, None] @ around)[:, 0] @ rate.T - x @ rate.T

        states = integrate(field, centres[owner] + rng.uniform(-0.9, 0.9, (len(owner), 2)), 0.008, LENGTH - 1)
        speeds = np.stack([field(x) for x in states])
        rows = np.concatenate([states, speeds, np.broadcast_to(owner[None, :, None], (*states.shape[:2], 1))], axis=2)
        rows = rng.permutation(rows.reshape(-1, 5))
        goes = rng.integers(0, n_parts, len(rows))
        for k, heap in enumerate(heaps):
            rows[goes == k].tofile(heap)
    for k, heap in enumerate(heaps):
        heap.close()
        rows = rng.permutation(np.fromfile(folder / f"heap-{k}").reshape(-1, 5))
        names = ("x1", "x2", "v1", "v2")
        table = pa.table({name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(names)})
        pq.write_table(table, folder / f"part-{k:05d}.parquet", use_dictionary=False, compression="none")
        np.save(folder / f"truth-{k:05d}.npy", rows[:, 4].astype(np.int32))
        (folder / f"heap-{k}").unlink()


def truth(folder: Path) -> np.ndarray:
    return np.concatenate([np.load(p) for p in sorted(folder.glob("truth-*.npy"))])


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    """The same sets of samples, whatever their numbers."""
    pairs = np.unique(a.astype(np.int64) * (int(b.max()) + 2) + b)
    return len(pairs) == len(np.unique(a)) == len(np.unique(b))


# --- size ---------------------------------------------------------------------------------------------


def single(folder: Path) -> tuple[float, float]:
    """Reading and identifying on one machine, in one process: seconds of the clock and of the processors."""
    start, work = time.perf_counter(), time.process_time()
    table = pa.concat_tables([pq.read_table(p) for p in sorted(folder.glob("part-*.parquet"))])
    x, v = (np.column_stack([table.column(c).to_numpy() for c in names]) for names in (("x1", "x2"), ("v1", "v2")))
    ew.identify(x, v)
    return time.perf_counter() - start, time.process_time() - work


@dataclass(frozen=True)
class Measured:
    samples: int
    seconds: float
    work: float
    """Seconds of the processors, both workers together."""
    peak: float
    exact: bool


def measure(root: Path, n_trajectories: int) -> Measured:
    folder, out = root / f"wells-{n_trajectories}", root / "out"
    n = n_trajectories * LENGTH
    shutil.rmtree(out, ignore_errors=True)
    stages: dict[str, float] = {}
    with workers() as client:
        client.run(warm_up)
        before = sum(client.run(processor_seconds).values())
        start = time.perf_counter()
        found = distributed.identify(
            str(folder / "part-*.parquet"),
            out=out,
            client=client,
            # Several cells at every size: the same way through all stages. The largest follow from the workers' memory.
            samples_per_cell=n // 8 if n < 1_000_000 else None,
            progress=lambda stage, done, total: stages.update({stage: time.perf_counter()}),
        )
        seconds = time.perf_counter() - start
        work = sum(client.run(processor_seconds).values()) - before
        peak = max(client.run(peak_memory).values())
    exact = found.n_attractors == n_trajectories // PER_ATTRACTOR and same_partition(found.labels, truth(folder))
    took = np.diff([start, *stages.values()])
    said = ", ".join(f"{stage} {t:.1f}" for stage, t in zip(stages, took, strict=True))
    print(f"  {n:,}: {seconds:.1f} s ({work:.1f} s of work), peak {peak:.2f} GB, exact {exact}, {load()}", flush=True)
    print(f"    {said}", flush=True)
    shutil.rmtree(out, ignore_errors=True)
    return Measured(n, seconds, work, peak, exact)


def warm_up() -> None:
    """Workers of a cluster have their modules loaded when work comes."""
    import eigenwell.distributed
    import eigenwell.identification

    assert eigenwell.identification and eigenwell.distributed


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_memory() -> float:
    """GB; from the kernel's high-water mark, because ru_maxrss begins with what the parent process had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e6


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def scale(root: Path, sizes: tuple[int, ...]) -> list[Row]:
    for n_trajectories in {*sizes, 1000}:
        if not (root / f"wells-{n_trajectories}").exists():
            make(root / f"wells-{n_trajectories}", n_trajectories)
    alone = []

    def ask_one() -> None:
        alone.append(single(root / "wells-1000"))
        took, work = alone[-1]
        print(f"  one process, 1,000,000: {took:.2f} s ({work:.2f} s of work), {load()}", flush=True)

    runs = []
    for n_trajectories in sizes:
        ask_one()  # before and after every run: the machine may be busier at one time than at another
        runs.append(measure(root, n_trajectories))
    ask_one()
    reference, work = (float(np.median(column)) / 1e6 for column in zip(*alone, strict=True))
    last, first = runs[-1], runs[0]
    exponent = np.log(last.seconds / first.seconds) / np.log(last.samples / first.samples)
    exponent_work = np.log(last.work / first.work) / np.log(last.samples / first.samples)
    ratio = last.seconds / last.samples / reference
    what = f"{last.samples:,} samples, {sizes[-1]:,} trajectories, {sizes[-1] // PER_ATTRACTOR} attractors, two workers of 2 GB"
    exact = all(r.exact for r in runs)
    beside = (
        f"{1e6 * last.seconds / last.samples:.2f} us a sample against {1e6 * reference:.2f} us; work of the processors "
        f"{1e6 * last.work / last.samples:.2f} us against {1e6 * work:.2f} us; {load()}"
    )
    growth = f"{exponent:.2f} by the clock, {exponent_work:.2f} by work"
    return [
        Row(f"{what}: Q and labels at every size", "exact", str(exact), "", exact),
        Row(f"{what}: peak memory of a worker", "<= 2 GB", f"{last.peak:.2f} GB", "", last.peak <= 2),
        Row(
            f"{what}: time per sample ({last.seconds:.1f} s)",
            "<= 1.6 x one process at 1,000,000",
            f"{ratio:.2f} x",
            beside,
            ratio <= 1.6,
        ),
        Row(f"growth exponent from {first.samples:,}", "<= 1.1", growth, "", bool(max(exponent, exponent_work) <= 1.1)),
    ]


# --- equality -----------------------------------------------------------------------------------------


def write(folder: Path, x: np.ndarray, v: np.ndarray, parts: int) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = [f"{letter}{i + 1}" for letter in "xv" for i in range(x.shape[1])]
    for k, rows in enumerate(np.array_split(np.hstack([x, v]), parts)):
        columns = dict(zip(names, map(np.ascontiguousarray, rows.T), strict=True))
        pq.write_table(pa.table(columns), folder / f"part-{k:05d}.parquet")
    return folder


def on_cluster(
    client: Any, root: Path, demos: Demonstrations, parts: int, cell: int | None
) -> distributed.DistributedIdentification:
    shutil.rmtree(root / "out", ignore_errors=True)
    source = write(root / "in", demos.x, demos.v, parts)
    return distributed.identify(source, out=root / "out", client=client, samples_per_cell=cell)


def equal(found: distributed.DistributedIdentification, alone: ew.Identification) -> bool:
    close = found.attractors.shape == alone.attractors.shape and np.allclose(
        found.attractors, alone.attractors, atol=1e-9
    )
    return close and np.array_equal(found.labels, alone.labels)


def equality(root: Path, n_composites: int) -> list[Row]:
    partings = (1, 2, 7, 32)
    good, total, ways = 0, 0, set()
    composites = 0
    with workers() as client:
        for system in (ew.systems.heart, ew.systems.duffing, ew.systems.four_wells):
            demos = system.sample(seed=0).shuffled(0)
            alone = ew.identify(demos.x, demos.v)
            for parts, cell in product(partings, (300, 1000)):
                found = on_cluster(client, root, demos, parts, cell)
                good, total = good + equal(found, alone), total + 1
                ways.add(found.facts["way"])
        for seed in range(n_composites):
            demos = ew.datasets.composite(seed)
            alone = ew.identify(demos.x, demos.v)
            composites += all(equal(on_cluster(client, root, demos, parts, None), alone) for parts in partings)
    return [
        Row(
            f"heart, Duffing, four wells, over {partings} partitions, cells of 300 and 1,000 samples ({', '.join(ways)})",
            "labels and attractors equal",
            f"{good} of {total}",
            "",
            good == total,
        ),
        Row(
            f"composites over {partings} partitions, in one cell",
            "labels and attractors equal",
            f"{composites} of {n_composites}",
            "",
            composites == n_composites,
        ),
    ]


def borders(root: Path, n_composites: int) -> list[Row]:
    """How often cells that are far too small change the answer of the likelihood."""
    rows = []
    with workers() as client:
        for name, options in (("clean", {}), ("noise 10 %", {"noise": 0.1}), ("10 % dropped", {"drop": 0.1})):
            for cell in (1000, 4000):
                same, right, shares = 0, [0, 0], []
                for seed in range(n_composites):
                    demos = ew.datasets.composite(seed, **options)
                    alone = ew.identify(demos.x, demos.v)
                    found = on_cluster(client, root, demos, 3, cell)
                    labels = found.labels
                    same += np.array_equal(labels, alone.labels)
                    shares.append(adjusted_rand_score(alone.labels, labels))
                    for k, one in enumerate((alone.labels, labels)):
                        right[k] += adjusted_rand_score(demos.truth.labels, one) > 0.999
                rows.append(
                    Row(
                        f"composites, {name}, forced into cells of {cell:,} samples",
                        "no bar",
                        f"labels equal {same} of {n_composites}, Rand index with one machine >= {min(shares):.3f}",
                        f"right against the truth {right[1]}, one machine {right[0]}",
                        True,
                    )
                )
                print(f"  {rows[-1].what}: {rows[-1].reached}; {rows[-1].beside}", flush=True)
    return rows


# --- chaos --------------------------------------------------------------------------------------------


def chaos(root: Path, times: int) -> list[Row]:
    """A worker is killed at a random moment of the run, which is timed first; a new cluster every time."""
    folder = root / "wells-100"
    if not folder.exists():
        make(folder, 100)
    labels, good, killed = truth(folder), 0, 0
    rng = np.random.default_rng(0)

    def run(client: Any) -> np.ndarray:
        shutil.rmtree(root / "out", ignore_errors=True)
        options = {"out": root / "out", "client": client, "samples_per_cell": 5_000}
        return distributed.identify(str(folder / "part-*.parquet"), **options).labels

    with workers() as client:
        client.run(warm_up)
        start = time.perf_counter()
        first = run(client)
        usual = time.perf_counter() - start
    while killed < times:
        with workers() as client:
            client.run(warm_up)
            victim = int(rng.choice(list(client.run(os.getpid).values())))
            moment = rng.uniform(0.02, 0.95) * usual
            timer = threading.Timer(moment, os.kill, (victim, signal.SIGKILL))
            timer.start()
            found = run(client)
            if timer.is_alive():  # this run was over before
                timer.cancel()
                continue
        killed += 1
        good += bool(np.array_equal(found, first) and same_partition(found, labels))
        print(f"  {killed}: killed after {moment:.1f} of about {usual:.1f} s, {good} right", flush=True)
    what = f"worker killed at a random moment of {usual:.1f} s, 100,000 samples in 20 cells"
    return [Row(what, f"{times} right answers", f"{good} of {killed}", "", good == times)]


PARTS = ("scale", "equality", "chaos", "borders")


def part(name: str, root: Path, quick: bool, composites: int) -> list[Row]:
    if name == "scale":
        return scale(root, (100, 1000) if quick else (100, 1000, 10_000))
    if name == "chaos":
        return chaos(root, 3 if quick else 20)
    return equality(root, composites) if name == "equality" else borders(root, composites)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to a million samples, a few of everything")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--composites", type=int, default=None, help="how many (default 20)")
    parser.add_argument("--folder", type=Path, default=None, help="keep the data here for the next run")
    parser.add_argument("--name", default=None, help="of the file in benchmarks/results")
    chosen = parser.parse_args(arguments)
    root = chosen.folder or Path(tempfile.mkdtemp(prefix="eigenwell-"))
    rows: list[Row] = []
    try:
        for name in chosen.parts:
            made = part(name, root, chosen.quick, chosen.composites or (2 if chosen.quick else 20))
            rows += made
            print(f"{name} done: " + "; ".join(row.reached for row in made), flush=True)
    finally:
        if chosen.folder is None:
            shutil.rmtree(root, ignore_errors=True)
    report(chosen.name or ("distributed-quick" if chosen.quick else "distributed"), rows, load=os.getloadavg()[0])


if __name__ == "__main__":
    main()
