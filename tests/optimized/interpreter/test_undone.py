"""Nothing is left behind: after the block, everything in Triton is what it was; and one process can do both."""

from __future__ import annotations

import sys
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import torch
import triton
import triton.language as tl
import triton.runtime.interpreter as stock
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from kvoptimized.interpreter import KernelFault, counted, faithful, memory_checked
from kvoptimized.interpreter.patching import exclusive
from kvoptimized.launch import kernel
from tests.optimized.interpreter import tiny


@kernel
def squared(x):
    return x * x


@kernel
def norms(X, Y, BLOCK: tl.constexpr):
    rows = tl.program_id(0)
    x = tl.load(X + rows * BLOCK + tl.arange(0, BLOCK)).to(tl.float32)
    tl.device_assert(x < 100, "small numbers")
    tl.store(Y + rows, tl.sqrt_rn(tl.sum(squared(x), 0)))


CLASSES = (
    *(value for value in vars(stock).values() if isinstance(value, type)),
    *(value for value in vars(tl.core).values() if isinstance(value, type)),
    JITFunction,
    tl.semantic.TritonSemantic,
)


def everything() -> dict[str, int]:
    """The identity of every attribute of Triton's modules and of the classes that matter but the program's place."""
    modules = [
        m for name, m in sys.modules.items() if name.split(".")[0] == "triton" and isinstance(m, types.ModuleType)
    ]
    owners = [*modules, *CLASSES, stock.interpreter_builder]
    ignored = {"grid_idx", "grid_dim"}
    return {
        f"{owner!r}.{name}": id(value) for owner in owners for name, value in vars(owner).items() if name not in ignored
    }


def torch_functions() -> dict[str, int]:
    """What torch makes unwritten tensors with."""
    names = ("empty", "empty_like", "empty_permuted", "empty_strided")
    found = {f"torch.{name}": id(getattr(torch, name)) for name in names}
    return found | {name: 0 for name in ("new_empty", "new_empty_strided") if name in vars(torch.Tensor)}


STOCK = torch_functions()


def run(x: torch.Tensor | None = None) -> torch.Tensor:
    x = torch.ones(2, 16) if x is None else x
    y = torch.zeros(2)
    norms[(2,)](x, y, 16)
    return y


def test_a_launch_leaves_nothing_behind():
    run()
    before = everything()
    assert run().tolist() == [4.0, 4.0]
    assert everything() == before


@pytest.mark.parametrize("context", (faithful, memory_checked, counted), ids=lambda c: c.__name__)
def test_a_block_leaves_nothing_behind(context):
    before = everything()
    with context():
        assert everything() != before
        inside = everything()
        run()
        assert everything() == inside
    assert everything() == before


def test_an_exception_leaves_nothing_behind():
    before = everything()
    with pytest.raises(ZeroDivisionError), faithful(), memory_checked():
        raise ZeroDivisionError
    assert everything() == before
    with pytest.raises(KernelFault), counted():
        run(torch.full((2, 16), 100.0))
    assert everything() == before


def test_blocks_may_be_nested_and_end_in_order():
    before = everything()
    with ExitStack() as stack:
        traffic = stack.enter_context(counted())
        stack.enter_context(faithful())
        stack.enter_context(memory_checked())
        with memory_checked(), faithful():
            assert run().tolist() == [4.0, 4.0]
        inner = everything()
        assert run().tolist() == [4.0, 4.0]
        assert everything() == inner
    assert traffic.loaded("X").requested == 2 * 2 * 16 * 4
    assert everything() == before


@pytest.mark.parametrize("context", (faithful, memory_checked, counted), ids=lambda c: c.__name__)
def test_blocks_may_end_in_any_order(context):
    before = everything()
    first, second, third = context(), faithful(), context()
    first.__enter__()
    second.__enter__()
    inside = everything()
    first.__exit__(None, None, None)
    assert everything() | torch_functions() == inside | STOCK
    assert run().tolist() == [4.0, 4.0]
    third.__enter__()
    second.__exit__(None, None, None)
    assert run().tolist() == [4.0, 4.0]
    third.__exit__(None, None, None)
    assert everything() == before
    assert torch_functions() == STOCK


def test_a_block_may_end_in_another_thread():
    before = everything()
    block = memory_checked()
    block.__enter__()
    in_threads(lambda _: block.__exit__(None, None, None), 1)
    assert everything() == before


def in_threads(work, count: int) -> None:
    """Run `work` with 0, 1, ... in as many threads at the same time; raises what any of them raised."""
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))


def launches(number: int) -> None:
    for step in range(5):
        x = torch.full((2, 16), float(number + 1)).bfloat16()
        assert run(x).tolist() == [4.0 * (number + 1)] * 2, (number, step)
        with faithful():
            assert run(x).tolist() == [4.0 * (number + 1)] * 2


def test_launches_of_several_threads_run_one_after_another():
    run()
    before = everything()
    in_threads(launches, 4)
    assert everything() == before
    with memory_checked(), counted() as traffic:
        in_threads(launches, 3)
    assert traffic.loaded("X").requested == 3 * 10 * 2 * 16 * 2
    assert everything() == before


def test_a_thread_may_compile_while_others_launch(fresh_compilation):
    texts = []
    in_threads(lambda number: texts.append(locked_compilation()) if number == 0 else launches(number), 3)
    assert "sqrt.rn.f32" in texts[0]


def locked_compilation() -> str:
    with exclusive:
        return compiled()


def test_the_stock_interpreter_is_stock_again():
    numbers, result = torch.tensor([1 + 3 * 2.0**-8]), torch.zeros(1, dtype=torch.bfloat16)
    with faithful():
        InterpretedFunction(tiny.cast_kernel.fn)[(1,)](numbers, result, tl.bfloat16, None, 1)
    assert result.item() == 1 + 2.0**-6
    InterpretedFunction(tiny.cast_kernel.fn)[(1,)](numbers, result, tl.bfloat16, None, 1)
    assert result.item() == 1 + 2.0**-7


def compiled() -> str:
    source = ASTSource(norms.compiled, {"X": "*bf16", "Y": "*fp32", "BLOCK": "constexpr"}, {(2,): 1024})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"enable_fp_fusion": False}).asm["ptx"]


@pytest.fixture
def fresh_compilation(tmp_path, monkeypatch):
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))
    monkeypatch.setattr(triton.knobs.compilation, "always_compile", True)


def test_one_process_interprets_and_compiles(fresh_compilation):
    assert run().tolist() == [4.0, 4.0]
    first = compiled()
    assert "sqrt.rn.f32" in first
    assert run().tolist() == [4.0, 4.0]
    with faithful():
        assert compiled() == first
        assert run().tolist() == [4.0, 4.0]
    assert compiled() == first


def test_interpreting_does_not_add_names_to_the_kernels_module():
    run()
    borrowed = {"ASTTransformer", "InterpreterBuilder", "_patch_lang"}
    assert not borrowed & vars(sys.modules[__name__]).keys()
