"""Merging of two attention states over disjoint sets of keys."""

from __future__ import annotations

import triton.language as tl

from kvoptimized.kernels.decode import LN2, LOG2E
from kvoptimized.launch import kernel


@kernel
def merge_states(
    OUTPUT_A,
    LSE_A,
    OUTPUT_B,
    LSE_B,
    OUTPUT,
    LSE,
    states,
    HEAD_DIM: tl.constexpr,
    CHANNELS: tl.constexpr,
    STATES: tl.constexpr,
):
    """Grid `(cdiv(states, STATES),)` over dense states: outputs `[states, HEAD_DIM]`, natural-log LSE `[states]`.

    A state whose LSE is minus infinity weighs exactly 0, whatever its output, and the other one exactly 1.
    """
    state = tl.program_id(0).to(tl.int64) * STATES + tl.arange(0, STATES)
    channel = tl.arange(0, CHANNELS)
    real = state < states
    place = state[:, None] * HEAD_DIM + channel[None, :]
    element = real[:, None] & (channel < HEAD_DIM)[None, :]
    left = tl.load(LSE_A + state, mask=real, other=-float("inf"))
    right = tl.load(LSE_B + state, mask=real, other=-float("inf"))
    top = tl.maximum(left, right)
    empty = top == -float("inf")
    top = tl.where(empty, 0.0, top)
    left = tl.exp2((left - top) * LOG2E)
    right = tl.exp2((right - top) * LOG2E)
    mass = tl.where(empty, 1.0, left + right)
    merged = weighted(OUTPUT_A + place, element, tl.div_rn(left, mass))
    merged += weighted(OUTPUT_B + place, element, tl.div_rn(right, mass))
    tl.store(OUTPUT + place, merged.to(OUTPUT.dtype.element_ty), mask=element)
    tl.store(LSE + state, tl.where(empty, -float("inf"), top + tl.log2(mass) * LN2), mask=real)


@kernel
def weighted(pointers, element, weight):
    """Outputs times their weights; weight 0 gives 0 even where the output is no number."""
    output = tl.load(pointers, mask=element, other=0.0).to(tl.float32)
    return tl.where(weight[:, None] > 0.0, output * weight[:, None], 0.0)
