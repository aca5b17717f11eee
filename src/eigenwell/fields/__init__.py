"""Learned fields at run time: diffeomorphism, stable field, roll-outs and certificates, in NumPy alone."""

from .certificates import Certificate
from .field import REACH, MultiAttractorField, StableField
from .simulation import Adaptive, Euler, LatentClock, LatentPath, RungeKutta4, Stepper
from .stable import Speed, StableModel

__all__ = [
    "REACH",
    "Adaptive",
    "Certificate",
    "Euler",
    "LatentClock",
    "LatentPath",
    "MultiAttractorField",
    "RungeKutta4",
    "Speed",
    "StableField",
    "StableModel",
    "Stepper",
]
