"""Fields on a grid: positions and velocities of every node that has one, from arrays or from a labelled data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._types import FloatArray
from .checks import Caution
from .errors import DataError

# Names that coordinates and velocity components go by, in the order of the axes.
COORDINATES = (("x", "lon", "longitude"), ("y", "lat", "latitude"), ("z", "depth", "level"))
COMPONENTS = (("u", "vx", "u_x"), ("v", "vy", "u_y"), ("w", "vz", "u_z"))


def flattened(*arrays: Any) -> tuple[FloatArray, FloatArray, tuple[Caution, ...]]:
    """Samples (n, d) of d coordinates and d components: (X, Y, U, V) or (X, Y, Z, U, V, W).

    Coordinates have the shape of the components, as from np.meshgrid, or are one axis each: components are then indexed
    [y, x] in a plane, as PIV and meshgrid have it, and [x, y, z] in space. Nodes without a velocity (NaN) are left out.
    """
    d, odd = divmod(len(arrays), 2)
    if odd or d not in (2, 3):
        raise DataError(f"Expected (X, Y, U, V) or (X, Y, Z, U, V, W), got {len(arrays)} arrays.")
    raw = [np.ma.filled(np.ma.asarray(a, dtype=np.float64), np.nan) for a in arrays]
    axes, parts = raw[:d], raw[d:]
    shape = parts[0].shape
    if any(p.shape != shape for p in parts):
        raise DataError(f"Expected velocity components of one shape, got {[p.shape for p in parts]}.")
    if all(a.ndim == 1 for a in axes) and len(shape) == d:
        expected = tuple(len(a) for a in (axes[::-1] if d == 2 else axes))
        if expected != shape:
            raise DataError(f"Expected components of shape {expected} for these axes, got {shape}. Transpose them.")
        axes = list(np.meshgrid(*axes, indexing="xy" if d == 2 else "ij"))
    if any(a.shape != shape for a in axes):
        raise DataError(f"Expected coordinates of shape {shape}, as the components, got {[a.shape for a in axes]}.")
    x, v = (np.stack([a.ravel() for a in group], axis=1) for group in (axes, parts))
    known = np.isfinite(x).all(axis=1) & np.isfinite(v).all(axis=1)
    said = f"{int((~known).sum())} of {len(x)} nodes of the grid have no velocity and were left out."
    return x[known], v[known], () if known.all() else (Caution("empty-nodes", said),)


def of_mapping(data: Mapping[Any, Any]) -> tuple[FloatArray, FloatArray, tuple[Caution, ...]]:
    """Samples of a mapping with coordinates x, y(, z) and components u, v(, w): a dictionary or an xarray Dataset."""
    coordinates = [name for group in COORDINATES if (name := _first(data, group)) is not None]
    components = [name for group in COMPONENTS if (name := _first(data, group)) is not None]
    if len(components) not in (2, 3) or len(coordinates) < len(components):
        raise DataError(
            f"Expected coordinates x, y(, z) and velocities u, v(, w), got {', '.join(map(str, data)) or 'nothing'}. Rename "
            "them, or pass arrays: identify(d['x'], d['v']), Demonstrations.from_grid(X, Y, U, V)."
        )
    coordinates = coordinates[: len(components)]
    first = data[components[0]]
    if not hasattr(first, "dims"):
        return flattened(*(data[name] for name in (*coordinates, *components)))
    # Labelled axes: every array is laid out along the names of its own dimensions.
    dims = tuple(first.dims)
    sizes = dict(zip(dims, first.shape, strict=True))
    laid = []
    for name in (*coordinates, *components):
        array = data[name]
        values = np.asarray(array, dtype=np.float64)
        unknown = [dim for dim in array.dims if dim not in sizes]
        if unknown:
            raise DataError(
                f"Expected {name} along {dims}, got the dimension {unknown[0]}. Select one slice of it first."
            )
        order = np.argsort([dims.index(dim) for dim in array.dims])
        shape = [sizes[dim] if dim in array.dims else 1 for dim in dims]
        laid.append(np.broadcast_to(values.transpose(order).reshape(shape), first.shape))
    return flattened(*laid)


def _first(data: Mapping[Any, Any], names: tuple[str, ...]) -> Any:
    """The first of the names that the mapping knows, in any case; coordinates of an xarray Dataset count."""
    known = {str(k).lower(): k for k in getattr(data, "variables", data)}
    return next((known[name] for name in names if name in known), None)
