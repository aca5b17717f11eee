"""What users would pick instead, at sensible settings, so that comparisons are fair and one import away."""

from .clustering import gaussian_mixture, hdbscan, kernel_k_means, spectral_clustering

__all__ = ["gaussian_mixture", "hdbscan", "kernel_k_means", "spectral_clustering"]
