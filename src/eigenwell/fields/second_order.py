"""A passive field of second order: the state is (q, qdot), and its first half moves with qdot by construction.

    qddot = -grad U(q) - b(q) qdot + Gamma(q) qdot,      b >= b_0 > 0,      Gamma skew.

Why it is stable. Along every solution the energy E = |qdot|^2 / 2 + U(q) changes by -b |qdot|^2 <= 0, since Gamma does no
work. U rises without bound, so every solution is bounded and by LaSalle ends at rest where grad U = 0. U is a rising
function of the power mean rho of the distances to the Q attractors, which has no other minimum (as V in `stable`): rest is
stable at the q*, and nowhere else.

U' = h(s) = sum_i c_i (1 + l_i) s / (s + l_i) with c_i > 0; s = rho, and rho (rho / (1 + rho / 10))^(Q - 1) for several attractors
in one or two dimensions, where rho alone has a kink at them. b and Gamma are sums of Gaussian bumps at samples. All of it is
linear in its weights, so that a fit to measured qddot is one least-squares problem with bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import lsq_linear
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import Caution
from ..wording import plural
from .queries import Saved, check_times, of_states
from .stable import Wells, mean_distance

# Scales l_i of the pull, as shares of the extent: from within the last hundredth to far outside, where it is a plain spring.
PULLS = (0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
# Beyond so many extents the pull of several attractors is that of one.
FAR = 10.0
# Bumps of damping and turning, and their width in distances between neighbours: they overlap, and follow the data.
BUMPS, WIDTH = 40, 1.5
# Samples that are fitted, at most: neighbours in time say the same.
MOST_SAMPLES = 4000
# A misfit above this leaves more than a quarter of the accelerations' variance unexplained.
POOR = 0.5
# Weights are kept small by this share of the data's own weight: what no sample asks for is zero.
RIDGE = 1e-3
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class SecondOrderField(Saved):
    """qddot of a state (q, qdot), passive, at rest in the attractors alone.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> t = np.arange(0, 8, 0.02)
    >>> swings = [a * np.exp(-0.5 * t)[:, None] * np.cos(2 * t)[:, None] for a in (1.0, 1.3, 1.6)]
    >>> field = ew.learn(swings, dt=0.02, order=2)
    >>> float(field.predict([0.5, -1.0])[0])  # the first half is the velocity, to the bit
    -1.0
    """

    places: FloatArray
    """(Q, d): the attractors in unit coordinates, q = centre + scale * q_unit."""
    centre: FloatArray
    """(d,): of the unit coordinates."""
    scale: float
    """One number for all axes."""
    pulls: FloatArray
    """(n,): c_i > 0, the weights of U'."""
    centres: FloatArray
    """(J, d): of the bumps, in unit coordinates."""
    width: float
    """Of the bumps."""
    damping: FloatArray
    """(J,): weights >= 0 of the bumps of b."""
    turning: FloatArray
    """(J, d (d - 1) / 2): weights of the bumps of Gamma."""
    least: float
    """b_0."""
    misfit: float
    """Root mean square error of qddot over its root mean square, on the samples it was fitted to."""

    def __repr__(self) -> str:
        rest = plural(self.n_attractors, "attractor")
        return f"SecondOrderField({plural(self.dimension // 2, 'coordinate')}, at rest in {rest})"

    @property
    def dimension(self) -> int:
        """Of the state: twice that of q."""
        return 2 * len(self.centre)

    @property
    def n_attractors(self) -> int:
        """Q."""
        return len(self.places)

    @property
    def attractors(self) -> FloatArray:
        """(Q, 2 d): the places, at rest."""
        return np.hstack([self.centre + self.scale * self.places, np.zeros_like(self.places)])

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """Doubts: a poor misfit says that acceleration is no function of (q, qdot) in these recordings."""
        if self.misfit <= POOR:
            return ()
        said = (
            f"Accelerations are missed by {100 * self.misfit:.0f} % of their size: (q, qdot) does not tell them, as in reaches "
            "of different durations or with pauses. The field is stable, but follows these motions poorly; leave order=2 out."
        )
        return (Caution("misfit", said),)

    @of_states("array of the same shape")
    def predict(self, x: Any) -> FloatArray:
        """(qdot, qddot) at states (q, qdot); the first half is the second half of x, to the bit."""
        q, qdot = self._unit(x), x[:, self.dimension // 2 :]
        return np.hstack([qdot, self.scale * self._acceleration(q, qdot / self.scale)])

    @of_states("float or (n,) array")
    def energy(self, x: Any) -> Any:
        """E = |qdot|^2 / 2 + U(q) of every state, zero at the attractors: it never rises."""
        rho, _ = _power_mean(self._unit(x), self.places)
        kinetic = ((x[:, self.dimension // 2 :] / self.scale) ** 2).sum(axis=1) / 2
        far = np.array(PULLS)
        s = _stretched(rho, *self.places.shape)[0][:, None]
        return kinetic + ((1 + far) * (s - far * np.log1p(s / far))) @ self.pulls

    @of_states()
    def simulate(self, x0: Any, duration: float | None = None, *, t: Any = None) -> FloatArray:
        """Roll out from x0 over a duration or at times t.

        Parameters
        ----------
        x0 : (2 d,) or (m, 2 d) array
        duration : float, optional
            Over which 201 times are spread.
        t : (n,) array, optional

        Returns
        -------
        (n, 2 d) or (m, n, 2 d) array
        """
        times = check_times(duration, t)
        span = (float(times[0]), float(max(times[-1], times[0] + TINY)))

        def rates(_: float, y: FloatArray) -> FloatArray:
            return self.predict(y.reshape(x0.shape)).ravel()

        found = solve_ivp(rates, span, x0.ravel(), t_eval=times, rtol=1e-6, atol=1e-8 * self.scale).y
        return np.asarray(found.T.reshape(len(times), *x0.shape).transpose(1, 0, 2))

    def _unit(self, states: FloatArray) -> FloatArray:
        """q in unit coordinates; at an attractor exactly there, which rounding would miss by a little."""
        d = self.dimension // 2
        row, goal = np.nonzero((states[:, None, :d] == self.attractors[:, :d]).all(axis=2))
        q = (states[:, :d] - self.centre) / self.scale
        q[row] = self.places[goal]
        return np.asarray(q)

    def _acceleration(self, q: FloatArray, qdot: FloatArray) -> FloatArray:
        bump = _bumps(q, self.centres, self.width)
        out = -_pull_terms(q, self.places) @ self.pulls - (self.least + bump @ self.damping)[:, None] * qdot
        for k, (i, j) in enumerate(combinations(range(q.shape[1]), 2)):
            turn = bump @ self.turning[:, k]
            out[:, i] += turn * qdot[:, j]
            out[:, j] -= turn * qdot[:, i]
        return out


def fit_second_order(
    motions: Sequence[tuple[FloatArray, FloatArray, FloatArray]], attractors: FloatArray, duration: float
) -> SecondOrderField:
    """From motions (q, qdot, qddot), each (T, d), to attractors (Q, d); `duration` is that of the longest."""
    q, qdot, qddot = (np.concatenate([m[i] for m in motions]) for i in range(3))
    centre, scale = q.mean(axis=0), float(np.ptp(q, axis=0).max())
    places = (attractors - centre) / scale
    q, qdot, qddot = (q - centre) / scale, qdot / scale, qddot / scale
    keep = np.linspace(0, len(q) - 1, min(len(q), MOST_SAMPLES)).astype(np.intp)
    q, qdot, qddot = q[keep], qdot[keep], qddot[keep]
    n, d = q.shape
    centres, width = _centres(q)
    # What is left of the energy after the longest motion is at most e^-2.
    least = 1 / duration
    bump = _bumps(q, centres, width)
    pairs = list(combinations(range(d), 2))
    terms = [-_pull_terms(q, places)]
    terms.append(-bump[:, None, :] * qdot[:, :, None])
    for i, j in pairs:
        turned = np.zeros((n, d))
        turned[:, i], turned[:, j] = qdot[:, j], -qdot[:, i]
        terms.append(bump[:, None, :] * turned[:, :, None])
    design = np.concatenate(terms, axis=2).reshape(n * d, -1)
    wanted = (qddot + least * qdot).reshape(-1)
    # A bump that few samples feel counts for little; a pull counts as what it does where the samples are.
    size = np.sqrt((design**2).sum(axis=0)) + TINY
    size[len(PULLS) :] = size[len(PULLS) :].max()
    ridge = np.sqrt(RIDGE) * np.diag(size)
    low = np.full(design.shape[1], -np.inf)
    # Pulls stay positive, so that there is one at every distance; a thousandth of what would do all the work.
    strength = float(np.sqrt((qddot**2).sum(axis=1).mean())) + TINY
    low[: len(PULLS)], low[len(PULLS) : len(PULLS) + len(centres)] = 1e-3 * strength, 0.0
    found = lsq_linear(np.vstack([design, ridge]), np.concatenate([wanted, np.zeros(len(ridge))]), (low, np.inf)).x
    misfit = float(np.sqrt(((design @ found - wanted) ** 2).mean() / ((qddot**2).mean() + TINY)))
    rest = found[len(PULLS) :].reshape(1 + len(pairs), len(centres))
    return SecondOrderField(
        places, centre, scale, found[: len(PULLS)], centres, width, rest[0], rest[1:].T.copy(), least, misfit
    )


def _power_mean(q: FloatArray, places: FloatArray) -> tuple[FloatArray, FloatArray]:
    """rho (n,), the mean of order 2 - p of the distances to the places, p = max(d, 2), and its gradient (n, d)."""
    count, d = places.shape
    rho, slope = mean_distance(Wells(places, np.zeros(count), np.zeros((count, d, d)), np.zeros(count), 0.0), q.T)
    return np.asarray(rho), slope.T


def _stretched(rho: FloatArray, n_attractors: int, dimension: int) -> tuple[FloatArray, FloatArray]:
    """s (n,) and ds / d rho: like the distance near every attractor, like rho far from all of them."""
    if n_attractors == 1 or dimension > 2:
        return rho, np.ones_like(rho)
    k, share = n_attractors - 1, rho / (1 + rho / FAR)
    return rho * share**k, share**k * (1 + k / (1 + rho / FAR))


def _pull_terms(q: FloatArray, places: FloatArray) -> FloatArray:
    """(n, d, len(PULLS)): gradients of the parts of U, (1 + l) s / (s + l) grad s."""
    rho, slope = _power_mean(q, places)
    s, rise = _stretched(rho, *places.shape)
    far = np.array(PULLS)
    h = rise[:, None] * (1 + far) * s[:, None] / (s[:, None] + far)
    return np.asarray(slope[:, :, None] * h[:, None, :])


def _bumps(q: FloatArray, centres: FloatArray, width: float) -> FloatArray:
    square = ((q[:, None] - centres) ** 2).sum(axis=2)
    return np.asarray(np.exp(-square / (2 * width**2)))


def _centres(q: FloatArray) -> tuple[FloatArray, float]:
    """Up to BUMPS samples, each as far from those before it as can be, and the width of their bumps."""
    chosen: list[int] = [0]
    away = np.linalg.norm(q - q[0], axis=1)
    while len(chosen) < min(BUMPS, len(q)) and away.max() > 0:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(q - q[chosen[-1]], axis=1))
    centres = q[np.array(chosen, dtype=np.intp)]
    if len(centres) == 1:
        return centres, 1.0
    gaps: IntArray | FloatArray = cKDTree(centres).query(centres, k=2)[0][:, 1]
    return centres, WIDTH * float(np.median(gaps))
