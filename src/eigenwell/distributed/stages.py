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


def execute(folder: str, run: str, task: Task, *inputs: Any) -> dict[str, Any]:
    """Run a task where it has not been finished before."""
    place, key = Path(folder), task.key(run)
    done = finished(place, task.stage, task.name, key)
    if done is not None:
        return done
    return keep(place, task.stage, task.name, key, run, task.function(place, *inputs, **task.arguments))


@dataclass(frozen=True)
class Cluster:
    """A Dask client, the folder of the results and the key of the run; runs stages."""

    client: Any
    folder: Path
    run_key: str
    progress: Progress | None = None

    def stage(self, tasks: Sequence[Task], inputs: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Summaries of all tasks, in their order. `inputs` are delayed objects, one for each task."""
        from dask.delayed import delayed

        from distributed import KilledWorker, as_completed

        if not tasks:
            return []
        stage, total = tasks[0].stage, len(tasks)
        self._tell(stage, 0, total)
        place = str(self.folder)
        summaries: dict[int, dict[str, Any]] = {}
        if inputs is None:
            mark = uuid.uuid4().hex[:8]
            futures = [
                self.client.submit(
                    execute, place, self.run_key, task, key=f"eigenwell-{task.stage}-{task.name}-{mark}", pure=False
                )
                for task in tasks
            ]
            index = {future.key: k for k, future in enumerate(futures)}
        else:
            # What was finished before is not asked for again: the partitions behind it would have to be computed.
            done = {k: finished(self.folder, t.stage, t.name, t.key(self.run_key)) for k, t in enumerate(tasks)}
            summaries = {k: summary for k, summary in done.items() if summary is not None}
            open_ = [k for k in range(total) if k not in summaries]
            lazy = [delayed(execute, pure=False)(place, self.run_key, tasks[k], inputs[k]) for k in open_]
            futures = list(self.client.compute(lazy)) if lazy else []
            index = {future.key: k for k, future in zip(open_, futures, strict=True)}
        waiting = {future.key: future for future in futures}
        del futures
        try:
            for future in as_completed(list(waiting.values())):  # type: ignore[no-untyped-call]
                k = index[future.key]
                try:
                    summaries[k] = future.result()
                except KilledWorker as error:
                    raise DistributedError(
                        f"The workers that took on {_named(tasks[k])} died, one after the other. If they ran out of memory, give "
                        "them more or pass a smaller samples_per_cell; then run again: finished stages are kept."
                    ) from error
                # What has been told need not be told again when the worker that remembers it dies.
                waiting.pop(future.key).release()
                self._tell(stage, len(summaries), total)
        finally:
            self.client.cancel(list(waiting.values()))
        return [summaries[k] for k in range(total)]

    def has(self, task: Task) -> bool:
        """Whether a task was finished earlier."""
        return finished(self.folder, task.stage, task.name, task.key(self.run_key)) is not None

    def one(self, task: Task) -> dict[str, Any]:
        return self.stage([task])[0]

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(stage, done, total)


def _named(task: Task) -> str:
    return task.about or f"{task.stage} {task.name}"


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """The client given, else the current one, else a cluster on this machine that is closed afterwards."""
    try:
        from distributed import Client, LocalCluster, get_client
    except ImportError as error:
        raise missing_extra("eigenwell.distributed", "dask", "dask") from error
    if client is not None:
        if not isinstance(client, Client):
            raise DataError(f"Expected client as a dask.distributed Client, got {type(client).__name__}.")
        yield client
        return
    try:
        current = get_client()
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
