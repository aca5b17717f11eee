"""Data frames: what is one, and results as frames, pandas by default or whatever is made from a dictionary of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import missing_extra

__all__ = ["Framed", "Kind", "data_frame", "is_frame", "sample_columns"]

Kind = Callable[[dict[str, Any]], Any]
"""What makes a frame of named columns: `pandas.DataFrame`, `polars.DataFrame`, `pyarrow.table`, `dict`."""


def is_frame(data: Any) -> bool:
    """Whether this is a table with names: a pandas or polars frame, an Arrow table or batch."""
    if isinstance(data, np.ndarray):
        return False
    arrow = hasattr(data, "column_names") and hasattr(data, "column")
    return arrow or (hasattr(data, "columns") and hasattr(data, "to_numpy") and hasattr(data, "shape"))


def data_frame(columns: dict[str, NDArray[Any]], kind: Kind | None) -> Any:
    """A frame of columns of one length; `pandas.DataFrame` where no kind is given."""
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


class Framed:
    """What holds rows, and gives them as a frame."""

    def _frame_columns(self) -> dict[str, NDArray[Any]]:
        raise NotImplementedError

    def frame(self, kind: Kind | None = None) -> Any:
        """A data frame, with one row for every sample or, of an audit, for every fault and every episode without.

        Samples have their trajectory, time_s, x1 .., v1 .. and task, as far as they are known; an identification adds the label
        and how sure it is and, of snapshots, the probability of every fate.

        Parameters
        ----------
        kind : callable, optional
            What makes the frame, as `polars.DataFrame`; `pandas.DataFrame` where left out.

        Returns
        -------
        DataFrame
        """
        return data_frame(self._frame_columns(), kind)
