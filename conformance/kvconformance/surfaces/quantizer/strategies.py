"""Histories of a quantizer, biased to where quantizers break."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from kvconformance import history as h
from kvconformance.surfaces.quantizer import operations as ops
from kvconformance.surfaces.quantizer.expected import per_token, token_group
from kvconformance.surfaces.quantizer.protocol import QuantizerCapabilities
from kvconformance.surfaces.quantizer.recipes import PATTERNS, SPECIAL
from kvspec.numbers.schemes import NonFinite, Scheme

EXPONENTS = (0, 0, 0, 0, 0, 0, -1, 2, -4, 5, -9, -13, 12)
FAR_EXPONENTS = (-24, -40, -100, -126, -132, -140, 17, 30, 100)
"""Where fp16 scales overflow or vanish, and fp32 ones become subnormal."""
MOST_PHRASES = 5

Phrase = tuple[Any, ...]


def quantizer_histories(capabilities: QuantizerCapabilities) -> st.SearchStrategy[h.History]:
    """Histories for a quantizer with these schemes."""

    @cache
    def build(name: str) -> st.SearchStrategy[h.History]:
        return _histories(capabilities, name)

    return st.sampled_from(list(capabilities.schemes)).flatmap(build)


def _histories(capabilities: QuantizerCapabilities, name: str) -> st.SearchStrategy[h.History]:
    low, high = capabilities.num_blocks
    options = {
        "scheme": st.just(name),
        "kv_heads": st.sampled_from(capabilities.kv_heads),
        "head_dim": st.sampled_from(head_dims(capabilities, capabilities.schemes[name].scheme)),
    }
    phrase = phrases(capabilities, capabilities.schemes[name].scheme)
    return st.builds(
        h.History,
        num_blocks=st.integers(low, min(high, low + 3)),
        block_size=st.sampled_from(capabilities.block_sizes),
        operations=st.lists(phrase, min_size=1, max_size=MOST_PHRASES).map(
            lambda p: tuple(o for part in p for o in part)
        ),
        max_running=st.integers(*capabilities.max_running),
        options=st.fixed_dictionaries(options),
    )


def head_dims(capabilities: QuantizerCapabilities, scheme: Scheme) -> list[int]:
    """The declared head dims that are a whole number of groups of channels."""
    size = (scheme.group_size or 1) if scheme.granularity.value == "group" else 1
    return [dim for dim in capabilities.head_dims if dim % size == 0] or [size]


def phrases(capabilities: QuantizerCapabilities, scheme: Scheme) -> st.SearchStrategy[Phrase]:
    """Operations that belong together, of the kinds that the scheme allows."""
    numbers = values(capabilities, scheme)
    encode = st.builds(ops.Encode, values(capabilities, scheme, special=True))
    kinds = [_phrase(encode), _phrase(encode), _phrase(encode, encode)]
    if capabilities.given_scales:
        kinds.append(_phrase(st.builds(ops.EncodeFixed, numbers, st.integers(0, 4))))
    if capabilities.sequences:
        append, between, crop = st.builds(ops.Append, numbers), _between(scheme), st.sampled_from(_crops(scheme))
        kinds += [_phrase(append), _phrase(append, append), _phrase(append, between, append), _phrase(between)]
        kinds.append(_phrase(append, append, crop, append))
    if capabilities.blocks and per_token(scheme):
        put = st.builds(ops.Put, numbers, st.integers(0, 7), st.sampled_from((0, 0, 0, 1, 2)))
        copy = st.builds(ops.CopyBlock, st.integers(0, 2), st.integers(0, 3))
        turn = st.builds(ops.Rotate, st.sampled_from((1, 2, 4, 5)))
        kinds += [_phrase(put), _phrase(put, copy), _phrase(put, put, copy), _phrase(put, turn)]
    return st.one_of(kinds)


def _phrase(*operations: st.SearchStrategy[Any]) -> st.SearchStrategy[Phrase]:
    return st.tuples(*operations)


def _between(scheme: Scheme) -> st.SearchStrategy[Any]:
    reorders = [ops.Reorder(1), ops.Reorder(0, keep=True), ops.Reorder(1, keep=True)]
    return st.sampled_from([*reorders, *_crops(scheme), ops.Restart(), ops.Restart()])


def _crops(scheme: Scheme) -> list[ops.Crop]:
    """Crops that cut no group of tokens."""
    return [ops.Crop(token_group(scheme)), ops.Crop(2 * token_group(scheme))]


def values(
    capabilities: QuantizerCapabilities, scheme: Scheme, *, special: bool = False
) -> st.SearchStrategy[ops.Values]:
    """Recipes; the exponents of floating-point codes include those at which a step is subnormal."""
    far = st.sampled_from(FAR_EXPONENTS)
    near = st.sampled_from(EXPONENTS)
    exponents = st.one_of(near, near, near, far) if scheme.arithmetic.name == "fp32" else near
    patterns = [name for name in PATTERNS if name != SPECIAL] + ["midpoints"] * 2 + ["near"] * 2
    if special and capabilities.specials and scheme.nan is NonFinite.KEEP:
        patterns += [SPECIAL] * 2
    tokens = [t for t in capabilities.tokens if t % token_group(scheme) == 0] or [token_group(scheme)]
    return st.builds(
        ops.Values,
        pattern=st.sampled_from(patterns),
        tokens=st.sampled_from(tokens),
        seed=st.integers(0, 99),
        exponent=exponents,
        at=st.integers(0, 15),
    )
