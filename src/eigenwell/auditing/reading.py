"""Whatever a user has, as episodes one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import is_sequence_of_trajectories
from ..checks import check_dt, matrix
from ..demonstrations import DataError, Demonstrations
from .episodes import Episodes, of_arrays, of_demonstrations


def collect(data: Any, v: Any = None, *, dt: float | None = None, time: Any = None) -> Episodes:
    """Demonstrations, lists of arrays or of (x, v) pairs, files: as episodes, each as it came."""
    check_dt(dt)
    if isinstance(data, Demonstrations):
        return of_demonstrations(data)
    if not is_sequence_of_trajectories(data):
        raise DataError(
            "Expected several recordings: Demonstrations of trajectories, a list of (T, d) arrays, or a folder of files; got "
            f"{type(data).__name__}."
        )
    pairs = [isinstance(item, tuple) and len(item) == 2 for item in data]
    if all(pairs) and v is None:
        data, v = [item[0] for item in data], [item[1] for item in data]
    xs = [np.asarray(item, dtype=np.float64) for item in data]
    xs = [x[:, None] if x.ndim == 1 else x for x in xs]
    vs = None if v is None else [matrix(item, f"velocity of episode {k}") for k, item in enumerate(v)]
    ts = None if time is None else [np.asarray(t, dtype=np.float64) for t in time]
    if ts is None and dt is not None:
        ts = [dt * np.arange(len(x), dtype=np.float64) for x in xs]
    return of_arrays(xs, vs, ts, None, [""] * len(xs))
