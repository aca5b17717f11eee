"""Beside SQUID on its own drawings: sets 2, 5 and 10, with 3, 3 and 9 goals, not told the number.

Starts of a 16 x 16 grid over 1.3 boxes that do not end at a goal; then, on the shown strokes and in pixels, root mean square
error in time, dynamic time warping per point and Frechet distance of the roll-out from each start over the stroke's duration,
100 points each, by `field.simulate` as it comes; beside it by the map alone, without memory, and the figures that SQUID's
authors stored. As theirs, the mean square is over time and both coordinates, and the cost of warping is divided by the points of
one curve (0.2's, by the pairs that are matched, which are more). The strokes are not ours to pass on: EIGENWELL_SQUID names the
folder with set_2.npz, set_5.npz and set_10.npz.

python -m benchmarks.squid [--sets 2 5 10] [--name squid]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import eigenwell as ew
from benchmarks.calm import CLOSE, RATE, calm, grid, squid_folder, squid_strokes
from benchmarks.table import Row, report
from eigenwell import metrics
from eigenwell.fields import Field

STORED = {2: (0, 17.22, 8.24, 21.80), 5: (155, 22.36, 12.48, 29.58), 10: (14, 4.22, 2.84, 6.49)}
"""Of SQUID: starts lost of 256, and the three distances in pixels."""
BEFORE = {2: (0, 14.31, 4.82, 12.11), 5: (0, 19.20, 11.24, 24.64), 10: (0, 3.74, 2.38, 4.94)}
"""Of eigenwell 0.2."""
POINTS, REGION = 100, 1.3


def distances(field: Field, strokes: Sequence[np.ndarray], memory: bool | None) -> np.ndarray:
    """Means over the strokes: error in time, DTW per point, Frechet."""
    rows = []
    for x in strokes:
        clock = np.arange(len(x)) / RATE
        asked = np.linspace(0, clock[-1], POINTS)
        shown = np.column_stack([np.interp(asked, clock, column) for column in x.T])
        rolled = field.simulate(x[0], t=asked, memory=memory)
        time = np.sqrt(((rolled - shown) ** 2).mean())
        rows.append((time, metrics.dtw_total(rolled, shown) / POINTS, metrics.frechet(rolled, shown)))
    return np.mean(rows, axis=0)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", type=int, default=list(STORED))
    parser.add_argument("--name", default="squid", help="of the file in benchmarks/results")
    options = parser.parse_args(arguments)
    if squid_folder() is None:
        raise SystemExit("Expected EIGENWELL_SQUID to name the folder of SQUID's strokes, got nothing.")
    rows = []
    for number in options.sets:
        strokes = squid_strokes(number)
        field = ew.learn(ew.identify(strokes, dt=1 / RATE))
        starts = grid(*field.home, REGION)
        last = field.simulate(starts, t=[0.0, 20 * max(len(x) for x in strokes) / RATE])[:, -1]
        lost = np.linalg.norm((last[:, None] - field.attractors) / field.box, axis=2).min(1) > CLOSE
        by_map = (int(np.isnan(calm(field, starts).turning).sum()), *distances(field, strokes, False))
        reached = (int(lost.sum()), *distances(field, strokes, None))
        for name, value, alone, theirs, before in zip(
            ("starts lost of 256", "error in time, px", "DTW per point, px", "Frechet, px"),
            reached,
            by_map,
            STORED[number],
            BEFORE[number],
            strict=True,
        ):
            met = value < theirs or value == theirs == 0
            what = f"set {number}, {field.n_attractors} goals: {name}"
            row = Row(what, f"< SQUID {theirs}", f"{value:.4g}", f"map {alone:.4g}; 0.2: {before}", met)
            rows.append(row)
            print(f"  {row.what}: {row.reached} ({row.bar}; {row.beside})", flush=True)
    report(options.name, rows)


if __name__ == "__main__":
    main()
