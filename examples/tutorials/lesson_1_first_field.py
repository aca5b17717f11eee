"""
Your first field in ten minutes
===============================

You will take measurements of something that moves, find out where it comes to rest, and learn a vector field that brings any
state there. Install with ``pip install "eigenwell[learn,plot]"`` and type along.

Measurements
------------
A state ``x`` is where something is: a hand in the plane, the angles of a robot's joints, the amounts of two proteins. A velocity
``v`` is which way it was going, and how fast. Here they come from a system we know, an oscillator with two wells, so that you
can compare the answer with the truth. We throw away everything else: which sample came first, and which came from which run.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew

demos = ew.systems.duffing.sample(seed=0).shuffled()
x, v = demos.x, demos.v
print(x.shape, v.shape)

with ew.plotting.style():
    figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    ax.quiver(*x[::8].T, *v[::8].T, color=ew.plotting.LIGHT.faint, angles="xy", width=0.002)
    ax.set(xlabel="position", ylabel="speed", title="all we have: arrows in no order")

# %%
# Where does it end?
# ------------------
# One call, no settings.

found = ew.identify(x, v)
print(found)

# %%
# Two places of rest, *attractors*, at (-2, 0) and (2, 0), as it should be. Every sample has a label, and the answer says how
# sure it is:

print("attractors:", np.round(found.attractors, 3).tolist())
print("labels of the first samples:", found.labels[:10])
print("confidence:", round(found.confidence, 2))

with ew.plotting.style():
    ew.plotting.plot_samples(found.demos, found)

# %%
# If something about the data is doubtful, it is told in ``found.warnings``; print ``found`` and read the lines that begin
# with ``!``.
#
# A field that ends there
# -----------------------
# A *vector field* says for every state which way to go. ``learn`` makes one from what was found. It needs JAX
# (``pip install "eigenwell[learn]"``) and some seconds.

field = ew.learn(found)
print(field)

with ew.plotting.style():
    ew.plotting.plot_field(field, found.demos, found)

# %%
# The colours are the *basins*: from blue states the field leads left, from orange ones right. The dashed line is the border.
#
# Follow it
# ---------
# Ask for the velocity at a state, take a small step, ask again. This loop is what a robot's controller does, and it arrives from
# anywhere.

state = np.array([0.5, 1.0])
dt = 0.01
way = [state]
for _ in range(4000):
    state = state + dt * field.predict(state)
    way.append(state)
print(
    "arrived at", state.round(2).tolist(), "as foretold:", field.attractors[field.basin([0.5, 1.0])].round(2).tolist()
)

with ew.plotting.style():
    ax = ew.plotting.plot_field(field)
    ax.plot(*np.array(way).T, color=ew.plotting.LIGHT.colour(2), lw=2)

# %%
# Can you trust it?
# -----------------
# Two questions. Is it stable? That is proved, and a *certificate* tests it by the very loop you wrote. Does it follow the
# data? That is measured:

print(field.certificate(samples=5, rates=(100.0,)))
print(field.fit)

# %%
# Keep it
# -------
# One file; loading it needs neither JAX nor your data.

file = Path(tempfile.mkdtemp()) / "duffing.eigenwell"
field.save(file)
again = ew.load(file)
print(again.predict([0.5, 1.0]), field.predict([0.5, 1.0]))

# %%
# Where to go next: :doc:`your own recordings </tutorials/lesson_2_robot_log>`, :doc:`how many stable states
# </tutorials/lesson_3_stable_states>`, or ``eigenwell studio`` to draw motions with your mouse.
