"""Histories that once made the Quantizer surface fail, with the right answer."""

from __future__ import annotations

import numpy as np
import pytest

from kvconformance.adapters import load
from kvconformance.history import History
from kvconformance.quantizer import blocks
from kvconformance.trial import play
from kvspec import Tally
from kvspec.vocabulary import Surface


@pytest.mark.parametrize("bad", [np.nan, np.inf, 3.4e38])
def test_a_row_that_is_not_finite_after_a_rotation_is_not_judged(bad: float) -> None:
    judge = blocks.Blocks.__new__(blocks.Blocks)  # without an engine: judging such a row must not ask for anything
    row = np.array([[[bad, bad]]], np.float32)[0]
    half = np.array([0.7071], np.float32)
    judge.turned(0, row, half, half, np.zeros_like(row))


@pytest.mark.parametrize(
    "history",
    [
        # The scheme calls an overflow NaN, and a subnormal scale rounded down makes the largest value overflow.
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Append","values":{"seed":10,"exponent":-140}}],
        "max_running":1,"options":{"scheme":"e4m3-nan/token-head","kv_heads":1,"head_dim":2}}""",
        # Two sequences of one cache may each have a scale of their own, and clip under it.
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Append","values":{"seed":1,"exponent":-140}}],
        "max_running":2,"options":{"scheme":"int8/tensor","kv_heads":1,"head_dim":2}}""",
        # The largest fp32 number, quantized to the nearest code, reads as a product that rounds to infinity.
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Append","values":{"pattern":"rising","tokens":5,
        "exponent":100}}],"max_running":3,"options":{"scheme":"int8/group-32","kv_heads":1,"head_dim":32}}""",
        # A row that a rotation makes larger needs a scale that fp16 does not have, and may be refused.
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Put","values":{"pattern":"far","exponent":17}},
        {"type":"Rotate","turns":2}],"max_running":1,"options":{"scheme":"uint4/group-32","kv_heads":1,"head_dim":32}}""",
    ],
    ids=[
        "an overflow that the scheme calls NaN",
        "a scale for each sequence",
        "a product past fp32",
        "a refusal after a turn",
    ],
)
def test_a_right_quantizer_is_not_accused(history: str) -> None:
    engine = load("reference")
    trial = play(
        engine.factories[Surface.QUANTIZER],
        engine.capabilities(Surface.QUANTIZER),
        Surface.QUANTIZER,
        History.from_json(history),
        Tally(),
    )
    assert trial.violation is None, trial.violation
