"""Identification against its bars and against what a user would pick instead, in one run.

python -m benchmarks.identify [--quick] [--parts PART ...] [--composites N] [--peers N]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

import eigenwell as ew
from benchmarks.table import Row, report
from eigenwell.demonstrations import Demonstrations
from eigenwell.spectral import KernelGraph, linearity
from eigenwell.systems import integrate, wells
from eigenwell_paper.baselines.clustering import features


def clock(f: Callable[[], object], repeats: int = 3, now: Callable[[], float] = time.perf_counter) -> float:
    """Median time; the machine is shared."""
    times = []
    for _ in range(repeats):
        start = now()
        f()
        times.append(now() - start)
    return float(np.median(times))


def right(demos: Demonstrations, labels: np.ndarray) -> bool:
    assert demos.truth is not None
    groups = len(np.unique(labels[labels >= 0]))
    return groups == len(demos.truth.attractors) and adjusted_rand_score(demos.truth.labels, labels) > 0.999


def systems() -> list[Row]:
    rows, errors, straight, missed = [], {}, [], []
    for system in ew.systems.all_systems:
        for seed in range(5):
            demos = system.sample(seed=seed).shuffled(seed)
            found = ew.identify(demos)
            if found.n_attractors != len(system.attractors) or (
                adjusted_rand_score(demos.truth.labels, found.labels) != 1.0
            ):
                missed.append((system.name, seed))
            gap = (found.attractors[:, None] - system.attractors) ** 2 / demos.x.std(axis=0)
            errors.setdefault(system.name, []).append(float(np.sqrt(gap.sum(axis=2)).min(axis=1).max()))
            for q in range(found.n_attractors):
                offsets = np.concatenate([[0], np.cumsum([len(p) for p in found.paths(q)])])
                straight.append(linearity(found.embeddings[q][:, :2], offsets).min())
    names = ", ".join(s.name for s in ew.systems.all_systems)
    rows.append(
        Row(
            f"{names}; 5 seeds each, shuffled",
            "Q exact, 100.00 %",
            f"{30 - len(missed)} of 30",
            str(missed or ""),
            not missed,
        )
    )
    for name, paper in (("heart", "0.061"), ("pendulum", "1.34 %"), ("duffing", "1.34 %")):
        worst = max(errors[name])
        rows.append(
            Row(
                f"attractor error {name}, worst of 5 seeds",
                "<= 0.5 %",
                f"{100 * worst:.4f} %",
                f"paper {paper}",
                worst <= 0.005,
            )
        )
    rows.append(
        Row("linearity, equal lengths, worst R^2", ">= 0.999", f"{min(straight):.9f}", "", min(straight) >= 0.999)
    )
    unequal = []
    for seed in range(5):
        demos = ew.systems.heart.sample(seed=seed)
        cuts = np.random.default_rng(seed).integers(0, 950, 6)
        found = ew.identify([(x[c:], v[c:]) for (x, v), c in zip(demos.trajectories(), cuts, strict=True)])
        for q in range(found.n_attractors):
            offsets = np.concatenate([[0], np.cumsum([len(p) for p in found.paths(q)])])
            unequal.append(linearity(found.embeddings[q][:, :2], offsets).min())
    rows.append(
        Row("linearity, unequal lengths, worst R^2", ">= 0.999", f"{min(unequal):.9f}", "", min(unequal) >= 0.999)
    )
    return rows


def oracle_kernel_graph(demos: Demonstrations) -> bool:
    """Whether any setting of the paper's kernel on a grid gets it right; the grid looks at the truth."""
    for theta_r, eps in product((0.05, 0.1, 0.2, 0.4), (0.1, 0.3, 0.6)):
        graph = KernelGraph(theta_r=theta_r, sigma_f=0.01, eps=eps).graph(demos.x, demos.v)
        _, labels = connected_components(graph.adjacency, directed=False)
        size = np.bincount(labels)
        labels = np.where(size[labels] >= 0.01 * len(labels), labels, -1)
        if right(demos, labels):
            return True
    return False


def composites(n: int, n_peers: int) -> list[Row]:
    rows = []
    kinds = (("clean", {}, 0.95), ("noise 10 %", {"noise": 0.1}, 0.90), ("10 % dropped", {"drop": 0.1}, 0.90))
    for name, options, bar in kinds:
        good, seconds = 0, []
        for seed in range(n):
            demos = ew.datasets.composite(seed, **options)
            start = time.perf_counter()
            found = ew.identify(demos)
            seconds.append(time.perf_counter() - start)
            good += right(demos, found.labels)
        share = good / n
        beside = peers(n_peers) if n_peers and not options else ""
        what = f"composites of 2-4 LASA shapes x 3, shuffled, Q unknown, {name} (median {np.median(seconds):.2f} s)"
        rows.append(Row(what, f">= {100 * bar:.0f} %", f"{good} of {n} = {100 * share:.1f} %", beside, share >= bar))
    return rows


def peers(n: int) -> str:
    """The alternatives on the first n clean composites; the kernel graph and spectral clustering take most of the time."""
    from benchmarks import peers as asked

    names = [name for name in asked.METHODS if name != "eigenwell"]
    answers, _ = asked.answered(names, [0.0], n, minutes=np.inf)
    return ", ".join(f"{name} {asked.share(answers, name, 0.0, n)}" for name in names) + f" (first {n})"


def many(n_trajectories: int, length: int = 1000, n_attractors: int = 20) -> Demonstrations:
    """Trajectories of a 20-well system in the plane, `length` samples each, shuffled."""
    rng = np.random.default_rng(0)
    grid = np.array(list(product(range(5), range(4))), dtype=float)[:n_attractors] * 3 + rng.uniform(
        -0.3, 0.3, (n_attractors, 2)
    )
    field, attractors = wells(grid, np.array([[1.0, -1.5], [1.5, 1.0]]))
    owner = np.arange(n_trajectories) % n_attractors
    starts = grid[owner] + rng.uniform(-0.9, 0.9, (n_trajectories, 2))
    states = integrate(field, starts, 0.008, length - 1)
    x = states.transpose(1, 0, 2).reshape(-1, 2)
    order = rng.permutation(len(x))
    demos = Demonstrations.from_samples(x[order], field(x)[order])
    return demos.with_truth(np.repeat(owner, length)[order], attractors)


def scale(sizes: tuple[int, ...]) -> list[Row]:
    seconds, ratios, peak, exact = [], [], 0.0, True
    for n_trajectories in sizes:
        demos = many(n_trajectories)
        one = clock(lambda d=demos: cKDTree(d.x).query(d.x, k=8), 1)
        two = clock(lambda d=demos: cKDTree(d.x).query(d.x, k=8, workers=2), 1)
        found = ew.identify(demos.x, demos.v)
        seconds.append(clock(lambda d=demos: ew.identify(d.x, d.v), 3 if n_trajectories < 1000 else 2))
        ratios.append((seconds[-1] / one, seconds[-1] / two))
        work = clock(lambda d=demos: ew.identify(d.x, d.v), 2, time.process_time)
        work /= clock(lambda d=demos: cKDTree(d.x).query(d.x, k=8), 2, time.process_time)
        exact &= adjusted_rand_score(demos.truth.labels, found.labels) == 1.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    n = 1000 * sizes[-1]
    exponent = np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0])
    return [
        Row(
            f"{n:,} samples, {sizes[-1]:,} trajectories, 20 attractors, end to end ({seconds[-1]:.1f} s), labels exact: {exact}",
            "<= 5 x KD-tree build and 8 neighbours",
            f"{ratios[-1][1]:.2f} x (tree on two cores), {ratios[-1][0]:.2f} x (one core)",
            "",
            exact and ratios[-1][1] <= 5,
        ),
        Row(
            "the same by processor time, which others on the machine do not change",
            "<= 1.5 x one KD-tree build and 8 neighbours",
            f"{work:.2f} x",
            "",
            exact and work <= 1.5,
        ),
        Row("peak memory of that whole process", "<= 2 GB", f"{peak:.2f} GB", "", peak <= 2),
        Row(
            f"growth exponent from {1000 * sizes[0]:,} samples",
            "<= 1.15",
            f"{exponent:.2f}",
            "",
            bool(exponent <= 1.15),
        ),
    ]


def heart() -> list[Row]:
    demos = ew.systems.heart.sample(seed=0).shuffled()
    ours = clock(lambda: ew.identify(demos.x, demos.v), 7)

    def dense() -> None:
        """What a first implementation does: the kernel for all pairs, then all eigenvectors."""
        builder = KernelGraph(theta_r=0.2, sigma_f=0.01, eps=0.6, sampling_frequency=100)
        kernel = builder.kernel(demos.x, demos.v)
        n = demos.n_samples
        adjacency = np.zeros((n, n))
        for i in range(n):
            k = kernel(demos.x[i : i + 1], demos.v[i : i + 1], demos.x, demos.v)
            adjacency[i] = k >= builder.eps
        np.fill_diagonal(adjacency, 0)
        scipy.linalg.eigh(np.diag(adjacency.sum(axis=1)) - adjacency)

    states = features(demos)
    spectral = clock(lambda: SpectralClustering(2, random_state=0).fit(states), 1)
    neighbours = clock(lambda: SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit(states), 3)
    full = clock(dense, 1)
    return [
        Row(
            "6,006-sample heart against dense kernel and eigh",
            ">= 100 x",
            f"{full / ours:.0f} x",
            f"{full:.1f} s against {1000 * ours:.0f} ms",
            full / ours >= 100,
        ),
        Row(
            "the same against scikit-learn SpectralClustering, as it comes",
            ">= 10 x",
            f"{spectral / ours:.0f} x",
            f"{spectral:.2f} s; with its nearest-neighbour graph {neighbours / ours:.1f} x, {1000 * neighbours:.0f} ms",
            spectral / ours >= 10,
        ),
    ]


def front_door() -> list[Row]:
    code = "import sys, time; t = time.perf_counter(); import eigenwell; eigenwell.identify; print(time.perf_counter() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(7)
    ]
    bare = "import sys, time; t = time.perf_counter(); import eigenwell; print(time.perf_counter() - t)"
    empty = [
        float(subprocess.run([sys.executable, "-c", bare], capture_output=True, text=True, check=True).stdout)
        for _ in range(7)
    ]
    return [
        Row(
            "import eigenwell (median of 7)",
            "< 0.5 s",
            f"{np.median(empty):.3f} s; with identify loaded {np.median(times):.2f} s",
            "",
            bool(np.median(empty) < 0.5),
        )
    ]


PARTS = ("import", "scale", "systems", "heart", "composites")


def part(name: str, quick: bool, n: int, n_peers: int) -> list[Row]:
    if name == "import":
        return front_door()
    if name == "scale":
        return scale((10, 100) if quick else (10, 100, 1000))
    if name == "systems":
        return systems()
    return heart() if name == "heart" else composites(n, n_peers)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, a minute")
    parser.add_argument("--composites", type=int, default=None, help="how many composites of each kind (default 200)")
    parser.add_argument("--peers", type=int, default=None, help="on how many clean ones the peers run (default 50)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="scale first, for its peak of memory")
    parser.add_argument("--name", default=None, help="of the file in benchmarks/results")
    chosen = parser.parse_args(arguments)
    n = chosen.composites or (10 if chosen.quick else 200)
    n_peers = chosen.peers if chosen.peers is not None else (0 if chosen.quick else 50)
    rows: list[Row] = []
    for name in chosen.parts:
        rows += part(name, chosen.quick, n, n_peers)
        print(f"{name} done", flush=True)
    report(chosen.name or ("identify-quick" if chosen.quick else "identify"), rows, composites=n, peers=n_peers)


if __name__ == "__main__":
    main()
