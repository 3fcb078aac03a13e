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


def test_an_overflow_that_the_scheme_calls_nan_is_no_lost_value() -> None:
    history = History.from_json(
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Append","values":{"seed":10,"exponent":-140}}],
        "max_running":1,"options":{"scheme":"e4m3-nan/token-head","kv_heads":1,"head_dim":2}}"""
    )
    engine = load("reference")
    trial = play(
        engine.factories[Surface.QUANTIZER],
        engine.capabilities(Surface.QUANTIZER),
        Surface.QUANTIZER,
        history,
        Tally(),
    )
    assert trial.violation is None, trial.violation
