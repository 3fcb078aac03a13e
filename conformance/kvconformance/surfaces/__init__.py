"""The surfaces: faces of an engine that are driven and judged by themselves, one folder each.

In a folder `protocol` is what a third party writes, `driver` the road through a history, `strategies` what the search
tries, and `SURFACE` the record that says all this (`base`). `registry` knows the records, and learns new ones by
`register`. `programs` and `observations` are what several surfaces share.
"""

from kvconformance.surfaces.base import Engine, Factory, Sampler, SurfaceKind

__all__ = ["Engine", "Factory", "Sampler", "SurfaceKind"]
