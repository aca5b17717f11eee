"""Noisy samples, several rates and missing samples against their bars: time, memory, growth, and right answers.

python -m benchmarks.noise [--quick] [--parts PART ...] [--composites N] [--peers N]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

import eigenwell as ew
from benchmarks import peers
from benchmarks.identify import right
from benchmarks.table import Row, report
from eigenwell.demonstrations import Demonstrations
from eigenwell.systems import integrate, wells

DURATION = 8.0
"""Seconds of every trajectory, whatever the number of its samples."""
RATES = (0.7, 1.0, 1.4)
FRESH = 1000
"""First of the seeds that nobody looked at while the method was made."""
UNSEEN = 3000
"""The same for more noise."""


def many(
    n_trajectories: int, length: int, *, noise: float = 0.0, drop: float = 0.0, mixed: bool = False, seed: int = 0
) -> Demonstrations:
    """Trajectories of a system of 20 wells in the plane, shuffled; noise and drop as in `datasets.composite`.

    With `mixed`, trajectories are sampled at three rates, with `length` samples on average.
    """
    rng = np.random.default_rng(seed)
    centres = np.array(list(product(range(5), range(4))), dtype=float) * 3 + rng.uniform(-0.3, 0.3, (20, 2))
    field, attractors = wells(centres, np.array([[1.0, -1.5], [1.5, 1.0]]))
    owner = np.arange(n_trajectories) % 20
    starts = centres[owner] + rng.uniform(-0.9, 0.9, (n_trajectories, 2))
    which = np.arange(n_trajectories) // 20 % len(RATES) if mixed else np.zeros(n_trajectories, dtype=int)
    xs, labels, steps = [], [], []
    for k, rate in enumerate(RATES if mixed else (1.0,)):
        mine = np.flatnonzero(which == k)
        count = round(length * rate / (np.mean(RATES) if mixed else 1.0))
        states = integrate(field, starts[mine], DURATION / (count - 1), count - 1)
        steps.append(np.linalg.norm(np.diff(states, axis=0), axis=2).ravel())
        xs.append(states.transpose(1, 0, 2).reshape(-1, 2))
        labels.append(np.repeat(owner[mine], count))
    x, label = np.concatenate(xs), np.concatenate(labels)
    v = field(x)
    x = x + noise * np.median(np.concatenate(steps)) * rng.standard_normal(x.shape)
    v = v + noise * np.median(np.linalg.norm(v, axis=1)) * rng.standard_normal(v.shape)
    order = rng.permutation(len(x))[: round((1 - drop) * len(x))]
    return Demonstrations.from_samples(x[order], v[order]).with_truth(label[order], attractors)


# --- time and memory ------------------------------------------------------------------------------------


def measure(
    n_trajectories: int, length: int, noise: float, drop: float, mixed: bool
) -> tuple[float, float, float, float]:
    """Seconds of the clock, seconds of the processors, peak memory in GB, adjusted Rand index; in a process of its own."""
    code = (
        "import benchmarks.noise as b, sys;"
        f"b.tell(b.many({n_trajectories}, {length}, noise={noise}, drop={drop}, mixed={mixed}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, work, peak, agreement = map(float, done.stdout.split())
    return seconds, work, peak, agreement


def tell(demos: Demonstrations) -> None:
    """What `measure` reads. The peak counts from here on: making the data is not what is measured."""
    Path("/proc/self/clear_refs").write_text("5")
    start, work = time.perf_counter(), time.process_time()
    found = ew.identify(demos.x, demos.v)
    seconds, work = time.perf_counter() - start, time.process_time() - work
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e6
    print(seconds, work, peak, adjusted_rand_score(demos.truth.labels, found.labels))


KINDS = {
    "clean": (0.0, 0.0, False),
    "noise 10 %": (0.1, 0.0, False),
    "three rates": (0.0, 0.0, True),
    "10 % dropped": (0.0, 0.1, False),
}


def scale(quick: bool) -> list[Row]:
    small = (100, 300) if quick else (1000, 300)
    n = small[0] * small[1]
    took = {}
    for kind, settings in KINDS.items():
        runs = [measure(*small, *settings) for _ in range(1 if quick else 3)]
        took[kind] = min(runs)  # the machine is shared: the least disturbed of three
        seconds, work, peak, agreement = took[kind]
        print(f"  {n:,} {kind}: {seconds:.2f} s, {work:.2f} s of work, {peak:.2f} GB, {agreement:.6f}", flush=True)
    rows = []
    for kind in list(KINDS)[1:]:
        ratio, ratio_work = (took[kind][k] / took["clean"][k] for k in (0, 1))
        rows.append(
            Row(
                f"{n:,} samples, {small[0]:,} trajectories, 20 attractors, {kind}: time against clean",
                "<= 10 x, labels exact",
                f"{ratio:.1f} x, {ratio_work:.1f} x by work of the processors, labels exact: {took[kind][3] == 1.0}",
                f"{took[kind][0]:.2f} s against {took['clean'][0]:.2f} s; load {os.getloadavg()[0]:.1f}",
                bool(ratio <= 10 and took[kind][3] == 1.0),
            )
        )
    sizes = [(30, 1000), (100, 1000)] if quick else [(30, 1000), (100, 1000), (300, 1000), (1000, 1000)]
    curve = []
    for size in sizes:
        curve.append(measure(*size, *KINDS["noise 10 %"]))
        seconds, work, peak, agreement = curve[-1]
        print(
            f"  {size[0] * size[1]:,}: {seconds:.2f} s, {work:.2f} s of work, {peak:.2f} GB, {agreement:.6f}",
            flush=True,
        )
    seconds, work, peak, agreement = curve[-1]
    growth = np.log(sizes[-1][0] / sizes[0][0])
    exponent, exponent_work = (float(np.log(curve[-1][k] / curve[0][k]) / growth) for k in (0, 1))
    largest = f"{sizes[-1][0] * 1000:,} samples, noise 10 %"
    rows += [
        Row(
            f"{largest}: time",
            "<= 60 s on two cores, labels exact",
            f"{seconds:.1f} s ({work:.1f} s of work), labels exact: {agreement == 1.0}",
            f"{1e6 * seconds / sizes[-1][0] / 1000:.0f} us a sample; load {os.getloadavg()[0]:.1f}",
            bool(seconds <= 60 and agreement == 1.0),
        ),
        Row(f"{largest}: peak memory", "<= 3 GB", f"{peak:.2f} GB", "", peak <= 3),
        Row(
            f"growth exponent from {sizes[0][0] * 1000:,}",
            "<= 1.15",
            f"{exponent:.2f} by the clock, {exponent_work:.2f} by work",
            ", ".join(f"{1000 * s[0]:,}: {c[0]:.1f} s" for s, c in zip(sizes, curve, strict=True)),
            exponent <= 1.15,
        ),
    ]
    return rows


# --- right answers --------------------------------------------------------------------------------------


def count(seeds: range, **options: float) -> tuple[int, list[int], float]:
    """How many composites come out right, which do not, and the median time."""
    wrong, seconds = [], []
    for seed in seeds:
        demos = ew.datasets.composite(seed, **options)
        start = time.perf_counter()
        labels = ew.identify(demos).labels
        seconds.append(time.perf_counter() - start)
        if not right(demos, labels):
            wrong.append(seed)
    return len(seeds) - len(wrong), wrong, float(np.median(seconds))


def composites(n: int) -> list[Row]:
    rows = []
    kinds = (("clean", {}, 1.0), ("noise 10 %", {"noise": 0.1}, 0.96), ("10 % dropped", {"drop": 0.1}, 0.99))
    for name, options, bar in kinds:
        good, wrong, seconds = count(range(n), **options)
        what = f"composites of 2-4 LASA shapes x 3, shuffled, Q unknown, {name}"
        rows.append(
            Row(what, f">= {100 * bar:g} %", f"{good} of {n}", f"median {seconds:.2f} s; not {wrong}", good >= bar * n)
        )
        print(f"  {what}: {good} of {n}", flush=True)
        m = max(1, n // 2)
        fresh, wrong, _ = count(range(FRESH, FRESH + m), **options)
        close = bool(fresh / m >= good / n - 0.02)
        rows.append(Row(f"the same, seeds from {FRESH}", "within 2 % of it", f"{fresh} of {m}", f"not {wrong}", close))
        print(f"  fresh: {fresh} of {m}", flush=True)
    return rows


def curve(n: int) -> list[Row]:
    """More and more noise, beside spectral clustering, which is told how many there are; time against clean samples."""
    peer = "spectral clustering told Q"
    answers, _ = peers.answered([peer], list(peers.LEVELS), n, minutes=np.inf)
    rows, clean = [], np.nan
    for noise in peers.LEVELS:
        good, wrong, seconds = count(range(n), noise=noise)
        clean = seconds if noise == 0 else clean
        told = peers.share(answers, peer, noise, n)
        rows.append(
            Row(
                f"composites, noise {100 * noise:g} % of a step",
                f"no fewer than {peer}, <= 10 x the clean time",
                f"{good} of {n} = {100 * good / n:.0f} %, median {seconds:.2f} s = {seconds / clean:.1f} x",
                f"{peer}: {told}; ours not {wrong}",
                bool(good >= int(told.split()[0]) and seconds <= 10 * clean),
            )
        )
        print(f"  {rows[-1].what}: {rows[-1].reached}; {rows[-1].beside}", flush=True)
    fresh = {
        noise: count(range(UNSEEN, UNSEEN + n), noise=noise)[0] for noise in peers.LEVELS
    }  # beside no peer: it would take the time of all others
    said = ", ".join(f"{100 * noise:g} %: {good}" for noise, good in fresh.items())
    return [*rows, Row(f"the same, {n} seeds from {UNSEEN}", "told", said, "", True)]


# --- on a cluster ---------------------------------------------------------------------------------------


def cluster(root: Path, quick: bool) -> list[Row]:
    from benchmarks.distributed import load, peak_memory, processor_seconds, warm_up, workers, write
    from eigenwell import distributed

    n_trajectories = 200 if quick else 2000
    alone = measure(100 if quick else 1000, 1000, *KINDS["noise 10 %"])
    reference, reference_work = (1e6 * alone[k] / (100_000 if quick else 1_000_000) for k in (0, 1))
    demos = many(n_trajectories, 1000, noise=0.1)
    folder, n = write(root / "noisy", demos.x, demos.v, 8), demos.n_samples
    truth = demos.truth.labels
    del demos
    with workers() as client:
        client.run(warm_up)
        before, start = sum(client.run(processor_seconds).values()), time.perf_counter()
        found = distributed.identify(
            folder, out=root / "out", client=client, samples_per_cell=n // 6 if quick else None
        )
        seconds = time.perf_counter() - start
        work = sum(client.run(processor_seconds).values()) - before
        peak = max(client.run(peak_memory).values())
    each, each_work = 1e6 * seconds / n, 1e6 * work / n
    agreement = adjusted_rand_score(truth, found.labels)
    what = f"Dask, noise 10 %, {n:,} samples, two workers of 2 GB, {found.facts['cells']} cells"
    rows = [
        Row(
            f"{what}: time per sample ({seconds:.0f} s)",
            "<= 1.6 x one machine at a million",
            f"{each / reference:.2f} x, {each_work / reference_work:.2f} x by work",
            f"{each:.0f} us against {reference:.0f} us; work {each_work:.0f} us against {reference_work:.0f} us; {load()}",
            each <= 1.6 * reference,
        ),
        Row(f"{what}: labels", "exact", f"adjusted Rand index {agreement:.6f}", "", agreement == 1.0),
        Row(f"{what}: peak memory of a worker", "<= 2 GB", f"{peak:.2f} GB", "", peak <= 2),
    ]
    for row in rows:
        print(f"  {row.what}: {row.reached} ({row.beside})", flush=True)
    return rows


def cells(root: Path, n: int) -> list[Row]:
    """Composites forced into cells that are far too small for them."""
    from benchmarks.distributed import on_cluster, workers

    same, total, differ = 0, 0, []
    with workers() as client:
        for cell, seed in product((1000, 4000), range(n)):
            demos = ew.datasets.composite(seed, noise=0.1)
            found_alone = ew.identify(demos.x, demos.v)
            equal = np.array_equal(on_cluster(client, root, demos, 3, cell).labels, found_alone.labels)
            same, total = same + equal, total + 1
            if not equal:
                differ.append((cell, seed))
    return [
        Row(
            "composites, noise 10 %, forced into cells of 1,000 and 4,000 samples: all labels those of one machine",
            ">= 98 %",
            f"{same} of {total} = {100 * same / total:.0f} %",
            f"not {differ}",
            same >= 0.98 * total,
        )
    ]


PARTS = ("scale", "composites", "curve", "cluster", "cells")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes, a few of everything")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--composites", type=int, default=None, help="how many of each kind (default 200)")
    parser.add_argument(
        "--peers", type=int, default=None, help="on how many the peer and the small cells run (default 50)"
    )
    parser.add_argument("--name", default=None, help="of the file in benchmarks/results")
    chosen = parser.parse_args(arguments)
    n = chosen.composites or (10 if chosen.quick else 200)
    n_peers = chosen.peers or (5 if chosen.quick else 50)
    rows: list[Row] = []
    for name in chosen.parts:
        if name == "scale":
            rows += scale(chosen.quick)
        elif name == "composites":
            rows += composites(n)
        elif name == "curve":
            rows += curve(n_peers)
        else:
            root = Path(tempfile.mkdtemp(prefix="eigenwell-"))
            try:
                rows += cluster(root, chosen.quick) if name == "cluster" else cells(root, n_peers)
            finally:
                shutil.rmtree(root, ignore_errors=True)
        print(f"{name} done", flush=True)
    report(chosen.name or ("noise-quick" if chosen.quick else "noise"), rows, load=os.getloadavg()[0])


if __name__ == "__main__":
    main()
