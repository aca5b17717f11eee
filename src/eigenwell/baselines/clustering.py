"""Clustering of states (x, v): the paper's comparisons, and HDBSCAN, which needs no number of clusters.

Features are positions and velocities, each set scaled as a whole by its standard deviation: the two have different
units, and scaling coordinates one by one would undo the geometry of either.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN, SpectralClustering
from sklearn.mixture import GaussianMixture

from .._types import FloatArray, IntArray
from ..demonstrations import Demonstrations


def features(demos: Demonstrations) -> FloatArray:
    """(n, 2d): x and v, centred, of comparable size."""
    return np.hstack([(a - a.mean(axis=0)) / a.std() for a in (demos.x, demos.v)])


def spectral_clustering(demos: Demonstrations, n_clusters: int, *, seed: int = 0, neighbours: int = 10) -> IntArray:
    """Symmetric normalised Laplacian of the k-nearest-neighbour graph, as in the paper."""
    model = SpectralClustering(
        n_clusters, affinity="nearest_neighbors", n_neighbors=neighbours, assign_labels="kmeans", random_state=seed
    )
    return np.asarray(model.fit_predict(features(demos)), dtype=np.intp)


def gaussian_mixture(demos: Demonstrations, n_clusters: int, *, seed: int = 0, restarts: int = 3) -> IntArray:
    """One Gaussian with full covariance a cluster, best of a few starts by likelihood."""
    model = GaussianMixture(n_clusters, covariance_type="full", n_init=restarts, random_state=seed)
    return np.asarray(model.fit_predict(features(demos)), dtype=np.intp)


def hdbscan(demos: Demonstrations, *, smallest: int | None = None) -> IntArray:
    """Density clustering without a number of clusters; a cluster has at least a twentieth of the samples."""
    model = HDBSCAN(min_cluster_size=smallest or max(5, demos.n_samples // 20), copy=True)
    return np.asarray(model.fit_predict(features(demos)), dtype=np.intp)


def kernel_k_means(
    demos: Demonstrations, n_clusters: int, *, seed: int = 0, width: float | None = None, iterations: int = 100
) -> IntArray:
    """Lloyd's iteration in the feature space of k = exp(-|a - b|^2 / 2 width^2), from a random partition.

    |phi(a) - m_c|^2 = k(a, a) - 2 mean_{b in c} k(a, b) + mean_{b, b' in c} k(b, b'). `width` defaults to the standard
    deviation of the features, the setting with which the paper found it to do best on drawn data.
    """
    f = features(demos)
    kernel = np.exp(-cdist(f, f, "sqeuclidean") / (2 * (width or float(f.std())) ** 2))
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, len(f))
    for _ in range(iterations):
        member = np.eye(n_clusters)[labels]
        member[rng.integers(0, len(f), n_clusters), np.arange(n_clusters)] += 1e-9  # an empty cluster is reborn
        member /= member.sum(axis=0)
        to_mean = kernel @ member
        distance = np.einsum("nc,nc->c", member, to_mean) - 2 * to_mean
        moved = distance.argmin(axis=1)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return np.asarray(labels, dtype=np.intp)
