"""The instructions whose behaviour we imitate are those that Triton compiles to, on sm_90."""

from __future__ import annotations

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.optimized.interpreter import tiny

POINTERS = {tl.float8e4nv: "*fp8e4nv", tl.float8e5: "*fp8e5"}
CASTS = {
    ("*fp32", tl.bfloat16): "cvt.rn.bf16.f32",
    ("*fp32", tl.float16): "cvt.rn.f16.f32",
    ("*fp32", tl.float8e4nv): "cvt.rn.satfinite.e4m3x2.f32",
    ("*fp32", tl.float8e5): "cvt.rn.satfinite.e5m2x2.f32",
    ("*fp16", tl.float8e4nv): "cvt.rn.satfinite.e4m3x2.f16x2",
    ("*fp8e4nv", tl.float16): "cvt.rn.f16x2.e4m3x2",
    ("*fp8e5", tl.float32): "cvt.rn.f16x2.e5m2x2",
    ("*i32", tl.bfloat16): "cvt.rn.bf16.s32",
    ("*fp32", tl.int32): "cvt.rzi.s32.f32",
    ("*fp32", tl.int64): "cvt.rzi.s64.f32",
    ("*fp32", tl.int8): "cvt.rzi.s16.f32",
    ("*fp32", tl.uint8): "cvt.rzi.u16.f32",
}
OPERATIONS = {
    ("*bf16", "add"): "add.rn.bf16",
    ("*bf16", "mul"): "mul.rn.bf16",
    ("*bf16", "less"): "setp.lt.bf16",
    ("*bf16", "maximum"): "max.bf16",
    ("*fp32", "maximum"): "max.f32",
    ("*fp32", "maximum_nan"): "max.NaN.f32",
    ("*fp32", "fma"): "fma.rn.f32",
}


@pytest.fixture(autouse=True)
def fresh_compilation(tmp_path, monkeypatch):
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))


def ptx(function, signature: dict[str, str], constants: dict[tuple[int, ...], object]) -> str:
    source = ASTSource(function, signature, constants)
    options = {"num_warps": 1, "enable_fp_fusion": False}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"]


@pytest.mark.parametrize(("source", "target"), CASTS, ids=str)
def test_casts_compile_to_the_instruction_that_is_imitated(source: str, target: tl.dtype):
    signature = {"X": source, "Y": f"*{target.name}".replace("*int", "*i").replace("*uint", "*u")}
    signature |= dict.fromkeys(("TYPE", "ROUNDING", "BLOCK"), "constexpr")
    assert CASTS[source, target] in ptx(tiny.cast_kernel.compiled, signature, {(2,): target, (3,): None, (4,): 128})


@pytest.mark.parametrize(("type_", "operation"), OPERATIONS, ids=str)
def test_operators_compile_to_the_instruction_that_is_imitated(type_: str, operation: str):
    signature = {"X": type_, "Y": type_, "Z": "*i8" if operation == "less" else type_}
    signature |= dict.fromkeys(("OPERATION", "BLOCK"), "constexpr")
    assert OPERATIONS[type_, operation] in ptx(tiny.binary_kernel.compiled, signature, {(3,): operation, (4,): 128})


@pytest.mark.parametrize("operation", ["add", "less", "maximum"])
def test_arithmetic_of_8_bit_floats_does_not_compile(operation: str, capfd):
    signature = {"X": "*fp8e4nv", "Y": "*fp8e4nv", "Z": "*i8" if operation == "less" else "*fp8e4nv"}
    signature |= dict.fromkeys(("OPERATION", "BLOCK"), "constexpr")
    with pytest.raises(RuntimeError, match="PassManager::run failed"):
        ptx(tiny.binary_kernel.compiled, signature, {(3,): operation, (4,): 128})
