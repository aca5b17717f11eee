"""A learned field for the robot: the same numbers in ONNX or in C, proved at export.

>>> from eigenwell.export import export_c, export_onnx
>>> export_onnx(field, "field.onnx")                        # doctest: +SKIP
>>> export_c(field, "field.h", precision=DOUBLE)            # doctest: +SKIP
"""

from .c_header import export_c
from .exported import DOUBLE, FLOAT, SINGLE, Parity, ParityError, Precision
from .onnx import export_onnx

__all__ = ["DOUBLE", "FLOAT", "SINGLE", "Parity", "ParityError", "Precision", "export_c", "export_onnx"]
