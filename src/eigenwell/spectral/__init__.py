"""The graph Laplacian: the paper's kernel and graph, and spectra of joined paths and of any graph."""

from .any_graph import graph_spectra
from .kernel_graph import KernelGraph
from .kernels import CorrectedFilter, CorrectedGamma, PrintedFilter, PrintedGamma, VelocityAugmentedKernel
from .masses import ContinuumMasses, ExactMasses, Masses, UnitMasses
from .spectrum import Spectrum, embedding, joined_laplacian, joined_spectrum, linearity

__all__ = [
    "ContinuumMasses",
    "CorrectedFilter",
    "CorrectedGamma",
    "ExactMasses",
    "KernelGraph",
    "Masses",
    "PrintedFilter",
    "PrintedGamma",
    "Spectrum",
    "UnitMasses",
    "VelocityAugmentedKernel",
    "embedding",
    "graph_spectra",
    "joined_laplacian",
    "joined_spectrum",
    "linearity",
]
