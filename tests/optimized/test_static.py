"""Compilation without a GPU: the standard shapes stay within their recorded ceilings, and the counts count."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import triton.language as tl

from kvoptimized.launch import kernel
from kvoptimized.static import ceilings, ptx
from kvoptimized.static.__main__ import main
from kvoptimized.static.ceilings import Ceiling, ceiling_of
from kvoptimized.static.compiling import CACHE, NotCompiled, compiled, fresh_cache
from kvoptimized.static.measures import Measures, measured
from kvoptimized.static.recording import recorded
from kvoptimized.static.registry import TARGETS, Specialisation, operations, registered
from kvoptimized.static.sass import parsed
from kvoptimized.static.table import Line, complaints, line, lines, summary

ALSO = {
    "sm_80": ("write int8 static",),
    "sm_90": ("decode e4m3", "decode int8", "decode int4", "prefill int4", "write int8"),
    "sm_100": ("decode e4m3", "write int4"),
    "gfx942": ("write int4 static",),
}


def checked() -> list[tuple[str, str]]:
    """What every run of the tests compiles: the first shape of each operation for each target, and some quantized ones.

    `make static` compiles all.
    """
    first: dict[tuple[str, str], str] = {}
    for operation in operations():
        for each in registered([operation]):
            for target in each.targets:
                first.setdefault((target, operation), each.name)
    also = {(target, name) for target, names in ALSO.items() for name in names}
    return sorted({(target, name) for (target, _), name in first.items()} | also)


LISTING = """
.text.kernel:
        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
.L_x_1:
        /*0010*/                   HMMA.16816.F32.BF16 R4, R8, R12, R4 ;
        /*0020*/                   FADD R1, R1, R2 ;
        /*0030*/               @P0 BRA `(.L_x_1) ;
.L_x_2:
        /*0040*/                   FADD R1, R1, R2 ;
        /*0050*/              @!P1 LDGSTS.E.BYPASS.128 [R86], desc[UR16][R28.64] ;
        /*0060*/                   LDGSTS.E [R85+0x6000], desc[UR16][R32.64], !P3 ;
.L_x_3:
        /*0070*/                   HMMA.16816.F32.BF16 R4, R8, R12, R4 ;
        /*0080*/                   STL [R1], R2 ;
        /*0090*/                   FADD R1, R1, R2 ;
        /*00a0*/               @P0 BRA 0x70 ;
        /*00b0*/               @P0 BRA `(.L_x_2) ;
        /*00c0*/                   EXIT ;
.L_x_4:
        /*00d0*/                   BRA `(.L_x_4);
"""

FOUND = Measures(100, 0, 4096, 8, 2, 16384, ("HMMA",), 2.71, 0, 0)


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE, str(tmp_path_factory.mktemp("triton")))
        yield


@kernel
def double(X, Y, count, scale, extra, SIZE: tl.constexpr):
    raise AssertionError("no kernel raises")


@kernel
def shift(X, SIZE: tl.constexpr):
    place = tl.arange(0, SIZE)
    x = tl.load(X + place)
    tl.store(X + place, x * x + 3.0)


def some(**changes: object) -> Specialisation:
    return replace(Specialisation("some kernel", double, {}), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("target", "name"), checked())
def test_standard_shapes_stay_within_their_ceilings(target: str, name: str) -> None:
    room, _, _ = name.partition(" ")
    named = next(each for each in registered([room]) if each.name == name and target in each.targets)
    compiled_line = line(named, target, ceilings.load())
    assert not compiled_line.wrong, str(compiled_line)


def test_every_compilation_has_a_ceiling_and_every_ceiling_a_compilation() -> None:
    expected = [(each.name, target) for each in registered() for target in each.targets]
    assert len(set(expected)) == len(expected)
    assert ceilings.load().keys() == set(expected)


def test_quantizers_and_budgets_are_claimed() -> None:
    every = list(registered())
    assert all(each.exact for each in every if each.name.startswith("write"))
    budgets = {each.name: each.budget for each in every if each.budget}
    assert {"decode bf16": 2.3, "decode e4m3": 4.4, "decode int8": 5.3, "decode int4": 3.6}.items() <= budgets.items()
    assert all(each.matrix["sm_90"] == "HGMMA" for each in every if each.name.startswith("prefill"))


@kernel
def divide(X, Y, SIZE: tl.constexpr, EXACT: tl.constexpr):
    place = tl.arange(0, SIZE)
    x, y = tl.load(X + place), tl.load(Y + place)
    tl.store(X + place, tl.div_rn(x, y) if EXACT else tl.fdiv(x, y))


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_a_contracted_quantizer_is_seen(target: str) -> None:
    honest = Specialisation(
        "shift", shift, {"X": "*fp32"}, {"SIZE": 128}, options={"enable_fp_fusion": False}, exact=True
    )
    assert measured(honest, target).contracted == 0
    contracted = replace(honest, options={"enable_fp_fusion": True})
    assert any("1 contracted" in complaint for complaint in line(contracted, target, {}).wrong)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_an_exact_division_is_neither_contracted_nor_approximate(target: str) -> None:
    signature, options = {"X": "*fp32", "Y": "*fp32"}, {"enable_fp_fusion": False}
    exact = Specialisation("divide", divide, signature, {"SIZE": 128, "EXACT": True}, options=options, exact=True)
    found = measured(exact, target)
    assert (found.contracted, found.approximate) == (0, 0)
    assert not any("change codes" in complaint for complaint in line(exact, target, {}).wrong)


def test_a_fast_division_is_approximate() -> None:
    signature, options = {"X": "*fp32", "Y": "*fp32"}, {"enable_fp_fusion": False}
    fast = Specialisation("divide", divide, signature, {"SIZE": 128, "EXACT": False}, options=options, exact=True)
    assert any("1 approximate" in complaint for complaint in line(fast, "sm_90", {}).wrong)


def test_what_ptx_says_of_rounding_is_counted() -> None:
    text = """
        fma.rn.f32 %f1, %f2, %f3, %f4;
        @%p1 mad.f32 %f1, %f2, %f3, %f4;
        fma.rn.bf16x2 %r1, %r2, %r3, %r4;
        div.full.f32 %f1, %f2, %f3;
        div.rn.f32 %f1, %f2, %f3;
        rcp.approx.ftz.f32 %f1, %f2;
        sqrt.rn.f32 %f1, %f2;
        ex2.approx.ftz.f32 %f1, %f2;
    """
    assert ptx.contracted(text) == 2
    assert ptx.approximate(text) == 2


def test_the_main_loop_is_the_leanest_innermost_one_with_matrix_instructions() -> None:
    program = parsed(LISTING, 40)
    assert [loop.stop - loop.start for loop in program.loops] == [3, 4, 8]
    assert [instruction.opcode for instruction in program.main_loop()] == ["HMMA.16816.F32.BF16", "FADD", "BRA"]
    assert not parsed("").main_loop()


def test_a_launch_is_specialised_as_the_launcher_of_triton_does() -> None:
    words = torch.zeros(65, dtype=torch.int16)
    [launch] = recorded(lambda: double[2,](words, words[1:], 48, 0.5, 1, SIZE=8, num_warps=2))
    found = launch.specialised("double")
    assert found.signature == {"X": "*i16", "Y": "*i16", "count": "i32", "scale": "fp32"}
    assert found.constants == {"extra": 1, "SIZE": 8}
    assert found.divisible == {"X", "count"}
    assert found.options == {"num_warps": 2}


def test_amd_and_single_architectures_have_parameters_of_their_own() -> None:
    specialisation = some(
        constants={"PTX": True, "ROWS": 64},
        options={"num_stages": 3},
        amd={"PTX": False},
        amd_options={"num_stages": 1},
        architectures={"sm_90": {"ROWS": 128}},
    )
    assert specialisation.constants_for("sm_90") == {"PTX": True, "ROWS": 128}
    assert specialisation.constants_for("sm_80") == {"PTX": True, "ROWS": 64}
    assert specialisation.constants_for("gfx942") == {"PTX": False, "ROWS": 64}
    assert specialisation.options_for("gfx942") == {"num_stages": 1}


@pytest.mark.parametrize(
    ("claims", "changes", "said"),
    [
        ({}, {"spills": 3}, "3 spills"),
        ({"exact": True}, {"contracted": 1}, "contracted"),
        ({"exact": True}, {"approximate": 1}, "approximate"),
        ({"wide_bytes": 32768}, {}, "128-bit loads"),
        ({"matrix": {"sm_90": "HGMMA"}}, {}, "no HGMMA"),
        ({"budget": 2.5}, {}, "the budget is 2.5"),
        ({"budget": 2.5}, {"lane_operations": None}, "no main loop"),
        ({}, {"registers": 105}, "registers"),
        ({}, {"shared": 4097}, "shared memory"),
        ({}, {"narrow": 3}, "narrow loads"),
        ({}, {"lane_operations": 2.76}, "lane operations"),
    ],
)
def test_each_way_to_fail_is_said(claims: dict[str, object], changes: dict[str, object], said: str) -> None:
    bounds = {("some kernel", "sm_90"): ceiling_of(FOUND)}
    [complaint] = [
        each
        for each in complaints(some(**claims), "sm_90", replace(FOUND, **changes), bounds)  # type: ignore[arg-type]
        if said in each
    ]
    assert complaint
    assert not list(complaints(some(), "sm_90", FOUND, bounds))


def test_a_kernel_without_a_ceiling_is_a_complaint() -> None:
    assert "no ceiling is recorded" in next(complaints(some(), "sm_90", FOUND, {}))


def test_ceilings_survive_their_file(tmp_path: Path) -> None:
    bounds = {
        ("a", "sm_90"): Ceiling(128, 4096, 2, 2.75),
        ("a", "gfx942"): Ceiling(64, 0, 0),
        ("b", "sm_80"): Ceiling(8, 0, 1),
    }
    ceilings.save(bounds, tmp_path / "ceilings.toml")
    assert ceilings.load(tmp_path / "ceilings.toml") == bounds
    assert ceilings.load(tmp_path / "nothing.toml") == {}
    assert ceiling_of(FOUND) == Ceiling(104, 4096, 2, 2.75)


def test_a_kernel_that_does_not_compile_is_a_line_of_the_table() -> None:
    broken = Specialisation("double broken", double, {"X": "*fp32", "Y": "*fp32", "count": "i32", "scale": "fp32"})
    with pytest.raises(NotCompiled, match="double broken for sm_90"):
        compiled(broken, "sm_90")
    [refused] = lines([broken], ["sm_90"], {})
    assert refused.found is None and refused.wrong
    assert "1 with complaints" in summary([refused])


def test_the_summary_tells_costs_and_the_verdict() -> None:
    fine = Line(some(name="decode x", budget=3.0), "sm_90", FOUND, ())
    assert summary([fine]) == "static: 1 compilations; lane-ops per element: decode x 2.71; all within their ceilings"


def test_the_command_compiles_prints_and_fails_where_something_is_wrong(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["slots", "--target", "sm_80", "--jobs", "2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4 and printed[-1] == "static: 2 compilations; all within their ceilings"
    monkeypatch.setattr(ceilings, "FILE", tmp_path / "none.toml")
    monkeypatch.setattr(ceilings, "load", lambda: {})
    assert main(["slots", "--target", "sm_80", "--jobs", "1"]) == 1
    with pytest.raises(SystemExit) as refused:
        main(["nothing"])
    assert refused.value.code == 2


def test_a_cache_of_its_own_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    named = os.environ[CACHE]
    with fresh_cache():
        assert os.environ[CACHE] == named
    monkeypatch.delenv(CACHE)
    with fresh_cache():
        assert Path(os.environ[CACHE]).is_dir()
    assert CACHE not in os.environ
    assert len(TARGETS) == 4
