"""Adapters for our own engines: the reference, the same with contiguous memory, and the kernels of kvoptimized."""
