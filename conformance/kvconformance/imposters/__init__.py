"""Imposters: the reference engine with one deliberate fault each, a public bug of a real engine in a few lines.

They test the suite itself: it must kill each by the rule that the fault breaks, or by one that implies it, and let the
untouched reference live. An imposter is named after its fault; `bug` is its id in the list of public bugs,
`broken_rule` what must kill it. Where the mechanism of the public bug does not exist in the reference engine, the
imposter is a small analogue, which its docstring states in the reference engine's terms.
"""

from __future__ import annotations

from kvconformance.imposters.registry import IMPOSTERS, Imposter, surface_of
from kvconformance.imposters.run import run_all
from kvconformance.imposters.show import kill_table, read_kills, summary, to_json
from kvconformance.imposters.trial import Kill, try_imposter

__all__ = [
    "IMPOSTERS",
    "Imposter",
    "Kill",
    "kill_table",
    "read_kills",
    "run_all",
    "summary",
    "surface_of",
    "to_json",
    "try_imposter",
]
