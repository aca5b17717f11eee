"""Figures in matplotlib. Each function draws one thing on one axes and returns it; MissingExtra says where matplotlib is not
installed.

>>> import eigenwell as ew
>>> demos = ew.systems.heart.sample(seed=0)
>>> found = ew.identify(demos)
>>> ax = ew.plotting.plot_samples(found)                              # doctest: +SKIP
>>> with ew.plotting.style(ew.plotting.DARK):                         # doctest: +SKIP
...     ax = ew.plotting.plot_field(ew.learn(found), found)
"""

from ..palette import DARK, LIGHT
from .canvas import style
from .changes import plot_comparison, plot_sweep
from .field import plot_field
from .identified import plot_embedding, plot_fates, plot_graph, plot_samples, plot_spectrum

__all__ = [
    "DARK",
    "LIGHT",
    "plot_comparison",
    "plot_embedding",
    "plot_fates",
    "plot_field",
    "plot_graph",
    "plot_samples",
    "plot_spectrum",
    "plot_sweep",
    "style",
]
