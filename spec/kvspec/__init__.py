"""kvspec: the executable specification of an LLM serving engine's KV cache.

The room holds the words (`vocabulary`, `events`), the rules with their permanent ids (`rules`), the state as a value
and its transition (`state`, `transition`, with `hits` and `claims` judging hits and self-descriptions), what a finding
is called (`blame`), the invariants and the key chain. Standard library only; nothing here chooses, schedules or
allocates.
"""

from kvspec.blame import Judged, begin, judge
from kvspec.rules import RULES, Rule
from kvspec.state import State, initial
from kvspec.transition import advance, step
from kvspec.violation import Broken, HarnessFault, Tally, Violation, Waived
from kvspec.vocabulary import Capabilities, KeyParts, Media, Request, World

SPEC_VERSION = "2"
"""Grows when a rule changes its meaning or a new rule is enforced."""

__all__ = [
    "RULES",
    "SPEC_VERSION",
    "Broken",
    "Capabilities",
    "HarnessFault",
    "Judged",
    "KeyParts",
    "Media",
    "Request",
    "Rule",
    "State",
    "Tally",
    "Violation",
    "Waived",
    "World",
    "advance",
    "begin",
    "initial",
    "judge",
    "step",
]
