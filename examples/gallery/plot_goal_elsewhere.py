"""
The goal is elsewhere, something is in the way
==============================================

A field is learned once. Then the goal is put elsewhere, stones lie on the way, a wall closes the side, and the goal begins to
move: none of it is learned again, and the proof of stability carries over. `The guide <../howto/warps.html>`_ says why.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew
from eigenwell.fields import Around, Within

# %%
# Three reaches from the left to one goal on the right, drawn by a smooth curve.

t = np.linspace(0, 1, 120)[:, None]
rise = t**3 * (10 - 15 * t + 6 * t**2)
ways = []
for k in range(3):
    start, goal = np.array([-1.0, -0.3 + 0.15 * k]), np.array([1.0, 0.0])
    ways.append(start + rise * (goal - start) + np.array([0.0, 0.45]) * np.sin(np.pi * rise))
field = ew.learn(ways, dt=1 / 60, memory=False, recipe=ew.learning.Recipe(steps=600))

# %%
# The same field four times.

worlds = {
    "as it was learned": field,
    "the goal moved": field.moved({0: [1.1, 0.55]}),
    "two stones": field.around([[-0.35, 0.25], [0.35, 0.35]], radius=[0.14, 0.12]),
    "both, and a wall": field.moved({0: [1.1, 0.55]})
    .around([[-0.35, 0.25], [0.35, 0.35]], radius=[0.14, 0.12])
    .within([None, -0.45], [None, 0.75]),
}
starts = [[-1.1, y] for y in np.linspace(-0.4, 0.5, 10)] + [[x, 0.7] for x in (-0.6, 0.0, 0.6)]
figure, axes = plt.subplots(2, 2, figsize=(10, 6.4), sharex=True, sharey=True, layout="constrained")
for axis, (name, one) in zip(axes.flat, worlds.items(), strict=True):
    for way in one.simulate(starts, duration=12.0):
        axis.plot(*way.T, color="#2a6f97", lw=1)
    for shown in ways:
        axis.plot(*shown.T, color="#b0b0b0", lw=3, alpha=0.5, zorder=0)
    for warp in one.warps:
        if isinstance(warp, Around):
            axis.add_patch(plt.Circle(warp.centre, 1 / warp.shapes[0, 0, 0], color="#e09f3e"))
        if isinstance(warp, Within):
            for wall in (warp.low[1], warp.high[1]):
                axis.axhline(wall, color="#540b0e", lw=3)
    axis.plot(*one.attractors.T, "o", color="#9e2a2b", ms=9)
    axis.set(title=name, xlim=(-1.25, 1.25), ylim=(-0.6, 0.9), aspect="equal")

# %%
# Nothing about stability has to be taken on trust: the certificate runs the loops of a controller in the world as it is now.

print(worlds["both, and a wall"].certificate(samples=5, rates=(100.0,)))

# %%
# A goal that moves, seen by a camera 30 times a second. With its velocity the field goes along with it; without, it trails.

dt, figure = 1 / 30, plt.figure(figsize=(7, 4), layout="constrained")
axis = figure.gca()
for told, colour in ((True, "#2a6f97"), (False, "#e09f3e")):
    x, track, goals = np.array([-1.0, -0.2]), [], []
    for now in np.arange(0, 8, dt):
        goal = np.array([1.0 + 0.1 * np.cos(now), 0.5 * np.sin(now)])
        rate = np.array([-0.1 * np.sin(now), 0.5 * np.cos(now)])
        track.append(x)
        goals.append(goal)
        here = field.moved({0: goal}, velocity={0: rate} if told else None)
        x = x + dt * here.predict(x)
    gap = np.linalg.norm(np.array(track) - goals, axis=1)
    axis.plot(np.arange(0, 8, dt), gap, color=colour, label="told its velocity" if told else "told its place alone")
axis.set(xlabel="seconds", ylabel="way left to the goal", yscale="log", ylim=(1e-4, None))
axis.legend()
