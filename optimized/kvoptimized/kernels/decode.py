"""Split-KV decode: one program attends the query heads of one KV head over one part of one request's keys.

Parts begin at absolute multiples of SPLIT and tiles at absolute multiples of TILE, so what a program adds, and in which
order, depends on its request alone. A request of one part is finished here; `reduce` merges the parts of others.

Heads of a group are the rows of matrix products, tokens or channels their columns. Tiles that lie whole within a part
are the main loop, which masks nothing. The first and the last tile may be cut: tokens that are not seen give way to the
nearest one that is, so that bytes of others never enter, and have weight zero.
"""

from __future__ import annotations

import triton.language as tl

from kvoptimized.kernels.dequantize import channel, operands
from kvoptimized.launch import kernel

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@kernel
def attend_parts(
    QUERY,
    KEYS,
    VALUES,
    KEY_SCALES,
    VALUE_SCALES,
    SINKS,
    TABLES,
    LENGTHS,
    OUTPUT,
    LSE,
    PARTIAL,
    PARTIAL_LSE,
    scale,
    cap,
    window,
    query_request_stride,
    query_head_stride,
    table_stride,
    FORMAT: tl.constexpr,
    TENSORS: tl.constexpr,
    STATIC: tl.constexpr,
    DYNAMIC: tl.constexpr,
    P: tl.constexpr,
    HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    BLOCK_STRIDE: tl.constexpr,
    HEAD_STRIDE: tl.constexpr,
    TOKEN_STRIDE: tl.constexpr,
    SCALE_BLOCK_STRIDE: tl.constexpr,
    SCALE_HEAD_STRIDE: tl.constexpr,
    SCALE_TOKEN_STRIDE: tl.constexpr,
    WIDTH: tl.constexpr,
    LANES: tl.constexpr,
    ROWS: tl.constexpr,
    TILE: tl.constexpr,
    SPLIT: tl.constexpr,
    WINDOWED: tl.constexpr,
    CAPPED: tl.constexpr,
    PTX: tl.constexpr,
):
    """Grid (requests, KV_HEADS, parts). `scale` and `cap` are those of `logits_of`.

    TENSORS of `operands` differ, each of WIDTH words, LANES as a power of two; strides count words. PARTIAL
    `[requests, HEADS, parts, HEAD_DIM]` and PARTIAL_LSE `[requests, HEADS, parts]`, base 2, hold the parts of requests
    that see several, from the first one on. P is the type to which weights are rounded, after the scales of values
    joined them if DYNAMIC.
    """
    GROUP: tl.constexpr = HEADS // KV_HEADS
    request = tl.program_id(0).to(tl.int64)
    kv_head = tl.program_id(1).to(tl.int64)
    nth = tl.program_id(2)
    length = tl.load(LENGTHS + request)
    oldest, first_part, parts = seen_parts(length, window, SPLIT, WINDOWED)
    start = tl.maximum((first_part + nth) * SPLIT, oldest)
    stop = tl.minimum((first_part + nth + 1) * SPLIT, length)
    row = tl.arange(0, ROWS)
    word = tl.arange(0, LANES)
    head = kv_head * GROUP + row
    element = (row < GROUP)[:, None] & (word < WIDTH)[None, :]
    state = request * HEADS + head
    top = tl.full([ROWS], -float("inf"), tl.float32)
    mass = tl.zeros([ROWS], tl.float32)
    zeros = tl.zeros([ROWS, LANES], tl.float32)
    totals = (zeros, zeros, zeros, zeros)
    if start >= stop:
        if (nth == 0) & (length <= 0):
            store_row(OUTPUT, state, mass, totals, word, element, TENSORS, HEAD_DIM)
            tl.store(LSE + state, top, mask=row < GROUP)
        return

    source = QUERY + request * query_request_stride + (head * query_head_stride)[:, None]
    queries = load_query(source, word, element, TENSORS, HEAD_DIM)
    key_scale = scale * tl.load(KEY_SCALES + kv_head) if STATIC else scale
    value_scale = tl.load(VALUE_SCALES + kv_head) if STATIC else 1.0
    table = TABLES + request * table_stride
    whole_start = (start + TILE - 1) // TILE * TILE
    whole_stop = tl.maximum(stop // TILE * TILE, whole_start)
    # Tiles before, among and behind those that the part holds whole; without a window it begins with a whole one.
    for phase in tl.static_range(0 if WINDOWED else 1, 3):
        begin = start // TILE * TILE if phase == 0 else whole_start if phase == 1 else whole_stop
        end = whole_start if phase == 0 else whole_stop if phase == 1 else stop
        for first in range(begin, end, TILE):
            block, offset = places(table, first, start, stop, BLOCK_SIZE, TILE, phase != 1)
            stored = block * BLOCK_STRIDE + offset * TOKEN_STRIDE
            scaled = kv_head * SCALE_HEAD_STRIDE + block * SCALE_BLOCK_STRIDE + offset * SCALE_TOKEN_STRIDE
            words = load_words(KEYS + kv_head * HEAD_STRIDE, stored, WIDTH, LANES)
            logits = products(queries, operands(words, FORMAT, QUERY.dtype.element_ty, PTX), TENSORS)
            factor = tl.load(KEY_SCALES + scaled) * key_scale if DYNAMIC else key_scale
            logits = cut(logits_of(logits, factor, cap, DYNAMIC, CAPPED, PTX), first, start, stop, TILE, phase != 1)
            top, mass, weights, rescale = weighed(top, mass, logits, PTX)
            if DYNAMIC:
                weights *= tl.load(VALUE_SCALES + scaled)[None, :]
            words = load_words(VALUES + kv_head * HEAD_STRIDE, stored, WIDTH, LANES)
            totals = gathered(totals, rescale, weights.to(P), operands(words, FORMAT, P, PTX), TENSORS)

    if parts > 1:
        part = state * tl.num_programs(2) + nth
        store_row(PARTIAL, part, tl.div_rn(1.0, mass) * value_scale, totals, word, element, TENSORS, HEAD_DIM)
        tl.store(PARTIAL_LSE + part, top + tl.log2(mass), mask=row < GROUP)
        return
    top, mass, rescale = with_sinks(SINKS, head, row < GROUP, top, mass, PTX)
    store_row(OUTPUT, state, tl.div_rn(rescale, mass) * value_scale, totals, word, element, TENSORS, HEAD_DIM)
    tl.store(LSE + state, (top + tl.log2(mass)) * LN2, mask=row < GROUP)


@kernel
def seen_parts(length, window, SPLIT: tl.constexpr, WINDOWED: tl.constexpr):
    """The first token that a request's query sees, the part that holds it, and how many parts it sees."""
    oldest = length * 0
    if WINDOWED:
        oldest = tl.maximum(length - window, 0)
    first = oldest // SPLIT
    return oldest, first, (length + SPLIT - 1) // SPLIT - first


@kernel
def places(table, first, start, stop, BLOCK_SIZE: tl.constexpr, TILE: tl.constexpr, CUT: tl.constexpr):
    """Block ids int64 `[TILE]` and offsets within blocks `[TILE]` of the tokens from `first`, a multiple of TILE, on.

    One id is read per block where blocks and tiles fit each other, else one per token. Where CUT, tokens outside of
    `start : stop` give way to the nearest one inside.
    """
    lane = tl.arange(0, TILE)
    token = first + lane
    if CUT:
        token = tl.minimum(tl.maximum(token, start), stop - 1)
    if TILE % BLOCK_SIZE == 0:
        nth = first // BLOCK_SIZE + tl.arange(0, TILE // BLOCK_SIZE)
        if CUT:
            nth = tl.minimum(tl.maximum(nth, start // BLOCK_SIZE), (stop - 1) // BLOCK_SIZE)
        found = tl.load(table + nth)
        block = tl.reshape(tl.broadcast_to(found[:, None], [TILE // BLOCK_SIZE, BLOCK_SIZE]), [TILE])
        offset = token % BLOCK_SIZE if CUT else lane % BLOCK_SIZE
    elif BLOCK_SIZE % TILE == 0:
        block = tl.load(table + first // BLOCK_SIZE) + lane * 0
        offset = token % BLOCK_SIZE if CUT else first % BLOCK_SIZE + lane
    else:
        block = tl.load(table + token // BLOCK_SIZE)
        offset = token % BLOCK_SIZE
    return block.to(tl.int64), offset


@kernel
def load_words(PAGES, stored, WIDTH: tl.constexpr, LANES: tl.constexpr):
    """Words `[TILE, LANES]` of the tokens at offsets `stored`; 0 beyond WIDTH."""
    word = tl.arange(0, LANES)
    pointers = PAGES + stored[:, None] + word[None, :]
    return tl.load(pointers) if WIDTH == LANES else tl.load(pointers, mask=(word < WIDTH)[None, :], other=0)


@kernel
def load_query(ROW, word, element, TENSORS: tl.constexpr, HEAD_DIM: tl.constexpr):
    """The channels at ROW `[ROWS, 1]` that meet those of the tensors of `operands`; unused ones repeat the first."""
    q0 = tl.load(ROW + channel(word, 0, TENSORS, HEAD_DIM)[None, :], mask=element, other=0.0)
    q1, q2, q3 = q0, q0, q0
    if TENSORS >= 2:
        q1 = tl.load(ROW + channel(word, 1, TENSORS, HEAD_DIM)[None, :], mask=element, other=0.0)
    if TENSORS == 4:
        q2 = tl.load(ROW + channel(word, 2, TENSORS, HEAD_DIM)[None, :], mask=element, other=0.0)
        q3 = tl.load(ROW + channel(word, 3, TENSORS, HEAD_DIM)[None, :], mask=element, other=0.0)
    return q0, q1, q2, q3


@kernel
def products(queries, keys, TENSORS: tl.constexpr):
    """`[ROWS, TILE]` products of queries and codes of keys, over all channels."""
    logits = tl.dot(queries[0], tl.trans(keys[0]), input_precision="ieee")
    if TENSORS >= 2:
        logits = tl.dot(queries[1], tl.trans(keys[1]), logits)
    if TENSORS == 4:
        logits = tl.dot(queries[2], tl.trans(keys[2]), logits)
        logits = tl.dot(queries[3], tl.trans(keys[3]), logits)
    return logits


@kernel
def weighed(top, mass, logits, PTX: tl.constexpr):
    """Running maximum and sum with a tile of `logits` `[ROWS, TILE]`, its weights, and the factor for older sums."""
    new = tl.maximum(top, tl.max(logits, 1))
    weights = power_of_two(logits - new[:, None], PTX)
    rescale = power_of_two(top - new, PTX)
    return new, mass * rescale + tl.sum(weights, 1), weights, rescale


@kernel
def gathered(totals, rescale, weights, values, TENSORS: tl.constexpr):
    """Sums of weighted codes `[ROWS, LANES]`, one for each tensor of values, with those of a tile."""
    t0, t1, t2, t3 = totals
    t0 = tl.dot(weights, values[0], t0 * rescale[:, None], input_precision="ieee")
    if TENSORS >= 2:
        t1 = tl.dot(weights, values[1], t1 * rescale[:, None])
    if TENSORS == 4:
        t2 = tl.dot(weights, values[2], t2 * rescale[:, None])
        t3 = tl.dot(weights, values[3], t3 * rescale[:, None])
    return t0, t1, t2, t3


@kernel
def store_row(BUFFER, row, share, totals, word, element, TENSORS: tl.constexpr, HEAD_DIM: tl.constexpr):
    """Store `totals` times `share` in the rows `[ROWS]` of BUFFER: the channels that their tensors stand for."""
    TYPE: tl.constexpr = BUFFER.dtype.element_ty
    out = BUFFER + row[:, None] * HEAD_DIM
    factor = share[:, None]
    tl.store(out + channel(word, 0, TENSORS, HEAD_DIM)[None, :], (totals[0] * factor).to(TYPE), mask=element)
    if TENSORS >= 2:
        tl.store(out + channel(word, 1, TENSORS, HEAD_DIM)[None, :], (totals[1] * factor).to(TYPE), mask=element)
    if TENSORS == 4:
        tl.store(out + channel(word, 2, TENSORS, HEAD_DIM)[None, :], (totals[2] * factor).to(TYPE), mask=element)
        tl.store(out + channel(word, 3, TENSORS, HEAD_DIM)[None, :], (totals[3] * factor).to(TYPE), mask=element)


@kernel
def logits_of(products, factor, cap, DYNAMIC: tl.constexpr, CAPPED: tl.constexpr, PTX: tl.constexpr):
    """Logits `[ROWS, TILE]` in units of log 2: products times `factor`, a number, or `[TILE]` if DYNAMIC.

    If CAPPED, `factor` scales to what `capped` takes.
    """
    logits = products * factor[None, :] if DYNAMIC else products * factor
    return capped(logits, cap, PTX) if CAPPED else logits


@kernel
def capped(logits, cap, PTX: tl.constexpr):
    """`cap * tanh(x)` in units of log 2, of products that were scaled to `2 x log2(e)`."""
    bent = (1.0 - 2.0 / (power_of_two(tl.abs(logits), PTX) + 1.0)) * cap
    return tl.where(logits < 0.0, -bent, bent)


@kernel
def cut(logits, first, start, stop, TILE: tl.constexpr, CUT: tl.constexpr):
    """Minus infinity for tokens outside of `start : stop`, where CUT."""
    if CUT:
        token = first + tl.arange(0, TILE)
        logits = tl.where(((token >= start) & (token < stop))[None, :], logits, -float("inf"))
    return logits


@kernel
def with_sinks(SINKS, head, real, top, mass, PTX: tl.constexpr):
    """`with_sink` for the sinks of heads, if there are any."""
    rescale = top * 0.0 + 1.0
    if SINKS is not None:
        sink = tl.load(SINKS + head, mask=real, other=0.0) * LOG2E
        top, mass, rescale = with_sink(top, mass, sink, PTX)
    return top, mass, rescale


@kernel
def with_sink(top, mass, sink, PTX: tl.constexpr):
    """State `top`, `mass` after a sink with a logit in units of log 2, and the factor for sums of values."""
    new = tl.maximum(top, sink)
    rescale = power_of_two(top - new, PTX)
    return new, mass * rescale + power_of_two(sink - new, PTX), rescale


@kernel
def power_of_two(x, PTX: tl.constexpr):
    """2**x; where PTX, results below 2**-126 are flushed to zero."""
    if PTX:
        power = tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    else:
        power = tl.exp2(x)
    return power
