"""The surface Attention: a kernel that attends a batch through a paged cache, arrays in and arrays out.

`protocol` is what a third party writes, `problems` the numbers of an operation and how they lie in memory, `probes`
what is varied, `judging` the outputs that are allowed and the rule that a wrong one breaks, `merges` and `writes` the
two optional methods, `driver` the road through a history, and `strategies` the operations that the search tries.

Over a quantized cache (`formats`) the driver hands over codes and scales that it made itself, so what should come out
is known: attention over what the codes mean. An output is then wrong by the rounding of the kernel alone, never by that
of the quantizer, whose half steps are far larger and would hide a wrong scale. Writes are judged apart, by their codes.
"""

from types import MappingProxyType

from kvconformance.checker import eventless
from kvconformance.surfaces.attention.driver import RAISES, AttentionDriver, fatal, flaw
from kvconformance.surfaces.attention.formats import CacheFormat, Reads
from kvconformance.surfaces.attention.operations import Attend, Merge, WriteRows
from kvconformance.surfaces.attention.protocol import (
    HEAD_MAJOR,
    TOKEN_MAJOR,
    Attended,
    AttentionCall,
    AttentionCapabilities,
    attention,
    loaded,
    stored,
)
from kvconformance.surfaces.attention.strategies import attention_histories
from kvconformance.surfaces.base import SurfaceKind
from kvspec import rules
from kvspec.vocabulary import Surface

SURFACE = SurfaceKind(
    surface=Surface.ATTENTION,
    operations=(Attend, Merge, WriteRows),
    required=("attend",),
    driver=AttentionDriver,
    histories=attention_histories,
    raises=RAISES,
    fatal=fatal,
    capabilities=AttentionCapabilities,
    declares="a kernel declares",
    wants=MappingProxyType(
        {
            rules.ADDRESS_RANGE: ("does not declare that it reads the cache in place", lambda c: c.in_place),
            rules.SCALE_TRAVELS: ("keeps no quantized caches", lambda c: c.caches),
            rules.HALF_STEP: ("writes no quantized cache", lambda c: any(cache.writes for cache in c.caches.values())),
            rules.ONE_SCALE: ("has neither codes nor scales to show", lambda c: c.caches),
        }
    ),
    flaw=flaw,
    machine=eventless,
    enough=250,
)

__all__ = [
    "HEAD_MAJOR",
    "SURFACE",
    "TOKEN_MAJOR",
    "Attended",
    "AttentionCall",
    "AttentionCapabilities",
    "CacheFormat",
    "Reads",
    "attention",
    "loaded",
    "stored",
]
