"""Every table and figure of the paper, made anew beside what was printed: `reproduce("folder", quick=True)`.

One module per table or figure; `run` goes through them, `page` writes what they found.
"""

from .results import Check as Check
from .results import Figure as Figure
from .results import Outcome as Outcome
from .results import Table as Table
from .run import ITEMS, Reproduction, reproduce
from .run import Item as Item
from .study import FULL as FULL
from .study import QUICK as QUICK
from .study import Effort as Effort
from .study import Study as Study

__all__ = ["ITEMS", "Reproduction", "reproduce"]
