"""How a rule is raised: one structured object, and the tally that counts every time a rule was put to the test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from kvspec.rules import Rule


class Violation(Exception):
    """The engine broke a rule. `seen` and `expected` are sentences; `facts` holds the values behind them."""

    def __init__(self, rule: Rule, seen: str, expected: str, **facts: object) -> None:
        super().__init__(f"{rule.id}: {seen}; expected {expected}")
        self.rule = rule
        self.seen = seen
        self.expected = expected
        self.facts = facts


class Waived(Exception):
    """A rule that is already known to be broken was broken again, and the state can no longer be trusted."""


class HarnessFault(Exception):
    """We, or the adapter, said something that cannot be: the engine is not to blame."""


class Tally:
    """Counts how often the precondition of each rule was met; raises where a rule is broken.

    Rules in `waived` are known to be broken: they are counted, and an example in which one shows again ends
    (or goes on, where the fault leaves the state intact) without a second report.
    """

    def __init__(self, waived: Collection[Rule] = ()) -> None:
        self.exercised: Counter[Rule] = Counter()
        self.waived = frozenset(waived)

    def require(self, holds: bool, rule: Rule, explain: Callable[[], tuple[str, str]], **facts: object) -> None:
        """Count `rule` as exercised and raise `Violation` unless it holds.

        `explain` gives (what was seen, what was expected); it is called only when the rule is broken.
        """
        self.exercised[rule] += 1
        if not holds:
            seen, expected = explain()
            self.broken(rule, seen, expected, **facts)

    def met(self, rule: Rule) -> None:
        """Count one more time that the precondition of `rule` was met."""
        self.exercised[rule] += 1

    def broken(self, rule: Rule, seen: str, expected: str, **facts: object) -> None:
        """Raise: the rule is broken here."""
        if rule not in self.waived:
            raise Violation(rule, seen, expected, **facts)
        if rule.corrupts:
            raise Waived(rule.id)
