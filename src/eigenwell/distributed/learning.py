"""learn() over partitions: one task on a worker reads the paths, thins them, and trains the one field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..demonstrations import DataError
from ..progress import Progress, listener_of
from .result import DistributedIdentification
from .run import DistributedError, connected

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
    """One field for all attractors of `found`, as `eigenwell.learn` learns it: in one task, of `found.in_memory()`.

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
    if found.n_attractors == 0:
        raise DataError(
            "Expected at least one sub-dynamics to learn, got an identification without any. See found.warnings."
        )
    listener = listener_of(progress) or (lambda *_: None)
    options = {"toward": toward, "memory": memory, "target": target, "recipe": recipe, "seed": seed, "dtype": dtype}
    with connected(client) as connection:
        from distributed import KilledWorker

        listener("learn", 0, 1)
        task = connection.submit(train, str(found.folder), options, pure=False)
        try:
            field: Field = task.result()
        except KilledWorker as error:
            raise DistributedError(
                "The workers that trained the field died, one after the other. Give them more memory."
            ) from error
        finally:
            task.cancel()
    listener("learn", 1, 1)
    return field


def train(folder: str, options: dict[str, Any]) -> Field:
    """`eigenwell.learn` of what the folder holds, on a worker."""
    from ..learning import learn

    field: Field = learn(DistributedIdentification.open(folder), **options)
    return field
