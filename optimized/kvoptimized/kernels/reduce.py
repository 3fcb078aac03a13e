"""Merging the parts of a decode: one program per request and query head, parts in order, CHUNK at a time.

Chunks begin at the first part that the request sees. What is beyond its last part is read as zeros of weight zero, so
that neither the number of parts of other requests nor the width of the block table changes a bit.
"""

from __future__ import annotations

import triton.language as tl

from kvoptimized.kernels.decode import LN2, power_of_two, seen_parts, with_sinks
from kvoptimized.launch import kernel


@kernel
def merge_parts(
    PARTIAL,
    PARTIAL_LSE,
    SINKS,
    LENGTHS,
    OUTPUT,
    LSE,
    window,
    parts,
    HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    LANES: tl.constexpr,
    SPLIT: tl.constexpr,
    CHUNK: tl.constexpr,
    WINDOWED: tl.constexpr,
    PTX: tl.constexpr,
):
    """Grid (requests, HEADS); buffers as in `decode.attend_parts`. Requests of one part or none are left alone."""
    request = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    length = tl.load(LENGTHS + request)
    _, _, count = seen_parts(length, window, SPLIT, WINDOWED)
    if count <= 1:
        return
    state = request * HEADS + head
    nth = tl.arange(0, CHUNK)
    channel = tl.arange(0, LANES)
    lse = PARTIAL_LSE + state * parts
    partial = PARTIAL + state * parts * HEAD_DIM
    top = tl.full([CHUNK], -float("inf"), tl.float32)
    for first in range(0, count, CHUNK):
        top = tl.maximum(top, tl.load(lse + first + nth, mask=first + nth < count, other=-float("inf")))
    highest = tl.max(top, 0)
    mass = tl.zeros([CHUNK], tl.float32)
    total = tl.zeros([CHUNK, LANES], tl.float32)
    for first in range(0, count, CHUNK):
        real = first + nth < count
        weight = power_of_two(tl.load(lse + first + nth, mask=real, other=-float("inf")) - highest, PTX)
        rows = partial + (first + nth)[:, None] * HEAD_DIM + channel[None, :]
        output = tl.load(rows, mask=real[:, None] & (channel < HEAD_DIM)[None, :], other=0.0)
        mass += weight
        total += weight[:, None] * output
    highest, whole, rescale = with_sinks(SINKS, head, head >= 0, highest, tl.sum(mass, 0), PTX)
    merged = tl.sum(total, 0) * tl.div_rn(rescale, whole)
    tl.store(OUTPUT + state * HEAD_DIM + channel, merged.to(OUTPUT.dtype.element_ty), mask=channel < HEAD_DIM)
    tl.store(LSE + state, (highest + tl.log2(whole)) * LN2)
