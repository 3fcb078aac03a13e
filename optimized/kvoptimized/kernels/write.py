"""Quantize on write: rows of keys and values become codes and scales in the blocks that their slots name.

One tile is `[TOKENS, HEADS, LANES]`; LANES is the stored width rounded up to a power of two. No token sees another, so
a row's bits do not depend on the batch. Launch with `enable_fp_fusion=False`: a contracted multiply-add would change
the rounding of codes.
"""

from __future__ import annotations

import triton.language as tl

from kvoptimized.launch import kernel


@kernel
def write_rows(
    KEYS,
    VALUES,
    KEY_CACHE,
    VALUE_CACHE,
    KEY_SCALES,
    VALUE_SCALES,
    SLOTS,
    tokens,
    key_token_stride,
    key_head_stride,
    value_token_stride,
    value_head_stride,
    block_stride,
    head_stride,
    token_stride,
    scale_block_stride,
    scale_head_stride,
    scale_token_stride,
    FORMAT: tl.constexpr,
    DIVISOR: tl.constexpr,
    LOWEST: tl.constexpr,
    HIGHEST: tl.constexpr,
    STATIC: tl.constexpr,
    KV_HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TOKENS: tl.constexpr,
    HEADS: tl.constexpr,
    LANES: tl.constexpr,
):
    """Grid `(cdiv(tokens, TOKENS), cdiv(KV_HEADS, HEADS))`; WIDTH is the stored width, half the head dim for int4.

    DIVISOR, LOWEST and HIGHEST are those of the scheme, None where it has none.
    """
    token = tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)
    head = (tl.program_id(1) * HEADS + tl.arange(0, HEADS)).to(tl.int64)
    slot = tl.load(SLOTS + token, mask=token < tokens, other=-1)
    valid = slot >= 0
    slot = tl.where(valid, slot, 0)
    block = slot // BLOCK_SIZE
    offset = slot % BLOCK_SIZE
    row = block * block_stride + offset * token_stride
    target = row[:, None] + (head * head_stride)[None, :]
    scale_row = block * scale_block_stride + offset * scale_token_stride
    scale = scale_row[:, None] + (head * scale_head_stride)[None, :]
    live = valid[:, None] & (head < KV_HEADS)[None, :]
    source = token[:, None] * key_token_stride + (head * key_head_stride)[None, :]
    write_tile(
        KEYS,
        KEY_CACHE,
        KEY_SCALES,
        source,
        target,
        scale,
        live,
        FORMAT,
        DIVISOR,
        LOWEST,
        HIGHEST,
        STATIC,
        WIDTH,
        TOKENS,
        HEADS,
        LANES,
    )
    source = token[:, None] * value_token_stride + (head * value_head_stride)[None, :]
    write_tile(
        VALUES,
        VALUE_CACHE,
        VALUE_SCALES,
        source,
        target,
        scale,
        live,
        FORMAT,
        DIVISOR,
        LOWEST,
        HIGHEST,
        STATIC,
        WIDTH,
        TOKENS,
        HEADS,
        LANES,
    )


@kernel
def write_tile(
    ROWS,
    CACHE,
    SCALES,
    source,
    target,
    scale_at,
    live,
    FORMAT: tl.constexpr,
    DIVISOR: tl.constexpr,
    LOWEST: tl.constexpr,
    HIGHEST: tl.constexpr,
    STATIC: tl.constexpr,
    WIDTH: tl.constexpr,
    TOKENS: tl.constexpr,
    HEADS: tl.constexpr,
    LANES: tl.constexpr,
):
    """One tile of keys or of values: `source`, `target`, `scale_at` and `live` are `[TOKENS, HEADS]`."""
    lane = tl.arange(0, LANES)
    mask = live[:, :, None] & (lane < WIDTH)[None, None, :]
    rows = ROWS + source[:, :, None] + lane[None, None, :]
    out = CACHE + target[:, :, None] + lane[None, None, :]
    if FORMAT == "int4":
        low = tl.load(rows, mask=mask, other=0.0).to(tl.float32)
        high = tl.load(rows + WIDTH, mask=mask, other=0.0).to(tl.float32)
        if STATIC:
            scale = tl.load(SCALES + scale_at, mask=live, other=1.0)
        else:
            scale = tl.div_rn(tl.maximum(anchor(low, float("inf")), anchor(high, float("inf"))), DIVISOR)
            tl.store(SCALES + scale_at, scale, mask=live)
        below = integers(low, scale, LOWEST, HIGHEST, TOKENS, HEADS, LANES)
        above = integers(high, scale, LOWEST, HIGHEST, TOKENS, HEADS, LANES)
        tl.store(out, ((below & 15) | ((above & 15) << 4)).to(tl.uint8), mask=mask)
    elif FORMAT == "int8":
        x = tl.load(rows, mask=mask, other=0.0).to(tl.float32)
        if STATIC:
            scale = tl.load(SCALES + scale_at, mask=live, other=1.0)
        else:
            scale = tl.div_rn(anchor(x, float("inf")), DIVISOR)
            tl.store(SCALES + scale_at, scale, mask=live)
        tl.store(out, integers(x, scale, LOWEST, HIGHEST, TOKENS, HEADS, LANES).to(tl.int8), mask=mask)
    elif FORMAT == "e4m3":
        x = tl.load(rows, mask=mask, other=0.0).to(tl.float32)
        if STATIC:
            scale = tl.load(SCALES + scale_at, mask=live, other=1.0)
        else:
            scale = tl.div_rn(anchor(x, 0.0), DIVISOR)
            tl.store(SCALES + scale_at, scale, mask=live)
        ratio = quotient(x, scale, TOKENS, HEADS, LANES)
        # A row of zeros has codes of +0; NaN and infinity keep theirs also there.
        dead = (scale == 0.0)[:, :, None] & (tl.abs(x) < float("inf"))
        tl.store(out, tl.where(dead, 0.0, ratio).to(tl.float8e4nv), mask=mask)
    else:
        tl.store(out, tl.load(rows, mask=mask), mask=mask)


@kernel
def anchor(x, odd):
    """The largest magnitude of each row; `odd` stands for that of NaN and infinity."""
    magnitude = tl.abs(x)
    return tl.max(tl.where(magnitude < float("inf"), magnitude, odd), axis=2)


@kernel
def quotient(x, scale, TOKENS: tl.constexpr, HEADS: tl.constexpr, LANES: tl.constexpr):
    """`x / scale`, correctly rounded; `x` itself where the scale is zero or infinite."""
    divider = tl.where((scale > 0.0) & (scale < float("inf")), scale, 1.0)
    return tl.div_rn(x, tl.broadcast_to(divider[:, :, None], (TOKENS, HEADS, LANES)))


@kernel
def integers(
    x,
    scale,
    lowest: tl.constexpr,
    highest: tl.constexpr,
    TOKENS: tl.constexpr,
    HEADS: tl.constexpr,
    LANES: tl.constexpr,
):
    """Integer codes, int32: the quotient clamped and rounded to even; 0 in rows whose scale is zero or not finite."""
    usable = ((scale > 0.0) & (scale < float("inf")))[:, :, None]
    ratio = tl.where(usable, quotient(x, scale, TOKENS, HEADS, LANES), 0.0)
    # Ends are integers, so clamping first changes no code, and keeps within reach of the rounding below.
    return round_to_even(tl.minimum(tl.maximum(ratio, lowest), highest)).to(tl.int32)


@kernel
def round_to_even(x):
    """The nearest integer, ties to even, for |x| < 2**22: adding 1.5 * 2**23 leaves no bits for a fraction."""
    return (x + 12582912.0) - 12582912.0
