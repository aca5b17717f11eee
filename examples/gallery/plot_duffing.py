"""
Two wells and the border between them
=====================================

A Duffing oscillator has two places of rest. From 6,006 shuffled samples eigenwell finds both, says which sample ends
where, and learns one field. The field knows more than it was told: the saddle between the wells, and the separatrix, the
curve that divides what ends left from what ends right.
"""

import matplotlib.pyplot as plt
import numpy as np

import eigenwell as ew

system = ew.systems.duffing
demos = system.sample(seed=0).shuffled()
found = ew.identify(demos.x, demos.v)
print(found)

# %%
# One field for both attractors. Nothing else attracts, whatever was learned: that is how the field is built.

field = ew.learn(found)
print(field)

with ew.plotting.style():
    figure, ax = plt.subplots(figsize=(7.5, 5.2), layout="constrained")
    ew.plotting.plot_field(field, demos, found, ax=ax)

# %%
# How good is the border? Ask field and true system where 400 states nobody has seen will end.

low, high = system.box.T
states = np.random.default_rng(1).uniform(low, high, size=(400, 2))
agree = field.basin(states) == system.fate(states)
print(f"{agree.mean():.1%} of 400 new states end where the true system takes them")
