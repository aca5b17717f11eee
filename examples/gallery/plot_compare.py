"""
Control and treatment
=====================

A pendulum clock's two rests before and after the table was tilted: which rest is which, how far each moved, and whose basin
grew. Circles are before, squares after; bars hold the share of the samples with 90 %.
"""

import eigenwell as ew

level = ew.identify(ew.systems.duffing.snapshots(400, seed=0, noise=0.1))
tilted = ew.identify(ew.systems.tilted_duffing.snapshots(400, seed=1, noise=0.1))
compared = ew.compare({"level": level, "tilted": tilted})
print(compared)

with ew.plotting.style():
    compared.plot()
