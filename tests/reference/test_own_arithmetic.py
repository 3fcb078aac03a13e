"""The float64 arithmetic of certificates: they contain those of exact arithmetic, and functions keep their 4 ulp."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mp, mpf

from kvreference.attention import Row, attend_row
from kvreference.roundings import FP32, round_to
from kvreference.tolerance.arithmetic import OWN_LIBRARY, OWN_UNIT
from kvreference.tolerance.averages import box_bound
from kvreference.tolerance.certificates import Certificate, t1, t2
from kvreference.tolerance.declaration import Declaration
from kvreference.tolerance.exponents import exponents
from kvreference.tolerance.logsum import lse_tolerance
from kvreference.tolerance.quality import quality
from tests.reference.exact_certificates import BITS, exact_logits, exact_t1, exact_t2, exact_values, rounded
from tests.reference.exact_certificates import exponents as exact_exponents

FLAWLESS = Declaration("fp32", None, accumulation=0.0, exp_error=0.0, tanh_error=0.0)
FUNCTIONS = ("exp", "expm1", "log", "log1p", "tanh")
NARROW = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR AVX2 FMA3"
"""Instruction sets that NumPy does without where it is told so; older machines have none of them."""
KINDS = ("plain", "cancelling", "far", "equal", "tiny", "huge")


def row_of(seed: int) -> Row:
    """Rows with what float64 is bad at: products that cancel, logits hundreds apart, values about zero, and ends."""
    rng, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    count, size = int(rng.integers(1, 60)), int(rng.choice([2, 6, 16]))
    query, keys, values = rng.standard_normal(size), rng.standard_normal((count, size)), rng.standard_normal((count, 2))
    if kind == "cancelling":
        query[:2], keys[:, 0] = 3e5, rng.standard_normal(count) * 1e5
        keys[:, 1] = -keys[:, 0] + rng.standard_normal(count) * 1e-5
        values[: count // 2] = -values[count - count // 2 :][::-1]
    if kind == "far":
        keys[:, 0], query[0] = rng.uniform(-400, 400, count), 2.0
    if kind == "equal":
        keys[:] = keys[0]
    if kind in ("tiny", "huge"):
        values *= 2.0**-120 if kind == "tiny" else 2.0**100
    parts = (round_to(x, FP32) for x in (query, keys, values))
    cap = 30.0 if rng.random() < 0.3 else None
    sink = float(np.float32(rng.normal(0, 5))) if rng.random() < 0.3 else None
    return Row(*parts, float(np.float32(size**-0.5)), cap, sink, int(rng.choice([0, 37])))


def declared(seed: int) -> Declaration:
    rng = np.random.default_rng([seed, 1])
    error = 0.0 if seed % 3 else float(rng.choice([2.0**-24, 2.0**-40]))
    return Declaration(
        p=str(rng.choice(["bf16", "fp16", "fp32", "e4m3fn"])),
        accumulation=error,
        exact_products=bool(rng.integers(2)),
        exp_error=4 * error,
        tanh_error=error,
        kv_tile=int(rng.choice([4, 16, 64])),
        splits=int(rng.choice([1, 1, 3])),
        partial=str(rng.choice(["fp32", "fp16"])),
    )


def contains(found: Certificate, exact: list[tuple[mpf, mpf]]) -> bool:
    pairs = zip(found.output.tolist(), found.tolerance.tolist(), exact, strict=True)
    return all(abs(mpf(output) - o) + t <= mpf(tolerance) for output, tolerance, (o, t) in pairs)


@pytest.mark.parametrize("seed", range(48))
def test_t1_contains_what_exact_arithmetic_certifies(seed: int) -> None:
    row, said = row_of(seed), declared(seed)
    said = replace(said, p=None) if seed % 2 else said
    with mp.workprec(BITS):
        assert contains(t1(row, said), exact_t1(row, said))


@pytest.mark.parametrize("seed", range(48))
def test_t2_contains_what_exact_arithmetic_certifies(seed: int) -> None:
    row, said = row_of(seed), declared(seed)
    rng = np.random.default_rng([seed, 2])
    scales = round_to(10.0 ** rng.uniform(-3, 1, len(row.keys)), FP32) if seed % 4 == 0 else None
    with mp.workprec(BITS):
        assert contains(t2(row, said, scales), exact_t2(row, said, scales))


def flawless(row: Row, name: str | None, tile: int | None) -> list[mpf]:
    """What a kernel computes whose arithmetic has no error but that it rounds P (`None`: not at all)."""
    z, n = exact_logits(row), len(row.keys)
    tiles = Declaration(kv_tile=tile).tiles_of(row.first, 0, n) if tile else [(0, n)]
    tops = [max(z[:stop]) for start, stop in tiles for _ in range(start, stop)] + z[n:]
    top = max(z)
    weights = [exp(x - m) for x, m in zip(z, tops, strict=True)]
    stored = weights if name is None else [rounded(w, name) for w in weights]
    mass = mp.fsum(w * exp(m - top) for w, m in zip(weights, tops, strict=True))
    ends = [c * exp(m - top) for c, m in zip(stored, tops, strict=True)]
    return [mp.fdot(ends, values) / mass for values in exact_values(row)]


@pytest.fixture(params=["as it is", "up", "down", "at random"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's functions as they are, and with an error that uses up the 4 ulp."""
    if request.param == "as it is":
        return
    signs = {"up": (1,), "down": (-1,), "at random": (-1, 1)}[request.param]
    rng = np.random.default_rng(8)

    def worse(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: real(x) * (1 + (OWN_LIBRARY - 2 * OWN_UNIT) * rng.choice(signs, np.shape(x)))

    for name in FUNCTIONS:
        monkeypatch.setattr(np, name, worse(getattr(np, name)))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("seed", range(24))
def test_a_kernel_without_error_lies_within_what_is_allowed_for_our_own(seed: int) -> None:
    row = row_of(seed)
    with mp.workprec(BITS):
        lse, off = lse_tolerance(row, FLAWLESS, 0.0)
        assert abs(mpf(lse) - log(mp.fsum(map(exp, exact_logits(row))))) <= off
        right = [(o, mpf(0)) for o in flawless(row, None, None)]
        for certificate in (t1(row, FLAWLESS), t1(row, FLAWLESS, box=True)):
            assert contains(certificate, right)
        rounding = replace(FLAWLESS, p="bf16", kv_tile=16)
        assert contains(t2(row, rounding), [(o, mpf(0)) for o in flawless(row, "bf16", 16)])
        assert contains(Certificate(attend_row(row).output, t1(row, FLAWLESS).tolerance), right)


@pytest.mark.parametrize("seed", range(24))
def test_errors_of_exponents_are_no_smaller_than_exact_ones(seed: int) -> None:
    row, said = row_of(seed), declared(seed)
    found = exponents(row, said)
    with mp.workprec(BITS):
        exact = exact_exponents(row, said)
        pairs = (found.logit, exact.dz), (found.top_error, exact.dm), (found.later, exact.later)
        for ours, right in (*pairs, (found.local, exact.local), (found.drift, exact.drift)):
            assert all(mpf(a) >= b for a, b in zip(ours.tolist(), right, strict=True))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("tie", [1 - 2.0**-9, 1 - 3 * 2.0**-9, 0.5 * (1 + 2.0**-8)])
def test_a_weight_that_our_own_error_takes_across_a_tie_may_round_either_way(tie: float) -> None:
    for z in np.log(tie) * (1 + np.arange(-9, 9) * 2.0**-53):
        row = Row(np.ones(1), np.array([[0.0], [z]]), np.array([[0.0], [1.0]]), 1.0)
        with mp.workprec(BITS):
            certificate = t2(row, replace(FLAWLESS, p="bf16", kv_tile=16))
            assert contains(certificate, [(o, mpf(0)) for o in flawless(row, "bf16", 16)])


@pytest.mark.parametrize("seed", range(24))
def test_the_box_around_a_rounded_average_holds_the_exact_one(seed: int) -> None:
    row = row_of(seed)
    weights = np.exp(np.random.default_rng(seed).normal(0, 2, len(row.keys)))
    p = weights / weights.sum()
    output = p @ row.values
    bound = box_bound(p, np.zeros_like(p), row.values, output)
    with mp.workprec(BITS):
        exact = [mp.fdot(map(mpf, p), map(mpf, column)) / mp.fsum(map(mpf, p)) for column in row.values.T]
        assert all(abs(mpf(o) - right) <= b for o, right, b in zip(output, exact, bound, strict=True))


def test_what_is_allowed_for_our_own_is_too_little_to_be_seen() -> None:
    """A hundred-thousandth of the tolerance of a kernel in fp32, which is the tightest that is judged."""
    for seed in range(0, 12, len(KINDS)):
        row, said = row_of(seed), Declaration("fp32", None, kv_tile=16)
        with mp.workprec(BITS):
            exact = exact_t1(row, said)
            assert all(
                mpf(a) <= t * (1 + mpf(2) ** -16) for a, (_, t) in zip(t1(row, said).tolerance, exact, strict=True)
            )


def test_the_statement_about_quality_contains_the_exact_change() -> None:
    for seed in range(24):
        row = row_of(seed)
        rng = np.random.default_rng([seed, 3])
        keys, values = (x * (1 + 2.0**-9 * rng.standard_normal(x.shape)) for x in (row.keys, row.values))
        found = quality(row, keys, values, np.ones((1, 1)), np.ones((1, 1)))
        with mp.workprec(BITS):
            held = flawless(replace(row, keys=keys, values=values), None, None)
            change = [abs(a - b) for a, b in zip(held, flawless(row, None, None), strict=True)]
            assert all(c <= mpf(b) for c, b in zip(change, found.bound.tolist(), strict=True))


def arguments(name: str, rng: np.random.Generator) -> np.ndarray:
    """Random ones and the neighbours of what functions are bad at: 0, 1, halves of log 2, ends of ranges."""
    wide = rng.uniform(-745, 25 if name == "tanh" else 709, 400)
    small = np.concatenate([rng.standard_normal(200), 2.0 ** rng.uniform(-60, 1, 200) * rng.choice([-1, 1], 200)])
    near = np.concatenate([np.log(2) * np.arange(-20, 20) / 2 * (1 + k * 2.0**-52) for k in (-1, 0, 1)])
    found = np.concatenate([wide, small, near])
    if name == "log":
        return np.concatenate([np.exp(found), 1 + found[400:800] * 2.0**-30])
    return np.concatenate([np.expm1(found)[found > -30], found[np.abs(found) < 0.99]]) if name == "log1p" else found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpys_functions_keep_four_ulp(name: str) -> None:
    x = arguments(name, np.random.default_rng(5))
    whole = getattr(np, name)(x)
    alone = np.array([getattr(np, name)(each) for each in x])
    strided = getattr(np, name)(np.repeat(x, 3)[::3])
    with mp.workprec(BITS):
        exact = [getattr(mpmath, name)(mpf(float(each))) for each in x]
        for found in (whole, alone, strided):
            for each, right in zip(found.tolist(), exact, strict=True):
                assert abs(mpf(each) - right) <= OWN_LIBRARY * abs(right) + mpf(2) ** -1022


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names instructions of x86")
def test_numpys_functions_keep_four_ulp_without_wide_instructions() -> None:
    code = f"import {__name__} as t; [t.test_numpys_functions_keep_four_ulp(name) for name in t.FUNCTIONS]"
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": NARROW}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
