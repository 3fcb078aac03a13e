"""Attention over quantized caches: honest kernels pass, faulty ones are killed, and others are asked what they were."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from kvconformance.adapters import NotAnAdapter, as_engine, load
from kvconformance.checker import Checker
from kvconformance.claims import claimed, unclaimed
from kvconformance.engines.reference_attention import ARITHMETIC, ReferenceAttention
from kvconformance.engines.reference_cached_attention import ReferenceCachedAttention
from kvconformance.history import History
from kvconformance.imposters import kernel_scales
from kvconformance.search.check import check_here, replay
from kvconformance.search.examples import Plan
from kvconformance.surfaces import Engine
from kvconformance.surfaces.attention import SURFACE, Attended, AttentionCall, loaded, strategies
from kvconformance.surfaces.attention.driver import AttentionDriver
from kvconformance.surfaces.attention.formats import CacheFormat, Reads, dynamic
from kvconformance.surfaces.attention.judging.certified import allowed
from kvconformance.surfaces.attention.judging.doubts import doubts
from kvconformance.surfaces.attention.judging.outcomes import attend, wrong
from kvconformance.surfaces.attention.operations import Attend, WriteRows
from kvconformance.surfaces.attention.problems.numbers import Problem, problem_of
from kvconformance.surfaces.attention.problems.placements import Placement, place
from kvconformance.telling.report import Report
from kvreference.arrays import AnyArray, DeclarationError, Float, Int
from kvreference.attention import Row
from kvreference.roundings import BF16, format_named, round_to
from kvreference.tolerance.certificates import t1
from kvreference.tolerance.declaration import Declaration
from kvspec import rules
from kvspec.numbers.packing import unpack
from kvspec.numbers.quantize import decode, given_scale
from kvspec.numbers.schemes import E4M3, INT4, INT8, Q5_0, SCHEMES, Division, Granularity, IntegerCodes, Layout, Scheme
from kvspec.refusals import ScaleError, ShapeError
from kvspec.rules import Rule
from kvspec.vocabulary import Surface, World
from tests.conformance.quantized_kernels import HONEST_KERNELS, MultipliesCodes, RoundsEveryElement

CACHES = ReferenceCachedAttention.capabilities.caches
WIDE = (2, 2, 32)
"""Heads that every scheme can hold."""


def check(kernel: object, examples: int, seed: int = 0) -> Report:
    return check_here(as_engine(kernel, "kernel"), Plan(examples=examples, seed=seed, seconds=300, shrink_seconds=0.5))


def judged(kernel: object, *operations: Attend | WriteRows) -> list[str]:
    """The ids of the rules that one history breaks."""
    engine = Engine("kernel", "0", {Surface.ATTENTION: kernel})  # type: ignore[dict-item]
    result = replay(engine, Surface.ATTENTION, History(40, 4, operations), Plan(), "kernel")
    assert not result.fault
    return [finding.rule_id for finding in result.findings]


def exercised(kernel: Any, *operations: Attend | WriteRows) -> Counter[Rule]:
    """How often a history meets each rule, none of which it breaks."""
    driver = AttentionDriver(kernel, Checker(World(40, 4), kernel.capabilities))
    driver.run(operations)
    return driver.tally.exercised


# Who is not accused.


def test_the_reference_holds_the_rules_of_scales_too() -> None:
    report = check(ReferenceCachedAttention, 40)
    assert not report.findings and not report.fault
    counts = {line.rule: line.exercised for line in report.rules}
    assert counts[rules.ONE_SCALE] and counts[rules.SCALE_TRAVELS], counts


@pytest.mark.parametrize("kernel", HONEST_KERNELS, ids=lambda kernel: kernel.__name__)
def test_an_honest_kernel_is_not_accused(kernel: type[ReferenceCachedAttention]) -> None:
    report = check(kernel, 25, seed=3)
    assert [finding.text() for finding in report.findings] == []
    assert not report.fault


@pytest.mark.parametrize("kernel", [RoundsEveryElement, MultipliesCodes], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("name", CACHES)
def test_an_honest_kernel_is_right_over_every_cache(kernel: Any, name: str) -> None:
    options: dict[str, Any] = {"heads": WIDE, "cache": name, "order": 1}
    halves = [Attend(((37, 3), (9, 1)), dtype=dtype, **options) for dtype in ("bf16", "fp16")]
    assert exercised(kernel, *halves, Attend(((70, 1),), pattern="large", sinks=True, **options))[rules.ONE_SCALE] == 3


class DecodesForTorch(ReferenceCachedAttention):
    """Decodes whole pages with torch, in the dtype of the query, for its scaled_dot_product_attention."""

    capabilities = replace(ReferenceCachedAttention.capabilities, caches=MappingProxyType({}))

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.kernel = load("torch-sdpa").factories[Surface.ATTENTION](world)

    def attend(self, call: AttentionCall) -> Attended:
        import torch

        if call.cache is None:
            return self.kernel.attend(call)  # type: ignore[no-any-return]
        sides = ((call.keys, call.key_scales), (call.values, call.value_scales))
        fp8, dtype = call.cache.startswith("e4m3"), {"bf16": torch.bfloat16, "fp16": torch.float16}[call.dtype]
        pages = []
        for codes, scales in sides:
            stored = torch.from_numpy(codes).view(torch.float8_e4m3fn) if fp8 else torch.from_numpy(codes)
            decoded = (stored.float() * torch.from_numpy(np.asarray(scales))).to(dtype)
            pages.append(decoded.view(torch.uint16 if call.dtype == "bf16" else dtype).numpy())
        return self.kernel.attend(replace(call, keys=pages[0], values=pages[1], cache=None))  # type: ignore[no-any-return]


def test_torch_over_decoded_codes_is_not_accused() -> None:
    pytest.importorskip("torch")
    able = load("torch-sdpa").capabilities(Surface.ATTENTION)
    halves = {dtype: able.arithmetic[dtype] for dtype in ("bf16", "fp16")}  # type: ignore[attr-defined]
    formats = {
        name: CacheFormat.of(SCHEMES[name], halves) for name in ("e4m3/token-head", "int8/token-head", "e4m3/tensor")
    }

    class Decoding(DecodesForTorch):
        capabilities = replace(able, caches=MappingProxyType(formats), in_place=False)  # type: ignore[type-var]

    calls = [
        Attend(lengths, heads=(4, 2, 16), dtype=dtype, order=1, window=window, cache=name)
        for name in formats
        for dtype in ("bf16", "fp16")
        for lengths, window in ((((70, 1), (9, 3)), None), (((33, 5),), 7))
    ]
    assert exercised(Decoding, *calls)[rules.ONE_SCALE] == 12


def test_a_kernel_may_read_no_plain_cache_at_all() -> None:
    able = replace(ReferenceCachedAttention.capabilities, arithmetic=MappingProxyType({}), lse=False)

    class OnlyCodes(ReferenceCachedAttention):
        capabilities = able

        def attend(self, call: AttentionCall) -> Attended:
            assert call.cache is not None
            return super().attend(call)

    report = check(OnlyCodes, 20)
    assert not report.findings and not report.fault


# Who is not asked.


def test_a_kernel_without_quantized_caches_draws_what_it_ever_drew(monkeypatch: pytest.MonkeyPatch) -> None:
    """No strategy of quantized caches is built for it, so nothing is drawn from one."""
    built: list[dict[str, Any]] = []
    honest = strategies.st.builds
    monkeypatch.setattr(strategies.st, "builds", lambda *a, **k: built.append(k) or honest(*a, **k))
    assert strategies._over_caches(ReferenceAttention.capabilities, 4) == []
    assert strategies._operations(ReferenceAttention.capabilities, 4).validate() is None
    assert built and all("cache" not in kwargs for kwargs in built)
    assert strategies._over_caches(ReferenceCachedAttention.capabilities, 4) != []
    assert any("cache" in kwargs for kwargs in built)


def test_it_claims_no_rule_of_scales() -> None:
    engine = Engine("plain", "0", {Surface.ATTENTION: ReferenceAttention})
    assert not {rules.ONE_SCALE, rules.SCALE_TRAVELS} & set(claimed(engine, Surface.ATTENTION))
    assert unclaimed(engine, Surface.ATTENTION, rules.ONE_SCALE) == "has neither codes nor scales to show"


def test_a_cache_that_the_kernel_does_not_declare_is_passed_over() -> None:
    assert not exercised(ReferenceAttention, Attend(((9, 1),), cache="int8/head"))


def test_an_old_history_says_nothing_of_caches() -> None:
    assert "cache" not in json.loads(History(9, 4, (Attend(((5, 2),)),)).to_json())["operations"][0]
    history = History(9, 4, (Attend(((5, 2),), cache="q8_0"),))
    assert SURFACE.read(history.to_json()) == history


def test_only_head_dims_that_a_cache_can_hold_are_drawn() -> None:
    able = replace(ReferenceAttention.capabilities, caches={"q8_0": replace(CACHES["q8_0"], head_dims=None)})
    assert strategies._with_cache(able, "q8_0").head_dims == (64,)

    class Narrow(ReferenceCachedAttention):
        capabilities = replace(able, head_dims=(8, 16))

    with pytest.raises(NotAnAdapter, match="a cache 'q8_0' that holds none of its head dims"):
        as_engine(Narrow)


def test_a_call_that_a_cache_is_not_declared_for_is_passed_over() -> None:
    assert not exercised(ReferenceCachedAttention, Attend(((9, 1),), heads=(1, 1, 8), cache="q8_0"))
    halves = {"int8/head": replace(CACHES["int8/head"], arithmetic={"bf16": ARITHMETIC["bf16"]})}

    class Halves(ReferenceCachedAttention):
        capabilities = replace(ReferenceCachedAttention.capabilities, caches=MappingProxyType(halves))

    assert not exercised(Halves, Attend(((9, 1),), cache="int8/head"))
    assert exercised(Halves, Attend(((9, 1),), dtype="bf16", cache="int8/head"))


# What is handed over.


def integers(row: AnyArray, scheme: Scheme) -> list[int]:
    """The codes of one row of stored bytes, by the specification."""
    found = [int(x) for x in row.tolist()]
    if scheme.layout is None or not isinstance(scheme.codes, IntegerCodes):
        return found
    size = scheme.group_size // 2 if scheme.layout is Layout.HALVES and scheme.group_size else len(found)
    rows = [bytes(found[first : first + size]) for first in range(0, len(found), size)]
    return [code for part in rows for code in unpack(part, scheme.codes, scheme.layout)]


def numbers(array: AnyArray | None) -> AnyArray:
    """Scales or zeros as numbers."""
    if array is None:
        return np.zeros(1)
    return loaded(array, "bf16") if array.dtype == np.uint16 else array.astype(np.float64)


def meaning(scheme: Scheme, codes: AnyArray, scales: AnyArray, zeros: AnyArray) -> list[float]:
    """What one row of stored codes means, by the specification; one scale and zero for each of its groups."""
    found = integers(codes, scheme)
    size = len(found) // len(scales)
    pairs = zip(scales.tolist(), np.broadcast_to(zeros, scales.shape).tolist(), strict=True)
    known = [given_scale(scale, scheme, zero) for scale, zero in pairs]
    return [float(decode(code, known[place // size], scheme)) for place, code in enumerate(found)]  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["token-major", "head-major"])
@pytest.mark.parametrize("name", CACHES)
def test_what_is_handed_over_means_what_is_judged(name: str, layout: Any) -> None:
    format = CACHES[name]
    problem = problem_of(Attend(((5, 1), (3, 1)), heads=WIDE, layout=layout, cache=name), 4, CACHES)
    call = place(problem, Placement(5, 4, order=3, gap=2))
    for side, (scheme, codes, scales, zeros) in enumerate(
        (
            (format.keys, call.keys, numbers(call.key_scales), numbers(call.key_zeros)),
            (format.values, call.values, numbers(call.value_scales), numbers(call.value_zeros)),
        )
    ):
        for request, head in ((0, 0), (0, 1), (1, 1)):
            for token, expected in enumerate(problem.read[side][request][:, head].tolist()):
                at: Any = (call.tables[request, token // 4], token % 4, head)
                at = at if layout == "token-major" else (at[0], head, at[1])
                own = [x[at] if x.ndim == 4 else x[min(head, len(x) - 1)][None] for x in (scales, zeros)]
                assert meaning(scheme, codes[at], *own) == expected


@pytest.mark.parametrize("name", CACHES)
def test_codes_are_within_half_a_step_of_the_keys_where_scales_are_the_rows_own(name: str) -> None:
    problem = problem_of(Attend(((9, 1),), heads=WIDE, cache=name), 4, CACHES)
    (keys,), (read,) = problem.keys, problem.read[0]
    size = {4: 0.2, 8: 0.15}[CACHES[name].keys.code_bits] * np.abs(keys).max(axis=2, keepdims=True)
    if dynamic(CACHES[name].keys):
        assert (np.abs(read - keys) <= size).all() and (read != 0).any()


def test_padded_rows_of_codes_are_as_aligned_as_dense_ones() -> None:
    """A kernel that refuses rows at odd addresses is not accused for it."""
    call = place(problem_of(Attend(((1, 1),), cache="int8/head"), 1, CACHES), Placement(2, 1, gap=3))
    assert call.keys.strides[0] > call.keys.shape[3] and call.keys.strides[0] % 8 == 0


def test_scales_of_a_problem_are_of_many_sizes() -> None:
    """Or one scale in another's place would be hard to see."""
    call = place(problem_of(Attend(((16, 1),), heads=WIDE, cache="int8/token-head"), 4, CACHES), Placement(4, 4))
    assert call.key_scales is not None and call.value_scales is not None
    assert call.key_scales.max() / call.key_scales.min() > 4
    assert (call.key_scales != call.value_scales).all()


@pytest.mark.parametrize("name", ["int8/token-head", "uint4/group-32", "q4_1", "e4m3/tensor"])
def test_poison_spoils_scales_and_zeros_of_unread_tokens(name: str) -> None:
    problem = problem_of(Attend(((5, 1),), heads=WIDE, cache=name), 4, CACHES)
    call = place(problem, Placement(3, 4, garbage=None))
    owned = np.zeros((3, 4), bool)
    owned[0], owned[1, 0] = True, True
    for array in (call.key_scales, call.value_scales, call.key_zeros, call.value_zeros):
        if array is not None and array.ndim == 4 and array.dtype.kind == "f":
            assert np.isnan(array[~owned]).all() and np.isfinite(array[owned]).all()
    assert exercised(ReferenceCachedAttention, Attend(((5, 1),), "poison", heads=WIDE, cache=name))


# Who is found.

KILLS: list[tuple[str, Attend]] = [
    ("ScalesLostBehindAHit", Attend(((9, 3),), cache="e4m3/head")),
    ("ScalesLostOnOneOfTwoPaths", Attend(((3, 3),), cache="e4m3/tensor")),
    ("KeyScaleForValues", Attend(((5, 1),), cache="e4m3/tensor")),
    ("ZerosReadInAnotherFormat", Attend(((5, 1),), heads=WIDE, cache="q4_1")),
    ("ScaleAtAnotherFlatIndex", Attend(((9, 1),), heads=WIDE, layout="head-major", cache="int8/token-head")),
    ("FirstScaleForAllHeads", Attend(((9, 1),), heads=WIDE, cache="int8/head")),
    ("SinksOnlyOverPlainCaches", Attend(((9, 1),), sinks=True, cache="int8/head")),
    ("TailDecodedWithItsScale", Attend(((9, 1),), "poison", cache="int8/token-head")),
]


def test_every_imposter_of_scales_has_a_history_that_kills_it() -> None:
    own = [x for x in vars(kernel_scales).values() if isinstance(x, type) and x.__module__ == kernel_scales.__name__]
    assert {one.__name__ for one in own if "bug" in vars(one)} == {name for name, _ in KILLS}


@pytest.mark.parametrize(("name", "operation"), KILLS, ids=[name for name, _ in KILLS])
def test_an_imposter_is_killed_by_its_rule_and_the_reference_lives(name: str, operation: Attend) -> None:
    imposter = getattr(kernel_scales, name)
    assert judged(imposter, operation) == [imposter.broken_rule.id]
    assert judged(ReferenceCachedAttention, operation) == []


class Twice(ReferenceCachedAttention):
    """Multiplies keys by their scale twice."""

    def attend(self, call: AttentionCall) -> Attended:
        return super().attend(replace(call, key_scales=None if call.key_scales is None else call.key_scales**2))


class Neighbours(ReferenceCachedAttention):
    """Takes the scale of the token before, within a block."""

    def attend(self, call: AttentionCall) -> Attended:
        scales = None if call.value_scales is None else np.roll(call.value_scales, 1, axis=1)
        return super().attend(replace(call, value_scales=scales))


class Swapped(ReferenceCachedAttention):
    """Takes the high nibble first."""

    def attend(self, call: AttentionCall) -> Attended:
        return super().attend(call if call.cache is None else replace(call, keys=call.keys << 4 | call.keys >> 4))


class AddsZeros(ReferenceCachedAttention):
    """Adds the zero point instead of subtracting it."""

    def attend(self, call: AttentionCall) -> Attended:
        zeros = None if call.key_zeros is None else -call.key_zeros.astype(np.float32)
        return super().attend(replace(call, key_zeros=zeros))


class Crossed(ReferenceCachedAttention):
    """Keeps the scales of its first call."""

    kept: Any = None

    def attend(self, call: AttentionCall) -> Attended:
        if call.key_scales is not None and call.key_scales.ndim == 1:
            self.kept = call.key_scales.copy() if self.kept is None else self.kept
            call = replace(call, key_scales=self.kept)
        return super().attend(call)


@pytest.mark.parametrize(
    ("kernel", "operation", "rule"),
    [
        (Twice, Attend(((9, 1),), cache="int8/head"), "quant/one-scale"),
        (Neighbours, Attend(((9, 1),), cache="int8/token-head"), "quant/scale-travels"),
        (Swapped, Attend(((9, 1),), cache="int4/token-head"), "num/declared-tolerance"),
        (AddsZeros, Attend(((9, 1),), cache="uint8/token-head"), "quant/one-scale"),
        (Crossed, Attend(((9, 1),), "again", cache="int8/head"), "kernel/fresh-metadata"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_a_fault_is_blamed_on_its_rule(kernel: type[ReferenceCachedAttention], operation: Attend, rule: str) -> None:
    assert judged(kernel, operation) == [rule]


class WindowTooWide(ReferenceCachedAttention):
    """Lets one key too many into the window, whatever the cache."""

    def attend(self, call: AttentionCall) -> Attended:
        return super().attend(replace(call, window=None if call.window is None else call.window + 1))


def test_a_fault_that_plain_caches_show_too_is_not_blamed_on_scales() -> None:
    assert judged(WindowTooWide, Attend(((9, 3),), window=4, cache="int8/token-head")) == ["kernel/exact-mask"]


# How much is allowed.


def problem_over(name: str, tokens: int, reads: Reads) -> Problem:
    """One query in bf16 over a cache that is read in some way."""
    able = {name: replace(CACHES[name], reads=reads)}
    return problem_of(Attend(((tokens, 1),), heads=WIDE, dtype="bf16", cache=name), 4, able)


def width(reads: Reads, declared: Declaration) -> float:
    """The mean width of what is allowed over int8 with a scale per token and head."""
    problem = problem_over("int8/token-head", 64, reads)
    bounds = allowed(problem, declared, 2.0**-24)
    return float((bounds.high - bounds.low).mean())


def test_what_is_allowed_grows_with_what_a_kernel_may_round() -> None:
    plain = Declaration("fp32", "bf16")
    exact, factored, rounded = (width(reads, plain) for reads in (Reads.EXACT, Reads.FACTORED, Reads.ROUNDED))
    assert exact < factored < rounded
    tiled = Declaration("fp32", "bf16", kv_tile=16)
    assert width(Reads.FACTORED, tiled) < factored / 4
    assert width(Reads.ROUNDED, tiled) > factored


@pytest.mark.parametrize("name", CACHES)
def test_doubts_bound_what_rounding_does_to_an_element(name: str) -> None:
    problem = problem_over(name, 16, Reads.ROUNDED)
    assert problem.cache is not None
    doubt = doubts(problem, Declaration())[0][0]
    for error, side, rows in (
        (doubt.keys, problem.cache.keys, problem.keys),
        (doubt.values, problem.cache.values, problem.values),
    ):
        assert error is not None
        read = side.decoded(rows[0])[:, 0]
        rounded = round_to(read.astype(np.float32).astype(np.float64), BF16)
        assert (np.abs(rounded - read) <= error).all()
        assert (error <= 4 * BF16.unit * side.sizes(rows[0])[:, 0] + 1e-30).all()


class OneTokensScale(ReferenceCachedAttention):
    """Is off by an eighth in the scale of one value of thirty-two."""

    def attend(self, call: AttentionCall) -> Attended:
        scales = None if call.value_scales is None else call.value_scales.copy()
        if scales is not None:
            scales[call.tables[0, 0], 0] *= np.float32(1.125)
        return super().attend(replace(call, value_scales=scales))


def test_an_eighth_of_one_tokens_scale_is_outside_of_what_is_allowed() -> None:
    options: dict[str, Any] = {"dtype": "bf16", "cache": "int8/token-head"}
    found = [judged(OneTokensScale, Attend(((32, 1),), seed=seed, **options)) for seed in range(8)]
    assert sum(map(bool, found)) >= 6


def flushing(row: Row, scales: Float, name: str) -> Float:
    """A kernel that multiplies weights by the scales of their values before it rounds them, in float64 otherwise."""
    logits = row.logits()
    weights = np.exp(logits - logits.max())
    rounded = round_to(weights * scales, format_named(name))
    return np.asarray(rounded @ (row.values / scales[:, None]) / weights.sum(), np.float64)


def test_weights_that_tiny_scales_flush_are_paid_for_where_scales_are_known() -> None:
    rng = np.random.default_rng(2)
    row = Row(rng.standard_normal(8), rng.standard_normal((16, 8)), rng.standard_normal((16, 8)), 0.35)
    scales, declared = np.full(16, 2.0**-22), Declaration("fp32", "fp16")
    found = flushing(row, scales, "fp16")
    assert not t1(row, declared).allows(found, "fp32")
    assert t1(row, declared, value_units=np.abs(row.values) / scales[:, None]).allows(found, "fp32")
    with pytest.raises(ShapeError, match="value_units"):
        t1(row, declared, value_units=row.values[1:])


# What is written.


class Truncating(ReferenceCachedAttention):
    """Encodes keys to codes of magnitude one less."""

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        before = call.keys.copy()
        super().write(call, slots, keys, values)
        changed = call.keys != before
        call.keys[changed] -= np.sign(call.keys[changed])


class CodesAlone(ReferenceCachedAttention):
    """Writes codes and leaves scales as they were."""

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        kept = [None if x is None else x.copy() for x in (call.key_scales, call.value_scales)]
        super().write(call, slots, keys, values)
        for scales, before in zip((call.key_scales, call.value_scales), kept, strict=True):
            if scales is not None:
                scales[...] = before


class ScaleOfPadding(ReferenceCachedAttention):
    """Writes no codes of a padding row, but its scale, to the last slot."""

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        super().write(call, slots, keys, values)
        if call.value_scales is not None and (slots < 0).any():
            call.value_scales[-1, -1] += 1


@pytest.mark.parametrize(
    ("kernel", "rule"),
    [
        (Truncating, "quant/half-step"),
        (CodesAlone, "quant/scale-travels"),
        (ScaleOfPadding, "kernel/padding-writes-nothing"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_a_wrong_write_is_blamed_on_its_rule(kernel: type[ReferenceCachedAttention], rule: str) -> None:
    operation = WriteRows((3, -1, 7), heads=WIDE, cache="int8/token-head")
    assert judged(kernel, operation) == [rule]
    assert judged(ReferenceCachedAttention, operation) == []


@pytest.mark.parametrize("layout", ["token-major", "head-major"])
@pytest.mark.parametrize("name", CACHES)
def test_the_reference_writes_what_the_schemes_say(name: str, layout: Any) -> None:
    operation = WriteRows((3, -1, 7, 8), extra=2, heads=WIDE, dtype="bf16", layout=layout, cache=name)
    assert exercised(ReferenceCachedAttention, operation)[rules.HALF_STEP] == 1


class PlusZero(ReferenceCachedAttention):
    """Forgets the sign of zero."""

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        super().write(call, slots, keys, values)
        for codes in (call.keys, call.values):
            codes[codes == 0x80] = 0


def test_the_sign_of_a_zero_of_eight_bits_is_free() -> None:
    """Scales so large that half of the codes are zeros, of both signs."""
    coarse = replace(E4M3, divisor=Fraction(1, 128)).per(Granularity.TOKEN_HEAD)
    large = replace(CACHES["e4m3/token-head"], keys=coarse, values=coarse)

    class Coarse(PlusZero):
        capabilities = replace(ReferenceCachedAttention.capabilities, caches=MappingProxyType({"coarse": large}))

    operation = WriteRows((3, 7, 8), heads=WIDE, cache="coarse")
    assert judged(Coarse, operation) == []
    call = place(problem_of(Attend(((9, 1),), heads=WIDE, cache="coarse"), 4, {"coarse": large}), Placement(4, 4))
    assert (call.keys == 0x80).any()


def test_keys_and_values_of_unlike_width_are_far_at_the_same_ids() -> None:
    assert exercised(ReferenceCachedAttention, Attend(((5, 1),), "far", heads=WIDE, cache="q8_0 and q4_0"))
    problem = problem_of(Attend(((5, 1),), heads=WIDE, cache="q8_0 and q4_0"), 4, CACHES)
    call = place(problem, Placement(4, 4, far="dense"))
    first = int(call.tables.min())
    assert first * call.keys.strides[0] >= 1 << 32 and first * call.values.strides[0] >= 1 << 32
    bounds = allowed(problem, ARITHMETIC["fp32"], 2.0**-24)
    assert wrong(attend(ReferenceCachedAttention(World(4, 4)), call), bounds, judge_lse=True) is None


def test_codes_of_a_division_that_is_no_function_are_rounded_all_the_same() -> None:
    loose = replace(INT8.per(Granularity.HEAD), division=Division.WITHIN_2_ULP)
    caches = MappingProxyType({"loose": replace(CACHES["int8/head"], keys=loose, values=loose)})

    class OneOff(Truncating):
        capabilities = replace(ReferenceCachedAttention.capabilities, caches=caches)

    assert judged(OneOff, WriteRows((3, 7), heads=WIDE, cache="loose")) == ["quant/half-step"]


def test_half_steps_are_claimed_only_by_who_writes_codes() -> None:
    able = ReferenceCachedAttention.capabilities
    reading = {name: replace(one, writes=False) for name, one in able.caches.items()}

    class Reader(ReferenceCachedAttention):
        capabilities = replace(able, caches=MappingProxyType(reading))

    engine = Engine("reader", "0", {Surface.ATTENTION: Reader})
    assert unclaimed(engine, Surface.ATTENTION, rules.HALF_STEP) == "writes no quantized cache"
    assert unclaimed(engine, Surface.ATTENTION, rules.ONE_SCALE) is None
    writer = Engine("writer", "0", {Surface.ATTENTION: ReferenceCachedAttention})
    assert unclaimed(writer, Surface.ATTENTION, rules.HALF_STEP) is None


# Our kernels.


@pytest.mark.parametrize("splits", [1, 2])
@pytest.mark.parametrize("name", ["e4m3", "int8", "int4-fp32"])
@pytest.mark.parametrize("scales", ["token-head", "head"])
def test_our_kernels_hold_over_their_quantized_caches(name: str, scales: str, splits: int) -> None:
    pytest.importorskip("triton")
    kernel = load("kvoptimized").factories[Surface.ATTENTION]
    options: dict[str, Any] = {"heads": (4, 2, 16), "dtype": "bf16", "cache": f"{name}/{scales}"}
    attends = Attend(((70, 1), (5, 2)), "poison", order=3, splits=splits, softcap=5.0, sinks=True, **options)
    writes = WriteRows((3, -1, 7), layout="head-major", **options)
    met = exercised(kernel, attends, *([writes] if splits == 1 else []))
    assert met[rules.ONE_SCALE] and met[rules.POISON_INDEPENDENCE]
    assert met[rules.HALF_STEP] == (splits == 1)


def test_a_static_scale_and_far_blocks_meet_in_our_kernels() -> None:
    pytest.importorskip("triton")
    kernel = load("kvoptimized").factories[Surface.ATTENTION]
    met = exercised(kernel, Attend(((5, 1),), "far", dtype="bf16", cache="e4m3/tensor"))
    assert met[rules.ADDRESS_RANGE] == 2


# What cannot be declared.


@pytest.mark.parametrize(
    ("scheme", "says"),
    [
        (INT8.per(Granularity.CHANNEL), "some tokens share scales"),
        (SCHEMES["kivi-key"], "some tokens share scales"),
        (Q5_0, "codes of 5 bits"),
        (replace(INT4, layout=None), "codes of 4 bits"),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_a_scheme_that_calls_have_no_place_for_is_refused_by_name(scheme: Scheme, says: str) -> None:
    with pytest.raises(DeclarationError, match=f"{scheme.name}: {says}"):
        CacheFormat(scheme, INT8.per(Granularity.HEAD))


def test_an_unknown_format_to_round_to_is_refused() -> None:
    with pytest.raises(DeclarationError, match="unknown floating-point format 'int3'"):
        CacheFormat(INT8, INT8, rounded_to="int3")


def test_the_reference_refuses_codes_without_their_scales() -> None:
    call = place(problem_of(Attend(((5, 1),), cache="int8/head"), 4, CACHES), Placement(3, 4))
    with pytest.raises(ScaleError, match="int8/head: scales"):
        ReferenceCachedAttention(World(3, 4)).attend(replace(call, key_scales=None))
