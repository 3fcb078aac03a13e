"""kvoptimized: torch and Triton kernels that match the reference; empty until the kernels land."""
