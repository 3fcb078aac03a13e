"""Certificates: the bounds against brute force, soundness on kernels, power against wrong tokens, named refusals."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kvreference.arrays import DeclarationError
from kvreference.attention import Row, attend_row, emulated_attention
from kvreference.evidence.kernels import nearest, pushed
from kvreference.evidence.quality import lloyd_max, rotation, turboquant
from kvreference.evidence.rows import replaced, rounding_adversary, without
from kvreference.evidence.soundness import Stress, stress
from kvreference.quantizers import decode, encode
from kvreference.roundings import BF16, round_to
from kvreference.tolerance.arithmetic import gamma
from kvreference.tolerance.averages import box_bound, mad_bound, sizes_along, sums_of_size, tanh_bound
from kvreference.tolerance.certificates import Certificate, certify, t1, t2
from kvreference.tolerance.declaration import Declaration
from kvreference.tolerance.exponents import exponents
from kvreference.tolerance.quality import quality
from kvspec.numbers.schemes import SCHEMES
from kvspec.refusals import ShapeError

KERNEL = Declaration(kv_tile=64, h_qk=24, h_pv=80)
EXACT = 2.0**-40
"""Relative rounding of the float64 sums in brute force, over at most nine terms."""


def row_of(seed: int, count: int = 1024, size: int = 128) -> Row:
    rng = np.random.default_rng(seed)
    query, keys, values = (
        rng.standard_normal(size),
        rng.standard_normal((count, size)),
        rng.standard_normal((count, size)),
    )
    return Row(*(round_to(x, BF16) for x in (query, keys, values)), size**-0.5)


def small_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    p = np.exp(rng.normal(0, 2, count))
    p /= p.sum()
    values = rng.standard_normal((count, 3))
    return p, rng.uniform(0, 2, count) * 10 ** rng.uniform(-3, 0.5), values, p @ values


def worst_vertex(p: np.ndarray, errors: np.ndarray, values: np.ndarray, output: np.ndarray) -> np.ndarray:
    found = np.zeros_like(output)
    for signs in product((-1, 1), repeat=len(p)):
        w = p * np.exp(errors * np.array(signs))
        found = np.maximum(found, np.abs(w @ values / w.sum() - output))
    return found


FLUSHED = {
    "the division": (0.0, [2.0**-125, 0, 0, 0], None),
    "the product and the sum": (0.0, [2.0**-125, -(2.0**-125), 2.0**-126, 0], None),
    "the rescale by a sink": (0.0, [2.0**-120], 10.0),
    "a product with a code": (-80.0, [0.0, 2.0**-12], None),
}


@pytest.mark.parametrize("place", list(FLUSHED))
@pytest.mark.parametrize("p", [None, "bf16"])
@pytest.mark.parametrize("splits", [1, 2])
def test_what_a_kernel_flushes_is_paid_for_in_absolute_terms(place: str, p: str | None, splits: int) -> None:
    """A kernel in fp32 that flushes results below 2**-126 (assumption 9) answers 0 where the exact one does not."""
    last, values, sink = FLUSHED[place]
    keys = np.append(np.zeros(len(values) - 1), last)[:, None]
    row = Row(np.ones(1), keys, np.array(values)[:, None], 1.0, None, sink)
    declared = Declaration("fp32", p, exact_products=False, kv_tile=2, splits=splits)
    for certificate in (t1(row, declared), t1(row, declared, box=True), certify(row, declared)):
        assert certificate.allows(np.zeros(1), "fp32")
        assert not certificate.allows(np.full(1, 2.0**-60), "fp32")


@pytest.mark.parametrize("before", [True, False])
def test_flushed_queries_and_products_move_logits_in_absolute_terms(before: bool) -> None:
    """A query that is scaled first is flushed before it meets a large key; one product is below 2**-126."""
    query, key = (2.0**-120, 2.0**100) if before else (2.0**-100, 2.0**-30)
    row = Row(np.array([query]), np.array([[key], [0.0]]), np.array([[1.0], [-1.0]]), 2.0**-7)
    found = exponents(row, Declaration(kv_tile=2, accumulation=0.0))
    assert (found.logit >= 2.0**-7 * query * np.array([key, 0.0])).all()


@pytest.mark.parametrize("seed", range(40))
def test_box_is_the_worst_vertex_and_the_other_bounds_lie_above(seed: int) -> None:
    p, errors, values, output = small_problem(seed)
    worst, box = worst_vertex(p, errors, values, output), box_bound(p, errors, values, output)
    assert (box >= worst * (1 - EXACT)).all()
    # Our own error is one of the sums over the box, whose weights are exp(2 errors) apart.
    assert (box <= worst * (1 + EXACT) + EXACT * np.exp(2 * errors.max())).all()
    assert (mad_bound(p, errors, values, output) >= worst * (1 - EXACT)).all()
    assert (tanh_bound(errors, values) >= worst * (1 - EXACT)).all()


@pytest.mark.parametrize("delta", [1e-6, 1.0, 20.0])
def test_tanh_bound_is_attained_by_two_keys(delta: float) -> None:
    p, values = np.array([1, np.exp(delta)]) / (1 + np.exp(delta)), np.array([[0.0], [1.0]])
    moved = p * np.exp([delta, -delta])
    change = p[1] - moved[1] / moved.sum()
    bound = tanh_bound(np.full(2, delta), values)[0]
    assert change <= bound * (1 + EXACT) + 2.0**-50
    assert change >= bound * (1 - EXACT) - 2.0**-50


def test_sums_of_size_and_sizes_along_are_what_they_say() -> None:
    rng = np.random.default_rng(0)
    matrix, vector, weights = rng.integers(-9, 9, (600, 4)), rng.integers(-9, 9, 4), rng.integers(0, 9, (2, 600))
    center = np.array([1.0, -2.0, 0.0, 3.0])
    assert (sizes_along(matrix * 1.0, vector * 1.0) == np.abs(matrix) @ np.abs(vector)).all()
    assert (sums_of_size(weights * 1.0, matrix * 1.0, center) == weights @ np.abs(matrix - center)).all()


def test_no_kernel_leaves_its_certificate_on_thousands_of_outputs() -> None:
    found = stress(8_000, seed=11)
    assert found.outputs >= 8_000
    assert found.violations == 0
    assert {name.split(",")[0] for name in found.counts} == {"T1", "T1 no tile", "box", "T2"}


def test_certificates_are_nearly_used_up_so_a_smaller_one_would_be_wrong() -> None:
    found = Stress()
    found.judge(rounding_adversary(1024), Declaration(kv_tile=64), nearest)
    assert 0.9 < found.counts["T1, nearest"].worst <= 1
    assert found.violations == 0


@pytest.mark.parametrize("splits", [1, 4])
def test_roundings_that_all_go_one_way_stay_inside(splits: int) -> None:
    declared = Declaration(accumulation=2.0**-23, kv_tile=32, splits=splits)
    for seed in range(4):
        found = Stress()
        found.judge(row_of(seed, 150, 32), declared, pushed)
        assert found.violations == 0


def test_truncated_sums_break_a_declaration_of_nearest_ones() -> None:
    row = row_of(9, 4096, 16)
    row = replace(row, values=1 + np.abs(row.values[:, :1]))
    declared = Declaration("fp32", None, kv_tile=4096, h_pv=64)
    assert t1(row, declared).tolerance[0] < np.abs(pushed(row, declared) - attend_row(row).output)[0]


FAULTS = {
    "dropped": without,
    "duplicated": lambda row, j: replaced(row, j, row.keys[j - 1], row.values[j - 1]),
    "zeroed": lambda row, j: replaced(row, j, row.keys[j] * 0, row.values[j] * 0),
    "scaled": lambda row, _: replace(row, scale=row.scale * (1 + 2.0**-10)),
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_t2_refuses_one_wrong_token_in_1024_and_never_a_right_one(fault: str) -> None:
    for seed in range(5):
        row = row_of(seed)
        certificate = t2(row, KERNEL)
        assert certificate.allows(round_to(nearest(row, KERNEL), BF16), "bf16")
        wrong = FAULTS[fault](row, 100 + seed)
        assert not certificate.allows(round_to(nearest(wrong, KERNEL), BF16), "bf16")


def test_t2_is_far_tighter_than_t1_and_centred_on_the_emulation() -> None:
    row = row_of(3)
    loose, tight = t1(row, KERNEL), t2(row, KERNEL)
    assert np.median(loose.tolerance / tight.tolerance) > 20
    assert (np.abs(tight.output - emulated_attention(row, KERNEL).output) <= tight.tolerance).all()
    assert tight.ambiguous > 0
    assert certify(row, KERNEL).tolerance.tolist() == tight.tolerance.tolist()
    assert certify(row, replace(KERNEL, kv_tile=None)).ambiguous == 0


def quantized_row(seed: int, count: int = 300, sink: float | None = None) -> tuple[Row, np.ndarray]:
    """A row whose values are int8 codes times a scale for each token, powers of ten apart; one scale is 0."""
    rng = np.random.default_rng(seed)
    scales = np.float32(10.0 ** rng.uniform(-3, 1, count))
    scales[rng.integers(count)] = 0
    codes = rng.integers(-128, 128, (count, 8))
    row = replace(row_of(seed, count, 16), values=codes * scales[:, None].astype(np.float64), sink=sink)
    return row, scales.astype(np.float64)


def flash_over_codes(row: Row, scales: np.ndarray, tile: int) -> np.ndarray:
    """A kernel in float32: each weight times the scale of its value, rounded to bf16, times the code; one part."""
    codes = np.divide(row.values, scales[:, None], where=scales[:, None] > 0, out=np.zeros_like(row.values))
    codes = np.rint(codes).astype(np.float32)
    logits = row.keys.astype(np.float32) @ row.query.astype(np.float32) * np.float32(row.scale * np.log2(np.e))
    top, mass, total = np.float32(-np.inf), np.float32(0), np.zeros(codes.shape[1], np.float32)
    for start in range(0, len(codes), tile):
        new = max(top, logits[start : start + tile].max())
        weights, rescale = np.exp2(logits[start : start + tile] - new), np.exp2(np.float32(top - new))
        stored = round_to((weights * scales[start : start + tile].astype(np.float32)).astype(np.float64), BF16)
        total = total * rescale + stored.astype(np.float32) @ codes[start : start + tile]
        mass, top = mass * rescale + weights.sum(dtype=np.float32), new
    if row.sink is not None:
        sink = np.float32(row.sink * np.log2(np.e))
        last = max(top, sink)
        total, mass = total * np.exp2(top - last), mass * np.exp2(top - last) + np.exp2(sink - last)
    return np.asarray(total / mass, np.float64)


@pytest.mark.parametrize("sink", [None, 0.5])
def test_t2_knows_kernels_that_round_weights_times_scales(sink: float | None) -> None:
    declared, told_nothing = Declaration(kv_tile=64), 0
    for seed in range(30):
        row, scales = quantized_row(seed, sink=sink)
        output, certificate = flash_over_codes(row, scales, 64), t2(row, declared, scales)
        assert (np.abs(output - certificate.output) <= certificate.tolerance).all()
        told_nothing += not (np.abs(output - t2(row, declared).output) <= t2(row, declared).tolerance).all()
        likeliest = np.argmax(np.abs(row.values).sum(axis=1) * np.exp(row.scale * (row.keys @ row.query)))
        wrong = replace(row, values=np.where(np.arange(300)[:, None] == likeliest, 0, row.values))
        assert not certificate.allows(round_to(flash_over_codes(wrong, scales, 64), BF16), "bf16")
        assert certify(row, declared, scales).tolerance.tolist() == certificate.tolerance.tolist()
    assert told_nothing > 20
    with pytest.raises(ShapeError, match="value_scales has shape"):
        t2(row, declared, scales[1:])


def test_a_weight_at_a_tie_may_round_either_way() -> None:
    row = rounding_adversary(33)
    tie = replace(row, keys=row.keys * 0, values=row.values)
    assert t2(tie, Declaration(kv_tile=64)).ambiguous == 0
    assert t2(row, Declaration(kv_tile=64, accumulation=2.0**-12)).ambiguous == 32


def test_t1_covers_a_quantized_cache_by_its_half_steps() -> None:
    scheme, row = SCHEMES["int8/token-head"], row_of(4)
    errors, held = [], []
    for exact in (row.keys, row.values):
        found = encode(exact.astype(np.float32)[:, None], scheme)
        errors.append(np.broadcast_to(found.scales.scale[:, 0] * (0.5 + 2.0**-18), exact.shape).astype(np.float64))
        held.append(decode(found, scheme)[:, 0])
    certificate = t1(row, KERNEL, *errors)
    kernel = nearest(replace(row, keys=held[0], values=held[1]), replace(KERNEL, exact_products=False))
    assert (np.abs(kernel - certificate.output) <= certificate.tolerance).all()
    assert (certificate.tolerance > t1(row, KERNEL).tolerance).all()


def test_large_logit_errors_fall_back_on_total_variation() -> None:
    row = row_of(5, 64)
    certificate = t1(row, KERNEL, np.full(row.keys.shape, 1.0))
    assert (certificate.tolerance <= 1.1 * np.ptp(row.values, axis=0)).all()


def test_the_interval_holds_exactly_what_may_be_stored() -> None:
    certificate = Certificate(np.array([1.0, 0.0]), np.array([2.0**-8, 0.0]))
    low, high = certificate.interval("bf16")
    assert low.tolist() == [1 - 2.0**-8, 0.0]
    assert high.tolist() == [1.0, 0.0]
    assert certificate.allows(np.array([1 - 2.0**-8, 0.0]), "bf16")
    assert not certificate.allows(np.array([1 + 2.0**-7, 0.0]), "bf16")
    assert not certificate.allows(np.array([1.0, 2.0**-133]), "bf16")
    assert not certificate.allows(np.array([1.0, np.nan]), "bf16")


def test_empty_rows_allow_nothing_but_zero() -> None:
    row = Row(np.ones(4), np.zeros((0, 4)), np.zeros((0, 3)), 1.0)
    for certificate in (t1(row, KERNEL), t2(row, KERNEL)):
        assert not certificate.output.any()
        assert not certificate.tolerance.any()


def test_a_sink_is_one_more_key_without_value() -> None:
    row = row_of(6, 200)
    spread = replace(row, sink=2.0)
    plain = t1(spread, KERNEL)
    assert plain.output.tolist() == pytest.approx(attend_row(spread).output.tolist(), rel=EXACT)
    assert (np.abs(nearest(spread, KERNEL) - t2(spread, KERNEL).output) <= t2(spread, KERNEL).tolerance).all()


def test_running_maxima_are_followed_tile_by_tile() -> None:
    keys = np.zeros((12, 2))
    keys[:, 0] = [1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]
    found = exponents(Row(np.array([1.0, 0.0]), keys, np.ones((12, 1)), 1.0), Declaration(kv_tile=4))
    assert found.top.tolist() == [1.0] * 4 + [2.0] * 8
    assert (found.later[:4] > 0).all()
    assert not found.later[4:].any()
    assert found.rescales == 2


def test_splits_begin_at_multiples_of_the_tile() -> None:
    assert Declaration(kv_tile=16, splits=3).splits_of(0, 100) == [(0, 48), (48, 96), (96, 100)]
    assert Declaration(kv_tile=16, split_tokens=64).splits_of(70, 100) == [(0, 58), (58, 100)]
    assert Declaration(splits=8).splits_of(0, 3) == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("peaked", [False, True])
def test_the_statement_about_quality_holds_for_the_actual_errors(peaked: bool) -> None:
    row, scheme = row_of(7, 500), SCHEMES["int4/token-head"]
    row = replace(row, scale=3.0) if peaked else row
    steps, held = [], []
    for exact in (row.keys, row.values):
        found = encode(exact.astype(np.float32)[:, None], scheme)
        steps.append(found.scales.scale[:, 0].astype(np.float64))
        held.append(decode(found, scheme)[:, 0])
    found = quality(row, *held, *steps)
    assert (found.error <= found.bound).all()
    looseness = np.median(found.bound / found.error)
    assert looseness < (4 if peaked else 60)
    if not peaked:
        assert (found.error <= found.statistical_band).mean() > 0.99


def test_published_figures_are_reproduced() -> None:
    rng = np.random.default_rng(1)
    assert all(figure.holds for figure in (*rotation(rng, 10), *turboquant(rng, 5_000)))
    assert lloyd_max(1).tolist() == pytest.approx([-np.sqrt(2 / np.pi), np.sqrt(2 / np.pi)], rel=2.0**-30)


def test_impossible_declarations_are_refused() -> None:
    for change in ({"p": "fp7"}, {"output": "float"}, {"kv_tile": 0}, {"splits": 0}, {"exp_error": -1.0}, {"h_pv": 0}):
        with pytest.raises(DeclarationError):
            Declaration(**change)
    row = row_of(0, 8)
    for declared in (Declaration(kv_tile=None), Declaration(p=None, kv_tile=8)):
        with pytest.raises(DeclarationError):
            t2(row, declared)
    with pytest.raises(DeclarationError):
        gamma(2**24, 2.0**-24)
    with pytest.raises(ShapeError):
        t1(row, KERNEL, np.ones((7, 128)))
