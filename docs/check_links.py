"""Links and pictures of a built site lead somewhere, and no page asks another machine for anything: check_links.py SITE."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, as opposed to where a reader may go.
FETCHED = {("script", "src"), ("img", "src"), ("img", "srcset"), ("source", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """Links, fetched addresses and places to link to of one page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = {"", "top"}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "modulepreload"):
            self.fetched.append(given.get("href", ""))
        for name, value in given.items():
            if (tag, name) in FETCHED:
                # A srcset is a list of addresses, each with a width.
                self.fetched += [part.split()[0] for part in value.split(",")] if name == "srcset" else [value]


def faults(site: Path) -> list[str]:
    # Below _static lie templates of the theme.
    pages = {file: Page(file) for file in sorted(site.rglob("*.html")) if "_static" not in file.parts}
    found = []
    for file, page in pages.items():
        where = file.relative_to(site)
        for address in page.fetched:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                found.append(f"{where}: fetches {address}")
            elif parts.path and not (file.parent / unquote(parts.path)).exists():
                found.append(f"{where}: {address} is not there")
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{where}: link to {address}, which is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{where}: link to {address}, which has no such place")
    return found


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    found = faults(site)
    print(*found, sep="\n")
    print(f"{len(list(site.rglob('*.html')))} pages, {len(found)} faults")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
