"""The mutants of one module: what the operators of cosmic-ray and mutmut make of it, less what is only words.

cosmic-ray loosens and tightens conditions (comparisons, numbers, connectives, loops), mutmut spoils effects (an
assignment becomes None, `+=` becomes `=`). Of the comparisons only those to the neighbours are made: `<` to `<=` and
`>=`, not to `is not`. Words (annotations, f-strings, docstrings) are not mutated.
"""

from __future__ import annotations

import ast
import hashlib
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

import libcst
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider
from mutmut.mutation.mutators import operator_assignment, operator_augmented_assignment

ROOT = Path(__file__).parents[2]

NEIGHBOURS = {
    "Lt": ("LtE", "GtE"),
    "LtE": ("Lt", "Gt"),
    "Gt": ("GtE", "LtE"),
    "GtE": ("Gt", "Lt"),
    "Eq": ("NotEq", "LtE", "GtE"),
    "NotEq": ("Eq", "Lt", "Gt"),
    "Is": ("IsNot",),
    "IsNot": ("Is",),
}
OTHERS = {
    "Add": ("Sub",),
    "Sub": ("Add",),
    "Mul": ("FloorDiv",),
    "FloorDiv": ("Mul",),
    "Mod": ("FloorDiv",),
    "BitAnd": ("BitOr",),
    "BitOr": ("BitAnd",),
    "LShift": ("RShift",),
}
CONDITIONS = (
    *(f"ReplaceComparisonOperator_{old}_{new}" for old, news in NEIGHBOURS.items() for new in news),
    *(f"ReplaceBinaryOperator_{old}_{new}" for old, news in OTHERS.items() for new in news),
    "ReplaceUnaryOperator_Delete_USub",
    "ReplaceUnaryOperator_Delete_Not",
    "AddNot",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "NumberReplacer",
    "ZeroIterationForLoop",
)
OPERATORS = OperatorProvider()
EFFECTS: tuple[tuple[str, tuple[type, ...], Callable[[Any], Any]], ...] = (
    ("operator_assignment", (libcst.Assign, libcst.AnnAssign), operator_assignment),
    ("operator_augmented_assignment", (libcst.AugAssign,), operator_augmented_assignment),
)


@dataclass(frozen=True)
class Mutant:
    """One changed module. `before` and `after` are the lines that differ, without their indentation."""

    module: str
    function: str
    operator: str
    before: str
    after: str
    piece: str
    """The changed function."""
    source: str
    """The whole module with it."""

    @property
    def key(self) -> tuple[str, ...]:
        """What names it as long as the line and its function stay as they are, wherever they move."""
        return (self.module, self.function, self.operator, self.before, self.after)

    @property
    def digest(self) -> str:
        """A name that it keeps until its function is changed."""
        return hashlib.sha256(f"{self.module}\n{self.function}\n{self.piece}".encode()).hexdigest()[:20]

    def __str__(self) -> str:
        return f"{self.module}.{self.function}: {self.before}  ->  {self.after}"


def path_of(module: str) -> Path:
    """The file of a module of ours."""
    package, *rest = module.split(".")
    path = ROOT.joinpath({"kvspec": "spec", "kvreference": "reference"}[package], package, *rest)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def mutants_of(module: str) -> tuple[Mutant, ...]:
    """Every mutant of a module that differs from it in more than words, each once, from its first line to its last."""
    source = path_of(module).read_text(encoding="utf-8")
    return tuple(mutant for piece in _pieces(source) for mutant in _mutants_of_piece(module, source, piece))


@dataclass(frozen=True)
class _Piece:
    """A function or another statement, without its indentation, in lines `first` to `last` (from 0) of its module."""

    name: str
    source: str
    first: int
    last: int
    indent: str

    def put_back(self, module_source: str, source: str) -> str:
        """The source of the module with this piece replaced."""
        lines = module_source.splitlines()
        lines[self.first : self.last] = textwrap.indent(source, self.indent).rstrip("\n").splitlines()
        return "\n".join(lines) + "\n"


def _pieces(source: str) -> Iterator[_Piece]:
    """The statements of a module and, of its classes, those of the class: small enough to be parsed again and again."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                yield _piece(source, member, node.name)
        else:
            yield _piece(source, node)


def _piece(source: str, node: ast.stmt, within: str = "") -> _Piece:
    decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
    first, last = min([node.lineno, *decorators]) - 1, node.end_lineno or node.lineno
    text = textwrap.dedent("\n".join(source.splitlines()[first:last])) + "\n"
    name = getattr(node, "name", "<statements>")
    return _Piece(f"{within}.{name}" if within else name, text, first, last, " " * node.col_offset)


def _mutants_of_piece(module: str, source: str, piece: _Piece) -> Iterator[Mutant]:
    seen = {_meaning(piece.source)}
    for operator, mutated in _sources(piece.source):
        meaning = _meaning(mutated)
        if meaning is not None and meaning not in seen:
            seen.add(meaning)
            before, after = _difference(piece.source, mutated)
            whole = piece.put_back(source, mutated)
            yield Mutant(module, piece.name, _short(operator), before, after, mutated, whole)


def _sources(source: str) -> Iterator[tuple[str, str]]:
    """(operator, mutated source) for all that can be made."""
    nodes = list(ast_nodes(get_ast(source)))
    for name in CONDITIONS:
        operator = OPERATORS[name]()
        for occurrence in range(sum(1 for node in nodes for _ in operator.mutation_positions(node))):
            yield name, mutate_code(source, operator, occurrence)
    tree = libcst.parse_module(source)
    for name, kinds, make in EFFECTS:
        for node in _nodes(tree, kinds):
            for changed in make(node):
                yield name, tree.deep_replace(node, changed).code  # type: ignore[attr-defined]


def _nodes(tree: libcst.CSTNode, kinds: tuple[type, ...]) -> Iterator[libcst.CSTNode]:
    if isinstance(tree, kinds):
        yield tree
    for child in tree.children:
        yield from _nodes(child, kinds)


class _Wordless(ast.NodeTransformer):
    """Blanks what only tells: annotations, f-strings, docstrings and other free-standing strings."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("")

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if isinstance(node.value, ast.Constant) else self.generic_visit(node)


def _meaning(source: str) -> str | None:
    """What a source says apart from words; None where it is no Python."""
    try:
        return ast.dump(_Wordless().visit(ast.parse(source)))
    except SyntaxError:
        return None


def _difference(old: str, new: str) -> tuple[str, str]:
    """The lines that differ, on one line each; a line of one word together with the line before it."""
    lines, others = old.splitlines(), new.splitlines()
    codes = SequenceMatcher(None, lines, others, autojunk=False).get_opcodes()
    changed = [code for code in codes if code[0] != "equal"]
    alone = lines[changed[0][1]].strip() in {"break", "continue", "return False", "return True"}
    before = lines[changed[0][1] - alone : changed[-1][2]]
    after = others[changed[0][3] - alone : changed[-1][4]]
    return " ".join(" ".join(before).split()), " ".join(" ".join(after).split())


def _short(operator: str) -> str:
    """The name of an operator without what they all have in it."""
    return operator.removeprefix("Replace").replace("Operator_", " ").replace("operator_", "")
