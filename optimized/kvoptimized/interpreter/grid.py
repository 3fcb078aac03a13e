"""One launch in the interpreter: the programs of the grid, one after another."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as stock
from triton.runtime.errors import InterpreterError

from kvoptimized.interpreter import accesses
from kvoptimized.interpreter.faults import KernelFault, raised_at, running
from kvoptimized.interpreter.language import interpret_language
from kvoptimized.interpreter.patching import Patches, exclusive


def install(patches: Patches) -> None:
    """Replace how the interpreter runs a grid."""
    patches.set_attr(stock.GridExecutor, "__call__", run_grid)


def run_grid(executor: Any, *args: Any, **named: Any) -> None:
    """Run every program of the grid on CPU copies of the arguments; CPU tensors are used as they are."""
    with exclusive:
        _run_grid(executor, *args, **named)


def _run_grid(executor: Any, *args: Any, **named: Any) -> None:
    function = executor.fn
    parameters = inspect.signature(function).parameters
    named = {name: value for name, value in named.items() if name in parameters}
    elsewhere = any(map(_elsewhere, (*args, *named.values())))
    host, host_named = executor._init_args_hst(args, named) if elsewhere else (args, named)
    for hook in executor.pre_run_hooks:
        hook(*host, **host_named)
    patches = Patches()
    try:
        interpret_language(patches)
        with np.errstate(all="ignore"):
            _run_programs(executor, function, inspect.getcallargs(function, *host, **host_named))
    finally:
        patches.undo()
    if elsewhere:
        executor._restore_args_dev(args, host, named, host_named)


def _elsewhere(value: Any) -> bool:
    """Whether an argument has a tensor that is not on the CPU."""
    if isinstance(value, tuple):
        return any(map(_elsewhere, value))
    value = stock._unwrap_tensor(value.base if isinstance(value, stock.TensorDescriptor) else value)
    return hasattr(value, "data_ptr") and value.device.type != "cpu"


def _run_programs(executor: Any, function: Any, arguments: dict[str, Any]) -> None:
    builder, constant = stock.interpreter_builder, frozenset(executor.constexprs)
    converted = {name: value if name in constant else _convert(value) for name, value in arguments.items()}
    grid = _three(executor.grid(converted) if callable(executor.grid) else executor.grid)
    tensors = {name: (arguments[name], converted[name]) for name in converted if name not in constant}
    launch = accesses.begin(function.__name__, grid, tensors)
    running.append(function.__name__)
    completed = False
    try:
        builder.set_grid_dim(*grid)
        for number, place in enumerate(product(*map(range, grid)), start=1):
            builder.set_grid_idx(*place)
            if launch is not None:
                launch.program = number
            _run_program(function, converted)
        completed = True
    finally:
        running.pop()
        accesses.end(launch, completed)


def _convert(value: Any) -> Any:
    """A kernel argument as the interpreter holds it."""
    if isinstance(value, bool):
        return tl.tensor(stock.TensorHandle(np.array([value]), tl.int1), tl.int1)
    return stock._implicit_cvt(value)


def _three(grid: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*grid, 1, 1)[:3]
    return int(x), int(y), int(z)


def _run_program(function: Any, arguments: dict[str, Any]) -> None:
    try:
        function(**arguments)
    except KernelFault:
        raise
    except Exception as error:
        raise InterpreterError(f"{error!r} in {raised_at(error)}") from error
