"""What a learned field says of its map: the one stable field of all attractors, without memory."""

from __future__ import annotations

from typing import Any

from .._types import FloatArray
from .field import StableField


class MapQueries:
    """Questions about a field that its map answers."""

    map: StableField

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return self.map.dimension

    @property
    def n_attractors(self) -> int:
        """Q, the number of attractors."""
        return self.map.n_attractors

    @property
    def attractors(self) -> FloatArray:
        """(Q, d), the places where the field is zero and stable."""
        return self.map.attractors

    def predict(self, x: Any) -> FloatArray:
        """The velocity of the map at one state or many: safe in a loop, from anywhere.

        Parameters
        ----------
        x : (d,) or (n, d) array
            States.

        Returns
        -------
        (d,) or (n, d) array
            Zero at the attractors.

        Raises
        ------
        ValueError
            For states of another dimension, or that are not finite.

        Examples
        --------
        >>> field.predict(field.samples[:5]).shape
        (5, 2)
        """
        return self.map.predict(x)

    def advance(self, x: Any, dt: float) -> FloatArray:
        """The state after dt along the true solution of the map, for robots that are told positions.

        A loop on it ends where `basin` says, at any rate.

        Parameters
        ----------
        x : (d,) or (n, d) array
            States.
        dt : float
            Time until the next step, > 0.

        Returns
        -------
        (d,) or (n, d) array

        Examples
        --------
        >>> field.advance(field.samples[:5], dt=0.01).shape
        (5, 2)
        """
        return self.map.advance(x, dt)

    def potential(self, x: Any) -> Any:
        """V of the map, which falls along every solution; zero at the attractors alone.

        Parameters
        ----------
        x : (d,) or (n, d) array
            States.

        Returns
        -------
        float or (n,) array

        Examples
        --------
        >>> field.potential(field.attractors[0])
        0.0
        """
        return self.map.potential(x)

    def potential_gradient(self, x: Any) -> FloatArray:
        """The gradient of the map's potential V.

        Parameters
        ----------
        x : (d,) or (n, d) array
            States.

        Returns
        -------
        (d,) or (n, d) array
        """
        return self.map.potential_gradient(x)

    def basin(self, x: Any) -> Any:
        """The attractor in which the map takes each state; -1 on a border, up to rounding.

        Parameters
        ----------
        x : (d,) or (n, d) array
            States.

        Returns
        -------
        int or (n,) int array
            0 to Q - 1.

        Examples
        --------
        >>> int(field.basin(field.attractors[1]))
        1
        """
        return self.map.basin(x)

    @property
    def saddles(self) -> FloatArray:
        """(n, d), where the basins of the map meet; none of them is stable."""
        return self.map.saddles

    def separatrices(self, reach: float = 3.0) -> list[FloatArray]:
        """The borders of the map's basins, for a planar field: curves (n, 2) through the saddles.

        Parameters
        ----------
        reach : float
            How far out, in boxes.

        Returns
        -------
        list of (n, 2) arrays

        Raises
        ------
        ValueError
            For a field that is not in the plane.
        """
        return self.map.separatrices(reach)
