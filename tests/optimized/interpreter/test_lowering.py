"""The instructions whose behaviour we imitate are those that Triton compiles to, on sm_90."""

from __future__ import annotations

import re

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.optimized.interpreter import test_reductions, tiny

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


SHUFFLES = re.compile(r"shfl\.sync\.(\w+)\.b32 \s*%\w+, %\w+, (\d+),")
OF_ROWS = {"X": "*bf16", "Y": "*fp32"} | dict.fromkeys(("OPERATION", "ROWS", "N", "REVERSE"), "constexpr")
SCAN_TYPE = test_reductions.SCAN_FORMAT.name.replace("fp32", "f32")


def rows_ptx(function, operation: str, type_: str = "*bf16", lanes: int = 32) -> str:
    """The PTX for one row on one warp."""
    signature = {name: OF_ROWS[name] for name in function.arg_names} | {"X": type_}
    values = {"OPERATION": operation, "ROWS": 1, "N": lanes, "REVERSE": False}
    constants = {(i,): values[name] for i, name in enumerate(function.arg_names) if name in values}
    return ptx(function, signature, constants)


def reduction(operation: str):
    own = operation in test_reductions.OWN
    return (test_reductions.combine_rows if own else test_reductions.reduce_rows).compiled


@pytest.mark.parametrize(
    ("operation", "instruction"),
    (("sum", "add.rn.bf16"), ("product", "mul.rn.bf16"), ("argmax", "setp.gt"), ("max", "max.f32")),
)
def test_reductions_combine_bf16_with_the_lanes_16_8_4_2_and_1_away(operation: str, instruction: str):
    text = rows_ptx(reduction(operation), operation)
    offsets = [int(offset) for kind, offset in SHUFFLES.findall(text) if kind == "bfly"]
    assert sorted(set(offsets), reverse=True) == list(dict.fromkeys(offsets)) == [16, 8, 4, 2, 1]
    assert text.count(instruction) == 5


@pytest.mark.parametrize(("operation", "instruction"), (("cumsum", "add.rn"), ("cumprod", "mul.rn")))
def test_scans_combine_with_the_lanes_1_2_4_8_and_16_before(operation: str, instruction: str):
    text = rows_ptx(test_reductions.scan_rows.compiled, operation)
    assert [offset for kind, offset in SHUFFLES.findall(text) if kind == "up"] == ["1", "2", "4", "8", "16"]
    assert text.count(f"{instruction}.{SCAN_TYPE}") == 5


@pytest.mark.parametrize("operation", ("sum", "argmax", "product", "branch"))
def test_reductions_of_8_bit_floats_do_not_compile(operation: str, capfd):
    with pytest.raises(RuntimeError, match="PassManager::run failed"):
        rows_ptx(reduction(operation), operation, "*fp8e4nv")
    assert rows_ptx(reduction(operation), operation, "*fp8e4nv", 1)


def test_a_combine_function_of_another_type_does_not_compile(capfd):
    with pytest.raises((triton.CompilationError, RuntimeError)):
        rows_ptx(reduction("growing"), "growing")


@pytest.mark.parametrize(("type_", "instruction"), (("fp8e4b8", "v_cvt_pk_fp8_f32"), ("fp8e5b16", "v_cvt_pk_bf8_f32")))
def test_gfx942_converts_its_8_bit_floats_in_hardware_and_saturates(type_: str, instruction: str):
    signature = {"X": "*fp32", "Y": f"*{type_}"} | dict.fromkeys(("TYPE", "ROUNDING", "BLOCK"), "constexpr")
    constants = {(2,): tl.dtype(type_), (3,): None, (4,): 128}
    source = ASTSource(tiny.cast_kernel.compiled, signature, constants)
    text = triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options={"num_warps": 1}).asm["amdgcn"]
    assert instruction in text
    assert "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1" in text


@pytest.mark.parametrize(
    ("source", "target"), (("fp8e4nv", "fp8e5"), ("fp64", "fp8e4nv"), ("fp8e5", "fp64")), ids=lambda name: name
)
@pytest.mark.parametrize("device", (GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)), ids=lambda d: d.backend)
def test_casts_that_are_refused_do_not_compile(device, source: str, target: str, capfd):
    signature = {"X": f"*{source}", "Y": f"*{target}"} | dict.fromkeys(("TYPE", "ROUNDING", "BLOCK"), "constexpr")
    constants = {(2,): tl.dtype(target), (3,): None, (4,): 128}
    with pytest.raises(RuntimeError, match="PassManager::run failed"):
        triton.compile(ASTSource(tiny.cast_kernel.compiled, signature, constants), target=device)


@pytest.mark.parametrize("operation", ["add", "less", "maximum"])
def test_arithmetic_of_8_bit_floats_does_not_compile(operation: str, capfd):
    signature = {"X": "*fp8e4nv", "Y": "*fp8e4nv", "Z": "*i8" if operation == "less" else "*fp8e4nv"}
    signature |= dict.fromkeys(("OPERATION", "BLOCK"), "constexpr")
    with pytest.raises(RuntimeError, match="PassManager::run failed"):
        ptx(tiny.binary_kernel.compiled, signature, {(3,): operation, (4,): 128})
