"""Attention: what a write may store and must leave alone, whom a wrong row blames, which histories are drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from kvconformance.checker import Checker
from kvconformance.engines.reference_attention import ReferenceAttention
from kvconformance.engines.reference_cached_attention import ReferenceCachedAttention, over
from kvconformance.history import History
from kvconformance.search.check import replay
from kvconformance.search.examples import Plan
from kvconformance.surfaces import Engine
from kvconformance.surfaces.attention import SURFACE, Attended, AttentionCall, formats, protocol
from kvconformance.surfaces.attention.driver import AttentionDriver
from kvconformance.surfaces.attention.formats import CacheFormat, dynamic
from kvconformance.surfaces.attention.judging.neighbours import admitted
from kvconformance.surfaces.attention.operations import MAX_SEED, Attend, Merge, WriteRows
from kvconformance.surfaces.attention.problems.sides import Side
from kvconformance.surfaces.attention.strategies import attention_histories
from kvreference.arrays import AnyArray, DeclarationError, Float, Int
from kvreference.quantizers import Encoded, Scales, encode, encode_with
from kvspec import rules
from kvspec.numbers.bounds import allowed_codes
from kvspec.numbers.floats import BF16, E4M3FN, E5M2, FP16
from kvspec.numbers.quantize import given_scale
from kvspec.numbers.schemes import INT8, SCHEMES, Division, Granularity, Scheme
from kvspec.rules import Rule
from kvspec.vocabulary import Surface, World

WIDE = (2, 2, 64)
ROWS = WriteRows((3, -1, 9, 17), 2, 5, WIDE, "bf16", cache="x")
ABLE = ReferenceCachedAttention.capabilities


def divided(name: str, division: Division) -> Scheme:
    return replace(SCHEMES[name], division=division)


LOOSE = [
    divided(name, Division.WITHIN_2_ULP)
    for name in ("int8/token-head", "int8/head", "uint8/token-head", "uint4/group-32", "e4m3/token-head", "e4m3/tensor")
] + [
    divided("q4_0", Division.WITHIN_2_ULP),
    divided("q4_1", Division.WITHIN_2_ULP),
    divided("int8/head", Division.INVERSE_FIRST),
    divided("e4m3/head", Division.INVERSE_FIRST),
]
"""Schemes under which a value has more than one code."""


def named(x: Any) -> str | None:
    return f"{x.name} {x.division.name}" if isinstance(x, Scheme) else None


def kernel(scheme: Scheme, act: Any = None) -> type[ReferenceCachedAttention]:
    """The reference over one cache, which does `act` after it has written; "nothing" does not write."""

    class Writer(ReferenceCachedAttention):
        capabilities = replace(ABLE, caches=MappingProxyType({"x": over(scheme, scheme)}))

        def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
            if act != "nothing":
                super().write(call, slots, keys, values)
            if callable(act):
                act(call, slots, keys, values)

    return Writer


def judged(kernel: Any, *operations: Attend | WriteRows) -> list[str]:
    """The ids of the rules that one history breaks."""
    result = replay(
        Engine("kernel", "0", {Surface.ATTENTION: kernel}),
        Surface.ATTENTION,
        History(40, 4, operations),
        Plan(),
        "kernel",
    )
    assert not result.fault
    return [finding.rule_id for finding in result.findings]


def exercised(kernel: Any, *operations: Attend | WriteRows) -> Counter[Rule]:
    driver = AttentionDriver(kernel, Checker(World(40, 4), kernel.capabilities))
    driver.run(operations)
    return driver.tally.exercised


# Histories.


def test_every_history_that_is_drawn_can_be_read_again() -> None:
    seeds = []

    @settings(max_examples=150, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(attention_histories(ABLE))
    def read(history: History) -> None:
        assert SURFACE.read(history.to_json()) == history
        seeds.extend(operation.seed for operation in history.operations if isinstance(operation, Attend))

    read()
    assert max(seeds) > 1 << 14


def test_the_largest_seed_can_be_read_and_no_larger_one() -> None:
    for kind in (Attend(((5, 1),), seed=MAX_SEED), Merge((), MAX_SEED), WriteRows((3,), seed=MAX_SEED)):
        history = History(9, 4, (kind,))
        assert SURFACE.read(history.to_json()) == history
    with pytest.raises(ValueError, match="seed"):
        SURFACE.read(History(9, 4, (WriteRows((3,), seed=MAX_SEED + 1),)).to_json())


# Writes where a value has more than one code.


def sevens(call: AttentionCall, *_: AnyArray) -> None:
    call.keys[...] = 7
    call.values[...] = 7


def last_slot(call: AttentionCall, *_: AnyArray) -> None:
    call.values[-1, -1, -1, -1] ^= 1


def two_codes_off(call: AttentionCall, slots: Int, *_: AnyArray) -> None:
    call.keys[slots[0] // 4, slots[0] % 4] = np.where(call.keys[slots[0] // 4, slots[0] % 4] > 9, 5, 11)


def scale_off(call: AttentionCall, slots: Int, *_: AnyArray) -> None:
    if call.value_scales is not None:
        call.value_scales[slots[0] // 4, slots[0] % 4] *= 1.01


@pytest.mark.parametrize("scheme", LOOSE, ids=named)
def test_a_write_with_several_right_answers_is_judged(scheme: Scheme) -> None:
    assert exercised(kernel(scheme), ROWS)[rules.HALF_STEP] == 1
    assert judged(kernel(scheme, "nothing"), ROWS) == ["quant/half-step"]
    assert judged(kernel(scheme, two_codes_off), ROWS) == ["quant/half-step"]
    assert judged(kernel(scheme, sevens), ROWS) == ["kernel/padding-writes-nothing"]
    assert judged(kernel(scheme, last_slot), ROWS) == ["kernel/padding-writes-nothing"]
    if dynamic(scheme):
        assert judged(kernel(scheme, scale_off), ROWS) == ["quant/scale-travels"]


def test_a_code_one_off_is_wrong_but_at_a_midpoint() -> None:
    """Quotients one kappa from a midpoint may go either way, others may not."""
    side = Side(divided("int8/head", Division.WITHIN_2_ULP), (np.full(1, 0.5), np.zeros(1)))
    rows = np.array([5.25, 5.25 * (1 + 2.0**-20), 5.26, 5.0])[:, None, None]
    codes = np.array([[11, 10, 10, 11], [10, 11, 11, 9]], np.int8)[..., None, None]
    nothing = np.zeros((4, 1, 0), np.float32)
    found = [admitted(side, rows, (seen, nothing, nothing))[0].ravel().tolist() for seen in codes]
    assert found == [[11, 10, 11, 10], [10, 11, 11, 10]]
    for row, code in zip(rows.ravel().tolist()[:3], (10, 11, 11), strict=True):
        assert code in allowed_codes(row, given_scale(0.5, side.scheme), side.scheme)


@pytest.mark.parametrize("fault", [0x7F, 0xFF, 0x38])
def test_codes_of_floats_are_neighbours_at_midpoints_alone_and_never_nan(fault: int) -> None:
    side = Side(divided("e4m3/head", Division.WITHIN_2_ULP), (np.ones(1), np.zeros(1)))
    rows, nothing = np.array([17.0, 17.5])[:, None, None], np.zeros((2, 1, 0), np.float32)
    right = side.stored(rows)[0]
    up = right.copy()
    up[0] += 1
    assert (admitted(side, rows, (up, nothing, nothing))[0] == up).all()
    for wrong in (np.full_like(right, fault), up + 1):
        assert (admitted(side, rows, (wrong, nothing, nothing))[0] == right).all()


@pytest.mark.parametrize("scheme", [s for s in LOOSE if s.division is Division.WITHIN_2_ULP], ids=named)
@pytest.mark.parametrize("division", [Division.DIVIDE, Division.RECIPROCAL, Division.EXACT])
def test_every_division_that_may_be_meant_is_allowed(scheme: Scheme, division: Division) -> None:
    """Values in a few bits, many of them at midpoints of codes, under scales 2 ulp off."""
    rng, other = np.random.default_rng(3), replace(scheme, division=division)
    rows: Float = np.round(rng.standard_normal((200, 2, 32)) * 4) / 4
    rows[:, :, 0] = 8.0 * rng.choice([1.0, 127 / 128, 15 / 16], (200, 2))
    side = Side(scheme) if dynamic(scheme) else Side(scheme, (np.full(2, 0.17), np.zeros(2)))
    single = rows.astype(np.float32)
    for ulps in (-2, 0, 2) if scheme.scale_format.name == "fp32" and dynamic(scheme) else (0,):
        theirs = encode(single, other) if dynamic(scheme) else Encoded(single, side.scales(rows.shape))
        scales = Scales(theirs.scales.scale * np.float32(1 + ulps * 2.0**-24), theirs.scales.zero)
        codes = encode_with(single, scales, other) if ulps or not dynamic(scheme) else theirs.codes
        zeros = np.zeros(1) if scales.zero is None else scales.zero
        parts = (
            side._bytes(codes),
            side._narrow(scales.scale, "scale") if dynamic(scheme) else np.zeros((200, 2, 0), np.float32),
            side._narrow(zeros, "zero") if dynamic(scheme) and scales.zero is not None else np.zeros((200, 2, 0)),
        )
        for seen, allowed in zip(parts, admitted(side, rows, parts), strict=True):
            assert np.array_equal(seen, allowed)


@pytest.mark.parametrize("ulps", [-4, -2, 0, 2, 4])
def test_scales_are_within_two_ulp(ulps: int) -> None:
    side = Side(divided("int8/token-head", Division.WITHIN_2_ULP))
    rows = np.array([127.0 * 1.5, 3.0])[None, None]
    codes, scales, zeros = side.stored(rows)
    seen = (scales + np.float32(ulps * 2.0**-23)).astype(np.float32)
    allowed = admitted(side, rows, (codes, seen, zeros))[1]
    assert (allowed == (seen if abs(ulps) <= 2 else scales)).all()


def test_a_zero_point_is_a_neighbour_at_a_midpoint_alone() -> None:
    side = Side(divided("uint8/token-head", Division.WITHIN_2_ULP))
    for low, zeros in ((10.5, (10, 11)), (10.25, (10,))):
        rows = np.array([-low, 255.0 - low])[None, None]
        codes, scales, _ = side.stored(rows)
        allowed = {
            zero
            for zero in (9, 10, 11, 12)
            if admitted(side, rows, (codes, scales, np.full((1, 1, 1), zero, np.uint8)))[2] == zero
        }
        assert allowed == set(zeros)


# Writes that change what is not theirs.


def doubled(call: AttentionCall, *_: AnyArray) -> None:
    assert call.key_scales is not None
    call.key_scales[...] *= 2


def rows_cleared(call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
    values[...] = 0


def slots_cleared(call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
    slots[...] = 0


def starts_cleared(call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
    call.starts[...] = 9


@pytest.mark.parametrize(
    ("act", "rule"),
    [
        (doubled, "quant/one-scale"),
        (rows_cleared, "kernel/fresh-metadata"),
        (slots_cleared, "kernel/fresh-metadata"),
        (starts_cleared, "kernel/fresh-metadata"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_a_write_leaves_its_inputs_and_shared_scales_alone(act: Any, rule: str) -> None:
    assert judged(kernel(SCHEMES["int8/head"], act), ROWS) == [rule]
    assert exercised(kernel(SCHEMES["int8/head"]), ROWS)[rules.ONE_SCALE] == 1
    assert exercised(kernel(SCHEMES["int8/token-head"]), ROWS)[rules.ONE_SCALE] == 0


# Schemes that do not saturate, and what cannot be stored.


@pytest.mark.parametrize("pattern", ["normal", "large"])
@pytest.mark.parametrize("name", ["e4m3-nan/head", "e4m3-nan/tensor", "e5m2-inf/head", "e5m2-inf/tensor"])
def test_values_that_shared_scales_do_not_reach_are_clipped_where_a_code_would_be_no_number(
    name: str, pattern: Any
) -> None:
    attends = Attend(((9, 3), (5, 1)), "later", 1, WIDE, "bf16", cache="x", pattern=pattern)
    many = replace_slots(ROWS, tuple(range(30)))
    assert judged(kernel(SCHEMES[name]), attends, many) == []
    assert exercised(kernel(SCHEMES[name]), attends, many)[rules.HALF_STEP] == 1
    assert judged(kernel(SCHEMES[name], "nothing"), many) != []


def replace_slots(operation: WriteRows, slots: tuple[int, ...]) -> WriteRows:
    return WriteRows(slots, seed=operation.seed, heads=operation.heads, dtype=operation.dtype, cache=operation.cache)


@pytest.mark.parametrize("format", [E4M3FN, E5M2], ids=lambda x: x.name)
def test_scales_without_a_storage_are_refused_by_name(format: Any) -> None:
    scheme = replace(INT8.per(Granularity.HEAD), scale_format=format)
    with pytest.raises(DeclarationError, match=f"int8/head: calls have no storage for scales in {format.name}"):
        CacheFormat(scheme, SCHEMES["int8/head"])
    with pytest.raises(DeclarationError, match="q4_1: calls have no storage"):
        CacheFormat(SCHEMES["int8/head"], replace(SCHEMES["q4_1"], zero_format=format))
    for able in (BF16, FP16):
        assert CacheFormat(replace(scheme, scale_format=able), scheme_of(able)).keys.scale_format is able


def scheme_of(format: Any) -> Scheme:
    return replace(SCHEMES["q4_1"], zero_format=format)


def test_what_can_be_stored_is_said_once() -> None:
    assert set(formats.STORABLE) == set(protocol._STORAGE)


# Whom a wrong row blames.


class OneCodeUp(ReferenceCachedAttention):
    """Reads every int8 code of a value as the next one."""

    def attend(self, call: AttentionCall) -> Attended:
        if call.values.dtype != np.int8:
            return super().attend(call)
        return super().attend(replace(call, values=np.where(call.values < 127, call.values + 1, 127).astype(np.int8)))


@pytest.mark.parametrize(
    "operation",
    [
        Attend(((1, 3),), heads=WIDE, dtype="bf16", cache="int8/head"),
        Attend(((0, 1), (1, 3)), heads=WIDE, dtype="bf16", cache="int8/head"),
    ],
    ids=["a request of rows some of which see nothing", "beside an empty one"],
)
def test_a_wrong_code_is_not_blamed_on_what_hides_it(operation: Attend) -> None:
    assert judged(OneCodeUp, operation) == ["num/declared-tolerance"]


class SubnormalsAreZero(ReferenceCachedAttention):
    """Reads subnormal codes of values as 0."""

    def attend(self, call: AttentionCall) -> Attended:
        if call.cache is None:
            return super().attend(call)
        return super().attend(replace(call, values=np.where(call.values & 0x78, call.values, 0).astype(np.uint8)))


def test_an_error_that_more_keys_hide_is_not_blamed_on_the_mask() -> None:
    """Among many keys the error of one is less than the output may be off."""
    operation = Attend(((120, 1),), seed=14, heads=(1, 1, 64), dtype="bf16", cache="e4m3/head", window=1)
    assert judged(SubnormalsAreZero, operation) == ["num/declared-tolerance"]


class EmptyRowsAreOne(ReferenceAttention):
    """Gives 1 where a row sees no key."""

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        lse = answer.lse
        assert lse is not None
        return Attended(np.where(np.isneginf(lse)[..., None], 1.0, answer.output), lse)


class NextToAnEmptyOne(ReferenceAttention):
    """The last row is zero where some request has no tokens."""

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        output = answer.output.copy()
        if len(output) and (call.lengths == 0).any():
            output[-1] = 0
        return Attended(output, answer.lse)


class RefusesEmptyOnes(ReferenceAttention):
    """Raises where some request has no tokens."""

    def attend(self, call: AttentionCall) -> Attended:
        if (call.lengths == 0).any():
            raise RuntimeError("no tokens")
        return super().attend(call)


class Refuses(ReferenceAttention):
    """Raises where there is a request."""

    def attend(self, call: AttentionCall) -> Attended:
        if len(call.lengths):
            raise RuntimeError("no")
        return super().attend(call)


@pytest.mark.parametrize(
    ("kernel", "lengths", "rule"),
    [
        (EmptyRowsAreOne, ((5, 1), (0, 1)), rules.EMPTY_IS_IDENTITY),
        (EmptyRowsAreOne, ((0, 1),), rules.EMPTY_IS_IDENTITY),
        (EmptyRowsAreOne, ((1, 3),), rules.EMPTY_IS_IDENTITY),
        (NextToAnEmptyOne, ((0, 1), (5, 1)), rules.EMPTY_IS_IDENTITY),
        (NextToAnEmptyOne, ((0, 1), (1, 3)), rules.EMPTY_IS_IDENTITY),
        (RefusesEmptyOnes, ((5, 1), (0, 1)), rules.EMPTY_IS_IDENTITY),
        (RefusesEmptyOnes, ((0, 1),), rules.EMPTY_IS_IDENTITY),
        (Refuses, ((1, 3),), rules.DECLARED_TOLERANCE),
        (Refuses, ((5, 1), (0, 1)), rules.DECLARED_TOLERANCE),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_empty_requests_are_blamed_where_they_matter(kernel: Any, lengths: Any, rule: Rule) -> None:
    assert judged(kernel, Attend(lengths, heads=(1, 1, 8))) == [rule.id]


def test_a_row_older_than_the_cache_is_named_as_such() -> None:
    driver = AttentionDriver(EmptyRowsAreOne, Checker(World(9, 4), EmptyRowsAreOne.capabilities))
    with pytest.raises(Exception, match="query 0 of 3, which is older than its 1 cached tokens"):
        driver.run((Attend(((1, 3),)),))
