"""Stages: many tasks of one kind on the user's cluster. A task that is run twice leaves the same files."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..demonstrations import DataError
from ..errors import EigenwellError, missing_extra
from ..progress import Progress
from .store import Products, StageFileLost, finished, keep


class DistributedError(EigenwellError, OSError):
    """The cluster could not finish; the message says with which part of the data."""


@dataclass(frozen=True)
class Task:
    """`function(folder, **arguments)` makes the products; `about` names the part of the data in an error."""

    stage: str
    name: str
    function: Callable[..., Products]
    arguments: dict[str, Any] = field(default_factory=dict)
    about: str = ""

    def key(self, run: str) -> str:
        """Changes with the input, the settings and the arguments: what was made under another key is made again."""
        said = json.dumps([run, self.stage, self.name, self.arguments], default=str, sort_keys=True)
        return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()

    def finished(self, folder: Path, run: str) -> dict[str, Any] | None:
        """Its summary where it was finished earlier."""
        return finished(folder, self.stage, self.name, self.key(run))


def execute(folder: str, run: str, task: Task) -> dict[str, Any]:
    """Run a task where it has not been finished before."""
    place = Path(folder)
    done = task.finished(place, run)
    if done is not None:
        return done
    return keep(place, task.stage, task.name, task.key(run), run, task.function(place, **task.arguments))


@dataclass(frozen=True)
class Cluster:
    """A Dask client, the folder of the results and the key of the run; runs stages."""

    client: Any
    folder: Path
    run_key: str
    progress: Progress | None = None

    def stage(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Summaries of all tasks, in their order."""
        from distributed import KilledWorker, as_completed

        summaries: dict[int, dict[str, Any]] = {}
        self._tell(tasks, summaries)
        mark, place, submit = uuid.uuid4().hex[:8], str(self.folder), self.client.submit
        keys = [f"eigenwell-{task.stage}-{task.name}-{mark}" for task in tasks]
        waiting = {
            key: (k, submit(execute, place, self.run_key, tasks[k], key=key, pure=False)) for k, key in enumerate(keys)
        }
        try:
            for future in as_completed([future for _, future in waiting.values()]):  # type: ignore[no-untyped-call]
                k, _ = waiting[future.key]
                try:
                    summaries[k] = future.result()
                except KilledWorker as error:
                    raise DistributedError(
                        f"The workers that took on {tasks[k].about or tasks[k].stage} died, one after the other. If they ran out "
                        "of memory, give them more or pass a smaller samples_per_cell; then run again: finished stages are kept."
                    ) from error
                # What has been told need not be told again when the worker that remembers it dies.
                waiting.pop(future.key)[1].release()
                self._tell(tasks, summaries)
        finally:
            self.client.cancel([future for _, future in waiting.values()])
        return [summaries[k] for k in range(len(tasks))]

    def _tell(self, tasks: Sequence[Task], done: dict[int, Any]) -> None:
        if self.progress is not None:
            self.progress(tasks[0].stage, len(done), len(tasks))


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """The client given, else the current one, else a cluster on this machine that is closed afterwards."""
    try:
        from distributed import Client, LocalCluster, get_client
    except ImportError as error:
        raise missing_extra("eigenwell.distributed", "dask", "dask") from error
    if client is not None and not isinstance(client, Client):
        raise DataError(f"Expected client as a dask.distributed Client, got {type(client).__name__}.")
    try:
        current = client or get_client()
    except ValueError:
        current = None
    if current is not None:
        yield current
        return
    local: Any = LocalCluster
    with local(processes=True, threads_per_worker=1, dashboard_address="127.0.0.1:0") as own, Client(own) as new:  # type: ignore[no-untyped-call]
        yield new


def lasting(run: Callable[[], Any], tries: int = 3) -> Any:
    """Run again from the finished stages when a stage's file was lost on the way."""
    for left in reversed(range(tries)):
        try:
            return run()
        except StageFileLost as error:
            if left == 0:
                raise DistributedError(
                    f"Files of the work folder vanish or are cut short while they are used: {error}. Does something else "
                    "write to or clean this folder?"
                ) from error
    raise AssertionError("unreachable")
