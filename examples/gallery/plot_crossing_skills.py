"""
Two skills that cross
=====================

Two tasks taught in one room often cross: from the left shelf to the right bin, from the right shelf to the left bin. Where
they meet, one field must compromise. :func:`~eigenwell.learn` says so, and offers two ways that do not: keep to one goal
(``field.toward``), or remember (``field.motion``).
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew


def reach(rng, start, goal, bend):
    s = np.linspace(0, 1, 160)[:, None]
    s = s**3 * (10 - 15 * s + 6 * s**2)  # least jerk, as people move
    start, goal = np.array(start) + 0.04 * rng.standard_normal(2), np.array(goal) + 0.01 * rng.standard_normal(2)
    across = (goal - start)[::-1] * [-1, 1]
    return start + s * (goal - start) + bend * np.sin(np.pi * s) * across


rng = np.random.default_rng(0)
strokes = [reach(rng, (-1, 1), (0.9, -0.6), 0.15) for _ in range(4)]
strokes += [reach(rng, (1, 1), (-0.9, -0.6), -0.15) for _ in range(4)]
found = ew.identify(strokes, dt=0.02)
field = ew.learn(found, recipe=ew.learning.Recipe(steps=400))  # less than usual: these ways are simple
print(field)

# %%
# From the same place in the middle the map picks one goal; ``toward`` and ``motion`` keep the one they were given.

middle = np.array([0.0, 0.32])
dt = 0.01
with ew.plotting.style():
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained", sharex=True, sharey=True)
    theme = ew.plotting.LIGHT
    for ax, title in zip(axes, ("the map", "toward(goal)", "motion(x0, goal)"), strict=True):
        for q in range(2):
            for path in found.paths(q):
                ax.plot(*found.demos.x[path].T, color=theme.colour(q), alpha=0.25, lw=3)
        ax.plot(*field.attractors.T, "X", color=theme.ink, ms=10, mec="white")
        ax.set_title(title)
    starts = [found.demos.x[found.paths(q)[0][0]] for q in range(2)]
    for q, start in enumerate(starts):
        axes[0].plot(*field.simulate(start, 8.0, memory=False).T, color=theme.ink, lw=1.5)
        axes[1].plot(*field.toward(q).simulate(start, 8.0).T, color=theme.ink, lw=1.5)
        axes[1].plot(*field.toward(q).simulate(middle, 8.0).T, color=theme.colour(q), lw=1.8, ls="--")
        x, way, motion = start, [start], field.motion(start, goal=q)
        while not motion.done and len(way) < 2000:
            x = x + dt * motion.step(x, dt)
            way.append(x)
        axes[2].plot(*np.array(way).T, color=theme.ink, lw=1.5)
    axes[0].plot(*field.simulate(middle, 8.0, memory=False).T, color=theme.colour(2), lw=1.8, ls="--")
