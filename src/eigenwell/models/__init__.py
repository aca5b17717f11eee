"""Saved models: a folder of config.json and one .safetensors file, versioned, checked, never a pickle."""

from .folder import as_multi, load, save
from .schema import ModelError

__all__ = ["ModelError", "as_multi", "load", "save"]
