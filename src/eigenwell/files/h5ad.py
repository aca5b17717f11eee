"""AnnData files (.h5ad): cells with velocities. Reading needs anndata (`pip install eigenwell[anndata]`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..cells import from_anndata
from ..demonstrations import Demonstrations
from ..errors import missing_extra
from .errors import CannotWrite, FileError, unreadable
from .recording import Recording, Wanted


@dataclass(frozen=True)
class H5ad:
    """The basis is `position`, as in `--position umap`; by default that of the velocities."""

    name: ClassVar[str] = "AnnData"
    suffixes: ClassVar[tuple[str, ...]] = (".h5ad",)

    def read(self, path: Path, wanted: Wanted) -> Recording:
        try:
            import anndata
        except ImportError as error:
            raise missing_extra("Reading .h5ad", "anndata", "anndata") from error
        try:
            adata = anndata.read_h5ad(path)
        except FileError:
            raise
        except Exception as error:  # h5py and anndata raise whatever a broken file makes them
            raise unreadable(path, "an AnnData file", error) from error
        demos = from_anndata(adata, wanted.position[0] if wanted.position else None)
        return Recording(demos.x, demos.v, warnings=demos.warnings).thinned(wanted.every)

    def write(self, path: Path, demos: Demonstrations) -> None:
        raise CannotWrite(
            f"Cannot write demonstrations to {path.name}: .h5ad is for cells. Write .npz or .parquet instead."
        )
