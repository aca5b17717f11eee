"""Every table and figure of the paper, made anew beside what was printed: `reproduce("folder", quick=True)`.

One module per table or figure; `run` goes through them, `page` writes what they found.
"""

from .results import Check, Figure, Outcome, Table
from .run import ITEMS, Item, Reproduction, reproduce
from .study import FULL, QUICK, Effort, Study

__all__ = [
    "FULL",
    "ITEMS",
    "QUICK",
    "Check",
    "Effort",
    "Figure",
    "Item",
    "Outcome",
    "Reproduction",
    "Study",
    "Table",
    "reproduce",
]
