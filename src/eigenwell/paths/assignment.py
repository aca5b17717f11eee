"""The best set of links: at most one into and one out of every node, the sum of the scores least.

An auction. Every head bids for the tail that is worth most to it, value -score minus price, and raises the price
by what that is worth more than the second best (staying alone is worth 0), plus a tolerance eps; whoever held the tail
has to bid again. At the end nobody would gain more than eps by another choice, and nobody paid for a tail that
is left over, so the prices p and the profits pi_j = max(0, max_i -s_ij - p_i) are a solution of the dual problem:

    -sum_j pi_j - sum_i p_i  <=  least sum of scores  <=  sum of scores found  <=  that bound + eps * (number of links).

Who bids matters. Paths begin apart and end together, so there are more tails than heads where they crowd: heads find
theirs at once, while tails would raise each other's prices until the last one gives up. Where it is the other way
round the auction drags on; then the sides change. Where that does not help either, as among many links of equal worth, all
who still wait are placed one by one, by the cheapest exchange.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np
import scipy.sparse as sp

from .._types import FloatArray, IntArray
from .blocks import in_blocks

# Bids per node after which the other side gets its turn, and then searches.
PATIENCE = 20
# Below this many bidders at once, one search each is faster than rounds of bidding.
FEW = 100


@dataclass(frozen=True)
class Sale:
    """Owner of every object, -1 for none, and the prices; whether it is `over`, or was given up."""

    owner: IntArray
    price: FloatArray
    over: bool = True


def best_links(tail: IntArray, head: IntArray, score: FloatArray, n: int, tolerance: float) -> IntArray:
    """Successor array, -1 for none, whose sum of scores is within `tolerance` per link of the least.

    A link tail -> head is worth making when its score is negative. Pairs must be distinct.
    """
    successor = np.full(n, -1, dtype=np.intp)
    useful = score < 0
    tail, head, value = tail[useful], head[useful], -score[useful]
    if len(tail) == 0:
        return successor
    sale = auction(head, tail, value, n, tolerance, PATIENCE * n)
    if sale.over:
        return sale.owner
    owner = auction(tail, head, value, n, tolerance, PATIENCE * n, to_the_end=True).owner
    successor[owner[owner >= 0]] = np.flatnonzero(owner >= 0)
    return successor


def auction(
    bidder: IntArray,
    thing: IntArray,
    value: FloatArray,
    n: int,
    tolerance: float,
    most_bids: float,
    to_the_end: bool = False,
) -> Sale:
    """Things sold to bidders for whom they have `value` > 0; given up after too many bids, unless it goes on `to_the_end`.

    All who have nothing bid at once, round after round, so what happens in one place does not depend on others.
    """
    offers = _Offers.of(bidder, thing, value, n)
    sale = Sale(np.full(n, -1, dtype=np.intp), np.zeros(n))
    high = np.full(n, -np.inf)
    waiting = np.arange(np.count_nonzero(offers.count))
    bids = 0
    while len(waiting) > FEW and bids <= most_bids:
        bids += len(waiting)
        target, raised = offers.bids(waiting, sale.price, tolerance)
        bidding = target >= 0  # what costs more than it is worth will never be cheaper
        waiting, target, raised = waiting[bidding], target[bidding], raised[bidding]
        np.maximum.at(high, target, raised)
        best = np.flatnonzero(raised == high[target])
        winner, won = waiting[best], target[best]
        before = sale.owner[won]
        sale.owner[won] = winner  # of equal bids the last counts
        sale.price[won] = raised[best]
        lost = sale.owner[target] != waiting
        high[target] = -np.inf
        displaced = before[(sale.owner[won] == winner) & (before >= 0)]
        waiting = np.sort(np.concatenate([waiting[lost], displaced]))
    if len(waiting) > FEW and not to_the_end:
        return replace(sale, over=False)
    owners, prices = sale.owner.tolist(), sale.price.tolist()
    for one in waiting.tolist():
        _augment(offers, owners, prices, one)
    owner = np.array(owners, dtype=np.intp)
    return Sale(np.where(owner >= 0, offers.bidder[owner], -1), np.array(prices))


@dataclass(frozen=True)
class _Offers:
    """Bidders ranked by how many things they have; those of rank r are things[start[r] : start[r] + count[r]]."""

    bidder: IntArray
    start: IntArray
    count: IntArray
    things: IntArray
    values: FloatArray
    """Thing and value end with a stand-in of no value at all, for bidders that have fewer than others."""

    @classmethod
    def of(cls, bidder: IntArray, thing: IntArray, value: FloatArray, n: int) -> _Offers:
        rows = sp.csr_array((value, (bidder, thing)), shape=(n, n))
        count = np.diff(rows.indptr)
        ranked = np.argsort(-count, kind="stable")
        count = count[ranked]
        return cls(ranked, rows.indptr[ranked], count, np.append(rows.indices, 0), np.append(rows.data, -np.inf))

    def bids(self, waiting: IntArray, price: FloatArray, tolerance: float) -> tuple[IntArray, FloatArray]:
        """The thing each one bids for, -1 for none, and its new price. `waiting` ascends."""

        def block(rows: slice) -> tuple[IntArray, FloatArray]:
            mine = waiting[rows]
            k = np.arange(self.count[mine[0]])  # nobody has more than the first
            at = np.where(k < self.count[mine][:, None], self.start[mine][:, None] + k, len(self.things) - 1)
            gain = self.values[at] - price[self.things[at]]
            row, choice = np.arange(len(mine)), gain.argmax(axis=1)
            best, target = gain[row, choice], self.things[at[row, choice]]
            gain[row, choice] = 0.0  # staying alone
            second = np.maximum(gain.max(axis=1), 0.0)
            return np.where(best > 0, target, -1), price[target] + (best - second + tolerance)

        parts = in_blocks(block, len(waiting), 1 << 15)
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def of_one(self, bidder: int) -> Iterator[tuple[int, float]]:
        here = slice(self.start[bidder], self.start[bidder] + self.count[bidder])
        return zip(self.things[here].tolist(), self.values[here].tolist(), strict=True)


def _augment(offers: _Offers, owner: list[int], price: list[float], bidder: int) -> None:
    """Place one more bidder by the cheapest exchange: it takes a thing from another, that one from a third, until a thing
    is free or the last one stays alone.

    Dijkstra's search over bidders with the reduced costs pi_j - (v_ij - p_i) >= 0, pi_j what j gains by its best choice.
    What an owner misses of its own best, eps at most, counts as nothing: the search is exact for values that differ by
    so little, which the bound allows for.
    """
    settled: dict[int, float] = {}
    best = {bidder: 0.0}
    thing_of = {bidder: -1}
    came_from: dict[int, int] = {}
    queue = [(0.0, bidder)]
    end, last, found = np.inf, bidder, -1
    while queue:
        distance, j = heappop(queue)
        if distance >= end:
            break
        if j in settled:
            continue
        choices = [(thing, value - price[thing]) for thing, value in offers.of_one(j)]
        gain = max(0.0, max(g for _, g in choices))
        settled[j] = distance
        if distance + gain < end:
            end, last, found = distance + gain, j, -1
        for thing, g in choices:
            there = distance + gain - g
            if there >= end or thing == thing_of[j]:
                continue
            k = owner[thing]
            if k < 0:
                end, last, found = there, j, thing
            elif k not in settled and there < best.get(k, np.inf):  # rounding must not lead back to where it came from
                best[k], came_from[k], thing_of[k] = there, j, thing
                heappush(queue, (there, k))
    for j, distance in settled.items():
        if thing_of[j] >= 0:
            price[thing_of[j]] += max(end - distance, 0.0)
    free, j = found, last
    while True:
        held = thing_of[j]
        if free >= 0:
            owner[free] = j
        elif held >= 0:
            owner[held] = -1
        if j == bidder:
            return
        free, j = held, came_from[j]
