"""Histories that once made the Quantizer surface fail, with the right answer."""

from __future__ import annotations

import numpy as np
import pytest

from kvconformance.quantizer import blocks


@pytest.mark.parametrize("bad", [np.nan, np.inf, 3.4e38])
def test_a_row_that_is_not_finite_after_a_rotation_is_not_judged(bad: float) -> None:
    judge = blocks.Blocks.__new__(blocks.Blocks)  # without an engine: judging such a row must not ask for anything
    row = np.array([[[bad, bad]]], np.float32)[0]
    half = np.array([0.7071], np.float32)
    judge.turned(0, row, half, half, np.zeros_like(row))
