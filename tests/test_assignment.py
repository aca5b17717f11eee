"""The best set of links: against brute force, against SciPy's exact solver, and against its own dual bound."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from eigenwell.paths import assignment
from eigenwell.paths.assignment import auction, best_links
from eigenwell.paths.chains import unique_pairs

SEEDS = st.integers(0, 2**32 - 1)


def dual_bound(tail, head, score, price):
    """A sum that no set of links can be below, from any prices >= 0 of the tails: -sum_j pi_j - sum_i p_i."""
    profit = np.zeros(len(price))
    np.maximum.at(profit, head, -score - price[tail])
    return -float(profit.sum() + price.sum())


def brute_force(i, j, score):
    """Least total score over all sets of links with at most one in and one out of every node."""
    best = 0.0
    for size in range(len(i) + 1):
        for chosen in itertools.combinations(range(len(i)), size):
            c = list(chosen)
            if len(set(i[c])) == size and len(set(j[c])) == size:
                best = min(best, score[c].sum())
    return best


def exact(i, j, score, n):
    """SciPy's optimum of the same problem: stand-ins let every node stay alone."""
    useful = score < 0
    i, j, score = i[useful], j[useful], score[useful]
    alone = 1.0 - score.min()
    rows = np.concatenate([i, np.arange(n), n + np.arange(n), n + j])
    columns = np.concatenate([j, n + np.arange(n), np.arange(n), n + i])
    cost = np.concatenate([score + alone, np.full(2 * n, alone), np.full(len(i), alone)])
    matrix = sp.csr_array((cost, (rows, columns)), shape=(2 * n, 2 * n))
    row, column = min_weight_full_bipartite_matching(matrix)
    return float(np.asarray(matrix[row, column]).sum() - 2 * n * alone)


def total(successor, i, j, score):
    """Sum of the scores of a successor array, which must be a matching made of links that were offered."""
    value = {(a, b): s for a, b, s in zip(i.tolist(), j.tolist(), score.tolist(), strict=True)}
    linked = [(a, b) for a, b in enumerate(successor.tolist()) if b >= 0]
    assert len({b for _, b in linked}) == len(linked)
    return sum(value[pair] for pair in linked)


def problem(kind, rng, n):
    """Links of several kinds of problem, hard ones among them."""
    if kind == "sparse":
        i, j = unique_pairs(rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n), n)
        return i, j, rng.normal(-2, 3, len(i))
    if kind == "dense":
        i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
        return i, j, rng.uniform(-10, 0, n * n)
    if kind == "ties":
        i, j = unique_pairs(rng.integers(0, n, 6 * n), rng.integers(0, n, 6 * n), n)
        return i, j, -rng.integers(1, 4, len(i)).astype(float)
    if kind == "machol-wien":  # s_ij = -i j: every best choice is everybody's, the worst case of many solvers
        i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
        return i, j, -(1.0 + i) * (1.0 + j) / n
    few = max(1, n // 4)  # "crowded": far more heads than tails, all nearly equal, and the other way round
    i, j = (a.ravel() for a in np.meshgrid(np.arange(few), np.arange(n), indexing="ij"))
    score = -15 + 1e-3 * rng.standard_normal(len(i))
    return (i, j, score) if kind == "crowded heads" else (j, i, score)


KINDS = ["sparse", "dense", "ties", "machol-wien", "crowded heads", "crowded tails"]


@given(SEEDS, st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_small_problems_by_brute_force(seed, n):
    rng = np.random.default_rng(seed)
    i, j = unique_pairs(rng.integers(0, n, 9), rng.integers(0, n, 9), n)
    score = rng.normal(size=len(i))
    successor = best_links(i, j, score, n, 1e-9)
    assert total(successor, i, j, score) == pytest.approx(brute_force(i, j, score), abs=1e-7)


@pytest.mark.parametrize("few", [0, 5, 10**9])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_within_the_tolerance_of_the_optimum(kind, few, tolerance, monkeypatch):
    """Rounds of bidding alone, searches alone, and both."""
    monkeypatch.setattr(assignment, "FEW", few)
    if tolerance < 1e-4 and few < 10:
        monkeypatch.setattr(assignment, "FEW", 10**9)  # so fine a tolerance makes a war of bids long
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 40))
        i, j, score = problem(kind, rng, n)
        successor = best_links(i, j, score, n, tolerance)
        links = int((successor >= 0).sum())
        found, best = total(successor, i, j, score), exact(i, j, score, n)
        assert best - 1e-9 <= found <= best + tolerance * links + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_prices_prove_it(kind, monkeypatch):
    """The dual bound lies below the optimum, and the links found lie within the tolerance of the bound."""
    monkeypatch.setattr(assignment, "FEW", 10)
    rng = np.random.default_rng(7)
    n, tolerance = 60, 1e-2
    i, j, score = problem(kind, rng, n)
    useful = score < 0
    i, j, score = i[useful], j[useful], score[useful]
    sale = auction(j, i, -score, n, tolerance, most_bids=np.inf)
    successor = np.where(sale.owner >= 0, sale.owner, -1)
    assert (sale.price >= 0).all()
    assert (sale.price[successor < 0] == 0).all()  # nobody pays for what is left over
    bound = dual_bound(i, j, score, sale.price)
    found = total(successor, i, j, score)
    assert bound <= exact(i, j, score, n) + 1e-9
    assert bound - 1e-9 <= found <= bound + tolerance * (successor >= 0).sum() + 1e-9


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_any_prices_give_a_bound(seed):
    rng = np.random.default_rng(seed)
    i, j, score = problem("sparse", rng, 15)
    assert dual_bound(i, j, score, rng.uniform(0, 5, 15)) <= exact(i, j, score, 15) + 1e-9


def test_places_do_not_depend_on_each_other():
    """Two problems side by side are solved as each alone, whatever the other needs: cells rely on it."""
    rng = np.random.default_rng(0)
    n = 300
    parts = [problem(kind, rng, n) for kind in ("sparse", "ties")]
    i = np.concatenate([part[0] + n * k for k, part in enumerate(parts)])
    j = np.concatenate([part[1] + n * k for k, part in enumerate(parts)])
    score = np.concatenate([part[2] for part in parts])
    both = best_links(i, j, score, 2 * n, 1e-3)
    for k, part in enumerate(parts):
        alone = best_links(*part, n, 1e-3)
        mine = both[n * k : n * (k + 1)]
        assert total(np.where(mine >= 0, mine - n * k, -1), *part) == pytest.approx(total(alone, *part), abs=1e-3 * n)


def test_the_sides_change_where_bidding_drags_on(monkeypatch):
    monkeypatch.setattr(assignment, "PATIENCE", 1)
    rng = np.random.default_rng(0)
    i, j, score = problem("crowded heads", rng, 40)
    successor = best_links(i, j, score, 40, 1e-3)
    assert total(successor, i, j, score) == pytest.approx(exact(i, j, score, 40), abs=1e-3 * 40)


def test_no_link_is_made_that_does_not_pay():
    nothing = best_links(np.array([0]), np.array([1]), np.array([0.5]), 2, 1e-3)
    np.testing.assert_array_equal(nothing, [-1, -1])
    np.testing.assert_array_equal(best_links(*np.empty((3, 0), dtype=np.intp), 3, 1e-3), [-1, -1, -1])


@pytest.mark.parametrize("seed", [*range(20), 781, 1467, 2115, 2278, 2986, 4371])
def test_values_of_few_decimals_end_in_the_optimum(seed):
    """Sums that are equal but for rounding must not send an exchange round in a circle."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    i, j = np.nonzero(rng.random((n, n)) < rng.uniform(0.3, 1))
    value = np.round(rng.uniform(0.1, 3, len(i)), 1)
    sale = auction(i, j, value, n, 1e-3, most_bids=np.inf)
    sold = np.flatnonzero(sale.owner >= 0)
    found = -total(np.where(sale.owner >= 0, sale.owner, -1), j, i, value)
    assert len(np.unique(sale.owner[sold])) == len(sold)
    assert found == pytest.approx(exact(i, j, -value, n), abs=1e-3 * n)
