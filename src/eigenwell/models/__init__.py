"""Saved models: one .safetensors file with its configuration inside, versioned, checked, never a pickle."""

from ..errors import ModelError
from .file import as_field, check_target, load, save

__all__ = ["ModelError", "as_field", "check_target", "load", "save"]
