"""One self-contained HTML page of a comparison or a sweep: the answer, the picture, the table."""

from __future__ import annotations

import io
import os
from html import escape
from typing import Any

from .. import repr_html
from ..errors import missing_extra
from ..files import replacing


class Tabled:
    """What a comparison and a sweep share: their rows as a data frame, and a page of their own."""

    def rows(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def plot(self) -> Any:
        raise NotImplementedError

    def frame(self) -> Any:
        """The rows as a pandas data frame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        MissingExtra
            When pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise missing_extra("frame()", "pandas", "all") from error
        return pd.DataFrame(self.rows())

    def report(self, path: str | os.PathLike[str], title: str = "How stable states change") -> None:
        """Write one page with the answer, the picture and the table; it reads offline.

        Parameters
        ----------
        path : str or path
            The file, for example "changes.html".
        title : str
            Above the page.

        Raises
        ------
        MissingExtra
            When matplotlib is not installed.
        """
        from .. import plotting

        with plotting.style():
            drawn = self.plot()
            picture = io.StringIO()
            (drawn if hasattr(drawn, "figure") else drawn[0]).figure.savefig(picture, format="svg")
        rows, svg = self.rows(), picture.getvalue()
        head = list(rows[0]) if rows else []
        table = repr_html.table(head, [[_cell(row[name]) for name in head] for row in rows])
        text = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{escape(title)}</title>{repr_html.STYLE}"
            "<style>body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
            "svg{max-width:100%;height:auto}.wide{overflow-x:auto}</style>"
            f"<h1>{escape(title)}</h1><pre>{escape(str(self))}</pre>{svg[svg.index('<svg') :]}"
            f'<div class="eigenwell wide">{table}</div></html>\n'
        )
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
