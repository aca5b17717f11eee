"""
A figure eight, followed by memory
==================================

A figure eight crosses itself. At the crossing a robot that only knows where it *is* cannot know which way to go: any map
from position to velocity must fail there. A motion that remembers how far along it is can follow it.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew


def eight(rng):
    """One turn of an eight drawn by hand, which comes to rest beside it."""
    s = np.linspace(0, 1, 220)
    s = s**2 * (3 - 2 * s)  # a hand starts and stops gently
    turn = 2 * np.pi * np.minimum(s / 0.85, 1)
    x = np.c_[np.sin(turn), 0.55 * np.sin(2 * turn)]
    rest = np.clip((s - 0.85) / 0.15, 0, 1)[:, None]
    return x + rest * [0.9, 0.75] + 0.02 * rng.standard_normal(2) + 0.03 * np.sin(turn + rng.uniform(0, 6))[:, None]


rng = np.random.default_rng(0)
found = ew.identify([eight(rng) for _ in range(4)], dt=0.02)
field = ew.learn(found)
print(field)

# %%
# Follow the motion as a robot would: measure, ask, move. A third of the way along somebody pushes it aside. It waits
# until it is back on its path, and goes on from where it was.

dt = 0.01
x = found.demos.x[found.paths(0)[0][0]]
motion = field.motion(x)
way = [x]
while not motion.done and len(way) < 3000:
    x = x + dt * motion.step(x, dt)
    if len(way) == 170:
        x = x + np.array([0.0, -0.35])
    way.append(x)
way = np.array(way)
print(f"arrived {np.linalg.norm(x - motion.attractor):.3f} from the goal after {dt * len(way):.1f} s")

# %%
# The map, on the left, is stable too and arrives, but it cannot follow the eight: no map can.

with ew.plotting.style():
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharex=True, sharey=True)
    alone = field.simulate(way[0], t=np.linspace(0, 20, 2001), memory=False)
    for ax, curve, title in zip(axes, (alone, way), ("without memory", "with memory, pushed once"), strict=True):
        for path in found.paths(0):
            ax.plot(*found.demos.x[path].T, color=ew.plotting.LIGHT.colour(0), alpha=0.3, lw=4)
        ax.plot(*curve.T, color=ew.plotting.LIGHT.ink, lw=1.6)
        ax.plot(*curve[0], "o", color=ew.plotting.LIGHT.ink, ms=6)
        ax.plot(*field.attractors[0], "X", color=ew.plotting.LIGHT.colour(1), ms=11, mec="white")
        ax.set_title(title)
        ax.set_aspect("equal")
