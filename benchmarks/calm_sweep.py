"""Which guide makes the field calm, and what it costs on LASA: one table for several targets and recipes.

python -m benchmarks.calm_sweep [--only gp ...] [--leave-one-out] [--name calm-sweep]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from benchmarks import calm as C
from eigenwell import datasets
from eigenwell.fields import Field
from eigenwell.learning import guide as G
from eigenwell.learning import training as T
from eigenwell.learning.following import followed
from eigenwell.learning.learner import _kept, learn_bundles
from eigenwell.learning.recipes import Recipe
from eigenwell.learning.targets import Bundle, UnitBox

OLD = G.way_home


def places(x, n, seed, inbox, outside):
    low, high = x.min(0), x.max(0)
    mid, half = (low + high) / 2, (high - low) / 2
    rng = np.random.default_rng([seed, 2])
    k = 0 if outside else int(n * inbox)
    a = mid + half * 1.1 * rng.uniform(-1, 1, (k, x.shape[1]))
    b = mid + 3 * half * rng.uniform(-1, 1, (n - k, x.shape[1]))
    if outside:
        b = b[np.resize(np.flatnonzero(((b < low) | (b > high)).any(1)), n - k)]
    return np.concatenate([a, b])


def heads(x, v):
    s = np.linalg.norm(v, axis=1)
    keep = s > 0.02 * s.max()
    return x[keep], v[keep] / s[keep, None]


def prior(bundles, d, power=None):
    g = np.stack([b.attractor for b in bundles])
    p = power or max(d.shape[1], 2)
    away = d[:, None] - g
    w = ((away**2).sum(2) + 1e-12) ** (-p / 2)
    w /= w.sum(1, keepdims=True)
    e = -(w[:, :, None] * away).sum(1)
    return e / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), 1e-9)


def idw(power=3, reach=0.15, inbox=0.5, near=0.1):
    def way_home(bundles, *, outside, seed=0):
        x, v, _ = G._nodes(bundles)
        d = places(x, G.DRAWS, seed, inbox, outside)
        hx, h = heads(x, v)
        diff = hx[None] - d[:, None]
        r = np.sqrt((diff**2).sum(2)) + 1e-9
        w = r**-power
        w /= w.sum(1, keepdims=True)
        t = (w[:, :, None] * (h[None] + np.minimum(r / reach, 1)[:, :, None] * diff / r[:, :, None])).sum(1)
        return G.Home(d, t, np.minimum(r.min(1) / near, 1))

    return way_home


def gp(length=0.2, noise=0.05, weighted=True, inbox=0.5, power=None, lifted=True):
    def way_home(bundles, *, outside, seed=0):
        if not lifted and not bundles[0].frame.braked.all():
            return OLD(bundles, outside=outside, seed=seed)
        x, v, _ = G._nodes(bundles)
        d = places(x, G.DRAWS, seed, inbox, outside)
        hx, h = heads(x, v)
        k = lambda a, b: np.exp(-G.squared_distances(a, b) / (2 * length**2))  # noqa: E731
        solved = cho_solve(cho_factor(k(hx, hx) + noise * np.eye(len(hx))), h - prior(bundles, hx, power))
        t = prior(bundles, d, power) + k(d, hx) @ solved
        n = np.linalg.norm(t, axis=1)
        return G.Home(d, t / np.maximum(n, 1e-9)[:, None], np.minimum(n, 1) if weighted else np.ones(len(d)))

    return way_home


def mixed(length=0.2, share=0.5, **k):
    """Half towards the data, half towards the goals."""
    one, two = idw(), gp(length, **k)

    def way_home(bundles, *, outside, seed=0):
        a, b = one(bundles, outside=outside, seed=seed), two(bundles, outside=outside, seed=seed)
        va = a.v / np.maximum(np.linalg.norm(a.v, axis=1, keepdims=True), 1e-9)
        t = share * va + (1 - share) * b.v
        n = np.linalg.norm(t, axis=1)
        return G.Home(a.x, t / np.maximum(n, 1e-9)[:, None], np.minimum(n, 1))

    return way_home


def variants():
    yield "before", OLD, Recipe()
    for length in (0.25, 0.32, 0.4):
        for bend in (3.0, 10.0, 30.0):
            yield (
                f"bend{bend} len{length}",
                idw(),
                replace(Recipe(), home=1.0, home_batch=100, length=length, bending=bend),
            )
    base = replace(Recipe(), home=1.0, home_batch=100, length=0.32, bending=10.0)
    yield "home2", idw(), replace(base, home=2.0)
    yield "home.5", idw(), replace(base, home=0.5)
    yield "ahead.05", idw(), replace(base, ahead=0.05, bending=40.0)
    yield "ahead.2", idw(), replace(base, ahead=0.2, bending=2.5)
    yield "mixed", mixed(0.2), base
    yield "batch200", idw(), replace(base, home_batch=200, bending_batch=200)


def calm_row(way, recipe):
    T.way_home = way
    names = [n for n in C.sets() if n not in ("pens", "Angle", "GShape", "Sshape")]
    motions = [C.sets()[n]() for n in names] + [C.bundles(3), C.spread(2), C.hooks(1)]
    goals = [np.array([np.mean([x[-1] for x, _ in p], axis=0) for p in m]) for m in motions]
    groups = [
        [Bundle.of(p, g, frame=UnitBox.around(m)) for p, g in zip(m, places_, strict=True)]
        for m, places_ in zip(motions, goals, strict=True)
    ]
    fields, _ = learn_bundles(groups, recipe=recipe.for_motions(True))
    rows = []
    for f, m, g in zip(fields, motions, goals, strict=True):
        one = Field(f, (), (), *_kept(m, g))
        fit = followed(one, m, memory=False)
        rows.append(
            C.calm(one).row() | {"fit": 100 * fit.distance, "worst": 100 * fit.worst.distance, "own": fit.arrives}
        )
    return {k: float(np.mean([r[k] for r in rows])) for k in rows[0]} | {"turn": [round(r["turning_95"]) for r in rows]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--leave-one-out", action="store_true")
    parser.add_argument("--held", type=int, default=2)
    parser.add_argument("--out", default="calm-sweep.jsonl")
    o = parser.parse_args()
    for tag, way, recipe in variants():
        if o.only and not any(tag.startswith(one) for one in o.only):
            continue
        t = time.time()
        row = {"tag": tag} | calm_row(way, recipe)
        if o.leave_one_out:
            from benchmarks import lasa

            lasa.Recipe = lambda recipe=recipe: recipe
            shapes = [s for s in datasets.lasa_shapes() if not s.startswith("Multi")]
            _, facts = lasa.leave_one_out(shapes, list(range(o.held)))
            row |= facts["leave_one_out"]
        row["seconds"] = time.time() - t
        print(json.dumps(row), flush=True)
        with open(o.out, "a") as out:
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
