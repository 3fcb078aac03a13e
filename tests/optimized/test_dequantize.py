"""Operands of matrix units: every word of every format, however it is unpacked, has the numbers of its codes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton.language as tl

from kvoptimized.kernels.dequantize import channel, operands
from kvoptimized.launch import kernel
from kvreference.arrays import Float
from kvreference.float_codes import E4M3FN, decode_float
from kvreference.nibbles import unpack
from kvspec.numbers.schemes import INT4_FP32

WORDS = np.arange(1 << 16, dtype=np.uint16)
TENSORS = {"int8": 2, "e4m3": 2, "int4": 4}
TYPES = {torch.bfloat16: tl.bfloat16, torch.float16: tl.float16}


@kernel
def unpack_words(WORDS, OUTPUT, COUNT: tl.constexpr, FORMAT: tl.constexpr, TYPE: tl.constexpr, PTX: tl.constexpr):
    word = tl.arange(0, COUNT)
    a, b, c, d = operands(tl.load(WORDS + word), FORMAT, TYPE, PTX)
    tl.store(OUTPUT + word, a)
    tl.store(OUTPUT + COUNT + word, b)
    tl.store(OUTPUT + 2 * COUNT + word, c)
    tl.store(OUTPUT + 3 * COUNT + word, d)


@kernel
def list_channels(OUTPUT, TENSORS: tl.constexpr, HEAD_DIM: tl.constexpr):
    word = tl.arange(0, HEAD_DIM)
    tl.store(OUTPUT + word, channel(word, 0, TENSORS, HEAD_DIM))
    tl.store(OUTPUT + HEAD_DIM + word, channel(word, 1, TENSORS, HEAD_DIM))
    tl.store(OUTPUT + 2 * HEAD_DIM + word, channel(word, 2, TENSORS, HEAD_DIM))
    tl.store(OUTPUT + 3 * HEAD_DIM + word, channel(word, 3, TENSORS, HEAD_DIM))


def numbers(format: str) -> Float:
    """`[words, channels]` of rows of two bytes, in the order of channels."""
    bytes_ = WORDS.view(np.uint8).reshape(-1, 2)
    if format == "int8":
        return bytes_.view(np.int8).astype(np.float64)
    if format == "int4":
        return unpack(bytes_ ^ np.uint8(0x88), INT4_FP32).astype(np.float64)
    exact = decode_float(bytes_, E4M3FN)
    return np.where(np.isnan(exact), np.copysign(480.0, np.where(bytes_ >= 0x80, -1.0, 1.0)), exact)


@pytest.mark.parametrize("ptx", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("format", ["int8", "e4m3", "int4"])
def test_every_word_has_the_numbers_of_its_codes(format: str, dtype: torch.dtype, ptx: bool) -> None:
    output = torch.empty(4, len(WORDS), dtype=dtype)
    words = torch.from_numpy(WORDS.view(np.int16))
    unpack_words[1,](words, output, COUNT=len(WORDS), FORMAT=format, TYPE=TYPES[dtype], PTX=ptx)
    found, wanted = output.double().numpy(), numbers(format)
    head_dim = wanted.shape[1]
    for nth in range(4):
        place = int(channels(TENSORS[format], head_dim)[nth, 0])
        assert (found[nth] == wanted[:, place]).all()
        assert (np.signbit(found[nth]) == np.signbit(wanted[:, place])).all()


@pytest.mark.parametrize("tensors", [1, 2, 4])
def test_the_tensors_together_hold_every_channel_once(tensors: int) -> None:
    held = channels(tensors, 64)[:tensors, : 64 // tensors]
    assert sorted(held.ravel().tolist()) == list(range(64))


def channels(tensors: int, head_dim: int) -> torch.Tensor:
    """`[4, head_dim]`: the channel in each column of each tensor."""
    output = torch.empty(4, head_dim, dtype=torch.int32)
    list_channels[1,](output, TENSORS=tensors, HEAD_DIM=head_dim)
    return output
