"""Clustering of states (x, v): the paper's comparisons, and HDBSCAN, which needs no number of clusters.

Features are positions and velocities, each set scaled as a whole by its standard deviation: the two have different
units, and scaling coordinates one by one would undo the geometry of either. The iterative methods can also be watched
step by step, from one random start each.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN, SpectralClustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from eigenwell._types import FloatArray, IntArray
from eigenwell.demonstrations import Demonstrations


def features(demos: Demonstrations) -> FloatArray:
    """(n, 2d): x and v, centred, of comparable size."""
    return np.hstack([(a - a.mean(axis=0)) / a.std() for a in (demos.x, demos.v)])


def spectral_clustering(demos: Demonstrations, n_clusters: int, *, seed: int = 0, neighbours: int = 10) -> IntArray:
    """Symmetric normalised Laplacian of the k-nearest-neighbour graph, as in the paper.

    Parameters
    ----------
    demos : Demonstrations
        Samples; positions and velocities are the features.
    n_clusters : int
        How many, which has to be known.
    seed : int
        Of K-means on the eigenvectors.
    neighbours : int
        Of every sample in the graph.

    Returns
    -------
    (n,) int array
        The cluster of every sample.

    Examples
    --------
    >>> import eigenwell as ew
    >>> from eigenwell_paper import baselines
    >>> demos = ew.systems.heart.sample(seed=0, frequency=5.0)
    >>> labels = baselines.spectral_clustering(demos, 2)  # doctest: +SKIP
    """
    model = SpectralClustering(
        n_clusters, affinity="nearest_neighbors", n_neighbors=neighbours, assign_labels="kmeans", random_state=seed
    )
    with warnings.catch_warnings():
        # The graph may fall into pieces; that is for the clustering to bear, and the scores show it.
        warnings.filterwarnings("ignore", "Graph is not fully connected")
        return np.asarray(model.fit_predict(features(demos)), dtype=np.intp)


def gaussian_mixture(
    demos: Demonstrations, n_clusters: int, *, seed: int = 0, restarts: int = 3, start: str = "kmeans"
) -> IntArray:
    """One Gaussian with full covariance a cluster, best of a few starts by likelihood.

    Parameters
    ----------
    demos : Demonstrations
        Samples; positions and velocities are the features.
    n_clusters : int
        How many, which has to be known.
    seed : int
        Of the starts.
    restarts : int
        Starts, of which the likeliest is kept.
    start : str
        "kmeans" or "random".

    Returns
    -------
    (n,) int array
        The cluster of every sample.

    Raises
    ------
    MissingExtra
        When scikit-learn is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> from eigenwell_paper import baselines
    >>> demos = ew.systems.heart.sample(seed=0, frequency=5.0)
    >>> labels = baselines.gaussian_mixture(demos, 2)  # doctest: +SKIP
    """
    model = GaussianMixture(
        n_clusters, covariance_type="full", n_init=restarts, init_params=start, max_iter=300, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit_predict(features(demos)), dtype=np.intp)


def gaussian_mixture_steps(data: FloatArray, n_clusters: int, *, seed: int = 0, iterations: int = 30) -> list[IntArray]:
    """Labels after 1, 2, ... iterations of expectation maximisation from random samples as means."""
    model = GaussianMixture(
        n_clusters,
        covariance_type="full",
        init_params="random_from_data",
        max_iter=1,
        warm_start=True,
        random_state=seed,
    )
    out = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(iterations):
            out.append(np.asarray(model.fit(data).predict(data), dtype=np.intp))
    return out


def hdbscan(demos: Demonstrations, *, smallest: int | None = None) -> IntArray:
    """Density clustering without a number of clusters; a cluster has at least a twentieth of the samples.

    Parameters
    ----------
    demos : Demonstrations
        Samples; positions and velocities are the features.
    smallest : int, optional
        Samples of the smallest cluster.

    Returns
    -------
    (n,) int array
        The cluster of every sample, -1 for noise.

    Raises
    ------
    MissingExtra
        When scikit-learn is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> from eigenwell_paper import baselines
    >>> demos = ew.systems.heart.sample(seed=0, frequency=5.0)
    >>> labels = baselines.hdbscan(demos)  # doctest: +SKIP
    """
    model = HDBSCAN(min_cluster_size=smallest or max(5, demos.n_samples // 20), copy=True)
    return np.asarray(model.fit_predict(features(demos)), dtype=np.intp)


def gaussian_kernel(data: FloatArray, width: float) -> FloatArray:
    """k(a, b) = exp(-|a - b|^2 / 2 width^2) for all pairs, in single precision: it is the memory that counts."""
    squares = cdist(data, data, "sqeuclidean").astype(np.float32)
    squares *= np.float32(-0.5 / width**2)
    return np.asarray(np.exp(squares, out=squares))


def kernel_k_means(
    demos: Demonstrations,
    n_clusters: int,
    *,
    seed: int = 0,
    width: float | None = None,
    iterations: int = 100,
    restarts: int = 1,
) -> IntArray:
    """Lloyd's iteration in the feature space of a Gaussian kernel, best of `restarts` starts by within-cluster scatter.

    `width` defaults to the standard deviation of the features, the setting with which the paper found it to do best on
    drawn data.

    Parameters
    ----------
    demos : Demonstrations
        Samples; positions and velocities are the features.
    n_clusters : int
        How many, which has to be known.
    seed : int
        Of the starts.
    width : float, optional
        Of the Gaussian kernel.
    iterations : int
        At most.
    restarts : int
        Starts, of which the best is kept.

    Returns
    -------
    (n,) int array
        The cluster of every sample.

    Examples
    --------
    >>> import eigenwell as ew
    >>> from eigenwell_paper import baselines
    >>> demos = ew.systems.heart.sample(seed=0, frequency=5.0)
    >>> baselines.kernel_k_means(demos, 2).shape == (demos.n_samples,)
    True
    """
    f = features(demos)
    kernel = gaussian_kernel(f, width or float(f.std()))
    return best_kernel_k_means(kernel, n_clusters, seed=seed, iterations=iterations, restarts=restarts)


def best_kernel_k_means(
    kernel: FloatArray, n_clusters: int, *, seed: int = 0, iterations: int = 100, restarts: int = 1
) -> IntArray:
    """The start with the least within-cluster scatter, that is the largest sum of mean similarities within clusters."""
    best, most = np.zeros(len(kernel), dtype=np.intp), -np.inf
    for start in range(restarts):
        for labels, together in kernel_k_means_steps(kernel, n_clusters, seed=seed + start, iterations=iterations):
            last, held = labels, together
        if held > most:
            best, most = last, held
    return best


def kernel_k_means_steps(
    kernel: FloatArray, n_clusters: int, *, seed: int = 0, iterations: int = 100
) -> Iterator[tuple[IntArray, float]]:
    """Labels before every iteration, and the similarity within clusters that the iteration raises; until they settle.

    |phi(a) - m_c|^2 = k(a, a) - 2 mean_{b in c} k(a, b) + mean_{b, b' in c} k(b, b'). Starts from random samples as
    centres; a cluster that runs empty takes one random sample.
    """
    rng = np.random.default_rng(seed)
    centres = rng.choice(len(kernel), n_clusters, replace=False)
    labels = np.asarray(kernel[:, centres].argmax(axis=1), dtype=np.intp)
    for _ in range(iterations):
        member = np.eye(n_clusters, dtype=kernel.dtype)[labels]
        empty = member.sum(axis=0) == 0
        member[rng.integers(0, len(kernel), n_clusters)[empty], np.flatnonzero(empty)] = 1
        size = member.sum(axis=0)
        member /= size
        to_mean = kernel @ member
        within = np.einsum("nc,nc->c", member, to_mean)
        yield labels, float((size * within).sum())
        moved = np.asarray((within - 2 * to_mean).argmin(axis=1), dtype=np.intp)
        if np.array_equal(moved, labels):
            return
        labels = moved
