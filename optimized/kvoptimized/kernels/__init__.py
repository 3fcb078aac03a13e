"""Triton kernels and the device functions that they call; nothing here knows the host."""
