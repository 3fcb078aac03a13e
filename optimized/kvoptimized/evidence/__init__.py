"""Figures about the kernels, computed here and printed as tables: `python -m kvoptimized.evidence.traffic`."""
