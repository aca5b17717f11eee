"""Numbers and doubts in words, the same in the terminal, in the report and in figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from .._types import FloatArray
from ..demonstrations import Caution


@dataclass(frozen=True)
class Words:
    """What attractors and demonstrations are called on a page, and the number of the first: one word, one count.

    In Python they are attractors and count from 0, as arrays do; who drew strokes to goals counts from 1.

    Parameters
    ----------
    attractor, demonstration : str
        The words.
    first : int
        The number of the first.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.report.Words("goal", "stroke", 1).said("demonstration 0 (to attractor 1)")
    'stroke 1 (to goal 2)'
    """

    attractor: str = "attractor"
    demonstration: str = "demonstration"
    first: int = 0

    def one(self, q: int) -> str:
        """Attractor q by its name.

        Parameters
        ----------
        q : int
            As in Python, from 0.

        Returns
        -------
        str
            Its word and its number.
        """
        return f"{self.attractor} {q + self.first}"

    def said(self, text: str) -> str:
        """The library's sentence in these words.

        Parameters
        ----------
        text : str
            For example a warning.

        Returns
        -------
        str
            The same with these words and numbers.
        """

        def number(match: re.Match[str]) -> str:
            word = self.demonstration if match[1].lower().startswith("demo") else self.attractor
            # "Sub-dynamics 0 and 1" are two; behind "attractor 0" other numbers count something else.
            more = re.sub(r"\d+", lambda m: str(int(m[0]) + self.first), match[3]) if match[1][-1] == "s" else match[3]
            word += "s" * (match[1][-1] == "s" and more != "")
            return f"{word.capitalize() if match[1][0].isupper() else word} {int(match[2]) + self.first}{more}"

        nouns = r"[Dd]emonstrations?|[Aa]ttractors?|[Ss]ub-dynamics"
        text = re.sub(rf"\b({nouns}) (\d+)((?:(?:,| and) \d+\b)*)", number, text)
        if self == PLAIN:
            return text
        text = re.sub(r"\b((?:[2-9]|\d\d+)) sub-dynamics\b", rf"\1 {self.attractor}s", text)
        text = re.sub("sub-dynamics|attractor", self.attractor, text)
        return re.sub(
            r"trajector(?:y|(ies))|demonstration(s)?", lambda m: self.demonstration + "s" * bool(m[1] or m[2]), text
        )


PLAIN = Words()
_IN_USE: ContextVar[Words] = ContextVar("words", default=PLAIN)


def words() -> Words:
    """Of the page that is being written."""
    return _IN_USE.get()


@contextmanager
def written_in(chosen: Words) -> Iterator[None]:
    """Pages that are written meanwhile use these words."""
    before = _IN_USE.set(chosen)
    try:
        yield
    finally:
        _IN_USE.reset(before)


# What to do about a doubt, where its own message does not say.
_REMEDIES = {
    "unassigned-samples": "Leave them out, sample more densely, or pass whole trajectories in order of time.",
    "two-candidates": "Look at the ends in the close-up below, and record a few more demonstrations for each goal.",
    "closed-orbit": "Leave those recordings out, or stop them at the goal.",
    "poor-fit": "Record smoother demonstrations, train longer, or learn with memory where paths cross.",
    "attractor-outside": "Record until the motion stops, so that the data surround their goal.",
    "unfinished": "Record until the motion stops.",
    "duplicated-trajectory": "Leave the copies out; they count twice.",
    "duplicated-samples": "Usually harmless: a sensor that reports a value twice.",
}


def remedy(caution: Caution) -> str:
    """What to do, or nothing where the message has said it."""
    return _REMEDIES.get(caution.name, "")


def quantity(value: float, error: float, extent: float) -> str:
    """'1.204 ± 0.003': as many digits as the error supports, none finer than a hundred-thousandth of the extent."""
    floor = 1e-5 * extent if extent > 0 else 1e-12
    shown = max(abs(error), floor)
    digits = max(0, -math.floor(math.log10(shown)))
    if digits > 8 or max(abs(value), shown) >= 1e7:
        return f"{value:.4g} ± {shown:.1g}"
    step = 10.0**-digits
    # Rounded up: an uncertainty must not look smaller than it is.
    rounded = math.ceil(shown / step - 1e-9) * step
    return f"{round(value, digits) + 0.0:.{digits}f} ± {rounded:.{digits}f}"


def surety(confidence: float) -> str:
    """Confidence in a word."""
    for least, word in ((0.9, "very sure"), (0.7, "fairly sure"), (0.4, "not sure")):
        if confidence >= least:
            return word
    return "a guess"


def point(coordinates: Sequence[float] | FloatArray, most: int = 4) -> str:
    largest = max((abs(c) for c in coordinates), default=0.0)
    # Rounding errors beside numbers of ordinary size read as zero.
    shown = ", ".join(f"{0.0 if abs(c) < 1e-9 * largest else c:.4g}" for c in coordinates[:most])
    return f"({shown}, …)" if len(coordinates) > most else f"({shown})"
