"""How a rule is raised: what a guard says, what a finding says, and the tally of all that was put to the test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from kvspec.rules import Rule


class Broken(Exception):
    """A guard does not hold: the rule that it stands for, which of the rule's guards it is, and the values it saw."""

    def __init__(self, rule: Rule, how: str, **facts: object) -> None:
        super().__init__(rule, how, facts)
        self.rule = rule
        self.how = how
        self.facts = facts

    def __str__(self) -> str:
        return f"{self.rule.id}: {self.how} ({', '.join(f'{name}={value}' for name, value in self.facts.items())})"


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
    (or goes on, where the fault leaves the state intact) without a second report. With `blame`, what a guard of the
    law says is called by the rule that explains it before anything is raised, so that what is waived are findings.
    """

    def __init__(self, waived: Collection[Rule] = ()) -> None:
        self.exercised: Counter[Rule] = Counter()
        self.waived = frozenset(waived)
        self.blame: Callable[[Broken], Violation] | None = None

    def met(self, *rules: Rule) -> None:
        """Count one more time that the precondition of each of the rules was met."""
        exercised = self.exercised
        for rule in rules:
            exercised[rule] += 1

    def fail(self, rule: Rule, how: str, **facts: object) -> None:
        """A guard of the law does not hold. Raises `Broken`, or the `Violation` that blame makes of it.

        It returns only where the finding is known and leaves the state intact: then the event happens.
        """
        broken = Broken(rule, how, **facts)
        self.found(broken if self.blame is None else self.blame(broken))

    def require(self, holds: bool, rule: Rule, explain: Callable[[], tuple[str, str]], **facts: object) -> None:
        """Count `rule` as exercised and raise `Violation` unless it holds.

        `explain` gives (what was seen, what was expected); it is called only when the rule is broken.
        """
        self.exercised[rule] += 1
        if not holds:
            seen, expected = explain()
            self.broken(rule, seen, expected, **facts)

    def broken(self, rule: Rule, seen: str, expected: str, **facts: object) -> None:
        """Raise: the rule is broken here."""
        self.found(Violation(rule, seen, expected, **facts))

    def found(self, finding: Broken | Violation) -> None:
        """Raise the finding, or `Waived`; nothing where it is known and leaves the state intact."""
        if finding.rule not in self.waived:
            raise finding
        if finding.rule.corrupts:
            raise Waived(finding.rule.id)
