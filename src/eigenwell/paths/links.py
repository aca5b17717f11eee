"""How likely one state continues another: the score every link is judged by, from single samples to whole fragments."""

from __future__ import annotations

import numpy as np

from .._types import FloatArray
from .settings import DEFAULT, PathSettings


def heavy(chi2: FloatArray, p: int) -> FloatArray:
    """Negative log-likelihood (up to a constant) of a squared Mahalanobis distance with p degrees of freedom.

    Student's t of one degree of freedom scaled to p: near chi2/2 for an ordinary link, logarithmic far out, because
    real recordings have glitches that no Gaussian would survive.
    """
    return np.asarray((p + 1) / 2 * np.log1p(chi2 / p), dtype=np.float64)


def link_score(
    gap: tuple[FloatArray, FloatArray],
    variance: tuple[FloatArray, FloatArray],
    spread2: float,
    d: int,
    missing: FloatArray,
    s: PathSettings = DEFAULT,
) -> FloatArray:
    """Log-odds that two states are *not* one motion; a link is worth making below zero.

    gap = |r|^2 and |q|^2, the mismatch in position and in displacement after the best straight or bent continuation;
    variance of one coordinate of each. The alternative is that the second state lies there by chance, anywhere in the
    data (variance spread2): log-odds gain (d/2) log(spread2 / variance_r).
    """
    chi2 = gap[0] / variance[0] + gap[1] / variance[1]
    return heavy(chi2, 2 * d) + d / 2 * np.log(variance[0] / spread2) + s.missing * missing
