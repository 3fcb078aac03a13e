"""Which functions refer to which rules, read from source code: where a rule is guarded, and which tests name it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Final

from kvconformance.imposters.registry import IMPOSTERS
from kvspec import rules
from kvspec.rules import RULES, Rule

PACKAGES: Final = ("kvspec", "kvconformance")
NO_GUARDS: Final = (
    *("kvspec.rules", "kvspec.invariants"),
    *("kvconformance.claims", "kvconformance.cli", "kvconformance.explain", "kvconformance.exhaust"),
    *("kvconformance.bugs", "kvconformance.engines", "kvconformance.imposters"),
)
"""Modules in which no engine is judged: they register rules, state invariants, or imitate engines."""
_COUNTS: Final = "met"
"""The method that counts a rule as put to the test; it guards nothing."""

Known = Mapping[str, frozenset[Rule]]
"""The rules behind a name of a module."""

_REGISTRY: Final = {name: frozenset({rule}) for name, rule in vars(rules).items() if isinstance(rule, Rule)}
_WORDS: Final = {
    **{imposter.__name__: frozenset({imposter.broken_rule}) for imposter in IMPOSTERS},
    **{id: frozenset({rule}) for id, rule in RULES.items()},
}
"""What names a rule wherever it stands: its id, and an imposter, which must break it."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A function, or a method with its class."""

    module: str
    function: str


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(body: Iterable[ast.stmt], within: str = "") -> Iterator[tuple[str, Function]]:
    """The functions of a module, and the methods of its classes as `Class.method`."""
    for node in body:
        if isinstance(node, Function):
            yield within + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body, f"{within}{node.name}.")


def referred(node: ast.AST, known: Known, *, counting: bool) -> frozenset[Rule]:
    """The rules that a piece of code names: `rules.NAME`, a known name, an id in quotes, or an imposter.

    Without `counting`, what is only counted (`tally.met`) is passed over.
    """
    none: frozenset[Rule] = frozenset()
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "rules":
        return _REGISTRY.get(node.attr, none)
    if isinstance(node, ast.Attribute):
        return _WORDS.get(node.attr, none) | referred(node.value, known, counting=counting)
    if isinstance(node, ast.Name):
        return known.get(node.id) or _WORDS.get(node.id, none)
    if isinstance(node, ast.Constant):
        return _WORDS.get(node.value, none) if isinstance(node.value, str) else none
    if not counting and isinstance(node, ast.Call) and getattr(node.func, "attr", "") == _COUNTS:
        return none
    return none.union(*(referred(child, known, counting=counting) for child in ast.iter_child_nodes(node)))


def names(tree: ast.Module, elsewhere: Mapping[str, Known]) -> dict[str, frozenset[Rule]]:
    """What the names of a module stand for: imported rules, and constants made of rules, in their order."""
    known: dict[str, frozenset[Rule]] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            there = elsewhere.get(node.module or "", {})
            known |= {each.asname or each.name: there[each.name] for each in node.names if each.name in there}
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = referred(node.value, known, counting=True)
            known |= {target.id: found for target in targets if isinstance(target, ast.Name) and found}
    return known


def _trees() -> dict[str, ast.Module]:
    """The modules of our packages that may judge an engine."""
    found = {}
    for package in PACKAGES:
        folder = Path(str(resources.files(import_module(package))))
        for path in sorted(folder.rglob("*.py")):
            module = ".".join((package, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__")
            if not any(module == other or module.startswith(f"{other}.") for other in NO_GUARDS):
                found[module] = ast.parse(path.read_text("utf-8"))
    return found


@cache
def guards() -> Mapping[Rule, tuple[Place, ...]]:
    """The functions in which an engine is found to break a rule, of every rule."""
    trees, registry = _trees(), {"kvspec.rules": _REGISTRY}
    constants = {module: names(tree, registry) for module, tree in trees.items()}
    found: dict[Rule, list[Place]] = {rule: [] for rule in RULES.values()}
    for module, tree in trees.items():
        known = names(tree, registry | constants)
        for name, function in functions(tree.body):
            for rule in referred(function, known, counting=False):
                found[rule].append(Place(module, name))
    return {rule: tuple(sorted(places)) for rule, places in found.items()}


def rules_of_tests(source: str) -> dict[str, frozenset[Rule]]:
    """The rules that each test of a module names itself, in its decorators, or through helpers of the module."""
    tree = ast.parse(source)
    known = names(tree, {"kvspec.rules": _REGISTRY})
    every = dict(functions(tree.body))
    while True:
        found = {name: referred(node, known, counting=True) for name, node in every.items()}
        helpers = {name: found[name] | known.get(name, frozenset()) for name in every if found[name]}
        if all(known.get(name) == behind for name, behind in helpers.items()):
            return {name.replace(".", "::"): found[name] for name in every if name.split(".")[-1].startswith("test_")}
        known |= helpers


def every_test(root: Path) -> dict[Rule, list[str]]:
    """The tests under `root/tests` that name each rule, as pytest spells them."""
    found: dict[Rule, list[str]] = {rule: [] for rule in RULES.values()}
    for path in sorted((root / "tests").rglob("test_*.py")):
        for name, named in rules_of_tests(path.read_text("utf-8")).items():
            for rule in named:
                found[rule].append(f"{path.relative_to(root).as_posix()}::{name}")
    return found
