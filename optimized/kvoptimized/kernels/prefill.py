"""Attention over the paged cache in tiles: query rows of one KV head against keys at absolute positions.

A tile holds `ROWS // GROUP` neighbouring positions of one request, times the GROUP query heads that share a KV head;
a position always stands at the same place of a tile. Keys come in tiles at absolute multiples of TILE, from left to
right. So neither the batch nor the chunk in which a row arrives decides any of its additions, and a tile of keys that
a row does not see leaves its running state as it was, bit for bit. Launch with `enable_fp_fusion=False`: masked and
unmasked tiles must round alike.
"""

from __future__ import annotations

import triton.language as tl

from kvoptimized.kernels.decode import LN2, LOG2E, power_of_two, with_sink
from kvoptimized.kernels.dequantize import operands
from kvoptimized.launch import kernel


@kernel
def attend_chunks(  # noqa: PLR0915 - one program: which rows, which keys, the loop over them, the result
    QUERY,
    KEYS,
    VALUES,
    KEY_SCALES,
    VALUE_SCALES,
    SINKS,
    TABLES,
    LENGTHS,
    STARTS,
    OUTPUT,
    LSE,
    rows,
    requests,
    first_key,
    window,
    scale,
    cap,
    query_row_stride,
    query_head_stride,
    block_stride,
    head_stride,
    token_stride,
    scale_block_stride,
    scale_head_stride,
    scale_token_stride,
    table_stride,
    HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CHANNELS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    FORMAT: tl.constexpr,
    PER_WORD: tl.constexpr,
    STATIC: tl.constexpr,
    DYNAMIC: tl.constexpr,
    P: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOWED: tl.constexpr,
    TRIMMED: tl.constexpr,
    CAPPED: tl.constexpr,
    ROWS: tl.constexpr,
    TILE: tl.constexpr,
    HALVINGS: tl.constexpr,
    PTX: tl.constexpr,
):
    """Output `[rows, HEADS, HEAD_DIM]` and natural-log LSE `[rows, HEADS]` of a mixed batch; grid (tiles, KV_HEADS).

    There are `rows // (ROWS // GROUP) + 2 * requests + 1` tiles; those that nobody needs end at once. `scale` makes
    logits in units of log 2 from products, or if CAPPED what is twice the argument of tanh in such units, and `cap`
    makes logits from the tanh. Keys before `first_key` are not seen; TRIMMED says that there may be any such, or a
    window. Words hold PER_WORD elements. P is the type to which weights are rounded, after the scales of values joined
    them if DYNAMIC.
    """
    GROUP: tl.constexpr = HEADS // KV_HEADS
    POSITIONS: tl.constexpr = ROWS // GROUP
    WORDS: tl.constexpr = HEAD_DIM // PER_WORD
    LANES: tl.constexpr = CHANNELS // PER_WORD
    tile = tl.program_id(0)
    kv_head = tl.program_id(1)
    request = request_of_tile(STARTS, tile, requests, POSITIONS, HALVINGS)
    begin = tl.load(STARTS + request)
    nth = tile - (begin // POSITIONS + 2 * request)
    place = tl.arange(0, ROWS) // GROUP
    head = kv_head * GROUP + tl.arange(0, ROWS) % GROUP
    if request == requests:
        padding = begin + nth * POSITIONS + place
        store_nothing(OUTPUT, LSE, padding, head, (place < POSITIONS) & (padding < rows), HEADS, HEAD_DIM, CHANNELS)
        return
    count = tl.load(STARTS + request + 1) - begin
    length = tl.load(LENGTHS + request)
    lead = length - count
    first = nth * POSITIONS - floor_remainder(lead, POSITIONS)
    if (first >= count) | (count == 0):
        return

    local = first + place
    real = (place < POSITIONS) & (local >= 0) & (local < count)
    row = (begin + local).to(tl.int64)
    channel = channels_of(FORMAT, HEAD_DIM, CHANNELS)
    element = real[:, None] & (channel < HEAD_DIM)[None, :]
    source = QUERY + (row * query_row_stride + head.to(tl.int64) * query_head_stride)[:, None] + channel[None, :]
    query = tl.load(source, mask=element, other=0.0)
    oldest = lead + tl.maximum(first, 0)
    newest = lead + tl.minimum(first + POSITIONS, count) - 1
    low, high = seen_by_row(lead + local, length, first_key, window, CAUSAL, WINDOWED)
    start, stop = seen_by_some(oldest, newest, length, first_key, window, CAUSAL, WINDOWED)
    whole_start, whole_stop = seen_by_all(oldest, newest, length, first_key, window, CAUSAL, WINDOWED, TILE)

    key_scale, value_scale = static_scales(KEY_SCALES, VALUE_SCALES, kv_head, STATIC)
    shift = kv_head.to(tl.int64) * head_stride
    scale_shift = kv_head.to(tl.int64) * scale_head_stride
    table = TABLES + request.to(tl.int64) * table_stride
    top = tl.full([ROWS], -float("inf"), tl.float32)
    mass = tl.zeros([ROWS], tl.float32)
    total = tl.zeros([ROWS, CHANNELS], tl.float32)
    # Tiles before, among and behind those that every row sees whole.
    for part in tl.static_range(0 if TRIMMED else 1, 3):
        begin_key = start // TILE * TILE if part == 0 else whole_start if part == 1 else whole_stop
        end_key = tl.minimum(whole_start, stop) if part == 0 else whole_stop if part == 1 else stop
        for key in range(begin_key, end_key, TILE):
            token = key + tl.arange(0, TILE)
            owned = (token >= start) & (token < stop)
            block = blocks_of(table, token, owned, part != 1, BLOCK_SIZE)
            stored = shift + block * block_stride + token % BLOCK_SIZE * token_stride
            scaled = scale_shift + block * scale_block_stride + token % BLOCK_SIZE * scale_token_stride
            words = load_words(KEYS, stored, owned, part != 1, WORDS, LANES)
            logits = tl.dot(query, tl.trans(numbers(words, FORMAT, PER_WORD, query.dtype, PTX)), input_precision="ieee")
            if DYNAMIC:
                logits *= tl.load(KEY_SCALES + scaled, mask=owned, other=0.0)[None, :]
            logits *= scale * key_scale
            if CAPPED:
                logits = (1.0 - 2.0 / (power_of_two(logits, PTX) + 1.0)) * cap
            if part != 1:
                seen = (token[None, :] >= low[:, None]) & (token[None, :] < high[:, None])
                logits = tl.where(seen, logits, -float("inf"))
            top, mass, weights, rescale = folded(top, mass, logits, PTX)
            if DYNAMIC:
                weights *= tl.load(VALUE_SCALES + scaled, mask=owned, other=0.0)[None, :]
            words = load_words(VALUES, stored, owned, part != 1, WORDS, LANES)
            total *= rescale[:, None]
            total = tl.dot(weights.to(P), numbers(words, FORMAT, PER_WORD, P, PTX), total, input_precision="ieee")

    empty = top == -float("inf")
    if SINKS is not None:
        sink = tl.load(SINKS + head, mask=real, other=0.0) * LOG2E
        top, mass, rescale = with_sink(top, mass, sink, PTX)
        total *= rescale[:, None]
    mass = tl.where(empty, 1.0, mass)
    # Adding 0 makes a negative zero positive, as one more tile of unseen keys would.
    output = (total + 0.0) * tl.div_rn(1.0, mass)[:, None] * value_scale
    state = row * HEADS + head
    tl.store(OUTPUT + state[:, None] * HEAD_DIM + channel[None, :], output.to(OUTPUT.dtype.element_ty), mask=element)
    tl.store(LSE + state, tl.where(empty, -float("inf"), (top + tl.log2(mass)) * LN2), mask=real)


@kernel
def request_of_tile(STARTS, tile, requests, POSITIONS: tl.constexpr, HALVINGS: tl.constexpr):
    """The request that a tile belongs to, `requests` for padding rows.

    Request `r` has the tiles from `STARTS[r] // POSITIONS + 2 r` on: however its positions lie, its rows need at most
    `count // POSITIONS + 2`. HALVINGS >= log2(requests + 1) leave one candidate.
    """
    low = tile * 0
    high = low + requests + 1
    for _ in range(HALVINGS):
        middle = (low + high) // 2
        begun = tl.load(STARTS + middle) // POSITIONS + 2 * middle <= tile
        low = tl.where(begun, middle, low)
        high = tl.where(begun, high, middle)
    return low


@kernel
def floor_remainder(number, divisor):
    """`number` modulo `divisor`, never negative: a request with more rows than tokens begins before position 0."""
    remainder = number % divisor
    return tl.where(remainder < 0, remainder + divisor, remainder)


@kernel
def seen_by_row(position, length, first_key, window, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr):
    """First key that a query at `position` sees, and the first behind those."""
    low = position * 0 + first_key
    high = position * 0 + length
    if WINDOWED:
        low = tl.maximum(position - window + 1, low)
    if CAUSAL:
        high = tl.minimum(position + 1, high)
    return low, high


@kernel
def seen_by_some(oldest, newest, length, first_key, window, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr):
    """The keys from the first to the last that any query from `oldest` to `newest` sees."""
    start, _ = seen_by_row(oldest, length, first_key, window, CAUSAL, WINDOWED)
    _, stop = seen_by_row(newest, length, first_key, window, CAUSAL, WINDOWED)
    return start, stop


@kernel
def seen_by_all(
    oldest, newest, length, first_key, window, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, TILE: tl.constexpr
):
    """Whole tiles of keys that all queries from `oldest` to `newest` see."""
    start, _ = seen_by_row(newest, length, first_key, window, CAUSAL, WINDOWED)
    _, stop = seen_by_row(oldest, length, first_key, window, CAUSAL, WINDOWED)
    start = (start + TILE - 1) // TILE * TILE
    return start, tl.maximum(tl.maximum(stop, 0) // TILE * TILE, start)


@kernel
def static_scales(KEY_SCALES, VALUE_SCALES, kv_head, STATIC: tl.constexpr):
    """The scales of keys and of values of one head, 1 where there are none or each token has its own."""
    key_scale = 1.0
    value_scale = 1.0
    if STATIC:
        key_scale = tl.load(KEY_SCALES + kv_head)
        value_scale = tl.load(VALUE_SCALES + kv_head)
    return key_scale, value_scale


@kernel
def blocks_of(table, token, owned, MASKED: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    """The block of each token, int64; 0 where MASKED and not `owned`."""
    if MASKED:
        block = tl.load(table + token // BLOCK_SIZE, mask=owned, other=0)
    else:
        block = tl.load(table + token // BLOCK_SIZE)
    return block.to(tl.int64)


@kernel
def folded(top, mass, logits, PTX: tl.constexpr):
    """Running maximum and sum with a tile of logits, its weights, and the factor for what was summed before.

    Where nothing was seen yet the maximum is minus infinity, the weights are 0 and so is the factor.
    """
    new = tl.maximum(top, tl.max(logits, 1))
    safe = tl.where(new == -float("inf"), 0.0, new)
    weights = power_of_two(logits - safe[:, None], PTX)
    rescale = power_of_two(top - safe, PTX)
    return new, mass * rescale + tl.sum(weights, 1), weights, rescale


@kernel
def channels_of(FORMAT: tl.constexpr, HEAD_DIM: tl.constexpr, CHANNELS: tl.constexpr):
    """The channel of each column of `numbers`: the two of a byte, half a head dim apart, are neighbours in int4."""
    column = tl.arange(0, CHANNELS)
    channel = column
    if FORMAT == "int4":
        channel = tl.where(column < HEAD_DIM, column % 2 * (HEAD_DIM // 2) + column // 2, column)
    return channel


@kernel
def load_words(PAGES, stored, owned, MASKED: tl.constexpr, WORDS: tl.constexpr, LANES: tl.constexpr):
    """Words `[TILE, LANES]` of the tokens at offsets `stored`, 0 beyond WORDS and, where MASKED, if not `owned`."""
    word = tl.arange(0, LANES)
    pointers = PAGES + stored[:, None] + word[None, :]
    inside = (word < WORDS)[None, :]
    if MASKED:
        words = tl.load(pointers, mask=owned[:, None] & inside, other=0)
    elif LANES == WORDS:
        words = tl.load(pointers)
    else:
        words = tl.load(pointers, mask=inside, other=0)
    return words


@kernel
def numbers(words, FORMAT: tl.constexpr, PER_WORD: tl.constexpr, TYPE: tl.constexpr, PTX: tl.constexpr):
    """What words hold as exact numbers of TYPE, without their scales, in the columns of `channels_of`."""
    a, b, c, d = operands(words, FORMAT, TYPE, PTX)
    if PER_WORD == 2:
        a = tl.interleave(a, b)
    elif PER_WORD == 4:
        a = tl.interleave(tl.interleave(a, b), tl.interleave(c, d))
    return a


@kernel
def store_nothing(OUTPUT, LSE, row, head, stored, HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, CHANNELS: tl.constexpr):
    """What padding rows hold: output 0 and LSE minus infinity."""
    channel = tl.arange(0, CHANNELS)
    state = row.to(tl.int64) * HEADS + head
    nothing = tl.zeros([row.shape[0], CHANNELS], OUTPUT.dtype.element_ty)
    element = stored[:, None] & (channel < HEAD_DIM)[None, :]
    tl.store(OUTPUT + state[:, None] * HEAD_DIM + channel[None, :], nothing, mask=element)
    tl.store(LSE + state, tl.full([row.shape[0]], -float("inf"), tl.float32), mask=stored)
