"""The page `spec/cache.md` is the specification: it defines every name, and no event can raise a rule it leaves out."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from kvconformance.explain import law
from kvconformance.explain.references import referred
from kvspec import RULES, transition
from kvspec.rules import Rule
from kvspec.tree import transition as of_trees
from kvspec.vocabulary import Capabilities, GroupsCapabilities

ROOT = Path(__file__).parents[2]
PAGE = law.page()
INVARIANTS = {f"S{number}" for number in range(1, 16)} | {f"L{number}" for number in range(1, 6)}
FREEDOMS = {field.name for record in (Capabilities, GroupsCapabilities) for field in fields(record)}
MACHINES = {"4. The events": transition, "10. Radix trees": of_trees}
TRANSITIONS = [
    pytest.param(chapter, event, function, id=f"{chapter.split()[-1]}-{event.__name__}")
    for chapter, machine in MACHINES.items()
    for event, function in machine._TRANSITIONS.items()
]


def section(chapter: str, event: str) -> str:
    """What the page says of an event of one of the two machines."""
    text = PAGE.partition(f"\n## {chapter}\n")[2].partition("\n## ")[0]
    return text.partition(f"\n### {event}\n")[2].partition("\n### ")[0]


def called(tree: ast.AST, module: ModuleType) -> Iterator[FunctionType]:
    """The functions of the specification that a piece of code names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            thing = vars(module).get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            thing = getattr(vars(module).get(node.value.id), node.attr, None)
        else:
            continue
        if isinstance(thing, FunctionType) and thing.__module__.startswith("kvspec."):
            yield thing


def raised(function: Callable[..., Any], seen: set[object]) -> set[Rule]:
    """The rules that a function names, itself or in what it calls, and does not only count."""
    seen.add(function)
    module = sys.modules[function.__module__]
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    known = {name: frozenset({value}) for name, value in vars(module).items() if isinstance(value, Rule)}
    found = set(referred(tree, known, counting=False))
    for other in called(tree, module):
        if other not in seen:
            found |= raised(other, seen)
    return found


def slug(heading: str) -> str:
    """The anchor that Markdown gives a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_every_rule_invariant_and_property_of_liveness_is_defined_and_else_only_freedoms() -> None:
    defined = set(law.definitions())
    assert defined >= {*RULES, *INVARIANTS}
    assert defined - {*RULES, *INVARIANTS} <= FREEDOMS


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_the_paragraph_of_a_rule_names_it_and_says_more_than_its_sentence(rule: Rule) -> None:
    text = law.definitions()[rule.id]
    assert text.startswith(f"**`{rule.id}`**")
    assert len(text) > len(rule.sentence) + 60 and text.endswith(".")


def test_what_is_cited_is_defined() -> None:
    sources = {source for rule in RULES.values() for source in rule.sources}
    code = " ".join(path.read_text("utf-8") for path in (ROOT / "spec").rglob("*.py"))
    pages = " ".join(path.read_text("utf-8") for path in (ROOT / "spec").glob("*.md"))
    cited = {name for text in (*sources, code, pages) for name in re.findall(r"\b[SL]\d{1,2}\b", text)}
    assert cited == INVARIANTS


def test_a_rule_under_a_profile_says_so() -> None:
    for rule in RULES.values():
        assert rule.profile is None or f"(profile `{rule.profile}`)" in law.definitions()[rule.id]


@pytest.mark.parametrize("name", sorted(FREEDOMS))
def test_what_an_engine_declares_stands_in_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize(("chapter", "event", "function"), TRANSITIONS)
def test_every_rule_that_an_event_can_raise_stands_in_its_section(
    chapter: str, event: type, function: Callable[..., Any]
) -> None:
    text = section(chapter, event.__name__)
    missing = {rule.id for rule in raised(function, set())} - set(re.findall(r"[a-z]+/[a-z-]+", text))
    assert not missing


@pytest.mark.parametrize(("chapter", "event", "function"), TRANSITIONS)
def test_an_event_stands_there_with_its_fields_guard_and_effect(
    chapter: str, event: type, function: Callable[..., Any]
) -> None:
    text = section(chapter, event.__name__)
    (signature,) = re.findall(rf"\A\n`{event.__name__}\(([^)]*)\)`", text)
    assert [name.rstrip("?") for name in signature.split(", ") if name] == [field.name for field in fields(event)]
    assert text.count("*Guard.*") == text.count("*Effect.*") == 1


def test_the_rules_that_the_reading_finds_are_those_that_an_event_raises() -> None:
    """Lest nothing be found and everything hold."""
    assert raised(transition.steps.end_step, set()) == {
        RULES["sched/progress-or-reject"],
        RULES["sched/bounded-decode-gap"],
    }
    assert len(raised(transition.computing.compute, set())) > 10
    assert RULES["prefix/mirror-equals-index"] in raised(transition.observe, set())


def test_the_rules_after_which_a_history_goes_on_are_told() -> None:
    told = PAGE.partition("\n**What ends a history.**")[2].partition("\n\n")[0]
    assert set(re.findall("`([^`]+)`", told)) == {rule.id for rule in RULES.values() if not rule.corrupts}


def test_rule_ids_in_the_page_exist() -> None:
    assert set(re.findall(r"`((?:alloc|evict|kernel|num|obs|prefix|quant|sched|sec)/[^`]*)`", PAGE)) == set(RULES)


def test_links_lead_somewhere() -> None:
    anchors = {*law.definitions(), *(slug(heading) for heading in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE))}
    anchors.add("release-1")  # the second heading of that name
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        file, _, anchor = target.partition("#")
        assert (ROOT / "spec" / file).is_file() if file else anchor in anchors, target


def test_a_name_is_defined_once() -> None:
    with pytest.raises(ValueError, match=r"cache\.md defines a twice"):
        law.definitions('<a id="a"></a>**a**: one.\n\n<a id="a"></a>**a**: two.')
    text = '<a id="a"></a>**a**: see\n[this](x.md#y), too.\n\nNot this.'
    assert law.definitions(text) == {"a": "**a**: see this, too."}
