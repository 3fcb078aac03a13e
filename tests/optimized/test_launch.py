"""`@kernel`: where a launch runs, what it refuses, and that device functions come along in both modes."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from kvoptimized import launch
from kvoptimized.launch import InterpretedWarning, LaunchRefused, kernel


@kernel
def scaled(x, FACTOR: tl.constexpr = 2):
    return x * FACTOR


@kernel
def scale(X, Y, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(Y + lanes, scaled(tl.load(X + lanes, mask=lanes < n, other=0.0)), mask=lanes < n)


def test_cpu_tensors_are_interpreted_with_one_warning_per_process():
    launch._warn_once.cache_clear()
    x, y = torch.arange(10.0), torch.zeros(10)
    with pytest.warns(InterpretedWarning) as caught:
        scale[(3,)](x, y, 10, BLOCK=4)
        scale[(3,)](x, y, 10, BLOCK=4, num_warps=2)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert y.tolist() == (2 * x).tolist()


def test_a_grid_may_be_a_function_of_the_arguments():
    x, y = torch.arange(10.0), torch.zeros(10)
    scale[lambda arguments: (triton.cdiv(10, arguments["BLOCK"]),)](x, y, 10, BLOCK=8)
    assert y.tolist() == (2 * x).tolist()


def test_the_compiled_form_is_a_plain_jit_function_with_compiled_helpers():
    assert type(scale.compiled) is JITFunction
    source = ASTSource(scale.compiled, {"X": "*fp32", "Y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {(3,): 128})
    assert "add.f32" in triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"].replace(".rn", "")


class Recording:
    """A tensor as the launcher sees it, on a device that this machine need not have."""

    def __init__(self, device: str) -> None:
        self.device = torch.device(device)

    def data_ptr(self) -> int:
        return 16


def test_cuda_tensors_are_compiled(monkeypatch):
    launched = []
    monkeypatch.setattr(JITFunction, "run", lambda self, *args, **named: launched.append((self, args, named)))
    x = Recording("cuda")
    scale[(1,)](x, x, 4, BLOCK=4, num_warps=4)
    assert launched == [(scale.compiled, (x, x, 4), {"grid": (1,), "warmup": False, "BLOCK": 4, "num_warps": 4})]


def test_tensors_on_two_devices_are_refused():
    with pytest.raises(LaunchRefused, match=r"kernel scale: argument Y is on cpu and X on cuda; move them"):
        scale[(1,)](Recording("cuda"), torch.zeros(4), 4, BLOCK=4)


def test_tensors_on_two_gpus_are_refused():
    with pytest.raises(LaunchRefused, match=r"argument X is on cuda:0 and Y on cuda:1"):
        scale[(1,)](Recording("cuda:0"), Recording("cuda:1"), 4, BLOCK=4)


def test_a_launch_goes_to_the_gpu_of_its_tensors(monkeypatch):
    current = [0]

    @contextmanager
    def entered(place):
        current.append(place.index)
        yield
        current.pop()

    launched = []
    monkeypatch.setattr(torch.cuda, "current_device", lambda: current[-1])
    monkeypatch.setattr(torch.cuda, "device", entered)
    monkeypatch.setattr(JITFunction, "run", lambda *args, **named: launched.append(current[-1]))
    for place in ("cuda:1", "cuda:0"):
        scale[(1,)](Recording(place), Recording(place), 4, BLOCK=4)
    assert launched == [1, 0]
    assert current == [0]


def test_tensors_without_memory_are_refused():
    with pytest.raises(LaunchRefused, match=r"argument X is on device meta"):
        scale[(1,)](torch.zeros(4, device="meta"), torch.zeros(4), 4, BLOCK=4)
    fake = Recording("cpu")
    fake.fake_mode = object()
    with pytest.raises(LaunchRefused, match=r"argument Y is on device meta"):
        scale[(1,)](torch.zeros(4), fake, 4, BLOCK=4)


def test_unknown_keywords_are_refused_as_the_compiler_does():
    with pytest.raises(LaunchRefused, match=r"warps is neither a parameter nor a launch option"):
        scale[(1,)](torch.zeros(4), torch.zeros(4), 4, BLOCK=4, warps=4)


def test_helpers_cannot_be_called_outside_of_kernels():
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        scaled(1.0)
