"""Learned fields at run time: diffeomorphism, stable field, motions, roll-outs and certificates, in NumPy alone."""

from .around import Around as Around
from .certificates import Certificate, Verdict
from .field import StableField
from .fit import Fit, Followed
from .learned import REACH as REACH
from .learned import Field
from .loops import Loop
from .motion import Motion
from .moved import Moved as Moved
from .poses import Pose, PoseCertificate, PoseField, Twist
from .second_order import SecondOrderField
from .stable import Speed as Speed
from .stable import StableModel as StableModel
from .warps import Within as Within

__all__ = [
    "Certificate",
    "Field",
    "Fit",
    "Followed",
    "Loop",
    "Motion",
    "Pose",
    "PoseCertificate",
    "PoseField",
    "SecondOrderField",
    "StableField",
    "Twist",
    "Verdict",
]
