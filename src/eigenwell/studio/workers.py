"""Worker processes as the server sees them, and the work that waits for them."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from ..errors import EigenwellError
from .process import WorkStopped, main

log = logging.getLogger("eigenwell.studio")

PATIENCE = {"drawing": 1.0, "errands": 5.0, "learning": 10.0, "testing": 1.0}
"""Seconds that overtaken work may go on before its process is replaced: about as long as that takes. Learning stops by
itself at its next news, and a new process would have to compile again."""


class WorkFailed(EigenwellError):
    """The work could not be done; the message is for the page."""


class Worker:
    """One process that does one job at a time; a dead one is replaced when the next job comes.

    A thread of its own talks to the process, so that the event loop never waits on a pipe.
    """

    def __init__(self, kind: str, folder: str) -> None:
        self.kind, self._folder = kind, folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"studio-{kind}")
        self._sending = threading.Lock()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._number = 0
        self._killed = self._ended = False

    @property
    def alive(self) -> bool:
        return self._process is not None

    async def run(self, name: str, arguments: tuple[Any, ...], news: Callable[[Any], None]) -> Any:
        """The answer; WorkFailed with a sentence for the page, or WorkStopped."""
        loop = asyncio.get_running_loop()

        def pass_on(what: Any) -> None:
            with suppress(RuntimeError):  # the loop may close while the process still speaks
                loop.call_soon_threadsafe(news, what)

        return await loop.run_in_executor(self._thread, self._exchange, name, arguments, pass_on)

    def _exchange(self, name: str, arguments: tuple[Any, ...], news: Callable[[Any], None]) -> Any:
        if self._ended:
            raise WorkStopped
        try:
            pipe = self._started()
            with self._sending:
                self._number += 1
                number = self._number
                pipe.send((number, name, arguments))
            while True:
                what, which, content = pipe.recv()
                if which != number:
                    continue
                if what == "news":
                    news(content)
                elif what == "done":
                    return content
                elif what == "stopped":
                    raise WorkStopped
                else:
                    raise WorkFailed(content)
        except (EOFError, OSError) as error:
            process, self._process, self._pipe = self._process, None, None
            if process is not None:
                process.join(1.0)
                if not (self._ended or self._killed):
                    log.warning(
                        "studio: the %s process died (exit code %s); it is replaced", self.kind, process.exitcode
                    )
                    raise WorkFailed("The worker process died during this work; it was replaced. Try again.") from error
            raise WorkStopped from error

    def _started(self) -> Connection:
        if self._process is None or self._pipe is None or not self._process.is_alive():
            context = multiprocessing.get_context("spawn")
            self._killed = False
            self._pipe, theirs = context.Pipe()
            name, arguments = f"eigenwell-studio-{self.kind}", (theirs, self.kind, self._folder)
            self._process = context.Process(target=main, args=arguments, name=name, daemon=True)
            self._process.start()
            theirs.close()  # so that the death of the process ends recv()
        return self._pipe

    def cancel(self) -> None:
        """Ask the running job to stop at its next news."""
        with suppress(OSError, ValueError), self._sending:
            if self._pipe is not None:
                self._pipe.send((self._number, "cancel", ()))

    def kill(self) -> None:
        """End the process now; its job counts as stopped."""
        if self._process is not None:
            self._killed = True
            self._process.kill()

    def end(self) -> None:
        """No more jobs, no process left behind."""
        self._ended = True
        if (process := self._process) is not None:
            process.kill()
            process.join(2.0)
        self._thread.shutdown(wait=False, cancel_futures=True)


@dataclass(eq=False)
class Job:
    """Work for one page. `slot` names what it is about: newer work in the same slot makes older work pointless."""

    owner: object
    slot: str
    name: str
    arguments: tuple[Any, ...]
    done: Callable[[Any], None]
    failed: Callable[[str], None]
    news: Callable[[Any], None] | None = None
    limit: float = 60.0
    """Seconds after which the work is given up."""
    overtaken: bool = field(default=False, init=False)
    """Newer work waits: it should end soon, but what it finds until then is still news to whoever moves a slider."""
    unwanted: bool = field(default=False, init=False)
    """Nobody is there to hear of it."""
    began: float = field(default=0.0, init=False)


class JobQueue:
    """A worker and the jobs that wait for it: at most one per page and slot, the newest; pages take turns."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self._waiting: dict[tuple[int, str], Job] = {}
        self._current: Job | None = None
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        self._task = asyncio.create_task(self._serve(), name=f"queue-{self.worker.kind}")
        self.warm()

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._waiting.clear()
        self.worker.end()

    def put(self, job: Job) -> None:
        # Assigning to an old key keeps its place in the queue: who draws quickly does not lose a turn by it.
        self._waiting[id(job.owner), job.slot] = job
        current = self._current
        if current is not None and current.owner is job.owner and current.slot == job.slot:
            self._hurry(current)
        self._wake.set()

    def drop(self, owner: object, slot: str | None = None) -> None:
        """Forget the work of a page, all of it or one slot, waiting or running."""
        for key, job in list(self._waiting.items()):
            if job.owner is owner and slot in (None, job.slot):
                del self._waiting[key]
        current = self._current
        if current is not None and current.owner is owner and slot in (None, current.slot):
            current.unwanted = True
            self._hurry(current)

    def _hurry(self, job: Job) -> None:
        if job.overtaken:
            return
        job.overtaken = True
        self.worker.cancel()
        left = max(0.0, job.began + PATIENCE[self.worker.kind] - time.monotonic())
        asyncio.get_running_loop().call_later(left, self._end_if_running, job)

    def _end_if_running(self, job: Job) -> None:
        if self._current is job:
            self.worker.kill()

    async def _serve(self) -> None:
        while True:
            while not self._waiting:
                self._wake.clear()
                await self._wake.wait()
            job = self._waiting.pop(next(iter(self._waiting)))
            await self._do(job)

    async def _do(self, job: Job) -> None:
        self._current, job.began = job, time.monotonic()
        limit = asyncio.get_running_loop().call_later(job.limit, self._end_if_running, job)

        def news(what: Any) -> None:
            if not job.unwanted and job.news is not None:
                job.news(what)

        try:
            answer = await self.worker.run(job.name, job.arguments, news)
        except (WorkStopped, WorkFailed) as error:
            late = f"This took longer than {job.limit:g} s and was given up. Draw less, or simpler."
            if not job.overtaken:
                job.failed(str(error) or late)
        else:
            if not job.unwanted:
                job.done(answer)
        finally:
            limit.cancel()
            self._current = None
        if not self.worker.alive and job.name != "warm":
            self.warm()

    def warm(self, part: int = 0) -> None:
        """Import and compile now, and not when somebody waits: part by part, so that who asks meanwhile is let in between."""

        def next_part(following: int | None) -> None:
            if following is not None:
                self.warm(following)

        self.put(Job(self, f"warm {part}", "warm", (self.worker.kind, part), next_part, lambda failure: None))
