"""The registry: permanent ids, one sentence each, a graph of implications without cycles."""

from __future__ import annotations

import pytest

from kvspec import RULES, rules

CATALOGUE = """
alloc/conservation alloc/count-equals-holders alloc/no-dangling-reference alloc/reserved-block alloc/failure-is-atomic
alloc/fit-agrees-with-allocate alloc/coverage-and-limit alloc/every-exit-releases alloc/one-page-rounding
alloc/in-flight-fence prefix/content-matches-key prefix/publish-only-computed prefix/complete-key prefix/key-domains
prefix/reproducible-key prefix/one-token-left prefix/fresh-hit prefix/contiguous-chain
prefix/shared-bytes-never-change prefix/invalidate prefix/mirror-equals-index prefix/symmetric-locks
prefix/every-group-hit sched/step-budget sched/one-queue sched/progress-or-reject sched/resume-equals-uninterrupted
sched/chunk-independence kernel/address-range kernel/relabel-invariance kernel/poison-independence
kernel/padding-writes-nothing kernel/empty-is-identity kernel/split-equals-whole kernel/exact-mask
kernel/fresh-metadata quant/half-step quant/one-scale quant/scale-travels quant/scale-from-valid-data quant/commutes
sec/isolation num/declared-tolerance obs/counters
sched/fcfs-order sched/bounded-decode-gap evict/lru-order prefix/longest-group-hit prefix/draft-group-hit
""".split()
"""Permanent: an id may be added here, never changed or taken away."""


def test_every_rule_of_the_catalogue_is_registered_and_none_besides() -> None:
    assert set(RULES) == set(CATALOGUE)
    assert len(CATALOGUE) == len(set(CATALOGUE))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_says_one_sentence_and_where_it_comes_from(rule: rules.Rule) -> None:
    assert rule.sentence[0].isupper() or rule.sentence[0] in "|0"
    assert rule.sentence.endswith(".")
    assert rule.sources and rule.surfaces


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_no_rule_falls_with_itself(rule: rules.Rule) -> None:
    assert rule not in rule.falls_with_it
    assert all(rule.covers(other) for other in (rule, *rule.falls_with_it))


def test_an_unknown_rule_is_answered_with_the_nearest() -> None:
    with pytest.raises(KeyError, match="prefix/one-token-left"):
        rules.find("prefix/one-token")
