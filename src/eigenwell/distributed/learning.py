"""learn() over partitions: every sub-dynamics is an independent task, trained where its paths are stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, DataError
from .finalize import read_paths
from .result import DistributedIdentification
from .stages import DistributedError, Progress, connected

if TYPE_CHECKING:
    from ..fields import MultiAttractorField, StableField
    from ..learning import Recipe, Target


def learn(
    found: DistributedIdentification,
    *,
    client: Any = None,
    target: Target | None = None,
    recipe: Recipe | None = None,
    seed: int = 0,
    dtype: Any = np.float32,
    progress: Progress | None = None,
) -> MultiAttractorField:
    """A globally stable field for every attractor of `found`, as `eigenwell.learn` learns it from that sub-dynamics alone.

    The samples are read from the folder of `found`, one sub-dynamics to a task; only the trained fields, and the samples that
    draw the basins, come back. `progress("learn", done, total)` is called as they do.
    """
    from ..fields import MultiAttractorField
    from ..learning import learner

    if not isinstance(found, DistributedIdentification):
        raise DataError(
            f"Expected what distributed.identify() found, got {type(found).__name__}. Data in memory go to eigenwell.learn."
        )
    total = int(found.samples_per_attractor.sum())
    every = max(1, -(-total // learner.BASIN_SAMPLES))
    count = found.n_attractors
    with connected(client) as connection:
        from distributed import KilledWorker, as_completed

        futures = [
            connection.submit(
                train_one,
                str(found.folder),
                q,
                found.attractors[q],
                target,
                recipe,
                seed,
                dtype,
                every,
                pure=False,
            )
            for q in range(count)
        ]
        index = {future.key: q for q, future in enumerate(futures)}
        results: dict[int, Any] = {}
        try:
            for future in as_completed(futures):  # type: ignore[no-untyped-call]
                q = index[future.key]
                try:
                    results[q] = future.result()
                except KilledWorker as error:
                    raise DistributedError(
                        f"The workers that trained sub-dynamics {q} died, one after the other. Give them more memory."
                    ) from error
                if progress is not None:
                    progress("learn", len(results), count)
        finally:
            connection.cancel([f for f in futures if not f.done()])
    fields, samples, cautions = zip(*(results[q] for q in range(count)), strict=True)
    labels: IntArray = np.repeat(np.arange(count), [len(s) for s in samples]).astype(np.intp)
    doubts = tuple(c for part in cautions for c in part)
    return MultiAttractorField(fields, np.concatenate(samples), labels, warnings=(*found.warnings, *doubts))


def train_one(
    folder: str,
    q: int,
    attractor: FloatArray,
    target: Any,
    recipe: Any,
    seed: int,
    dtype: Any,
    every: int,
) -> tuple[StableField, FloatArray, tuple[Caution, ...]]:
    """The field of one sub-dynamics, samples that draw its basin, and doubts."""
    from ..learning.learner import doubts, learn_bundles, thinned
    from ..learning.targets import Bundle, LaplacianTarget

    place = Path(folder)
    names = sorted(p.name.removesuffix(".rows.npy") for p in (place / "work" / "assemble").glob("*.rows.npy"))
    if not names:
        raise DataError(
            f"Expected the paths that identify() left in {place / 'work' / 'assemble'}, found none. Identify again."
        )
    _, x, v, paths, _ = read_paths(place, names, q)
    embedded = None
    if isinstance(target, LaplacianTarget):
        u = DistributedIdentification.open(place).embedding(q)[1]
        embedded = [u[path] for path in paths]
    bundle = Bundle.of([(x[path], v[path]) for path in paths], attractor, embedded)
    fields, failed = learn_bundles([bundle], target=target, recipe=recipe, seed=seed, dtype=dtype)
    cautions = (*doubts(bundle, name=f"Sub-dynamics {q}"), *(_about(q, c) for c in failed))
    return fields[0], x[np.concatenate(thinned(paths, every))], cautions


def _about(q: int, caution: Caution) -> Caution:
    """Trained alone, every sub-dynamics is number 0 to the learner."""
    return Caution(caution.name, caution.message.replace("sub-dynamics 0", f"sub-dynamics {q}"))
