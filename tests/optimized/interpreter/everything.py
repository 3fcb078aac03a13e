"""Every result on 16-bit and 8-bit patterns in one file: `python -m tests.optimized.interpreter.everything FILE`."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import torch

from kvspec.numbers.floats import BF16, E4M3FN, E5M2, FP16
from tests.optimized.interpreter import tiny

INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.uint16)


def results() -> dict[str, np.ndarray]:
    """Patterns of every cast from a narrow float or integer, and of operators on shuffled pairs, by name."""
    found = {}
    floats = [tiny.every(format) for format in (FP16, BF16, E4M3FN, E5M2)]
    floats += [tiny.bits(floats[-1]).view(type_) for type_ in (torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)]
    integers = [torch.from_numpy(np.arange(1 << 8 * t.itemsize).astype(f"u{t.itemsize}")).view(t) for t in INTEGERS]
    for source, target in product([*floats, *integers], tiny.TRITON):
        if source.dtype is not target and castable(source.dtype, target):
            found[f"{source.dtype} to {target}"] = tiny.bits(tiny.cast(source, target)).numpy()
    for source, operation in product(floats[:2], ("add", "sub", "mul", "fma", "maximum", "minimum", "less", "equal")):
        other = source[torch.from_numpy(np.random.default_rng(7).permutation(source.numel()))]
        compared = torch.int8 if operation in {"less", "equal"} else None
        found[f"{operation} {source.dtype}"] = tiny.bits(tiny.binary(operation, source, other, compared)).numpy()
    return found


def castable(source: torch.dtype, target: torch.dtype) -> bool:
    """Triton casts 8-bit floats from and to fp32, fp16 and bf16 alone."""
    others = {type_ for type_ in (source, target) if not (type_.is_floating_point and type_.itemsize == 1)}
    return len(others) == 2 or (len(others) == 1 and others <= {torch.float32, torch.float16, torch.bfloat16})


if __name__ == "__main__":
    np.savez(sys.argv[1], **results())
