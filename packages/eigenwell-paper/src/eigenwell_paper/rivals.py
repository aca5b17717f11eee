"""The clusterings that are compared: eigenwell on two graphs, and three peers at settings found by a stated rule.

The rule: same samples, shuffled, same seed. A peer is told the number of clusters. Of several starts it keeps the best
by its own objective; of several settings we keep the one with the most samples right, told the truth. No user has
such an oracle, so the comparison favours the peers, and the paper's kernel graph with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from eigenwell._types import FloatArray, IntArray
from eigenwell.demonstrations import Demonstrations
from eigenwell.errors import missing_extra
from eigenwell.graphs import Graph
from eigenwell.identification import Identification, identify
from eigenwell.spectral import KernelGraph

from .study import Effort

try:
    from .baselines import clustering as peers
except ImportError as error:
    raise missing_extra("The comparison with other methods", "scikit-learn", "reproduce") from error

RULE = (
    "Same samples, shuffled, same seed for all. Peers see positions and velocities and are told the number of clusters; "
    "of several starts they keep the best by their own objective, and of the settings tried the table keeps the one "
    "with most samples right, told the truth. That favours them."
)
SMALLEST = 0.01
"""Components of the kernel graph with fewer than this share of the samples are left out."""


@dataclass(frozen=True)
class Clustering:
    """Labels, numbered like the sub-dynamics they cover best, and how they were come by."""

    method: str
    labels: IntArray
    right: float
    """Share of all samples with the right label."""
    setting: str
    tried: dict[str, float] = field(default_factory=dict)
    """Share right for every setting tried."""
    found: Identification | None = None


def matched(labels: IntArray, truth: IntArray) -> IntArray:
    """Clusters renumbered one to one like the truth, so that most samples agree; those left over count from Q on."""
    names = np.unique(labels[labels >= 0])
    n_true = int(truth.max()) + 1
    counts = np.array([np.bincount(truth[labels == name], minlength=n_true) for name in names]).reshape(-1, n_true)
    rows, columns = linear_sum_assignment(-counts)
    out = np.full(len(labels), -1, dtype=np.intp)
    for k, name in enumerate(names):
        chosen = columns[rows == k]
        out[labels == name] = chosen[0] if len(chosen) else n_true + k
    return out


def shares(labels: IntArray, truth: IntArray) -> list[tuple[float, ...]]:
    """Of every cluster, the percentage that belongs to A, B, ...: the paper's table."""
    n_true = int(truth.max()) + 1
    out = []
    for q in range(n_true):
        mine = truth[labels == q]
        out.append(tuple(100 * np.bincount(mine, minlength=n_true) / max(len(mine), 1)))
    return out


def _scored(method: str, labels: IntArray, truth: IntArray, setting: str, **more: object) -> Clustering:
    labels = matched(labels, truth)
    return Clustering(method, labels, float((labels == truth).mean()), setting, **more)  # type: ignore[arg-type]


def _best(tried: list[Clustering]) -> Clustering:
    best = max(tried, key=lambda one: one.right)
    return Clustering(best.method, best.labels, best.right, best.setting, {one.setting: one.right for one in tried})


def truth_of(demos: Demonstrations) -> IntArray:
    assert demos.truth is not None
    return demos.truth.labels


def on_successors(demos: Demonstrations, method: str = "eigenwell, successor graph") -> Clustering:
    """eigenwell as it comes: nothing to set, nothing told."""
    found = identify(demos)
    return _scored(method, found.labels, truth_of(demos), "nothing to set", found=found)


@dataclass(frozen=True)
class _Built:
    """A graph that is there already."""

    graph: Graph

    def build(self, demos: Demonstrations) -> Graph:
        return self.graph


def on_kernel_graph(demos: Demonstrations, frequency: float | None, effort: Effort) -> Clustering:
    """The paper's graph. Among settings that get equally many right, those with fewest edges are nearest to paths; of
    these finalists the one with the smallest attractor errors is kept."""
    truth = truth_of(demos)
    pace = float((np.linalg.norm(demos.v, axis=1)).mean()) ** 2
    tried: list[tuple[float, int, str]] = []
    built: dict[str, Graph] = {}
    for theta_r, eps, share in effort.kernels:
        graph = KernelGraph(theta_r=theta_r, sigma_f=share * pace, eps=eps, sampling_frequency=frequency).build(demos)
        labels = connected_components(graph.adjacency, directed=False)[1]
        size = np.bincount(labels)
        labels = np.where(size[labels] >= SMALLEST * len(labels), labels, -1)
        right = float((matched(labels, truth) == truth).mean())
        setting = f"theta_r {theta_r:g}, eps {eps:g}, sigma_f {share:g} of the mean speed squared"
        tried.append((right, int(graph.adjacency.nnz), setting))
        best = sorted((one for one in tried if one[0] == max(tried)[0]), key=lambda one: one[1])[: effort.finalists]
        built = {name: (built | {setting: graph})[name] for *_, name in best}
    # As they were built: how sure a graph is, from settings around its own, is not asked here.
    found = [identify(demos, graph=_Built(graph)) for graph in built.values()]
    k = int(
        np.argmin(
            [attractor_errors(demos, np.array([place.by_intersection for place in one.located])).max() for one in found]
        )
    )
    scores = {setting: right for right, _, setting in tried}
    return _scored("the paper's kernel graph", found[k].labels, truth, best[k][2], tried=scores, found=found[k])


def attractor_errors(demos: Demonstrations, places: FloatArray) -> FloatArray:
    """e(x*) = sqrt((x* - x^)^T S^-1 (x* - x^)), S the standard deviations: the paper's, for the nearest true one each."""
    assert demos.truth is not None
    gap = (places[:, None] - demos.truth.attractors) ** 2 / demos.x.std(axis=0)
    return np.asarray(np.sqrt(gap.sum(axis=2)).min(axis=0))


def kernel_k_means(demos: Demonstrations, effort: Effort, seed: int) -> tuple[Clustering, FloatArray]:
    """The clustering, and the kernel it was found with."""
    truth, data = truth_of(demos), peers.features(demos)
    tried, best, kept = [], -1.0, np.zeros((0, 0))
    for width in effort.widths:
        kernel = peers.gaussian_kernel(data, width * float(data.std()))
        labels = peers.best_kernel_k_means(kernel, _count(truth), seed=seed, restarts=effort.trials)
        tried.append(_scored("Kernel K-means", labels, truth, f"width {width:g} standard deviations"))
        if tried[-1].right > best:
            best, kept = tried[-1].right, kernel
    return _best(tried), kept


def spectral(demos: Demonstrations, effort: Effort, seed: int) -> Clustering:
    truth, tried = truth_of(demos), []
    for neighbours in effort.neighbours:
        labels = peers.spectral_clustering(demos, _count(truth), seed=seed, neighbours=neighbours)
        tried.append(_scored("Spectral Clustering", labels, truth, f"{neighbours} neighbours"))
    return _best(tried)


def mixture(demos: Demonstrations, effort: Effort, seed: int) -> Clustering:
    truth, tried = truth_of(demos), []
    for start, words in (("kmeans", "starts by k-means"), ("random_from_data", "starts at random samples")):
        labels = peers.gaussian_mixture(demos, _count(truth), seed=seed, restarts=effort.trials, start=start)
        tried.append(_scored("Gaussian Mixture", labels, truth, words))
    return _best(tried)


def over_iterations(demos: Demonstrations, kernel: FloatArray, effort: Effort, seed: int) -> dict[str, FloatArray]:
    """Share of samples wrong in percent, (trials, iterations), of both iterative methods from random starts."""
    truth, data = truth_of(demos), peers.features(demos)
    wrong: dict[str, list[list[float]]] = {"Kernel K-means": [], "Gaussian Mixture": []}
    for trial in range(effort.trials):
        walk = peers.kernel_k_means_steps(kernel, _count(truth), seed=seed + trial, iterations=effort.iterations)
        wrong["Kernel K-means"].append([_wrong(labels, truth) for labels, _ in walk])
        steps = peers.gaussian_mixture_steps(data, _count(truth), seed=seed + trial, iterations=effort.iterations)
        wrong["Gaussian Mixture"].append([_wrong(labels, truth) for labels in steps])
    return {name: np.array([_held(one, effort.iterations) for one in rows]) for name, rows in wrong.items()}


def _held(values: list[float], length: int) -> list[float]:
    """A trial that has settled stays where it is."""
    return (values + [values[-1]] * length)[:length]


def _wrong(labels: IntArray, truth: IntArray) -> float:
    return 100 * float((matched(labels, truth) != truth).mean())


def _count(truth: IntArray) -> int:
    return int(truth.max()) + 1
