"""
The birth of an oscillation
===========================

At each of twelve values of a parameter 300 noisy velocities at scattered places. Rest becomes a cycle at zero (a Hopf
bifurcation). The diagram is made from the samples alone; the grey band holds the onset with 90 %.
"""

import numpy as np

import eigenwell as ew

rng = np.random.default_rng(0)
p = np.repeat(np.linspace(-1, 1, 12), 300)
x = rng.uniform(-1.7, 1.7, size=(len(p), 2))
v = p[:, None] * x + np.stack([-x[:, 1], x[:, 0]], axis=1) - x * (x**2).sum(axis=1, keepdims=True)
v += 0.2 * np.median(np.linalg.norm(v, axis=1)) * rng.standard_normal(v.shape)

swept = ew.sweep({"gain": p, "x1": x[:, 0], "x2": x[:, 1], "v1": v[:, 0], "v2": v[:, 1]}, by="gain")
print(swept)

with ew.plotting.style():
    swept.plot()
