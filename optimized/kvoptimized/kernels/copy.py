"""Copy-on-write: whole blocks of a cache, codes and scales together, as words."""

from __future__ import annotations

import triton.language as tl

from kvoptimized.launch import kernel


@kernel
def copy_pairs(
    KEYS,
    VALUES,
    KEY_SCALES,
    VALUE_SCALES,
    PAIRS,
    block_stride,
    scale_block_stride,
    WORDS: tl.constexpr,
    SCALE_WORDS: tl.constexpr,
    CHUNK: tl.constexpr,
    SCALE_CHUNK: tl.constexpr,
):
    """Grid `(pairs, cdiv(WORDS, CHUNK))`: a chunk of a block; strides and sizes are in words, pairs are int64.

    No block is both source and target, so the order of programs does not matter.
    """
    pair = tl.program_id(0)
    chunk = tl.program_id(1)
    source = tl.load(PAIRS + 2 * pair)
    target = tl.load(PAIRS + 2 * pair + 1)
    copy_words(KEYS, source * block_stride, target * block_stride, chunk * CHUNK, WORDS, CHUNK)
    copy_words(VALUES, source * block_stride, target * block_stride, chunk * CHUNK, WORDS, CHUNK)
    if SCALE_WORDS > 0:
        source *= scale_block_stride
        target *= scale_block_stride
        for first in range(chunk * SCALE_CHUNK, SCALE_WORDS, tl.num_programs(1) * SCALE_CHUNK):
            copy_words(KEY_SCALES, source, target, first, SCALE_WORDS, SCALE_CHUNK)
            copy_words(VALUE_SCALES, source, target, first, SCALE_WORDS, SCALE_CHUNK)


@kernel
def copy_words(MEMORY, source, target, first, WORDS: tl.constexpr, CHUNK: tl.constexpr):
    """Words `first : first + CHUNK` of a run of WORDS."""
    word = first + tl.arange(0, CHUNK)
    mask = word < WORDS
    tl.store(MEMORY + target + word, tl.load(MEMORY + source + word, mask=mask), mask=mask)
