"""Each function of the law names in its docstring the rules that it raises, and each guard has a name and words.

The code is walked, not run: a rule that is raised and not listed, or listed and not raised, is an error here.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

import kvspec
from kvspec import rules
from kvspec.blame import judging
from kvspec.blame import words as spoken
from kvspec.rules import Rule
from kvspec.tree import words as of_trees

SPEC = Path(kvspec.__file__).parent
LAW = [*sorted((SPEC / "transition").glob("*.py")), *(SPEC / f"{name}.py" for name in ("hits", "claims", "spoken"))]
TREES = [SPEC / "tree" / f"{name}.py" for name in ("transition", "places", "shown")]


@dataclass(frozen=True)
class Lawful:
    """A function of the law: its docstring, the guards that fail in it, and what it calls."""

    name: str
    doc: str
    guards: tuple[tuple[Rule, str], ...]
    calls: frozenset[str]

    @property
    def listed(self) -> str:
        """What the docstring says of the rules that it raises."""
        return re.sub(r"\s+", " ", self.doc.rpartition("\n\nRaises ")[2]) if "\n\nRaises " in self.doc else ""


def functions(path: Path) -> list[Lawful]:
    found = [
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    ]
    return [lawful(node) for node in found]


def lawful(node: ast.FunctionDef) -> Lawful:
    called = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    guards = tuple(guard(one) for one in called if isinstance(one.func, ast.Attribute) and one.func.attr == "fail")
    return Lawful(node.name, ast.get_docstring(node) or "", guards, frozenset(map(name_of, called)))


def name_of(call: ast.Call) -> str:
    """The name of the function that is called, if it is one of this module or of another; methods have none."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="spoken"), attr=name):
            return name
    return ""


def guard(call: ast.Call) -> tuple[Rule, str]:
    rule, how = call.args
    assert isinstance(rule, ast.Attribute) and isinstance(how, ast.Constant), ast.unparse(call)
    return getattr(rules, rule.attr), str(how.value)


FUNCTIONS, OF_TREES = ({one.name: one for path in paths for one in functions(path)} for paths in (LAW, TREES))
MACHINES = {"paged": FUNCTIONS, "tree": OF_TREES}


def guards(functions: dict[str, Lawful]) -> list[tuple[Rule, str]]:
    return [guard for function in functions.values() for guard in function.guards]


def raising(functions: dict[str, Lawful]) -> set[str]:
    """The functions that raise a rule, or call one that does."""
    found = {name for name, function in functions.items() if function.guards}
    while more := {name for name, function in functions.items() if function.calls & found} - found:
        found |= more
    return found


@pytest.mark.parametrize(("machine", "name"), [(machine, name) for machine, all in MACHINES.items() for name in all])
def test_a_docstring_lists_the_rules_that_are_raised_and_no_others(machine: str, name: str) -> None:
    function = MACHINES[machine][name]
    assert set(re.findall(r"[a-z]+/[a-z-]+", function.listed)) == {rule.id for rule, _ in function.guards}
    assert set(re.findall(r"`(\w+)`", function.listed)) == function.calls & raising(MACHINES[machine])


def test_every_name_of_a_function_of_the_law_is_one() -> None:
    assert len(FUNCTIONS) == sum(len(functions(path)) for path in LAW)
    assert len(OF_TREES) == sum(len(functions(path)) for path in TREES)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_guard_has_a_name_of_its_own(machine: str) -> None:
    found = guards(MACHINES[machine])
    twice = [guard for guard, times in Counter(found).items() if times > 1]
    assert twice == [] and len(found) >= 20


def test_every_guard_has_words_and_nothing_else_has() -> None:
    assert set(spoken._WORDS) == set(guards(FUNCTIONS))
    assert {(rule, how) for rule, how, _ in spoken._RENAMED} <= set(judging._RENAMED) <= set(guards(FUNCTIONS))
    assert set(of_trees.WORDS) == set(guards(OF_TREES))


@pytest.mark.parametrize("path", [*LAW, *TREES], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_guard_is_plain(path: Path) -> None:
    """The law has one way to say that a guard does not hold, and knows nothing of what went before or of blame."""
    source = path.read_text(encoding="utf-8")
    assert not any(
        word in source
        for word in ("tally.require", "tally.broken", "lambda:", "import blame", "from kvspec.blame", "tree.words")
    )
