"""identify() and learn() over partitions: what comes in, which cluster, and what of an earlier run can be used."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..demonstrations import DataError
from ..files.recording import Names, Wanted
from ..progress import Progress, advance, told
from .inputs import arrow, find_files, fingerprint, open_parts, written
from .pipeline import identified
from .result import DistributedIdentification
from .run import DistributedError, Run, connected, lasting
from .store import intact, put, sweep

if TYPE_CHECKING:
    from ..fields import Field

DEFAULT_CELL, SMALLEST_CELL, LARGEST_CELL = 500_000, 50_000, 2_000_000
BYTES_PER_SAMPLE = 4096
"""Memory that a task may take for a sample of its cell; one that matches by likelihood takes 1.3 KB of it in 2-D."""
RESULT = ("alone", "grade", "solve", "label")
"""Stages that write the files of a result; their records say whether these are whole."""
FORMAT = 6
"""Changes when stage files change their meaning: older ones are then of no use."""


def identify(
    data: Any,
    *,
    out: str | Path,
    client: Any = None,
    resume: bool = True,
    samples_per_cell: int | None = None,
    position: Names | None = None,
    velocity: Names | None = None,
    time: str | None = None,
    trajectory: str | None = None,
    tidy: bool = True,
    progress: bool | Progress | None = False,
) -> DistributedIdentification:
    """The same answer as `eigenwell.identify`, for data in partitions that need not fit in memory.

    With a column of trajectories, rows that share a value are one trajectory, in whatever partition, in order of time.

    Parameters
    ----------
    data : Dask DataFrame, Dask Array or paths
        A Dask Array (n, 2 d) has positions and then velocities. Parquet files are given as a folder, a pattern
        or a list.
    out : str or Path
        A folder that this process and all workers see. It takes the result, and the work of finished stages.
    client : dask.distributed.Client, optional
        Without one, the current client, or a cluster on this machine for the time of the call.
    resume : bool
        A run that was broken off goes on where it was; False starts over.
    samples_per_cell : int, optional
        How many samples one task matches; by default it follows from the memory of the workers.
    position, velocity, time, trajectory
        Columns, as for `eigenwell.files.read`.
    tidy : bool
        Remove stage files at the end; the result has all that `learn` reads.
    progress : bool or callable
        True prints how far it is; a function is called as progress(stage, done, total) as tasks finish.

    Returns
    -------
    DistributedIdentification

    Raises
    ------
    DataError
        For data that cannot be used.
    DistributedError
        When the cluster could not finish; run again, and it goes on from there.
    MissingExtra
        When Dask or pyarrow is not installed.

    Examples
    --------
    >>> from eigenwell import distributed
    >>> found = distributed.identify("data/*.parquet", out="out")  # doctest: +SKIP
    """
    arrow()
    is_dask = hasattr(data, "__dask_graph__")
    if not is_dask and not isinstance(data, str | Path | list | tuple):
        raise DataError(
            f"Expected a Dask DataFrame, a Dask Array or Parquet files, got {type(data).__name__}. What fits in memory goes "
            "to eigenwell.identify."
        )
    wanted = Wanted.of(position, velocity, time=time, trajectory=trajectory)
    folder = Path(out).absolute()
    (folder / "work").mkdir(parents=True, exist_ok=True)
    with connected(client) as connection, told(progress):
        if not resume:
            _clear(folder)
        size = _cell_size(connection, folder, samples_per_cell)

        def run() -> DistributedIdentification:
            files, name = written(data, connection, folder) if is_dask else (find_files(data), None)
            parts, columns = open_parts(files, wanted)
            key = fingerprint(parts if name is None else [], columns, {"cell": size, "format": FORMAT, "name": name})
            _begin(folder, key, size)
            with suppress(OSError, ValueError, KeyError):
                stages = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["stages"]
                if intact(folder, stages, key):  # an earlier run with the same key has finished
                    return DistributedIdentification.open(folder)
            return identified(Run(connection, folder, key, parts, columns, size))

        try:
            found: DistributedIdentification = lasting(run)
        finally:
            sweep(folder)
        if tidy:
            for stage in (folder / "work").iterdir():
                if stage.is_dir() and stage.name not in RESULT:
                    shutil.rmtree(stage, ignore_errors=True)
        return found


def _cell_size(client: Any, folder: Path, asked: int | None) -> int:
    if asked is not None:
        if not (isinstance(asked, int) and asked > 0):
            raise DataError(f"Expected samples_per_cell as a whole number > 0, got {asked!r}.")
        return asked
    with suppress(OSError, ValueError, KeyError):  # a run that goes on keeps its cells, whatever the workers of today
        return int(json.loads((folder / "work" / "run.json").read_text())["cell"])
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
    except TypeError:  # older versions always tell of all workers
        workers = client.scheduler_info()["workers"].values()
    shares = [w["memory_limit"] / w["nthreads"] for w in workers if w.get("memory_limit")]
    fits = min(shares) / BYTES_PER_SAMPLE if shares else DEFAULT_CELL
    return int(np.clip(fits, SMALLEST_CELL, LARGEST_CELL))


def _begin(folder: Path, key: str, size: int) -> None:
    """Forget result and work of other data: from here on, a summary in the folder is one of this run."""
    said, note = json.dumps({"key": key, "cell": size}), folder / "work" / "run.json"
    if not note.exists() or note.read_text() != said:
        _clear(folder, "input")
        put(note, lambda handle: handle.write(said.encode()), lasting=True)


def _clear(folder: Path, *kept: str) -> None:
    """Remove the result and the work, but for these folders of it."""
    for name in ("summary.json", "paths.parquet", "attractors.parquet"):
        (folder / name).unlink(missing_ok=True)
    work = [place for place in (folder / "work").iterdir() if place.is_dir() and place.name not in kept]
    for place in (folder / "labels", folder / "embeddings", *work):
        shutil.rmtree(place, ignore_errors=True)


def learn(
    found: DistributedIdentification, *, client: Any = None, progress: bool | Progress | None = False, **kwargs: Any
) -> Field:
    """One field for all attractors of `found`, as `eigenwell.learn` learns it: in one task, of `found.in_memory()`.

    Parameters
    ----------
    found : DistributedIdentification
        What `distributed.identify` found.
    client : dask.distributed.Client, optional
        As for `distributed.identify`.
    progress : bool or callable
        A function is called as progress("learn", done, 1) when the task begins and ends.
    **kwargs
        As for `eigenwell.learn`: toward, memory, target, recipe, seed, dtype.

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
    with connected(client) as connection, told(progress):
        from distributed import KilledWorker

        advance("learn", 0, 1)
        task = connection.submit(_trained, str(found.folder), kwargs, pure=False)
        try:
            field: Field = task.result()
        except KilledWorker as error:
            raise DistributedError(
                "The workers that trained the field died, one after the other. Give them more memory."
            ) from error
        finally:
            task.cancel()
        advance("learn", 1, 1)
    return field


def _trained(folder: str, options: dict[str, Any]) -> Field:
    """`eigenwell.learn` of what the folder holds, on a worker."""
    from ..learning import learn

    field: Field = learn(DistributedIdentification.open(folder), **options)
    return field
