"""What all fields that `learn` gives have in common: they are saved."""

from __future__ import annotations

from typing import Any


class Saved:
    """A field that `models` can write."""

    def save(self: Any, path: Any, *, overwrite: bool = False) -> None:
        """Write one file; eigenwell.load(path) brings the same numbers back.

        Parameters
        ----------
        path, overwrite
            As in `eigenwell.models.save`.

        Examples
        --------
        >>> field.save("duffing.eigenwell")  # doctest: +SKIP
        """
        from ..models import save

        save(self, path, overwrite=overwrite)
