"""How fast the vectorised quantizer encodes: megabytes of float32 per second on one core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kvreference.quantizers import encode
from kvspec.numbers.schemes import SCHEMES

SHAPE = (2048, 8, 128)


@pytest.mark.parametrize("name", ["int8/token-head", "int4/group-32", "e4m3/token-head", "q8_0"])
@pytest.mark.benchmark(group="encode, 2,048 tokens, 8 heads, head dim 128")
def test_encode(benchmark: Any, name: str) -> None:
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    benchmark(encode, x, SCHEMES[name])
    if benchmark.stats is not None:
        benchmark.extra_info["megabytes_per_second"] = x.nbytes / 1e6 / benchmark.stats.stats.median
