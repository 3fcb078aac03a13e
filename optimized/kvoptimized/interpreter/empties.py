"""Tensors that torch makes without writing to them, shown to whoever follows unwritten memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from kvoptimized.interpreter.patching import Patches, exclusive

Listener = Callable[[torch.Tensor], None]

_MAKERS = {
    torch: ("empty", "empty_like", "empty_permuted", "empty_strided"),
    torch.Tensor: ("new_empty", "new_empty_strided"),
}
_listeners: list[Listener] = []
_patches = Patches()


def listen(listener: Listener) -> None:
    """Tell `listener` of every new tensor on the CPU whose memory nothing has written, until `ignore`."""
    with exclusive:
        if not _listeners:
            for owner, names in _MAKERS.items():
                for name in names:
                    _patches.set_attr(owner, name, _told(getattr(owner, name)))
        _listeners.append(listener)


def ignore(listener: Listener) -> None:
    """Stop telling; torch is as it was when nobody listens any more."""
    with exclusive:
        _listeners.remove(listener)
        if not _listeners:
            _patches.undo()


def _told(make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make)
    def maker(*args: Any, **named: Any) -> Any:
        tensor = make(*args, **named)
        if not torch.compiler.is_compiling() and named.get("out") is None and _is_memory(tensor):
            for listener in tuple(_listeners):
                listener(tensor)
        return tensor

    return maker


def _is_memory(tensor: torch.Tensor) -> bool:
    """Whether there are bytes on the CPU, of which torch counts the changes."""
    return bool(
        type(tensor) is torch.Tensor
        and tensor.device.type == "cpu"
        and tensor.layout is torch.strided
        and tensor.numel()
        and not tensor.is_inference()
    )
