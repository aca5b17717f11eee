"""
From a robot's log to a controller
==================================

A robot was led by hand to two places, several times. Its logger left a CSV file. You will read it, find out how many tasks it
holds, learn a controller, test it, and write it as C. You need ``pip install "eigenwell[learn,plot,export]"``.

The log
-------
We write such a file first: time in milliseconds, a column that counts the episodes, positions in metres with a millimetre of
noise, and columns that do not matter, as loggers have them. If you have your own, start below.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
lines = ["timestamp_ms,episode,tcp_x,tcp_y,gripper_current"]
for episode in range(8):
    start = np.array([[0.1, 0.3], [0.1, 0.8]])[episode % 2] + 0.03 * rng.standard_normal(2)
    goal = np.array([[0.55, 0.15], [0.6, 0.6]])[episode % 2] + 0.003 * rng.standard_normal(2)
    seconds = rng.uniform(1.6, 2.4)
    for t in np.arange(0, seconds + 0.3, 0.01):
        s = min(t / seconds, 1)
        s = s**3 * (10 - 15 * s + 6 * s**2)
        bow = np.array([0.0, 0.08]) * np.sin(np.pi * s)
        x, y = start + s * (goal - start) + bow + 0.001 * rng.standard_normal(2)
        lines.append(f"{1000 * t:.0f},{episode},{x:.5f},{y:.5f},{0.3 + 0.02 * rng.standard_normal():.3f}")
log = folder / "log.csv"
log.write_text("\n".join(lines))
print("\n".join(lines[:4]))

# %%
# Read it
# -------
# Columns are recognised by their names. ``demos.about`` says what was taken for what; warnings say what was assumed.

demos = ew.files.read(log)
print(demos)
print(demos.about)
print(*demos.warnings, sep="\n")

# %%
# Nobody told it about the noise. It was found, and velocities, which the file does not have, were estimated accordingly:

print("noise of each episode, mm:", np.round(1000 * np.array(demos.noise), 2))

# %%
# How many tasks?
# ---------------

found = ew.identify(demos)
print(found)

# %%
# If you know better, say so: ``ew.identify(demos, n_attractors=2)``, or ``labels=`` from a task column, or
# ``exclude=[3]`` for an episode that went wrong. ``found.odd`` names episodes that look odd by themselves.
#
# Learn and look
# --------------

field = ew.learn(found)
print(field)

with ew.plotting.style():
    ew.plotting.plot_field(field, found.demos, found)

# %%
# The controller
# --------------
# Measure, ask, move, a hundred times a second. Here "the robot" does what it is told, except that somebody pushes it half-way.

dt, x = 0.01, found.demos.x[found.paths(0)[0][0]]
goal = field.toward(0)  # keep to one task, whatever it crosses
way = [x]
for step in range(600):
    x = x + dt * goal.predict(x)
    if step == 60:
        x = x + np.array([0.05, 0.1])
    way.append(x)
way = np.array(way)
print("ends", 1000 * np.linalg.norm(x - field.attractors[0]).round(4), "mm from the goal")

with ew.plotting.style():
    figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    for path in found.paths(0):
        ax.plot(*found.demos.x[path].T, color=ew.plotting.LIGHT.colour(0), lw=3, alpha=0.3)
    ax.plot(*way.T, color=ew.plotting.LIGHT.ink, lw=1.6)
    ax.plot(*field.attractors[0], "X", color=ew.plotting.LIGHT.colour(1), ms=11, mec="white")
    ax.set(xlabel="x, m", ylabel="y, m", title="pushed, and back on its way")

# %%
# The robot's own computer may have no Python. Write the field as a C header, which is compiled and compared with Python before
# you get it, and save the model for another day:

print(ew.export.export_c(field, folder / "field.h"))
field.save(folder / "field.eigenwell")
print(sorted(f.name for f in folder.iterdir()))

# %%
# The same without Python code::
#
#     eigenwell identify log.csv
#     eigenwell learn log.csv -o field.eigenwell
#     eigenwell certify field.eigenwell
#     eigenwell export field.eigenwell --c field.h
#
# Motions that cross themselves (loops, letters) need memory: :doc:`/howto/crossings`. On the robot: :doc:`/howto/controller`.
