"""`PagedKVCache`: layouts, strides, reading back, and refusal of tensors that do not fit each other."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from kvoptimized.cache import FORMATS, HEAD_MAJOR, LAYOUTS, TOKEN_MAJOR, PagedKVCache
from kvoptimized.refusals import DeviceError, FormatError, StrideError
from kvspec.numbers.floats import rational
from kvspec.numbers.quantize import Scale, dequantize
from kvspec.numbers.schemes import SCHEMES, Granularity
from kvspec.refusals import BlockRangeError, DtypeError, Refused, ScaleError, ShapeError
from tests.optimized.caches import QUANTIZED, Shape


@pytest.mark.parametrize("format", FORMATS)
def test_head_major_and_token_major_hold_the_same_rows(format: str) -> None:
    by_layout = {layout: PagedKVCache.empty(3, 4, 2, 8, format=format, layout=layout) for layout in LAYOUTS}
    assert by_layout[HEAD_MAJOR].keys.shape == (3, 2, 4, by_layout[HEAD_MAJOR].width)
    assert by_layout[TOKEN_MAJOR].keys.shape == (3, 4, 2, by_layout[TOKEN_MAJOR].width)
    for cache in by_layout.values():
        block, head, token = cache.strides
        for storage in (cache.keys, cache.values):
            raw = storage.view(torch.uint8).flatten()
            raw.copy_(torch.arange(raw.numel()) % 251)
            rows = cache.token_major(storage)
            place = 2 * block + 3 * token + 1 * head
            flat = storage.flatten()[place : place + cache.width]
            assert torch.equal(rows[2, 3, 1].view(torch.uint8), flat.view(torch.uint8))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("format", QUANTIZED)
def test_what_is_read_is_what_the_specification_says_of_the_stored_bytes(format: str, layout: str) -> None:
    cache = PagedKVCache.empty(2, 3, 2, 64, format=format, layout=layout)
    random = np.random.default_rng(4)
    for storage in (cache.keys, cache.values):
        raw = storage.view(torch.uint8)
        raw.copy_(torch.from_numpy(random.integers(0, 256, tuple(raw.shape), np.uint8)))
    cache.key_scales.copy_(torch.from_numpy(random.standard_normal((2, 2, 3)).astype(np.float32)))
    slots = torch.tensor([4, 0, 5])
    keys, _ = cache.dequantized(slots)
    for token, slot in enumerate(slots.tolist()):
        for head in range(2):
            at = (slot // 3, head, slot % 3) if layout == HEAD_MAJOR else (slot // 3, slot % 3, head)
            raw = cache.keys[at].view(torch.uint8).tolist()
            scale = Scale(Fraction(float(cache.key_scales[slot // 3, head, slot % 3])), Fraction(0))
            for channel in range(64):
                code = stored_code(raw, channel, format)
                if format == "int8" and code == -128:
                    continue
                wanted = rational(dequantize(code, scale, cache.scheme))
                found = float(keys[token, head, channel])
                assert np.isnan(found) if wanted is None else found == wanted


def stored_code(raw: list[int], channel: int, format: str) -> int:
    """The code of a channel in the bytes of a row, written out by hand."""
    if format == "e4m3":
        return raw[channel]
    if format == "int8":
        return raw[channel] - 256 * (raw[channel] >= 128)
    nibble = raw[channel] & 15 if channel < 32 else raw[channel - 32] >> 4
    return nibble - 16 * (nibble >= 8)


def test_the_schemes_are_those_of_the_catalogue() -> None:
    for name, scheme in (("int8", "int8"), ("e4m3", "e4m3"), ("int4", "int4-fp32")):
        for granularity in (Granularity.TOKEN_HEAD, Granularity.HEAD):
            assert FORMATS[name].scheme_per(granularity) == SCHEMES[f"{scheme}/{granularity.value}"]
    assert (FORMATS["int4"].divisor, *FORMATS["int4"].ends) == (7, -8, 7)
    assert (FORMATS["int8"].divisor, *FORMATS["int8"].ends) == (127, -127, 127)
    assert (FORMATS["e4m3"].divisor, *FORMATS["e4m3"].ends) == (448, None, None)
    assert (FORMATS["bf16"].divisor, *FORMATS["bf16"].ends) == (None, None, None)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("static", [False, True])
def test_bytes_per_token_are_those_of_keys_values_and_their_scales(format: str, static: bool) -> None:
    if static and format not in QUANTIZED:
        return
    cache = Shape(2, 4, 8, 128, format, HEAD_MAJOR, static).empty()
    element = Fraction(FORMATS[format].storage.itemsize, FORMATS[format].per_byte)
    scales = Fraction(8 if format in QUANTIZED and not static else 0)
    assert cache.bytes_per_token == 8 * (2 * 128 * element + scales)


def test_static_scales_are_one_number_or_one_for_each_head() -> None:
    each = torch.tensor([1.0, 2.0])
    cache = PagedKVCache.empty(2, 2, 2, 4, format="e4m3", key_scales=0.5, value_scales=each)
    assert cache.static
    assert not cache.dynamic
    assert cache.key_scales.tolist() == [0.5, 0.5]
    assert cache.value_scales.tolist() == [1.0, 2.0]
    assert cache.scale_strides == (0, 1, 0)
    assert cache.scales(torch.tensor([3]))[1].tolist() == [[1.0, 2.0]]


def test_a_view_into_a_larger_buffer_is_a_cache() -> None:
    buffer = torch.zeros(5, 2, 3, 4, 16, dtype=torch.bfloat16)
    cache = PagedKVCache.around(buffer[:, 0], buffer[:, 1], format="bf16", layout=TOKEN_MAJOR)
    assert (cache.num_blocks, cache.block_size, cache.kv_heads, cache.head_dim) == (5, 3, 4, 16)
    assert cache.strides == (2 * 3 * 4 * 16, 16, 4 * 16)


def test_slots_that_the_cache_does_not_have_are_not_read() -> None:
    cache = PagedKVCache.empty(2, 2, 1, 4)
    for slot in (-1, 4):
        with pytest.raises(BlockRangeError, match=f"slot {slot}"):
            cache.dequantized(torch.tensor([0, slot]))


KEYS = torch.zeros(2, 1, 3, 4, dtype=torch.int8)
SCALES = torch.zeros(2, 1, 3)


@pytest.mark.parametrize(
    ("error", "words", "change"),
    [
        (FormatError, "no format is called 'int3'", {"format": "int3"}),
        (FormatError, "no layout is called 'rows'", {"layout": "rows"}),
        (ShapeError, "keys has shape", {"keys": KEYS[0]}),
        (ShapeError, r"values has shape \[2, 1, 3, 2\]", {"values": KEYS[..., :2].clone()}),
        (ShapeError, "keys and values have shapes", {"values": KEYS[:1]}),
        (DtypeError, "keys has dtype torch.float16", {"keys": KEYS.half()}),
        (StrideError, "blocks of keys have strides", {"keys": torch.zeros(2, 1, 3, 8, dtype=torch.int8)[..., ::2]}),
        (StrideError, "keys and values have strides", {"values": torch.zeros(4, 1, 3, 4, dtype=torch.int8)[::2]}),
        (DeviceError, "values is on meta", {"values": KEYS.to("meta")}),
        (ScaleError, "needs key_scales and value_scales", {"key_scales": None}),
        (ScaleError, r"key_scales has shape \[2\]", {"key_scales": torch.ones(2)}),
        (ScaleError, r"value_scales has shape \[2, 3, 1\]", {"value_scales": torch.zeros(2, 3, 1)}),
        (ScaleError, "different granularities", {"key_scales": torch.ones(1)}),
        (ScaleError, "bf16 has no scales", {"format": "bf16", "keys": KEYS.bfloat16(), "values": KEYS.bfloat16()}),
        (DtypeError, "key_scales has dtype torch.float16", {"key_scales": SCALES.half()}),
        (StrideError, "blocks of key_scales", {"key_scales": torch.zeros(2, 1, 6)[..., ::2]}),
    ],
)
def test_tensors_that_do_not_fit_are_refused(error: type[Refused], words: str, change: dict[str, Any]) -> None:
    good = {
        "keys": KEYS,
        "values": KEYS.clone(),
        "key_scales": SCALES,
        "value_scales": SCALES.clone(),
        "format": "int8",
    }
    PagedKVCache.around(**good)
    with pytest.raises(error, match=words):
        PagedKVCache.around(**{**good, **change})


@pytest.mark.parametrize(
    ("error", "words", "change"),
    [
        (FormatError, "int4 cannot hold a head dim of 5", {"format": "int4", "head_dim": 5}),
        (FormatError, "no format is called 'q8'", {"format": "q8"}),
        (ShapeError, "num_blocks is 0", {"num_blocks": 0}),
        (ScaleError, "one of keys and values only", {"format": "int8", "key_scales": 1.0}),
        (ScaleError, "bf16 has no scales", {"key_scales": 1.0, "value_scales": 1.0}),
        (ScaleError, r"key_scales\[0\] is 0.0", {"format": "int8", "key_scales": 0.0, "value_scales": 1.0}),
        (ScaleError, r"value_scales\[0\] is inf", {"format": "int8", "key_scales": 1.0, "value_scales": float("inf")}),
        (
            ScaleError,
            r"expected one number or \[2\]",
            {"format": "e4m3", "key_scales": torch.ones(3), "value_scales": 1.0},
        ),
        (DtypeError, "torch.float64", {"format": "e4m3", "key_scales": torch.ones(2).double(), "value_scales": 1.0}),
    ],
)
def test_an_empty_cache_that_cannot_be_is_refused(error: type[Refused], words: str, change: dict[str, Any]) -> None:
    with pytest.raises(error, match=words):
        PagedKVCache.empty(**{"num_blocks": 2, "block_size": 2, "kv_heads": 2, "head_dim": 4, **change})
