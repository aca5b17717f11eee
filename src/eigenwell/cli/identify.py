"""identify, report, demo: the answer about data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import DataError
from ..wording import plural
from .options import IN_DOUBT, Known, Source
from .output import answer, cautions, command, interactive, note, offer_audit, print_json, say, table

if TYPE_CHECKING:
    from ..distributed import DistributedIdentification
    from ..identification import Identification
    from ..results import Result


@command
def identify(
    source: Source,
    known: Known,
    labels: Path | None = None,
    strict: bool = False,
    dask: str | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """How many attractors, where they are, and which sample belongs to which."""
    if dask is not None:
        if (source.dt, source.every, source.quaternion) != (None, 1, None):
            raise typer.BadParameter("--dask reads partitions as they are; leave out --dt, --every and --quaternion")
        if known != Known():
            raise typer.BadParameter(
                "--dask decides alone; leave out --n-attractors, --resolution, --exclude and --task"
            )
        found: Any = _on_cluster(dask, source, out or Path("eigenwell-result"))
        _write_labels(labels, (found.column("label", k) for k in range(len(found.partitions))))
        _show_partitioned(found, as_json)
    elif out is not None:
        raise typer.BadParameter("--out goes with --dask ADDRESS")
    else:
        found = known.identify(source)
        _write_labels(labels, [found.labels])
        if as_json:
            print_json(_answer(found))
        else:
            show(found)
            if found.warnings or found.odd:
                offer_audit(found.demos)
    if strict and found.warnings:
        raise typer.Exit(IN_DOUBT)


def _write_labels(path: Path | None, parts: Iterable[Any]) -> None:
    from ..files import replacing

    if path is not None:
        with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as handle:
            for labels in parts:
                handle.write("\n".join(map(str, labels.tolist())) + "\n")


def _on_cluster(address: str, source: Source, out: Path) -> DistributedIdentification:
    from ..distributed import identify as spread_out
    from ..distributed.run import connected

    with ExitStack() as stack:
        client = None
        if address != "local":
            from distributed import Client

            try:
                client = stack.enter_context(Client(address))  # type: ignore[no-untyped-call]
            except OSError as error:
                raise DataError(
                    f"Expected a Dask scheduler at {address}, got no answer. Start one there, or say --dask local."
                ) from error
        client = stack.enter_context(connected(client))
        if client.dashboard_link:
            note(f"dashboard: {client.dashboard_link}")
        columns = {name: source.columns[name] for name in ("position", "velocity", "time", "trajectory")}
        return spread_out([str(f) for f in source.file], out=out, client=client, **columns)


def _show_partitioned(found: DistributedIdentification, as_json: bool) -> None:
    """The answer; everything that has a row per sample stays in the folder."""
    if as_json:
        print_json(_common(found) | {"folder": str(found.folder)})
    else:
        _headline(found)
        _places(found, found.high - found.low)
        cautions(found.warnings)
        note(f"labels, paths and embeddings: {found.folder}")


@command
def report(output: Path, source: Source, model: Path | None = None, learn: bool = False, as_json: bool = False) -> None:
    """One self-contained HTML page: the answer, the plots, the doubts, the certificate."""
    from ..identification import identify as find

    found = find(source.read())
    field: Any = None
    if model is not None:
        from ..models import load

        field = load(model)
    elif learn:
        from ..learning import learn as fit

        field = fit(found)
    _write_report(output, found, field, title=source.name)
    count, size = found.n_attractors, output.stat().st_size
    said = {"page": str(output), "bytes": size, "n_attractors": count}
    answer(as_json, said, f"{output}: {plural(count, 'attractor')}, {size / 1e6:.1f} MB")


@command
def demo(
    system: str = "duffing", seed: int = 0, learn: bool = True, output: Path | None = None, as_json: bool = False
) -> None:
    """Samples of a known system, shuffled: find its attractors, learn its field, compare with the truth."""
    import numpy as np

    from ..identification import identify as find
    from .data import sample

    demos = sample(system, seed).shuffled(seed)
    found = find(demos)
    assert demos.truth is not None
    true = demos.truth.attractors
    error = np.linalg.norm(found.attractors[:, None] - true, axis=2).min(axis=1)
    said = _answer(found) | {"true_attractors": true, "error": error}
    if not as_json:
        say(f"{system}: {demos.n_samples} samples in {demos.dimension}-D, shuffled; {len(true)} true attractors")
        show(found)
        say(f"largest distance to a true attractor: {error.max():.2g}")
    field: Any = None
    if learn:
        from ..learning import learn as fit

        field = fit(found)
        certificate = field.certificate()
        said |= {"certificate": certificate}
        if not as_json:
            say(f"learned field {certificate}")
    if output is not None:
        _write_report(output, found, field, title=system)
        said |= {"page": str(output)}
        if not as_json:
            say(f"report: {output}")
    if as_json:
        print_json(said)


def _write_report(output: Path, found: Identification, field: Any, title: str) -> None:
    from ..report import write_report

    typed = " ".join(["eigenwell", *sys.argv[1:]])
    write_report(output, found.demos, found, field, title=title, command=typed)


def _common(found: Result) -> dict[str, Any]:
    """What every result says."""
    asked = ("n_attractors", "attractors", "uncertainty", "confidence", "n_samples", "kind", "warnings")
    counts = {"paths": found.paths_per_attractor, "samples": found.samples_per_attractor}
    return {name: getattr(found, name) for name in asked} | {"dimension": found.attractors.shape[1]} | counts


def _answer(found: Identification) -> dict[str, Any]:
    return _common(found) | {
        "alternatives": [{"n_attractors": a.n_attractors, "confidence": a.confidence} for a in found.alternatives],
        "odd": [{"recording": o.number, "name": o.name, "kind": o.kind, "left_out": o.left_out} for o in found.odd],
        "told": list(found.told),
        "about": found.demos.about,
        "labels": found.labels,
        "evidence": None if found.evidence is None else str(found.evidence),
        "kinds": [a.form for a in found.located],
        "counts": found.counts,
    }


def show(found: Identification) -> None:
    """The answer first, then the places, then the doubts."""
    if found.demos.about:
        note(found.demos.about)
    _headline(found)
    for what in found.told:
        say(f"given: {what}")
    if found.alternatives:
        others = ", ".join(f"{a.n_attractors} (confidence {a.confidence:.2f})" for a in found.alternatives[:3])
        say(f"other readings: {others}")
    _places(found, found.demos.x.max(axis=0) - found.demos.x.min(axis=0))
    if found.counts is not None:
        shares = ", ".join(f"{q} in {100 * share:.0f} %" for q, share in found.counts.items())
        note(f"snapshots ({found.evidence}); number of attractors in the replicates: {shares}")
        note("kinds: " + ", ".join(f"{q} {a.form}" for q, a in enumerate(found.located)))
    cautions(found.warnings)


def _headline(found: Result) -> None:
    from ..report.wording import surety

    count, sure = plural(found.n_attractors, "attractor"), surety(found.confidence)
    say(f"{count}, confidence {found.confidence:.2f} ({sure})", bold=interactive())


def _places(found: Result, extents: Any) -> None:
    from ..report.wording import quantity

    rows, counts = [], zip(found.paths_per_attractor, found.samples_per_attractor, strict=True)
    for q, (place, error, n) in enumerate(zip(found.attractors, found.uncertainty, counts, strict=True)):
        shown = ", ".join(quantity(*one) for one in zip(place[:4], error[:4], extents[:4], strict=True))
        more = f", … ({len(place)} coordinates)" if len(place) > 4 else ""
        rows.append((str(q), shown + more, *map(str, n)))
    table(("#", "attractor", "paths", "samples"), rows, numbers_from=2)
