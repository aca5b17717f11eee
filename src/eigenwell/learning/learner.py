"""From demonstrations and their identification to a field: one stable model per sub-dynamics, trained side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, DataError, Demonstrations
from ..errors import missing_extra
from ..fields import MultiAttractorField, StableField
from .recipes import Recipe
from .targets import Bundle, LaplacianTarget, Target
from .winding import SpiralTarget

if TYPE_CHECKING:
    from ..identification import Identification

NODES_PER_PATH, MOST_NODES = 8, 20_000
BASIN_SAMPLES = 50_000
"""Samples kept to draw the basins; more would only slow the search down."""


def learn(
    demos: Any,
    found: Identification | None = None,
    *,
    target: Target | None = None,
    recipe: Recipe | None = None,
    seed: int = 0,
    dtype: Any = np.float32,
    callback: Callable[[int, int, FloatArray], None] | None = None,
) -> MultiAttractorField:
    """Learn a globally stable field for every attractor in `found`; identifies first when `found` is not given.

    `target` says where trajectories go in the latent space (default `SpiralTarget()`), `recipe` how to train
    (default `Recipe()`; `recipes.PAPER` is the paper's). Training runs in `dtype`; `callback(step, steps, losses)`
    reports progress. Doubts are in the result's `.warnings`.
    """
    demos = Demonstrations.of(demos)
    if found is None:
        from ..identification import identify

        found = identify(demos)
    if found.n_attractors == 0:
        raise DataError(
            "Expected at least one sub-dynamics to learn, got an identification without any. See found.warnings; "
            "samples may be too few or too noisy to form trajectories."
        )
    by_attractor = [found.paths(q) for q in range(found.n_attractors)]
    paths = [path for mine in by_attractor for path in mine]
    group = np.repeat(np.arange(found.n_attractors), [len(mine) for mine in by_attractor])
    embedded = _embedding(found, demos.n_samples) if isinstance(target, LaplacianTarget) else None
    bundles, cautions = [], list(_duplicates(demos, paths))
    for q, mine in enumerate(by_attractor):
        pairs = [(demos.x[path], demos.v[path]) for path in mine]
        inside = None if embedded is None else [embedded[path][:, : found.embeddings[q].shape[1]] for path in mine]
        bundles.append(Bundle.of(pairs, found.attractors[q], inside))
        cautions += doubts(bundles[-1], name=f"Sub-dynamics {q}")
    fields, failed = learn_bundles(bundles, target=target, recipe=recipe, seed=seed, dtype=dtype, callback=callback)
    samples, labels = _basin_samples(demos, paths, group)
    return MultiAttractorField(fields, samples, labels, warnings=(*found.warnings, *cautions, *failed))


def learn_bundles(
    bundles: Sequence[Bundle],
    *,
    target: Target | None = None,
    recipe: Recipe | None = None,
    seed: int = 0,
    dtype: Any = np.float32,
    callback: Callable[[int, int, FloatArray], None] | None = None,
) -> tuple[tuple[StableField, ...], tuple[Caution, ...]]:
    """One stable field per bundle, all of one dimension, in one compiled program; and doubts about the training."""
    try:
        from .training import train, training_set
    except ImportError as error:
        raise missing_extra("Learning a field", "JAX", "learn") from error
    recipe = Recipe() if recipe is None else recipe
    target = SpiralTarget() if target is None else target
    # A few samples of every trajectory, however many there are.
    most = max(len(bundle.x) for bundle in bundles)
    recipe = replace(recipe, nodes=min(max(recipe.nodes, NODES_PER_PATH * most), MOST_NODES))
    sets = [training_set(bundle, target, recipe) for bundle in bundles]
    trained = train(sets, recipe, seed=seed, dtype=dtype, progress=callback)
    fields, cautions = [], []
    for q, (one, bundle) in enumerate(zip(trained, bundles, strict=True)):
        model = one.model._replace(brake=bundle.scale / (recipe.fastest * bundle.top_speed))
        fields.append(StableField(model, bundle.centre, bundle.scale, bundle.pace))
        if not np.isfinite(one.losses).all():
            cautions.append(
                Caution(
                    "training-unsound",
                    f"Training of sub-dynamics {q} met values that are not finite; they were left out.",
                )
            )
    return tuple(fields), tuple(cautions)


def doubts(bundle: Bundle, name: str = "The motion") -> list[Caution]:
    """What is unusual about the data of one attractor."""
    cautions = []
    count, dimension = len(bundle.x), bundle.dimension
    if count < dimension + 1:
        cautions.append(
            Caution(
                "few-trajectories",
                f"{name} has {count} trajectories in {dimension} dimensions; with fewer than {dimension + 1} the field "
                "is stable but says little away from them.",
            )
        )
    low = np.min([x.min(0) for x in bundle.x], axis=0)
    high = np.max([x.max(0) for x in bundle.x], axis=0)
    outside = np.maximum(low - bundle.attractor, bundle.attractor - high).max()
    if outside > 0.05:
        cautions.append(
            Caution(
                "attractor-outside", f"The attractor of {name.lower()} lies {outside:.0%} of the box outside the data."
            )
        )
    gap = np.median([np.linalg.norm(x[-1] - bundle.attractor) for x in bundle.x])
    if gap > 0.1:
        cautions.append(
            Caution(
                "unfinished", f"The trajectories of {name.lower()} end {gap:.0%} of the box away from their attractor."
            )
        )
    share = crossing_share(bundle)
    if share > 0.02:
        cautions.append(
            Caution(
                "crossing",
                f"{share:.0%} of the samples of {name.lower()} meet others that move another way at the same place; no "
                "first-order field can follow both, the learned one takes a middle way.",
            )
        )
    return cautions


def crossing_share(bundle: Bundle, near: float = 0.02) -> float:
    """Share of samples with a neighbour within 2 % of the box whose velocity makes an angle above 90 degrees.

    Not around the attractor, where trajectories that arrive from opposite sides meet head on, as they should.
    """
    x, v = np.concatenate(bundle.x), np.concatenate(bundle.v)
    speed = np.linalg.norm(v, axis=1)
    keep = (speed > 0.1 * speed.max()) & (np.linalg.norm(x - bundle.attractor, axis=1) > 5 * near)
    x, v = x[keep] / np.sqrt(bundle.dimension / 2), v[keep] / speed[keep, None]
    step = max(1, len(x) // 3000)
    x, v = x[::step], v[::step]
    pairs = cKDTree(x).query_pairs(near, output_type="ndarray")
    against = (v[pairs[:, 0]] * v[pairs[:, 1]]).sum(1) < 0 if len(pairs) else np.zeros(0, dtype=bool)
    return float(len(np.unique(pairs[against])) / max(len(x), 1))


def _duplicates(demos: Demonstrations, paths: Sequence[IntArray]) -> list[Caution]:
    seen = {demos.x[path].tobytes() for path in paths}
    if len(seen) == len(paths):
        return []
    return [
        Caution("duplicated-trajectory", f"{len(paths) - len(seen)} of {len(paths)} trajectories repeat another one.")
    ]


def _embedding(found: Identification, n_samples: int) -> FloatArray:
    """The embeddings of all sub-dynamics, one row per sample; those of other sub-dynamics are zero."""
    widest = max(e.shape[1] for e in found.embeddings)
    rows = np.zeros((n_samples, widest))
    for q, embedding in enumerate(found.embeddings):
        rows[found.members(q), : embedding.shape[1]] = embedding
    return rows


def _basin_samples(demos: Demonstrations, paths: Sequence[IntArray], group: IntArray) -> tuple[FloatArray, IntArray]:
    """Samples of the paths, thinned where there are very many; starts and ends are always kept."""
    total = sum(len(path) for path in paths)
    step = max(1, -(-total // BASIN_SAMPLES))
    kept = thinned(paths, step)
    labels = np.repeat(group, [len(index) for index in kept])
    return demos.x[np.concatenate(kept)].copy(), labels.astype(np.intp)


def thinned(paths: Sequence[IntArray], step: int) -> list[IntArray]:
    """Every step-th sample of each path, with its start and its end."""
    return [np.unique(np.concatenate([path[::step], path[:1], path[-1:]])) for path in paths]
