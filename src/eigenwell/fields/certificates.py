"""Stability is proved on paper; a certificate reports what was met when the public call was put to the test.

The test is the user's own loop, x += dt * field.predict(x) or x = field.advance(x, dt), at the rates a controller runs at, from
the box of the data and from three times it; not an inner part of the proof. Beside it: V along those loops, every equilibrium
that exists, continuity along random lines, and how well the data are followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._types import BoolArray, FloatArray
from ..progress import advance
from ..wording import plural
from .fit import Fit
from .home import MARGIN as HOME
from .loops import Loop, motion_loops, nearly_there, run_loops

if TYPE_CHECKING:
    from .learned import Field

BOX = 3.0
"""States are drawn from the box of the data and from this many times it."""
NEARBY = 1e-9
"""Two states this share of the box apart must have velocities that differ by less than a millionth of the speed limit."""
SMOOTH = 1e-6
"""What velocities so near may differ by."""
SLOWER = 10.0
"""Loops on `advance` run at a tenth of the slowest rate: they can."""
FINE_STEPS = 3000
"""Of a loop at a high rate: its last ones."""


@dataclass(frozen=True)
class Verdict:
    """One part of a certificate: its name, whether it holds, and the number it was decided by.

    Examples
    --------
    >>> [one.name for one in field.certificate(samples=4, rates=(50.0,)).verdicts]
    ['stable', 'arrives', 'where basin said', 'stays home', 'follows']
    """

    name: str
    """One of "stable", "arrives", "where basin said", "stays home" or "follows"."""
    holds: bool
    """Whether it does."""
    said: str
    """With its number."""

    def __str__(self) -> str:
        return f"{self.name if self.holds else 'NOT ' + self.name}: {self.said}"


@dataclass(frozen=True, eq=False)
class Certificate:
    """What sampling found of a field. `holds` is all of `verdicts`: what a script may rely on.

    Examples
    --------
    >>> certificate = field.certificate(samples=4, rates=(50.0,))
    >>> certificate.sinks == field.n_attractors
    True
    """

    attractors: FloatArray
    """(Q, d): of the field."""
    saddles: FloatArray
    """(n, d): where its basins meet."""
    sinks: int
    """Equilibria that attract all around, by the eigenvalues of the Jacobian."""
    speed_at_attractors: float
    """The largest; zero where all is well."""
    decreasing: float
    """Share of the sampled states at which V falls."""
    loops: tuple[Loop, ...]
    """What loops on `predict` did."""
    jump: float
    """The largest change of the velocity between states 1e-9 apart, as a share of the speed limit."""
    samples: int
    """States at which dV/dt was asked."""
    fit: Fit | None
    """How well the field follows the data."""
    motions: tuple[Loop, ...] = ()
    """What loops on `motion.step` did, of a field with memory, at the slowest rate; at the next one too where they did
    not arrive."""

    @property
    def holds(self) -> bool:
        """All of it: stable, arrives, where `basin` said, stays home, follows the data."""
        return all(one.holds for one in self.verdicts)

    @property
    def safe(self) -> bool:
        """All of it but the last: wherever it is and however it was learned, it is safe to run."""
        return all(one.holds for one in self.verdicts[:-1])

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Each part by name, with its number."""
        still = self.speed_at_attractors == 0 and self.sinks == len(self.attractors)
        exact = [loop for loop in self.loops if loop.method == "advance"]
        asked = [loop for loop in self.ran if loop.rate not in self.too_slow]
        arrived = min((loop.arrived for loop in asked), default=0.0)
        said = min((loop.as_basin_said for loop in exact), default=1.0)
        # A push may take a motion anywhere.
        out = max(loop.excursion for loop in self.ran if not loop.pushed)
        fit = self.fit
        return (
            Verdict(
                "stable",
                still and self.decreasing == 1.0 and self.jump < SMOOTH,
                f"{plural(self.sinks, 'sink')}, {plural(len(self.saddles), 'saddle')}; dV/dt < 0 at {self.decreasing:.2%} of "
                f"{self.samples} states; largest jump {self.jump:.1g} of the speed limit",
            ),
            Verdict("arrives", bool(asked) and arrived == 1.0, f"{arrived:.1%} of the loops"),
            Verdict("where basin said", said == 1.0, f"{said:.1%} of the loops on advance"),
            Verdict("stays home", out <= HOME, f"at most {out:.2f} boxes outside, of {HOME}"),
            Verdict("follows", fit is None or fit.good, "nothing to compare with" if fit is None else str(fit)),
        )

    @property
    def too_slow(self) -> tuple[float, ...]:
        """Rates at which loops on `predict` or `motion.step` do not all arrive: use a higher one, or `advance`.

        The highest rate that was asked for is never among them: there the loops must arrive.
        """
        rates = {loop.rate for loop in self.ran if not loop.holds and loop.method != "advance"}
        return tuple(sorted(rates - {max(loop.rate for loop in self.ran)}))

    @property
    def ran(self) -> tuple[Loop, ...]:
        """All loops, on `predict` and on `motion.step`."""
        return self.loops + self.motions

    @property
    def excursion(self) -> float:
        """The largest of all loops, in boxes."""
        return max(loop.excursion for loop in self.loops)

    def failures(self) -> list[str]:
        """What does not hold, in words.

        Returns
        -------
        list of str
            Empty where all of it holds.
        """
        return [str(one) for one in self.verdicts if not one.holds]

    def __str__(self) -> str:
        lines = ["holds" if self.holds else "DOES NOT HOLD", *(f"  {one}" for one in self.verdicts)]
        if self.too_slow:
            rates = ", ".join(f"{rate:g}" for rate in self.too_slow)
            lines.append(f"  too slow for Euler's rule: {rates} Hz; use field.advance, or a higher rate")
        for loop in self.ran:
            if loop.method == "euler" and loop.as_basin_said < loop.arrived:
                lines.append(
                    f"  Euler's rule at {loop.rate:g} Hz ends elsewhere than basin said from "
                    f"{loop.arrived - loop.as_basin_said:.1%} of {loop.region:g} x the box: field.predict(x, dt) does not"
                )
        return "\n".join(lines + [f"  {loop}" for loop in self.ran])


def certify(field: Field, *, samples: int, rates: tuple[float, ...], seed: int) -> Certificate:
    """Put a field to the test; all in the data's units, by its public calls."""
    if samples < 1:
        raise ValueError(f"Expected samples >= 1, got {samples}.")
    if not rates or any(not (np.isfinite(rate) and rate > 0) for rate in rates):
        raise ValueError(f"Expected control rates > 0, in steps per unit of time, got {rates}.")
    rng = np.random.default_rng(seed)
    low, high = field.samples.min(0), field.samples.max(0)
    middle, half = (low + high) / 2, field.box / 2
    # Drawn in the learned world: no state of this one is outside its walls or inside what it goes round.
    drawn = middle + BOX * half * rng.uniform(-1, 1, (10 * samples, field.dimension))
    wide = field.map.present_place(drawn)
    slope = (field.potential_gradient(wide) * field.predict(wide)).sum(1)
    loops: list[Loop] = []
    for k, rate in enumerate(rates):
        advance("control rates", k, len(rates))
        # The coarsest rate is the hardest, and is followed from start to end; finer ones come nearer to the flow itself and
        # cost more a second: they are followed over the last thousands of steps of the way from such starts.
        coarsest = rate == min(rates)
        count = samples if coarsest else max(1, samples // 10)
        region = np.repeat([1.0, BOX], count)
        starts = middle + region[:, None] * half * rng.uniform(-1, 1, (2 * count, field.dimension))
        starts = field.map.present_place(starts)
        if not coarsest:
            starts = nearly_there(field, starts, FINE_STEPS / rate * rng.uniform(0.25, 1.0, len(starts)))
        loops += run_loops(field, starts, rate, region, "euler")
        if coarsest:
            loops += run_loops(field, starts, rate / SLOWER, region, "advance")
    advance("control rates", len(rates), len(rates))
    return Certificate(
        attractors=field.attractors,
        saddles=field.saddles,
        sinks=_sinks(field),
        speed_at_attractors=float(np.abs(field.predict(field.attractors)).max()),
        decreasing=float((slope < 0).mean()),
        loops=tuple(loops),
        jump=_largest_jump(field, drawn[: 2 * samples]),
        samples=len(wide),
        fit=None if field.warps else field.fit,
        motions=motion_loops(field, rates, samples, rng),
    )


def _sinks(field: Field) -> int:
    """How many of all equilibria attract all around: the eigenvalues of the Jacobian, by central differences."""
    places = np.concatenate([field.attractors, field.saddles])
    h = 1e-6 * field.box
    count = 0
    for place in places:
        columns = [
            (field.predict(place + step) - field.predict(place - step)) / (2 * step.max()) for step in np.diag(h)
        ]
        count += bool((np.linalg.eigvals(np.array(columns).T).real < 0).all())
    return count


def _largest_jump(field: Field, ends: FloatArray) -> float:
    """Bisection along lines for the place where the velocity changes most, down to 1e-9 of the box."""
    a, b = ends[::2].copy(), ends[1::2].copy()
    fa, fb = (field.predict(field.map.present_place(end)) for end in (a, b))
    reach = float(np.linalg.norm((a - b) / field.box, axis=1).max())
    for _ in range(int(np.ceil(np.log2(reach / NEARBY)))):
        middle = (a + b) / 2
        fm = field.predict(field.map.present_place(middle))
        first: BoolArray = np.linalg.norm(fm - fa, axis=1) >= np.linalg.norm(fb - fm, axis=1)
        b, fb = np.where(first[:, None], middle, b), np.where(first[:, None], fm, fb)
        a, fa = np.where(first[:, None], a, middle), np.where(first[:, None], fa, fm)
    return float(np.linalg.norm(fb - fa, axis=1).max() / field.top_speed)
