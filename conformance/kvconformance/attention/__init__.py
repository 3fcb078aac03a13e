"""The surface Attention: a kernel that attends a batch through a paged cache, arrays in and arrays out.

`surface` is what a third party writes, `problems` the numbers of an operation, `placements` how they lie in memory,
`certified` the outputs that are allowed, `outcomes` one call and its comparison, `probes` what is varied, `blame` which
rule a wrong output breaks, `merges` and `writes` the two optional methods, `driver` the road through a history, and
`recipes` the operations that the search tries.
"""

from kvconformance.attention.surface import Attended, AttentionCall, AttentionCapabilities, attention, loaded, stored

__all__ = ["Attended", "AttentionCall", "AttentionCapabilities", "attention", "loaded", "stored"]
