"""Adapters for real engines, one module each. Names and loading are in `kvconformance.adapters`."""
