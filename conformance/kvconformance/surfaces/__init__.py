"""The surfaces: faces of an engine that are driven and judged by themselves, one folder each.

In a folder `protocol` is what a third party writes, `operations` what happens, `driver` the road through a history,
`strategies` what the search tries, `alphabet` what an exhaustive one does, and `SURFACE` the record that says all this
(`base`). `registry` knows the records, and learns new ones by `register`. What several surfaces share stands here:
`programs` and `requests`, `answers` and `records` of adapters, `observations` and `tables` of caches of blocks, and the
`situation` after a history.
"""

from kvconformance.surfaces.base import Engine, Factory, Sampler, SurfaceKind

__all__ = ["Engine", "Factory", "Sampler", "SurfaceKind"]
