"""
How many stable states?
=======================

Many systems can rest in more than one state: a gene switch, a climate, an ecosystem, a market. Given measured states and
the rates at which they changed, how many are there, and which state leads to which? You need
``pip install "eigenwell[plot]"``; nothing here is trained.

The measurement
---------------
Two genes that switch each other off. 300 cells, each seen once, with noisy velocities: a tenth of the usual speed.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew

system = ew.systems.toggle_switch
cells = system.snapshots(300, seed=3, noise=0.1)
found = ew.identify(cells.x, cells.v)
print(found)

# %%
# Snapshots or trajectories?
# --------------------------
# Nobody said that these are single cells and not runs of an experiment. It was noticed: no sample follows from another.

print(found.kind)
print(found.evidence)

# %%
# How sure?
# ---------
# The whole analysis is repeated on re-weighted samples. ``found.counts`` says how often each number of stable states came
# out, and the confidence is the share of the one reported.

print(found.counts, found.confidence)

# %%
# Of which kind is each? A *node* is approached straight, a *focus* in a spiral, a *cycle* is an oscillation.

for place in found.located:
    print(place.form, np.round(place.position, 3), "eigenvalues", np.round(place.eigenvalues, 2))

# %%
# Which cell becomes what?
# ------------------------
# Every cell has a probability for each fate. Those near the border are undecided, and are drawn pale.

undecided = (found.fates.max(axis=1) < 0.9).sum()
print(f"{undecided} of {len(found.fates)} cells are less than 90 % sure of their fate")

with ew.plotting.style():
    ew.plotting.plot_fates(found.demos, found)

# %%
# We know the truth here. Compare:

decided = found.fates.max(axis=1) >= 0.9
right = found.labels == cells.truth.labels
print(f"right: {right.mean():.1%} of all, {right[decided].mean():.1%} of those that are sure")
print("true stable states:", system.attractors.round(3).tolist())

# %%
# When it is hard
# ---------------
# Take fewer cells and more noise, and watch the confidence. An honest doubt is worth more than a number.

for n, noise in ((300, 0.1), (150, 0.3), (80, 0.5)):
    hard = system.snapshots(n, seed=3, noise=noise)
    try:
        answer = ew.identify(hard.x, hard.v)
        print(f"{n} cells, noise {noise:.0%}: {answer.n_attractors} stable states, confidence {answer.confidence:.2f}")
    except ew.DataError as refused:
        print(f"{n} cells, noise {noise:.0%}: {refused}")

# %%
# Oscillations count too. This one has a stable rest inside a stable cycle:

ring = ew.systems.well_in_a_cycle.snapshots(600, seed=0)
answer = ew.identify(ring.x, ring.v)
print(answer)

with ew.plotting.style():
    figure, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
    ew.plotting.plot_fates(answer.demos, answer, ax=ax)

# %%
# Your data: arrays, data frames, AnnData or grids, :doc:`/howto/snapshots`. Runs over time instead of snapshots: pass a list of
# trajectories, :doc:`/howto/data`.
