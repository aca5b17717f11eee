"""Results as data frames: pandas by default, or whatever is made from a dictionary of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import missing_extra

__all__ = ["FramedResult", "FramedSamples", "Kind", "data_frame", "sample_columns"]

Kind = Callable[[dict[str, Any]], Any]
"""What makes a frame of named columns: `pandas.DataFrame`, `polars.DataFrame`, `pyarrow.table`, `dict`."""


def data_frame(columns: dict[str, NDArray[Any]], kind: Kind | None) -> Any:
    """A frame of columns of one length.

    Parameters
    ----------
    columns : dict of str to (n,) array
    kind : callable, optional
        `pandas.DataFrame` where left out.

    Returns
    -------
    DataFrame

    Raises
    ------
    MissingExtra
        Where pandas is needed and not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.data_frames import data_frame
    >>> list(data_frame({"x1": np.zeros(2)}, dict))
    ['x1']
    """
    if kind is None:
        try:
            import pandas as pd
        except ImportError as error:
            raise missing_extra("frame()", "pandas", "files") from error
        kind = pd.DataFrame
    # Frozen arrays stay the library's own; a frame is its reader's to change.
    return kind({name: np.array(column) for name, column in columns.items()})


def sample_columns(samples: Any) -> dict[str, NDArray[Any]]:
    """trajectory, time_s, x1 .., v1 .. of Demonstrations, as far as they are known: what every table of samples holds."""
    out: dict[str, NDArray[Any]] = {}
    if samples.offsets is not None:
        out["trajectory"] = np.repeat(np.arange(len(samples.offsets) - 1), np.diff(samples.offsets))
    if samples.time is not None:
        out["time_s"] = samples.time
    for stem, table in (("x", samples.x), ("v", samples.v)):
        out |= {f"{stem}{i + 1}": column for i, column in enumerate(table.T)}
    return out


class FramedSamples:
    """What has samples, and gives them as a frame."""

    def frame(self, kind: Kind | None = None) -> Any:
        """One row for every sample: trajectory, time_s, x1 .., v1 .., task, as far as they are known.

        Parameters
        ----------
        kind : callable, optional
            What makes the frame, as `polars.DataFrame`; `pandas.DataFrame` where left out.

        Returns
        -------
        DataFrame
        """
        task = getattr(self, "task", None)
        return data_frame(sample_columns(self) | ({} if task is None else {"task": task}), kind)


class FramedResult:
    """What has labels of samples, and gives both as a frame."""

    def frame(self, kind: Kind | None = None) -> Any:
        """One row for every sample: what `demos.frame` has, and its label; of snapshots, the probability of every fate.

        Parameters
        ----------
        kind : callable, optional
            What makes the frame, as `polars.DataFrame`; `pandas.DataFrame` where left out.

        Returns
        -------
        DataFrame
        """
        found: Any = self
        columns = sample_columns(found.demos) | {"label": found.labels}
        sure = getattr(found, "label_confidence", None)
        if sure is not None:
            columns["label_confidence"] = sure
        if found.fates is not None:
            names = [*(f"fate{q}" for q in range(found.n_attractors)), "leaves"]
            columns |= dict(zip(names, found.fates.T, strict=True))
        return data_frame(columns, kind)
