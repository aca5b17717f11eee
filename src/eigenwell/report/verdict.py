"""What a field is worth: whether it is stable as it is called, and beside it whether it follows the data."""

from __future__ import annotations

from html import escape
from typing import Any

from ..fields import Certificate, Fit, Followed, Loop
from ..fields.fit import GOOD
from ..wording import plural
from .markup import dot, judged, table
from .wording import point, words

MOST_ROWS = 8
"""Demonstrations in the table, the worst first; the others are folded away."""


def verdict(certificate: Certificate) -> str:
    """The section: stability and fit side by side, then the loops and the demonstrations in numbers."""
    return f"""<section id="at-certificate">
<h2>The certificate, and the fit</h2>
<p class="caption">Stability is proved on paper; here the call that people make was put to the test. A field can be stable and
still be a bad one, so how well it follows the data stands beside it.</p>
<div class="verdicts">{_stability(certificate)}{_following(certificate.fit)}</div>
<h3>Loops x ← x + dt · predict(x), and x ← advance(x, dt): shares of the loops, and of the steps in which V falls</h3>
<div class="scroll">{_loops(certificate)}</div>
{_demonstrations(certificate.fit)}
</section>"""


def headline(certificate: Certificate) -> str:
    """For the top of the page: one line that shows a bad fit as loudly as a failed test."""
    fit = certificate.fit
    stable = judged(certificate.safe, "stable as tested", "not stable as tested")
    if fit is None:
        return f'<p class="learned">Learned field: {stable}.</p>'
    follows = judged(fit.good, "follows the data", "does not follow the data")
    joint = "and" if certificate.safe == fit.good else "but"
    return (
        f'<p class="learned">Learned field: {stable}, {joint} {follows}: {fit.distance:.1%} of the extent away on '
        f"average, {escape(_how(fit.worst))} at worst.</p>"
    )


def _stability(certificate: Certificate) -> str:
    saddles = ", ".join(point(place) for place in certificate.saddles[:6])
    places = f" at {escape(saddles)}" if saddles else ""
    rest = ", …" if len(certificate.saddles) > 6 else ""
    parts = "".join(
        f"<li>{judged(one.holds, one.name, one.name)}: {escape(one.said)}</li>" for one in certificate.verdicts[1:-1]
    )
    if certificate.too_slow:
        rates = ", ".join(f"{rate:g}" for rate in certificate.too_slow)
        parts += f'<li class="no">too slow for Euler\'s rule: {rates} Hz; use advance, or a higher rate</li>'
    return f"""<div class="verdict {"good" if certificate.safe else "bad"}">
<h3>Stable</h3>
<p class="big">{judged(certificate.safe, "Stable, and stays home", "Not stable as tested")}</p>
<ul><li>{plural(certificate.sinks, "sink")}, for {plural(len(certificate.attractors), words().attractor)}</li>
<li>{plural(len(certificate.saddles), "saddle")}{places}{rest}; no other equilibrium</li>
<li>dV/dt &lt; 0 at {certificate.decreasing:.2%} of {certificate.samples:,} states in three times the box</li>
<li>largest jump of the velocity: {certificate.jump:.1g} of the speed limit</li>{parts}</ul></div>"""


def _following(fit: Fit | None) -> str:
    if fit is None:
        return '<div class="verdict"><h3>Follows the data</h3><p class="big">Not measured</p></div>'
    by = "each along its motion, with memory" if fit.by == "motion" else "by the map, without memory"
    wrong = sum(not one.arrives for one in fit.demonstrations)
    ends = f"all {len(fit.demonstrations)} end at their own {words().attractor}"
    if wrong:
        ends = f'<span class="no">{wrong} of {len(fit.demonstrations)} end at another {words().attractor} than their own</span>'
    return f"""<div class="verdict {"good" if fit.good else "bad"}">
<h3>Follows the data</h3>
<p class="big">{judged(fit.good, f"{fit.distance:.1%} of the extent away", "Does not follow the data")}</p>
<ul><li>{plural(len(fit.demonstrations), words().demonstration)}, followed {by}</li>
<li>distance {fit.distance:.1%} of the extent on average; in time to {fit.timing:.0%} of the duration</li>
<li>worst: {escape(_how(fit.worst))}</li>
<li>{ends}</li></ul></div>"""


def _how(one: Followed) -> str:
    off = "" if one.arrives else f", ending at another {words().attractor}"
    return f"{words().said(one.name)}, {one.distance:.1%}{off}"


def _loops(certificate: Certificate) -> str:
    headings = (
        "loop",
        "from",
        "starts",
        "arrive",
        "where basin said",
        "V falls",
        "path / straight",
        "boxes outside",
        "",
    )
    rows = [
        (
            f"{'predict' if loop.method == 'euler' else 'advance'} at {loop.rate:g} Hz",
            f"{loop.region:g} × the box",
            *_numbers(loop, _share(loop.as_basin_said), f"{loop.path_ratio[0]:.2f} (95 %: {loop.path_ratio[1]:.2f})"),
            _kept(loop),
        )
        for loop in certificate.loops
    ]
    rows += [
        (
            f"motion.step at {one.rate:g} Hz",
            "shown starts" + (", pushed" if one.pushed else ""),
            *_numbers(one, "", ""),
            judged(one.holds, "all arrive", "not all arrive"),
        )
        for one in certificate.motions
    ]
    return table(headings, rows)


def _numbers(one: Any, said: str, ratio: str) -> tuple[str, ...]:
    falls, outside = f"{one.falling:.2%}", f"{one.excursion:.2f}"
    return f"{one.starts:,}", _share(one.arrived), said, falls, ratio, outside


def _share(share: float) -> str:
    """All of it, or less in the colour of a doubt: no green word stands beside it unmarked."""
    return "100%" if share == 1.0 else f'<span class="no">{share:.1%}</span>'


def _kept(loop: Loop) -> str:
    """What the loop was asked for: of Euler's rule to arrive, of `advance` all of it."""
    if loop.method == "euler":
        missed = "not all where basin said" if loop.holds else "not all arrive"
        return judged(loop.holds and not loop.as_basin_said < 1.0, "all arrive", missed)
    return judged(loop.holds, "holds", "does not hold")


def _demonstrations(fit: Fit | None) -> str:
    if fit is None:
        return ""
    worst_first = sorted(fit.demonstrations, key=lambda one: (one.arrives, -one.distance))
    name, ends = words().demonstration, f"ends at its {words().attractor}"
    headings = (name, "distance", "timing", "cosine error of the map", ends, "")
    rows = [
        (
            f"{dot(one.goal)}{escape(words().said(one.name))}",
            f"{one.distance:.2%}",
            f"{one.timing:.1%}",
            f"{one.cosine_error:.3f}",
            "yes" if one.arrives else '<span class="no">no</span>',
            judged(one.arrives and one.distance <= GOOD, "followed", "not followed"),
        )
        for one in worst_first
    ]
    shown, more = (
        f'<div class="scroll">{table(headings, some)}</div>' for some in (rows[:MOST_ROWS], rows[MOST_ROWS:])
    )
    if len(rows) > MOST_ROWS:
        shown += f"<details><summary>The other {len(rows) - MOST_ROWS} {name}s</summary>{more}</details>"
    return f"<h3>Every {name} and the roll-out from its start, the worst first; shares of the data's extent</h3>{shown}"
