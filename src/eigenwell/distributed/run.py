"""A run: its input, the user's cluster, and stages, many tasks of one kind. A task that is run twice leaves the same files."""

from __future__ import annotations

import ctypes
import hashlib
import json
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..demonstrations import DataError
from ..errors import EigenwellError, missing_extra
from ..files.columns import Columns
from ..progress import advance
from .inputs import Part
from .store import Products, StageFileLost, finished, keep

# Names and numbers of glibc's malloc.h, and Dask's threshold.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
DASK_TRIMS, USUAL_MMAP = 1 << 16, 1 << 17
# Bytes kept at most, and the largest array that is kept: what glibc itself allows where nobody interferes.
KEPT, LARGEST_KEPT = 1 << 28, 1 << 25


class DistributedError(EigenwellError, OSError):
    """The cluster could not finish; the message says with which part of the data."""


@dataclass(frozen=True)
class Run:
    """A Dask client, the folder of the result, the key of input and settings, the input, and the samples one task takes on."""

    client: Any
    folder: Path
    key: str
    parts: list[Part]
    columns: Columns
    cell: int

    @property
    def total(self) -> int:
        return self.parts[-1].offset + self.parts[-1].rows

    @property
    def part_names(self) -> list[str]:
        return [p.name for p in self.parts]

    def one(self, stage: str, function: Callable[..., Products], /, **arguments: Any) -> dict[str, Any]:
        """A stage of one task."""
        return self.stage(stage, function, {stage: arguments})[0]

    def per_part(self, stage: str, function: Callable[..., Products], /, **arguments: Any) -> list[dict[str, Any]]:
        return self.each(stage, function, self.part_names, {"part": self.parts}, **arguments)

    def each(
        self,
        stage: str,
        function: Callable[..., Products],
        tasks: Iterable[str],
        own: Mapping[str, Iterable[Any]],
        /,
        **shared: Any,
    ) -> list[dict[str, Any]]:
        """A stage of many tasks: each has an argument of its `own` of every name, and those that all share."""
        rows = zip(tasks, *own.values(), strict=True)
        return self.stage(stage, function, {name: dict(zip(own, row, strict=True)) | shared for name, *row in rows})

    def stage(
        self, stage: str, function: Callable[..., Products], tasks: Mapping[str, dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The summaries of `function(folder, **arguments)` for all tasks, in their order."""
        from distributed import KilledWorker, as_completed

        summaries: dict[str, dict[str, Any]] = {}
        mark, futures = uuid.uuid4().hex[:8], {}
        advance(stage, 0, len(tasks))
        for name, arguments in tasks.items():
            call, key = (self.folder, self.key, stage, name, function, arguments), f"eigenwell-{stage}-{name}-{mark}"
            futures[key] = name, self.client.submit(execute, *call, key=key, pure=False)
        try:
            for future in as_completed([future for _, future in futures.values()]):  # type: ignore[no-untyped-call]
                name = futures[future.key][0]
                try:
                    summaries[name] = future.result()
                except KilledWorker as error:
                    about = tasks[name]["part"].about if "part" in tasks[name] else name
                    raise DistributedError(
                        f"The workers that took on {about} died, one after the other. If they ran out of memory, give them more "
                        "or pass a smaller samples_per_cell; then run again: finished stages are kept."
                    ) from error
                # What has been told need not be told again when the worker that remembers it dies.
                futures.pop(future.key)[1].release()
                advance(stage, len(summaries), len(tasks))
        finally:
            self.client.cancel([future for _, future in futures.values()])
        return [summaries[name] for name in tasks]


def execute(
    folder: Path, run: str, stage: str, name: str, function: Callable[..., Products], arguments: dict[str, Any]
) -> dict[str, Any]:
    """Run a task where it has not been finished before; what was made from other data or arguments is made again."""
    said = json.dumps([run, stage, name, arguments], default=str, sort_keys=True)
    key = hashlib.blake2b(said.encode(), digest_size=16).hexdigest()
    done = finished(folder, stage, name, key)
    if done is not None:
        return done
    with freed_memory_kept():
        products = function(folder, **arguments)
    return keep(folder, stage, name, key, run, products)


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Within this, freed memory is kept for the next array; afterwards it goes back to the system. glibc only.

    Dask has its workers give freed memory back at once (MALLOC_TRIM_THRESHOLD_=65536): right between tasks, but within one that
    makes thousands of arrays, each handed out and cleared anew, it doubles the time.
    """
    libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
    if not hasattr(libc, "mallopt"):
        yield
        return
    libc.mallopt(MMAP_THRESHOLD, LARGEST_KEPT)
    libc.mallopt(TRIM_THRESHOLD, KEPT)
    try:
        yield
    finally:
        libc.mallopt(TRIM_THRESHOLD, DASK_TRIMS)
        libc.mallopt(MMAP_THRESHOLD, USUAL_MMAP)
        libc.malloc_trim(0)


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """The client given, else the current one, else a cluster on this machine that is closed afterwards."""
    try:
        from distributed import Client, LocalCluster, get_client
    except ImportError as error:
        raise missing_extra("eigenwell.distributed", "dask", "dask") from error
    if client is not None and not isinstance(client, Client):
        raise DataError(f"Expected client as a dask.distributed Client, got {type(client).__name__}.")
    if client is None:
        with suppress(ValueError):
            client = get_client()
    if client is not None:
        yield client
        return
    local: Any = LocalCluster
    with local(processes=True, threads_per_worker=1, dashboard_address="127.0.0.1:0") as own, Client(own) as new:  # type: ignore[no-untyped-call]
        yield new


def lasting(run: Callable[[], Any], tries: int = 3) -> Any:
    """Run again from the finished stages when a stage's file was lost on the way."""
    try:
        return run()
    except StageFileLost as error:
        if tries > 1:
            return lasting(run, tries - 1)
        raise DistributedError(
            f"Files of the work folder vanish or are cut short while they are used: {error}. Does something else write to or "
            "clean this folder?"
        ) from error
