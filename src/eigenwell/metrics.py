"""How good a field or a roll-out is: pure functions, one name per metric.

The literature uses one word for several things; here every name means one formula, given in its docstring.
"""

from __future__ import annotations

import numpy as np

from ._types import BoolArray, FloatArray

__all__ = ["cosine_error", "dtw_rms", "dtw_total", "dtwd", "end_error", "frechet", "velocity_rmse"]


MOVING = 0.02
"""Samples slower than this share of the fastest have no meaningful direction."""


def moving(v: FloatArray) -> BoolArray:
    """Samples that are not slower than a share MOVING of the fastest."""
    speed = np.linalg.norm(v, axis=-1)
    return np.asarray(speed > MOVING * speed.max())


def cosine_error(predicted: FloatArray, v: FloatArray) -> float:
    """Mean of |1 - cos(f(x), v)| over the samples that move; a predicted zero counts as 1.

    Parameters
    ----------
    predicted : (n, d) array
        Velocities of a field.
    v : (n, d) array
        Those of the data.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.metrics import cosine_error
    >>> float(cosine_error(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])))
    1.0
    """
    predicted, v = _alike(predicted, v)
    keep = moving(v)
    f, w = predicted[keep], v[keep]
    lengths = np.linalg.norm(f, axis=-1) * np.linalg.norm(w, axis=-1)
    cosine = (f * w).sum(-1) / np.where(lengths > 0, lengths, 1.0)
    return float(np.abs(1 - cosine).mean())


def velocity_rmse(predicted: FloatArray, v: FloatArray) -> float:
    """Mean of |f(x) - v| in the data's units. The paper's formula: the root is taken per sample, inside the mean.

    Parameters
    ----------
    predicted, v
        As for `cosine_error`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.metrics import velocity_rmse
    >>> float(velocity_rmse(np.zeros((2, 2)), np.array([[3.0, 4.0], [0.0, 1.0]])))
    3.0
    """
    predicted, v = _alike(predicted, v)
    return float(np.linalg.norm(predicted - v, axis=-1).mean())


def end_error(rollout: FloatArray, attractor: FloatArray) -> float:
    """Distance from the last state of a roll-out to the attractor.

    Parameters
    ----------
    rollout : (k, d) array
        States in order of time.
    attractor : (d,) array
        Where it should end.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.metrics import end_error
    >>> float(end_error(np.array([[3.0, 0.0], [0.0, 1.0]]), np.zeros(2)))
    1.0
    """
    return float(np.linalg.norm(np.asarray(rollout)[-1] - np.asarray(attractor)))


def dtw_total(a: FloatArray, b: FloatArray) -> float:
    """Cost of the cheapest monotone matching of two sequences: the sum of the Euclidean distances it pairs.

    Parameters
    ----------
    a, b : (n, d) and (m, d) arrays
        Two sequences.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.metrics import dtw_total
    >>> dtw_total(np.zeros((3, 2)), np.zeros((4, 2)))
    0.0
    """
    return _warp(_distances(a, b))[0]


def dtwd(a: FloatArray, b: FloatArray) -> float:
    """Dynamic time warping distance: `dtw_total` divided by the number of pairs in the matching.

    Parameters
    ----------
    a, b
        As for `dtw_total`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.metrics import dtwd
    >>> dtwd(np.zeros((3, 2)), np.zeros((4, 2)))
    0.0
    """
    total, pairs = _warp(_distances(a, b))
    return total / pairs


def dtw_rms(a: FloatArray, b: FloatArray) -> float:
    """Root mean square distance per pair of the cheapest monotone matching, the squares being what is cheap.

    Parameters
    ----------
    a, b
        As for `dtw_total`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.metrics import dtw_rms
    >>> dtw_rms(np.zeros((3, 2)), np.zeros((4, 2)))
    0.0
    """
    total, pairs = _warp(_distances(a, b) ** 2)
    return float(np.sqrt(total / pairs))


def frechet(a: FloatArray, b: FloatArray) -> float:
    """Discrete Frechet distance: the longest leash that walking both curves needs, at best.

    Parameters
    ----------
    a, b : (n, d) and (m, d) arrays
        Two curves.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.metrics import frechet
    >>> float(frechet(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 2.0], [1.0, 2.0]])))
    2.0
    """
    return _warp(_distances(a, b), np.maximum)[0]


def _distances(a: FloatArray, b: FloatArray) -> FloatArray:
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or not len(a) or not len(b):
        raise ValueError(f"Expected two curves (T, d) of the same d, got shapes {a.shape} and {b.shape}.")
    return np.asarray(np.linalg.norm(a[:, None] - b[None], axis=-1))


def _warp(cost: FloatArray, plus: np.ufunc = np.add) -> tuple[float, int]:
    """Dynamic programming along anti-diagonals, D(i, j) = c(i, j) `plus` min of the three cells before.

    A whole anti-diagonal depends only on the two before it, so each is one vector operation. The length of
    the matching travels with the cost; among equally cheap predecessors the diagonal one is taken.
    """
    n, m = cost.shape
    before_last, last = np.full(n + 1, np.inf), np.full(n + 1, np.inf)
    pairs_before_last, pairs_last = np.zeros(n + 1, dtype=int), np.zeros(n + 1, dtype=int)
    before_last[0] = 0.0
    for diagonal in range(n + m - 1):
        i = np.arange(max(0, diagonal - m + 1), min(n, diagonal + 1))
        # Entry i + 1 holds row i, so that entry i is the row above.
        options = np.stack([before_last[i], last[i + 1], last[i]])
        lengths = np.stack([pairs_before_last[i], pairs_last[i + 1], pairs_last[i]])
        best = options.argmin(0)
        column = np.arange(len(i))
        new, pairs = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=int)
        new[i + 1] = plus(options[best, column], cost[i, diagonal - i])
        pairs[i + 1] = lengths[best, column] + 1
        before_last, last = last, new
        pairs_before_last, pairs_last = pairs_last, pairs
    return float(last[n]), int(pairs_last[n])


def _alike(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape or a.ndim < 2:
        raise ValueError(
            f"Expected predicted and true velocities of the same shape (n, d), got {a.shape} and {b.shape}."
        )
    return a, b
