"""Which demonstrations are bad: `audit(demos)` looks at every episode and says what is wrong, how badly, and what to do."""

from .api import Audit, Goal, Verdict, audit
from .faults import Fault

__all__ = ["Audit", "Fault", "Goal", "Verdict", "audit"]
