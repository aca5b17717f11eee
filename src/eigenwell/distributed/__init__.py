"""Identify and learn on Dask: data in partitions, larger than a machine's memory, with the user's own cluster."""

from .api import identify, learn
from .result import DistributedIdentification
from .run import DistributedError

__all__ = ["DistributedError", "DistributedIdentification", "identify", "learn"]
