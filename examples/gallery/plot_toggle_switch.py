"""
Which cell becomes what
=======================

Two genes that switch each other off have two stable states. Here 500 cells were each seen once: where they are and, noisily,
which way they are going. No cell is seen twice, so there are no trajectories to sort. eigenwell notices, estimates the
field between the samples, and follows every cell to its fate, with a probability.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew

cells = ew.systems.toggle_switch.snapshots(500, seed=0, noise=0.2)
found = ew.identify(cells.x, cells.v)
print(found)
print("these are", found.kind, "- numbers of attractors in re-weighted samples:", found.counts)

# %%
# Pale cells are those whose fate is not yet decided. ``found.fates`` has the probabilities, the last column that of leaving.

right = found.fates[:, : found.n_attractors].argmax(axis=1) == cells.truth.labels
print(f"{np.mean(right):.1%} of the fates are those of the true system")

with ew.plotting.style():
    figure, (left, middle) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    left.quiver(*cells.x.T, *cells.v.T, color=ew.plotting.LIGHT.faint, angles="xy", width=0.0025)
    left.set(title="what was measured", xlabel="x₁", ylabel="x₂")
    ew.plotting.plot_fates(found.demos, found, ax=middle)
