"""Cases of a benchmark one by one, kept as they are done, so that a run that was broken off goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import eigenwell

KEPT = Path(__file__).parents[1] / "out" / "cases"
SOURCE = Path(eigenwell.__file__).parent
T = TypeVar("T")


def _code(leave_out: Iterable[str] = (), *more: Path) -> str:
    """Of all code but some folders: what was computed by other code is computed again."""
    files = sorted(p for p in SOURCE.rglob("*.py") if not set(leave_out) & set(p.relative_to(SOURCE).parts))
    return hashlib.sha256(b"".join(p.read_bytes() for p in [*files, *more])).hexdigest()[:16]


def each(name: str, one: Callable[..., dict[str, Any]], cases: list[tuple[Any, ...]], workers: int) -> list[dict]:
    """`one(*case)` for all cases, in their order."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{name}-{_code((), *Path(__file__).parent.glob('compare*.py'))}.jsonl"
    done = {}
    if path.exists():
        done = {json.dumps(k): v for k, v in map(json.loads, path.read_text().splitlines())}
    left = [c for c in cases if json.dumps(c) not in done]
    with path.open("a") as file, ProcessPoolExecutor(workers) as pool:
        for case, result in zip(left, pool.map(one, *zip(*left, strict=True)) if left else (), strict=True):
            line = json.dumps([case, result], default=float)
            file.write(line + "\n")
            file.flush()
            print("  ", line, flush=True)
            done[json.dumps(case)] = json.loads(line)[1]
    return [done[json.dumps(c)] for c in cases]


def once(name: str, make: Callable[[], T], leave_out: Iterable[str]) -> T:
    """What `make` gives, from a file where the code outside some folders has made it before."""
    path = KEPT / _code(leave_out) / f"{name}.pickle"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(make()))
    return pickle.loads(path.read_bytes())
