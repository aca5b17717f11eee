"""
Three letters, one plane, no labels
===================================

Three motions of the LASA handwriting set are put side by side, their samples shuffled. eigenwell sorts them out and
learns one field for all three goals. The data are for non-commercial use and come with ``pip install "eigenwell[lasa]"``.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew

SHAPES = {"GShape": (0, 0), "Sshape": (90, 0), "Angle": (45, 55)}

try:
    strokes = [
        (x + np.array(shift), v)
        for shape, shift in SHAPES.items()
        for x, v in ew.datasets.lasa(shape, demonstrations=[0, 1, 2], every=3).trajectories()
    ]
except ew.DataError as missing:  # the page then shows scripted strokes
    print(missing)
    strokes = list(ew.datasets.pen_strokes(seed=4, n_attractors=3).trajectories())

order = np.random.default_rng(0).permutation(sum(len(x) for x, _ in strokes))
x = np.concatenate([x for x, _ in strokes])[order]
v = np.concatenate([v for _, v in strokes])[order]
found = ew.identify(x, v)
print(found)

# %%
field = ew.learn(found, recipe=ew.learning.Recipe(steps=500))  # less than half of the usual training
print(field)

with ew.plotting.style():
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    ew.plotting.plot_samples(found.demos, found, ax=left)
    ew.plotting.plot_field(field, found.demos, found, ax=right)
