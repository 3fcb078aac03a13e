"""`tl.inline_asm_elementwise` in the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.runtime.interpreter as stock

from kvoptimized.interpreter.patching import Patches
from kvoptimized.interpreter.ptx import evaluate


def install(patches: Patches) -> None:
    """Let the interpreter evaluate inline PTX, which the stock one refuses."""
    patches.set_attr(stock.InterpreterBuilder, "create_inline_asm", _inline)


class _Results:
    """What the language expects of a call with several results."""

    def __init__(self, handles: list[Any]) -> None:
        self.handles = handles

    def get_result(self, index: int) -> Any:
        return self.handles[index]


def _inline(self: Any, text: str, constraints: str, operands: Any, types: Any, pure: bool, pack: int) -> _Results:
    arrays = np.broadcast_arrays(*(operand.data for operand in operands))
    scalars = [type_.scalar for type_ in types]
    storage = [np.dtype(stock._get_np_dtype(type_)) for type_ in scalars]
    results = evaluate(text, constraints, arrays, storage, pack)
    return _Results([stock.TensorHandle(result, type_) for result, type_ in zip(results, scalars, strict=True)])
