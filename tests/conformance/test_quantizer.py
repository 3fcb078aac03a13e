"""The Quantizer surface: the reference holds every rule, and the judge knows right from wrong where it is close."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kvconformance.adapters import NotAnAdapter, as_engine, load
from kvconformance.engines.reference_quantizer import ReferenceQuantizer, shown
from kvconformance.history import History
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.quantizer import (
    SURFACE,
    Declaration,
    Encoded,
    QuantizerCapabilities,
    QuantizerError,
    quantizer,
)
from kvconformance.surfaces.quantizer.operations import Append, Encode, Put, Values
from kvconformance.surfaces.quantizer.recipes import PATTERNS, values
from kvconformance.telling.report import Report, Verdict
from kvreference.quantizers import Encoded as Quantized
from kvreference.quantizers import Scales, decode, encode, encode_with
from kvspec.numbers.schemes import INT8, SCHEMES, Division, Granularity, Scheme
from kvspec.refusals import Refused
from kvspec.rules import RULES
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import Surface, World

TOKEN_HEAD = SCHEMES["int8/token-head"]


def checked(adapter: Any, examples: int = 80, **more: Any) -> Report:
    return check_here(as_engine(adapter), Plan(examples=examples, seconds=3000, shrink_seconds=0.5, **more))


def verdicts(report: Report) -> dict[str, Verdict]:
    return {line.rule.id: line.verdict for line in report.rules if line.rule.id.startswith("quant/")}


def tried(adapter: Any, history: History) -> Trial:
    return play(adapter, adapter.capabilities, Surface.QUANTIZER, history, Tally())


def world(scheme: str = "int8/token-head", heads: int = 1, dim: int = 2) -> dict[str, object]:
    return {"scheme": scheme, "kv_heads": heads, "head_dim": dim}


def ours(x: np.ndarray, scheme: Scheme = TOKEN_HEAD) -> Encoded:
    return shown(encode(x, scheme))


def ours_back(encoded: Encoded, scheme: Scheme = TOKEN_HEAD) -> np.ndarray:
    scales = Scales(np.asarray(encoded.scales).reshape(*np.asarray(encoded.codes).shape[:2], 1))
    return decode(Quantized(np.asarray(encoded.codes), scales), scheme).astype(np.float32)


def test_the_reference_holds_every_rule_and_each_is_put_to_the_test() -> None:
    report = check_here(load("reference"), Plan(examples=200, seconds=300), surfaces=[Surface.QUANTIZER])
    assert not report.fault
    assert verdicts(report) == {id: Verdict.HELD for id in RULES if id.startswith("quant/")}


@pytest.mark.parametrize("name", sorted(ReferenceQuantizer.capabilities.schemes))
def test_every_scheme_of_the_reference_lives_through_every_pattern(name: str) -> None:
    scheme = SCHEMES[name]
    tokens = scheme.group_size or 2 if scheme.granularity is Granularity.CHANNEL else 2
    recipes = [Values(pattern, tokens, 3, at=5) for pattern in PATTERNS if pattern != "special"]
    operations = [o for v in recipes for o in (Encode(v), Append(v), Put(v, padding=1))]
    history = History(2, 2, tuple(operations), options=world(name, 2, 32))
    assert tried(ReferenceQuantizer, history).violation is None


def test_two_functions_and_a_scheme_are_an_adapter() -> None:
    found = verdicts(checked(quantizer(TOKEN_HEAD, ours, ours_back)))
    assert found["quant/half-step"] is found["quant/scale-from-valid-data"] is Verdict.HELD
    assert found["quant/commutes"] is Verdict.NOT_CLAIMED


def test_codes_that_are_not_shown_are_judged_by_the_bound() -> None:
    def hidden(x: np.ndarray) -> Encoded:
        return Encoded(handle=ours(x))

    def coarse(encoded: Encoded) -> np.ndarray:
        return ours_back(replace(encoded.handle, codes=np.asarray(encoded.handle.codes) // 2 * 2))

    assert (
        verdicts(checked(quantizer(TOKEN_HEAD, hidden, lambda e: ours_back(e.handle))))["quant/half-step"]
        is Verdict.HELD
    )
    assert verdicts(checked(quantizer(TOKEN_HEAD, hidden, coarse)))["quant/half-step"] is Verdict.BROKEN


def test_an_undeclared_division_is_allowed_either_neighbour_only_at_a_midpoint() -> None:
    reciprocal = replace(TOKEN_HEAD, division=Division.RECIPROCAL)
    undeclared = replace(TOKEN_HEAD, name="int8-undeclared", division=Division.WITHIN_2_ULP)

    def fast(x: np.ndarray) -> Encoded:
        return ours(x, reciprocal)

    def floor(x: np.ndarray) -> Encoded:
        right = ours(x)
        return replace(right, codes=np.floor(np.asarray(right.codes) - np.float32(0.2)).astype(np.int8))

    assert verdicts(checked(quantizer(undeclared, fast, ours_back)))["quant/half-step"] is Verdict.HELD
    assert verdicts(checked(quantizer(TOKEN_HEAD, fast, ours_back), 400))["quant/half-step"] is Verdict.BROKEN
    assert verdicts(checked(quantizer(undeclared, floor, ours_back)))["quant/half-step"] is Verdict.BROKEN


def test_a_finding_is_a_recipe_and_its_history_breaks_the_rule_again() -> None:
    def floored(x: np.ndarray) -> Encoded:
        scales = np.maximum(np.asarray(ours(x).scales), np.float32(1))
        wide = Scales(scales.reshape(*x.shape[:2], 1))
        return Encoded(encode_with(x, wide, TOKEN_HEAD), scales)

    adapter = quantizer(TOKEN_HEAD, floored, ours_back)
    (finding,) = checked(adapter, rules=frozenset({RULES["quant/scale-from-valid-data"]})).findings
    assert "encode" in finding.steps[-1] and "the scale 1.0" in finding.seen
    again = tried(adapter, SURFACE.read(finding.history)).violation
    assert again is not None and again.rule.id == "quant/scale-from-valid-data"


def test_a_scale_frozen_on_the_first_chunk_is_found_by_the_chunks_that_follow() -> None:
    class Frozen(ReferenceQuantizer):
        capabilities = replace(
            ReferenceQuantizer.capabilities, schemes={"int8/tensor": Declaration(SCHEMES["int8/tensor"])}
        )

        def append(self, x: np.ndarray) -> None:
            first = self.held[0].scales if self.held else encode(x[0], self.scheme).scales
            new = [Quantized(encode_with(row, first, self.scheme), first) for row in x]
            old = self.held or [Quantized(part.codes[:0], first) for part in new]
            self.held = [Quantized(np.concatenate([a.codes, b.codes]), first) for a, b in zip(old, new, strict=True)]

    history = History(
        2,
        1,
        (Append(Values("constant")), Append(Values("constant", exponent=2))),
        max_running=1,
        options=world("int8/tensor"),
    )
    broken = tried(Frozen, history).violation
    assert broken is not None and broken.rule.id == "quant/scale-from-valid-data"
    assert tried(ReferenceQuantizer, history).violation is None


def test_a_refusal_that_the_scheme_does_not_make_breaks_a_rule() -> None:
    def refuse(x: np.ndarray) -> Encoded:
        raise ValueError("no")

    assert verdicts(checked(quantizer(TOKEN_HEAD, refuse, ours_back)))["quant/half-step"] is Verdict.BROKEN


def test_arrays_of_another_granularity_are_a_fault_of_the_adapter() -> None:
    def tensor(x: np.ndarray) -> Encoded:
        return replace(ours(x), scales=np.ones(7, np.float32))

    zeros = quantizer(TOKEN_HEAD, tensor, lambda e: np.zeros(np.asarray(e.codes).shape))
    assert "7 scales" in checked(zeros).fault


@pytest.mark.parametrize(
    ("what", "error"),
    [
        (lambda: quantizer(replace(INT8, floor=1), ours, ours_back), QuantizerError),
        (lambda: ReferenceQuantizer(World(2, 2, options={"scheme": "int8/token-head"})), QuantizerError),
        (lambda: values(Values("nothing"), 1, 2, INT8), QuantizerError),
        (lambda: tried(ReferenceQuantizer, History(2, 2, (), options=world("int9"))), HarnessFault),
        (lambda: SURFACE.read(History(2, 1, (Encode(Values(tokens=0)),)).to_json()), ValueError),
        (lambda: SURFACE.read(History(2, 1, (Encode(Values(exponent=999)),)).to_json()), ValueError),
        (lambda: as_engine(Engine("x", "1", {Surface.QUANTIZER: object})), NotAnAdapter),
        (lambda: encode(np.ones((2, 2), np.float32), TOKEN_HEAD), Refused),
        (lambda: encode(np.full((1, 1, 2), np.nan, np.float32), TOKEN_HEAD), Refused),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(what: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        what()


def test_capabilities_say_what_is_not_claimed() -> None:
    capabilities = QuantizerCapabilities(shows=False)
    adapter = quantizer(TOKEN_HEAD, ours, ours_back)
    adapter.capabilities = replace(adapter.capabilities, shows=capabilities.shows)
    assert verdicts(checked(adapter, 30))["quant/one-scale"] is Verdict.NOT_CLAIMED
