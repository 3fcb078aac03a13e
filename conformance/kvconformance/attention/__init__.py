"""The surface Attention: a kernel that attends a batch through a paged cache, arrays in and arrays out.

`surface` is what a third party writes, `problems` the numbers of an operation, `placements` how they lie in memory,
`certified` the outputs that are allowed, `outcomes` one call and its comparison, `probes` what is varied, `blame` which
rule a wrong output breaks, `merges` and `writes` the two optional methods, `driver` the road through a history, and
`recipes` the operations that the search tries.

Over a quantized cache (`formats`) the driver hands over codes and scales that it made itself (`sides`), so what should
come out is known: attention over what the codes mean. An output is then wrong by the rounding of the kernel alone
(`doubts`), never by that of the quantizer, whose half steps are far larger and would hide a wrong scale.
Writes are judged apart, by their codes.
"""

from kvconformance.attention.formats import CacheFormat, Reads
from kvconformance.attention.surface import Attended, AttentionCall, AttentionCapabilities, attention, loaded, stored

__all__ = [
    "Attended",
    "AttentionCall",
    "AttentionCapabilities",
    "CacheFormat",
    "Reads",
    "attention",
    "loaded",
    "stored",
]
