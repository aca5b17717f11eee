"""
Unequal lengths, and masses that mend them
==========================================

In the paper's embedding every trajectory is a straight line, and all lines meet in the attractor. That is proved for
trajectories with equally many samples. With unequal ones the lines bend. Weights on the edges and masses on the nodes of
the graph, chosen per trajectory, make them straight again, exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew
from eigenwell.spectral import ContinuumMasses, ExactMasses, UnitMasses, joined_spectrum, linearity

lengths = np.array([300, 60, 30])
offsets = np.concatenate([[0], np.cumsum(lengths)])
choices = {"plain Laplacian": UnitMasses(), "continuum masses": ContinuumMasses(), "exact masses": ExactMasses()}

with ew.plotting.style():
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for ax, (name, masses) in zip(axes, choices.items(), strict=True):
        u = joined_spectrum(lengths, ew.Cycle(), masses, 3).eigenvectors[:, 1:]
        straight = linearity(u, offsets).min()
        print(f"{name:17s} worst R² of a line {straight:.6f}")
        for q, (a, b) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
            ax.plot(*u[a:b].T, color=ew.plotting.LIGHT.colour(q), lw=2, label=f"{lengths[q]} samples")
        ax.plot(0, 0, "X", color=ew.plotting.LIGHT.ink, ms=9)
        ax.set(title=f"{name}, R² = {straight:.4f}", xlabel="u₂", ylabel="u₃")
        ax.locator_params(nbins=4)
    axes[0].legend()

# %%
# ``identify`` uses exact masses by default; ``masses=UnitMasses()`` is the paper's own graph. Pen strokes take as long as
# they take, so their lengths differ:

strokes = ew.datasets.pen_strokes(seed=0)
print("samples of each stroke:", [len(x) for x, _ in strokes.trajectories()])
for name, masses in choices.items():
    found = ew.identify(strokes, masses=masses)
    ends = np.concatenate([[0], np.cumsum([len(path) for path in found.paths(0)])])
    print(f"pen strokes, {name:17s} worst R² {linearity(found.embeddings[0], ends).min():.6f}")
