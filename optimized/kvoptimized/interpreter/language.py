"""`triton.language` in its interpreted form: replaced once per launch and put back when the launch ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as stock
from triton.runtime.jit import JITFunction

from kvoptimized.interpreter.floats import EIGHT_BITS
from kvoptimized.interpreter.hints import hint_functions
from kvoptimized.interpreter.library import library_functions
from kvoptimized.interpreter.patching import Patches
from kvoptimized.interpreter.rewriting import rewritten, single_lane
from kvoptimized.interpreter.speed import faster_types

_recorded: dict[int, tuple[Any, dict[str, Any]]] = {}


def interpret_language(patches: Patches) -> None:
    """Make every function of `triton.language` act on NumPy arrays.

    The stock interpreter does this again for each device function that is called; the list is made once here.
    """
    if not _recorded:
        _record()
    for owner, values in _recorded.values():
        patches.set_all(owner, values)


class _Recorder:
    """Takes what the stock functions would replace, without replacing anything."""

    def set_attr(self, owner: Any, name: str, value: Any) -> None:
        _recorded.setdefault(id(owner), (owner, {}))[1][name] = value


def _record() -> None:
    recorder, builder = _Recorder(), stock.interpreter_builder
    for package in (tl, tl.core, tl.math, tl.tensor, tl.core.tensor_descriptor_base):
        stock._patch_builtin(package, builder, recorder)
    stock._patch_lang_tensor(tl.tensor, recorder)
    for package in (tl, tl.core):
        stock._patch_lang_core(package, recorder)
    recorder.set_attr(tl.tensor, "__index__", _index)
    recorder.set_attr(JITFunction, "__call__", _call_device_function)
    to_ir = _recorded[id(tl.dtype)][1]["to_ir"]
    recorder.set_attr(
        tl.dtype, "to_ir", lambda self, builder: self if self.name in EIGHT_BITS else to_ir(self, builder)
    )
    for owner, name, function in (*library_functions(), *hint_functions(), *faster_types()):
        recorder.set_attr(owner, name, function)


def _index(tensor: Any) -> int:
    return int(np.asarray(single_lane(tensor).handle.data).reshape(-1)[0])


def _call_device_function(function: Any, *args: Any, **named: Any) -> Any:
    body: Callable[..., Any] = rewritten(function.fn)
    return body(*args, **named)
