"""Cells with velocities: positions and velocities of an AnnData object, and the answer written back into it.

Nothing here imports anndata: any object with `obsm`, `layers`, `varm`, `obs` and `uns` will do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._types import FloatArray
from .checks import Caution
from .demonstrations import DataError, Demonstrations

# More dimensions than this are noise to any cell atlas, and cost samples.
MOST_DIMENSIONS = 50
NAME = "eigenwell"


def is_cells(data: Any) -> bool:
    return hasattr(data, "obsm") and hasattr(data, "layers") and hasattr(data, "obs")


def from_anndata(adata: Any, basis: str | None = None) -> Demonstrations:
    """Unordered samples from `obsm["X_" + basis]` and `obsm["velocity_" + basis]`.

    Where only velocities of genes are known (`layers["velocity"]`), those of principal components are their projections
    on the loadings `varm["PCs"]`. Without a basis: "pca" where it has velocities, else the first that has.
    """
    known = [key.removeprefix("X_") for key in adata.obsm if str(key).startswith("X_")]
    with_velocity = [name for name in known if _has_velocity(adata, name)]
    if basis is None:
        if not with_velocity:
            raise DataError(
                f"Expected velocities: obsm['velocity_pca'], or layers['velocity'] with varm['PCs'], got obsm "
                f"{sorted(map(str, adata.obsm))} and layers {sorted(map(str, adata.layers))}. Compute them first, for example "
                "with scvelo.tl.velocity and scvelo.tl.velocity_embedding."
            )
        basis = "pca" if "pca" in with_velocity else with_velocity[0]
    basis = basis.removeprefix("X_")
    if basis not in known:
        raise DataError(f"Expected a basis among {known}, got {basis!r}.")
    if basis not in with_velocity:
        raise DataError(
            f"Expected velocities for the basis {basis!r} in obsm['velocity_{basis}'], found none; "
            + (f"bases with velocities: {with_velocity}." if with_velocity else "no basis has any. ")
            + " Compute them first, for example with scvelo.tl.velocity_embedding."
        )
    x = np.asarray(adata.obsm[f"X_{basis}"], dtype=np.float64)
    given = adata.obsm.get(f"velocity_{basis}")
    v = _projected(adata) if given is None else np.asarray(given, dtype=np.float64)
    d = min(x.shape[1], v.shape[1], MOST_DIMENSIONS)
    x, v = x[:, :d], v[:, :d]
    demos = Demonstrations.from_samples(x, v)
    said = Caution("basis", f"Positions and velocities were taken in {d} dimensions of the basis {basis!r}.")
    return Demonstrations(demos.x, demos.v, warnings=(said, *demos.warnings))


def _has_velocity(adata: Any, basis: str) -> bool:
    direct = adata.obsm.get(f"velocity_{basis}") is not None
    return direct or (basis == "pca" and "velocity" in adata.layers and "PCs" in adata.varm)


def _projected(adata: Any) -> FloatArray:
    """Velocities of genes times the loadings; a gene without a velocity (NaN) does not move."""
    genes = adata.layers["velocity"]
    table = np.asarray(genes.toarray() if hasattr(genes, "toarray") else genes, dtype=np.float64)
    return np.asarray(np.nan_to_num(table, nan=0.0) @ np.asarray(adata.varm["PCs"], dtype=np.float64))


def write_back(adata: Any, found: Any) -> None:
    """labels in obs["eigenwell"] ("leaves" for -1), the exit of every cell that leaves in obs["eigenwell_exit"], fates in
    obsm["eigenwell_fates"], the rest in uns["eigenwell"]: of every exit the place, the direction, how many leave there, and the
    name of the cell that stands in it."""
    adata.obs[NAME] = np.where(found.labels >= 0, found.labels.astype(str), "leaves")
    way = np.full(len(found.labels), "", dtype=object)
    for k, one in enumerate(found.exits):
        way[one.samples] = str(k)
    adata.obs[f"{NAME}_exit"] = way.astype(str)
    if found.fates is not None:
        adata.obsm[f"{NAME}_fates"] = found.fates
    adata.uns[NAME] = {
        "n_attractors": found.n_attractors,
        "confidence": found.confidence,
        "attractors": found.attractors,
        "uncertainty": found.uncertainty,
        "kinds": list(found.kinds),
        "counts": {str(q): share for q, share in (found.counts or {}).items()},
        "exits": {
            "positions": np.array([e.position for e in found.exits]).reshape(-1, found.demos.dimension),
            "directions": np.array([e.direction for e in found.exits]).reshape(-1, found.demos.dimension),
            "cells": [len(e.samples) for e in found.exits],
            "stands_in_it": [_nearest(adata, found.demos.x, e.position) for e in found.exits],
        },
        "warnings": [str(c) for c in found.warnings],
    }


def _nearest(adata: Any, x: FloatArray, place: FloatArray) -> str:
    """The name of the cell next to a place."""
    k = int(((x - place) ** 2).sum(axis=1).argmin())
    return str(adata.obs_names[k]) if hasattr(adata, "obs_names") else str(k)
