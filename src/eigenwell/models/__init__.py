"""Saved models: one .safetensors file with its configuration inside, versioned, checked, never a pickle."""

from ..errors import ModelError
from .file import as_field as as_field
from .file import check_target as check_target
from .file import load, save

__all__ = ["ModelError", "load", "save"]
