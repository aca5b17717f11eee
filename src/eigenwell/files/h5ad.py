"""AnnData files (.h5ad): cells with velocities. Reading needs anndata (`pip install eigenwell[anndata]`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..cells import from_anndata
from ..errors import missing_extra
from .recording import Format, Recording, Wanted


def read_anndata(path: Path) -> Any:
    try:
        import anndata
    except ImportError as error:
        raise missing_extra("Reading .h5ad", "anndata", "anndata") from error
    return anndata.read_h5ad(path)


def _read(path: Path, wanted: Wanted) -> Recording:
    """The basis is `position`, as in `--position umap`; by default that of the velocities."""
    demos = from_anndata(read_anndata(path), wanted.position[0] if wanted.position else None)
    return Recording(demos.x, demos.v, warnings=demos.warnings).thinned(wanted.every)


H5AD = Format((".h5ad",), "an AnnData file", _read)
