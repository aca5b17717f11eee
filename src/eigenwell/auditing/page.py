"""One HTML page of an audit: a thumbnail of every episode, the bad ones first, its like in grey behind it."""

from __future__ import annotations

from html import escape
from importlib import resources

import numpy as np

from .._types import FloatArray
from ..palette import DARK, LIGHT, Theme
from ..wording import plural
from .api import Audit, Verdict
from .faults import LEAVE_OUT

__all__ = ["page"]

SIZE, MARGIN, POINTS, LIKE = 200, 10, 40, 24
"""Pixels of a thumbnail and of its margin, places along a way, and ways of its like that are drawn."""


def page(found: Audit, title: str) -> str:
    """The page, without scripts, fonts or network; its title says what was looked at."""
    view = View(found)
    bad, good = found.bad, [v for v in found.verdicts if not v.faults]
    cards = "".join(_card(v, view) for v in bad)
    fine = "".join(
        f'<figure title="{escape(v.name)}">{_picture(v, view)}<figcaption>{v.episode}</figcaption></figure>'
        for v in good
    )
    count = f"{len(bad)} of " * bool(bad) + plural(len(found.verdicts), "episode")
    said = f"{'looks' if len(bad) == 1 else 'look'} bad" if bad else "nothing wrong"
    notes = "".join(f"<li>{escape(m)}</li>" for m in found.missing)
    notes += "".join(f"<li>Skipped {escape(name)}: {escape(why)}</li>" for name, why in found.skipped)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        f'initial-scale=1"><title>Audit of {escape(title)}</title><style>{_style()}</style></head><body><main>'
        f'<header><p class="of">Audit of {escape(title)}</p><h1><b>{count}</b> {said}</h1>'
        f"<p>{len(found.keep)} to keep. {_goals(found)}</p>{f'<ul>{notes}</ul>' if notes else ''}</header>{view.symbols()}"
        f"{f'<h2>Look at these</h2><section class=cards>{cards}</section>' if cards else ''}"
        f"{f'<h2>Nothing wrong</h2><section class=fine>{fine}</section>' if fine else ''}"
        "<footer>Grey: other episodes to the same goal. Open ring: start. Full dot: end. A threshold comes from the other "
        "episodes of the set; confidence is 1 minus the number of good episodes that would look as bad.</footer>"
        "</main></body></html>"
    )


def _goals(found: Audit) -> str:
    if not found.goals:
        return "No goals were found."
    each = ", ".join(
        f'<span class="q{q % len(LIGHT.colours)}">●</span> goal {q}: {plural(len(g.episodes), "episode")}'
        for q, g in enumerate(found.goals[:40])
    )
    return f"{plural(len(found.goals), 'goal')}: {each}."


class View:
    """Ways of all episodes in the plane in which they are widest, and how to put them into a thumbnail."""

    def __init__(self, found: Audit) -> None:
        verdicts, items = found.verdicts, found.source.items
        ways = [e.x[np.linspace(0, len(e) - 1, min(len(e), POINTS)).round().astype(int)] for e in items]
        # The good ones decide the frame: an episode in millimetres would shrink all others to a dot.
        core = np.concatenate([w for w, v in zip(ways, verdicts, strict=True) if not v.faults] or ways)
        centre, axes = core.mean(axis=0), np.eye(core.shape[1])
        if core.shape[1] > 2:
            axes = np.linalg.svd(core - centre, full_matrices=False)[2][:2]
        self.flat = {v.episode: self._flat((w - centre) @ axes.T) for v, w in zip(verdicts, ways, strict=True)}
        edge = np.concatenate([self.flat[v.episode] for v in verdicts if not v.faults] or list(self.flat.values()))
        self.low, self.high = edge.min(axis=0), edge.max(axis=0)
        self.verdicts = verdicts

    @staticmethod
    def _flat(points: FloatArray) -> FloatArray:
        return points[:, :2] if points.shape[1] > 1 else np.column_stack([np.linspace(0, 1, len(points)), points[:, 0]])

    def fits(self, episode: int) -> bool:
        """Whether most of an episode lies in the frame of the set."""
        wide = np.maximum(self.high - self.low, np.finfo(float).tiny)
        f = self.flat[episode]
        return bool(np.mean(((f >= self.low - wide) & (f <= self.high + wide)).all(axis=1)) > 0.5)

    def line(self, episode: int, alone: bool = False) -> list[tuple[str, str]]:
        """Pixels of the way of an episode; `alone`, in a frame of its own."""
        f = self.flat[episode]
        low, high = (f.min(axis=0), f.max(axis=0)) if alone else (self.low, self.high)
        scale = (SIZE - 4 * MARGIN) / max(float((high - low).max()), np.finfo(float).tiny)
        at = SIZE / 2 + (f - (low + high) / 2) * scale * [1, -1]
        at = np.clip(at, -SIZE, 2 * SIZE)
        return [(f"{a:.0f}", f"{b:.0f}") for a, b in at.tolist()]

    def symbols(self) -> str:
        """The like of every goal, drawn once."""
        out = []
        for q in sorted({v.goal for v in self.verdicts}):
            mine = [v.episode for v in self.verdicts if not v.faults and (q < 0 or v.goal == q)]
            chosen = mine[:: max(1, -(-len(mine) // LIKE))]
            lines = "".join(f'<polyline points="{_points(self.line(k))}"/>' for k in chosen)
            out.append(f'<symbol id="like{q}" viewBox="0 0 {SIZE} {SIZE}">{lines}</symbol>')
        return f'<svg width="0" height="0" aria-hidden="true" class="like">{"".join(out)}</svg>'


def _points(line: list[tuple[str, str]]) -> str:
    return " ".join(f"{a},{b}" for a, b in line)


def _picture(v: Verdict, view: View) -> str:
    alone = not view.fits(v.episode)
    line = view.line(v.episode, alone)
    behind = "" if alone else f'<use href="#like{v.goal}" class="like"/>'
    (a, b), (c, d) = line[0], line[-1]
    tint = f"q{v.goal % len(LIGHT.colours)}" if v.goal >= 0 else "q-1"
    return (
        f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="way of episode {v.episode}">{behind}'
        f'<g class="{tint}"><polyline class="own" points="{_points(line)}"/><circle class="start" cx="{a}" cy="{b}" r="4"/>'
        f'<circle class="end" cx="{c}" cy="{d}" r="4.5"/></g></svg>'
    )


def _card(v: Verdict, view: View) -> str:
    faults = "".join(
        f'<li><span class="name">{escape(f.name)}</span> {escape(f.message)} '
        f'<span class="sure">confidence {f.confidence:.2f}</span></li>'
        for f in v.faults
    )
    action = v.faults[0].action
    kind = "out" if action == LEAVE_OUT else "mend"
    name = f' <span class="file">{escape(v.name)}</span>' if v.name else ""
    return (
        f'<article><div class="picture">{_picture(v, view)}</div><div><h3>Episode {v.episode}{name}'
        f'<span class="{kind}">{escape(action)}</span></h3><ul>{faults}</ul></div></article>'
    )


def _style() -> str:
    def variables(theme: Theme) -> str:
        named = {name: getattr(theme, name) for name in ("paper", "ink", "faint", "grid")} | {"none": theme.unassigned}
        named |= {f"q{q}": colour for q, colour in enumerate(theme.colours)}
        return "".join(f"--{name}:{colour};" for name, colour in named.items())

    tints = "".join(f".q{q}{{color:var(--q{q})}}" for q in range(len(LIGHT.colours)))
    dark = f"@media(prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
    rules = resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return f":root{{{variables(LIGHT)}color-scheme:light dark}}{dark}{tints}{rules}"
