"""
Where the paper slips
=====================

eigenwell starts from a paper (Fichera and Billard, 2022). Reproducing it brought up formulas and numbers that do not hold
as printed. None touches its main idea; each has a cure. Everything below is computed here;
``eigenwell reproduce --only slips`` prints all of them with their evidence.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew
from eigenwell.spectral import (
    CorrectedGamma,
    ExactMasses,
    PrintedGamma,
    UnitMasses,
    joined_spectrum,
)

theme = ew.plotting.LIGHT
with ew.plotting.style():
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 7.6), layout="constrained")

    # The penalty of a neighbour at the angle theta_r should be 3 sigma.
    angles = np.linspace(0.05, np.pi / 2, 60)
    for k, (name, gamma) in enumerate({"corrected": CorrectedGamma(), "as printed": PrintedGamma()}.items()):
        value = [float(gamma(np.cos([a]), 1.0, a)[0]) for a in angles]
        axes[0, 0].plot(angles, value, color=theme.colour(k), label=name)
    axes[0, 0].set(title="penalty at the angle θ_r, in σ", xlabel="θ_r")
    axes[0, 0].legend()

    # The lower bound of the first eigenvalue is empty: negative from four nodes on.
    sizes = np.arange(3, 61)
    first = [joined_spectrum(np.full(3, n), ew.Cycle(), UnitMasses(), 2).eigenvalues[1] for n in sizes]
    axes[0, 1].plot(sizes, first, color=theme.colour(0), label="λ₂")
    axes[0, 1].plot(sizes, 1 - 2 * np.cos(np.pi / sizes), color=theme.colour(1), label="printed lower bound")
    axes[0, 1].axhline(0, color=theme.grid, zorder=0)
    axes[0, 1].set(title="a bound that bounds nothing", xlabel="nodes of a path")
    axes[0, 1].legend()

    # Trajectories of unequal lengths are not lines, unless masses mend it.
    arms = np.array([300, 60, 30])
    ends = np.concatenate([[0], np.cumsum(arms)])
    for masses, style, name in ((UnitMasses(), "-", "as printed"), (ExactMasses(), "--", "with masses")):
        u = joined_spectrum(arms, ew.Cycle(), masses, 3).eigenvectors[:, 1:]
        for q, (a, b) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
            axes[1, 0].plot(*u[a:b].T, style, color=theme.colour(q), label=name if q == 0 else None)
    axes[1, 0].set(title="arms of 300, 60 and 30 samples", xlabel="u₂", ylabel="u₃")
    axes[1, 0].legend()

    # Duffing for 5 s does not arrive.
    for system, colour, name in ((ew.systems.duffing_short, 1, "5 s, as printed"), (ew.systems.duffing, 0, "40 s")):
        x, _ = next(iter(system.sample(seed=0).trajectories()))
        axes[1, 1].plot(*x.T, color=theme.colour(colour), lw=1.2 + 3 * colour, label=name, zorder=2 - colour)
        axes[1, 1].plot(*x[-1], "o", color=theme.colour(colour), ms=7, zorder=3)
    axes[1, 1].plot(*ew.systems.duffing.attractors.T, "X", color=theme.ink, ms=10, mec="white", zorder=4)
    axes[1, 1].set(title="Duffing: 5 s do not reach the attractor", xlabel="x₁", ylabel="x₂")
    axes[1, 1].legend()

# %%
# eigenwell notices the last one by itself:

for caution in ew.identify(ew.systems.duffing_short.sample(seed=0).shuffled()).warnings:
    print(caution)
