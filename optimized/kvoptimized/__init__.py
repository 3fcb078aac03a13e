"""kvoptimized: Triton kernels for a paged KV cache, the same on a GPU and, interpreted, without one.

`PagedKVCache` holds keys and values; `write`, `copy_blocks` and `slot_mapping` keep it; `decode`, `prefill` and
`cascade` attend over it, and `merge` joins what they return. Input that does not fit is `Refused` before any launch.
`interpreter` makes Triton's interpreter faithful, and is of use to other kernels too.
"""

from kvoptimized.cache import FORMATS, HEAD_MAJOR, LAYOUTS, PADDING, TOKEN_MAJOR, PagedKVCache
from kvoptimized.cascade import cascade
from kvoptimized.copying import copy_blocks
from kvoptimized.decoding import decode
from kvoptimized.merging import merge
from kvoptimized.prefilling import prefill
from kvoptimized.slot_maps import slot_mapping
from kvoptimized.writing import write
from kvspec.refusals import Refused

__all__ = [
    "FORMATS",
    "HEAD_MAJOR",
    "LAYOUTS",
    "PADDING",
    "TOKEN_MAJOR",
    "PagedKVCache",
    "Refused",
    "cascade",
    "copy_blocks",
    "decode",
    "merge",
    "prefill",
    "slot_mapping",
    "write",
]
