"""learn() over partitions: one task on a worker reads the paths, thins them, and trains the one field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..demonstrations import DataError
from ..progress import Progress, listener_of
from .result import IN_MEMORY, DistributedIdentification, thinned_paths
from .stages import DistributedError, connected

if TYPE_CHECKING:
    from ..fields import Field
    from ..learning import Recipe, Target


def learn(
    found: DistributedIdentification,
    *,
    client: Any = None,
    toward: bool | None = None,
    memory: bool | None = None,
    target: Target | None = None,
    recipe: Recipe | None = None,
    seed: int = 0,
    dtype: Any = np.float32,
    progress: bool | Progress | None = False,
) -> Field:
    """One field for all attractors of `found`, as `eigenwell.learn` learns it, with the same options.

    One task reads the samples from the folder of `found`, sub-dynamics after sub-dynamics, thins them along their paths to
    what the training resamples them to, and trains; only the field travels.

    Parameters
    ----------
    found : DistributedIdentification
        What `distributed.identify` found.
    client : dask.distributed.Client, optional
        As for `distributed.identify`.
    toward, memory, target, recipe, seed, dtype
        As for `eigenwell.learn`.
    progress : bool or callable
        A function is called as progress("learn", done, 1) when the task begins and ends.

    Returns
    -------
    Field

    Raises
    ------
    DataError
        When there is nothing to learn.
    DistributedError
        When the workers died.
    MissingExtra
        When Dask or JAX is not installed.

    Examples
    --------
    >>> from eigenwell import distributed
    >>> field = distributed.learn(found)  # doctest: +SKIP
    """
    if not isinstance(found, DistributedIdentification):
        raise DataError(
            f"Expected what distributed.identify() found, got {type(found).__name__}. Data in memory go to eigenwell.learn."
        )
    listener = listener_of(progress)
    every = max(1, -(-int(found.samples_per_attractor.sum()) // IN_MEMORY))
    count = found.n_attractors
    if count == 0:
        raise DataError(
            "Expected at least one sub-dynamics to learn, got an identification without any. See found.warnings."
        )
    options = {"toward": toward, "memory": memory, "target": target, "recipe": recipe, "seed": seed, "dtype": dtype}
    with connected(client) as connection:
        from distributed import KilledWorker

        if listener is not None:
            listener("learn", 0, 1)
        task = connection.submit(train, str(found.folder), every, options, pure=False)
        try:
            field: Field = task.result()
        except KilledWorker as error:
            raise DistributedError(
                "The workers that trained the field died, one after the other. Give them more memory."
            ) from error
        finally:
            task.cancel()
    if listener is not None:
        listener("learn", 1, 1)
    return field


def train(folder: str, every: int, options: dict[str, Any]) -> Field:
    """The one assembly of a field, on a worker, from every so many samples of the paths with their starts and ends."""
    from ..learning import LaplacianTarget, learn_motions

    found = DistributedIdentification.open(folder)
    motions, embeddings = [], []
    for q in range(found.n_attractors):
        _, x, v, kept = thinned_paths(found, q, every)
        motions.append([(x[path], v[path]) for path in kept])
        if isinstance(options["target"], LaplacianTarget):
            u = found.embedding(q)[1]
            embeddings.append([u[path] for path in kept])
    return learn_motions(motions, found.attractors, embeddings=embeddings or None, warnings=found.warnings, **options)
