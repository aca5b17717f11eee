"""Where those go that leave: the parts of the border of the data through which samples are carried out; and whether all of them
leave because the velocities point backwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH, Caution
from .border import STOPPED
from .estimation import NOTABLE
from .field import FlowField, Whitening, left_out_errors
from .integration import ASKED, LEFT, LOOKS, STEPS, carry
from .portrait import Portrait, portrait
from .regression import CHOOSING


@dataclass(frozen=True, eq=False)
class Exit:
    """A region through which samples leave the data.

    Attributes
    ----------
    position : (d,) array
        Its middle.
    spread : (d,) array
        Standard deviation of the places at which samples leave.
    direction : (d,) array
        Mean velocity there.
    samples : int array
        Those that leave through it.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.unstable_focus.snapshots(200, seed=0))  # doctest: +SKIP
    >>> len(found.exits)  # doctest: +SKIP
    1
    """

    position: FloatArray
    spread: FloatArray
    direction: FloatArray
    samples: IntArray

    def __str__(self) -> str:
        place = ", ".join(f"{c:.4g}" for c in self.position[:4])
        return f"exit at ({place}), {len(self.samples)} samples"


def exits(found: Portrait, frame: Whitening, y: FloatArray, labels: IntArray) -> tuple[Exit, ...]:
    """Regions of the border, the busiest first: connected where ways out lie next to each other.

    `labels` has LEFT where a sample leaves; indices are rows of y. Regions that few samples use belong to the next one.
    """
    leaving = np.flatnonzero(labels == LEFT)
    if len(leaving) == 0:
        return ()
    # Some show where the ways out are; the others leave where the next of them does.
    asked = leaving[:CHOOSING]
    end = carry(found.field, y[asked], found.traps, found.support, steps=STEPS * 2**LOOKS).end
    # The sample it was last next to: beyond, nothing is known.
    out = np.asarray(found.support.tree.data)[found.support.tree.query(end)[1]]
    # Next to each other where they pass the border, or behind it: between nearer ones no sample could tell.
    a, b = np.concatenate(
        [cKDTree(p).query_pairs(STOPPED * found.support.spacing, output_type="ndarray") for p in (out, end)]
    ).T
    pairs = coo_array((np.ones(len(a)), (a, b)), shape=(len(asked), len(asked)))
    _, region = connected_components(pairs, directed=False)
    size = np.bincount(region)
    large = np.flatnonzero(size >= min(max(SHORTEST_PATH, NOTABLE * len(asked)), size.max()))
    settled = np.isin(region, large)
    region = region[settled][cKDTree(end[settled]).query(end)[1]]
    of_all = region[cKDTree(y[asked]).query(y[leaving])[1]]
    flow = found.field(out) @ frame.backward
    places = frame.leave(out)
    order = sorted(large, key=lambda k: -int((of_all == k).sum()))
    return tuple(
        Exit(
            _middle(places[region == k]),
            places[region == k].std(axis=0),
            flow[region == k].mean(axis=0),
            leaving[of_all == k],
        )
        for k in order
    )


def _middle(places: FloatArray) -> FloatArray:
    """The place nearest to the mean: on the border, however it bends."""
    return np.asarray(places[np.linalg.norm(places - places.mean(axis=0), axis=1).argmin()])


def unrelated(field: FlowField, y: FloatArray, v: FloatArray) -> tuple[Caution, ...]:
    """A warning where a field tells next to nothing about the velocity of a sample left out."""
    error, v = left_out_errors(field, y[:CHOOSING], v[:CHOOSING]), v[:CHOOSING]
    told = 1 - float((error**2).sum() / ((v - v.mean(axis=0)) ** 2).sum())
    if told > NOTABLE:
        return ()
    said = f"Position tells {max(100 * told, 0):.0f} % of the velocities. Are the rows of x and v in the same order?"
    return (Caution("unrelated", said),)


def backwards(found: Portrait, y: FloatArray, labels: IntArray) -> tuple[Caution, ...]:
    """A warning where most samples leave, and with -v nearly all would arrive: the velocities may point backwards."""
    arrive = float((labels >= 0).mean())
    if arrive > 0.5:
        return ()
    field = found.field
    turned = field.moved(-field.affine, [-b.weights for b in field.blocks])
    other, carried = portrait(turned, y[:ASKED], y[:ASKED], found.support)
    back = float((other.number(carried.fate) >= 0).mean())
    if back < 1 - NOTABLE:
        return ()
    return (
        Caution(
            "reversed",
            f"{100 * arrive:.0f} % of the samples arrive anywhere, but {100 * back:.0f} % would with velocities of the opposite "
            f"sign, at {len(other.attractors)} attractors. Check their sign, or whether all things really move apart.",
        ),
    )
