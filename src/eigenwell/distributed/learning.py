"""learn() over partitions: paths are read and thinned where they are stored, the one field is trained by one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import Caution, DataError
from ..graphs import thinned
from ..progress import Progress, listener_of
from .finalize import read_paths
from .result import IN_MEMORY, DistributedIdentification
from .stages import DistributedError, connected

if TYPE_CHECKING:
    from ..fields import Field
    from ..learning import Recipe, Target

Moving = tuple[FloatArray, FloatArray]
"""x and v along one path."""


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

    The samples are read from the folder of `found`, one sub-dynamics to a task, and thinned along their paths to what the
    training resamples them to; only these travel.

    Parameters
    ----------
    found : DistributedIdentification
        What `distributed.identify` found.
    client : dask.distributed.Client, optional
        As for `distributed.identify`.
    toward, memory, target, recipe, seed, dtype
        As for `eigenwell.learn`.
    progress : bool or callable
        A function is called as progress("learn", done, total) as the tasks end, the last of which is the
        training.

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
        from distributed import KilledWorker, as_completed

        embedded = _is_laplacian(target)
        read = [
            connection.submit(thinned_paths, str(found.folder), q, every, embedded, pure=False) for q in range(count)
        ]
        # The paths go from worker to worker, not through here.
        field = connection.submit(train, read, found.attractors, found.warnings, options, pure=False)
        index = {future.key: q for q, future in enumerate(read)}
        done = 0
        try:
            for future in as_completed([*read, field]):  # type: ignore[no-untyped-call]
                try:
                    answer = future.result() if future.key == field.key else future.exception()
                except KilledWorker as error:
                    raise DistributedError(
                        "The workers that trained the field died, one after the other. Give them more memory."
                    ) from error
                if isinstance(answer, KilledWorker):
                    raise DistributedError(
                        f"The workers that read sub-dynamics {index[future.key]} died, one after the other. "
                        "Give them more memory."
                    ) from answer
                if isinstance(answer, BaseException):
                    raise answer
                done += 1
                if listener is not None:
                    listener("learn", done, count + 1)
            learned: Field = field.result()
        finally:
            connection.cancel([f for f in (*read, field) if not f.done()])
    return learned


def thinned_paths(folder: str, q: int, every: int, embedded: bool) -> tuple[list[Moving], list[FloatArray] | None]:
    """The paths of one sub-dynamics, every so many samples with starts and ends, and their embedding where it is asked."""
    found = DistributedIdentification.open(folder)
    _, x, v, paths, _ = read_paths(found.folder, found.stage_names(), q)
    kept = [path[thinned(len(path), every)] for path in paths]
    u = found.embedding(q)[1] if embedded else None
    return [(x[path], v[path]) for path in kept], None if u is None else [u[path] for path in kept]


def train(
    read: list[tuple[list[Moving], list[FloatArray] | None]],
    attractors: FloatArray,
    warnings: tuple[Caution, ...],
    options: dict[str, Any],
) -> Field:
    """The one assembly of a field, on a worker."""
    from ..learning import learn_motions

    embeddings = [u for _, u in read if u is not None]
    return learn_motions(
        [paths for paths, _ in read], attractors, embeddings=embeddings or None, warnings=warnings, **options
    )


def _is_laplacian(target: Any) -> bool:
    from ..learning import LaplacianTarget

    return isinstance(target, LaplacianTarget)
