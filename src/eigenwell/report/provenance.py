"""Where a page came from: the command, the versions, the date."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from importlib.metadata import PackageNotFoundError, version


def provenance(packages: Iterable[str], command: str | None, facts: Mapping[str, str] | None = None) -> str:
    """A list of terms in HTML. `facts` are more of them, as HTML; packages that are not installed are left out."""
    from .. import __version__

    versions = [f"eigenwell {__version__}", f"Python {platform.python_version()}"]
    for package in packages:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    rows = {
        "Command": f"<code>{escape(command)}</code>" if command else "",
        **(facts or {}),
        "Versions": escape(", ".join(versions)),
        "Date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows.items() if text) + "</dl>"
