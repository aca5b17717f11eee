"""
A switch that loses a state
===========================

Scientists do not ask once. There is a control and a treatment, or a knob that is turned until something gives. Here two genes
switch each other off, and a drug weakens the first one. Does the switch still have both states? At which dose is one lost?
You need ``pip install "eigenwell[plot]"``; nothing here is trained, and the equations are used only to make the data.

The measurement
---------------
At each of nine doses 300 cells are seen once, with noisy velocities: a tenth of the usual speed.
"""

import numpy as np

import eigenwell as ew


def velocity(x, dose):
    """Each gene is made where the other is rare, and decays; the drug slows the making of the first."""
    a, b = np.maximum(x, 0).T
    return np.stack([(4 - dose) / (1 + b**3), 4 / (1 + a**3)], axis=1) - x


def cells(dose, seed, n=300):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 5, size=(n, 2))
    v = velocity(x, dose)
    return x, v + 0.1 * np.median(np.linalg.norm(v, axis=1)) * rng.standard_normal(v.shape)


# %%
# Control and treatment
# ---------------------
# Two conditions are compared. States are matched across them; each says whether it is where it was, moved, new or gone, and
# how large a share of the cells is on its way to it, with an interval and a test.

control = ew.identify(*cells(0.0, seed=0), graph=ew.FlowGraph())
treated = ew.identify(*cells(1.0, seed=1), graph=ew.FlowGraph())
compared = ew.compare({"control": control, "dose 1": treated})
print(compared)

# %%
# Circles are the control, squares the treatment. The state in which the first gene is on has moved and lost cells.

with ew.plotting.style():
    compared.plot()

# %%
# Turning the knob
# ----------------
# One table with a column for the dose is all that ``sweep`` needs. It estimates one field of state *and* dose from all cells
# together, so that each dose borrows from its neighbours; and it follows every state along the dose until it is lost.

doses = np.linspace(0, 3.2, 9)
samples = [cells(dose, seed=10 + k) for k, dose in enumerate(doses)]
x, v = np.concatenate([s[0] for s in samples]), np.concatenate([s[1] for s in samples])
table = {"dose": np.repeat(doses, 300), "x1": x[:, 0], "x2": x[:, 1], "v1": v[:, 0], "v2": v[:, 1]}
swept = ew.sweep(table, by="dose")
print(swept)

# %%
# The bifurcation diagram, from data alone: where the first gene rests against the dose, bars of two standard errors, and below
# it the share of each basin. The grey band is where the state is lost, with 90 %.

with ew.plotting.style():
    swept.plot()

# %%
# We know the truth here: the value at which two zeros of the field meet. Compare:


def states(dose):
    """Stable zeros of the true field, from many starts."""
    starts = np.stack(np.meshgrid(np.linspace(0, 5, 12), np.linspace(0, 5, 12)), -1).reshape(-1, 2)
    ends = ew.systems.integrate(lambda s: velocity(s, dose), starts, 0.5, 300, keep_all=False, finest=0.1)[-1]
    return len(np.unique(ends.round(2), axis=0))


fine = np.linspace(1, 3.2, 45)
lost = next(d for d in fine if states(d) == 1)
event = swept.events[0]
print(f"lost at {lost:.2f}; found {event.value:.2f}, between {event.low:.2f} and {event.high:.2f}")
