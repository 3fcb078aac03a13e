"""The Python form of a kernel: what the interpreter runs, with the line numbers of the source.

`and`, `or` and `not` act on every lane of a block, and `if` refuses one; the stock form takes every block for true.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import triton.language as tl
import triton.runtime.interpreter as stock

from kvoptimized.interpreter.faults import AmbiguousTruth

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_rewritten: dict[Callable[..., Any], Callable[..., Any]] = {}


def single_lane(value: Any) -> Any:
    """`value`, which must not be a block of several lanes. Raises AmbiguousTruth."""
    if _is_block(value):
        raise AmbiguousTruth(f"a block of {value.handle.data.size} lanes is used as one value")
    return value


def _is_block(value: Any) -> bool:
    return isinstance(value, tl.tensor) and value.handle.data.size > 1


def _logical(name: str, value: Any, *others: Callable[[], Any]) -> Any:
    """`and` and `or`: lane by lane for blocks, as compiled, and as in Python for single values."""
    for other in others:
        if _is_block(value):
            semantic = stock.interpreter_semantic
            value = getattr(semantic, f"logical_{name}")(value, semantic.to_tensor(other()))
        elif bool(value) == (name == "or"):
            return value
        else:
            value = other()
    return value


def _negated(value: Any) -> Any:
    return stock.interpreter_semantic.not_(value) if _is_block(value) else not value


_STOCK = ("interpreter_semantic", "_InterpreterComparison")
_OURS = {"_single_lane": single_lane, "_logical": _logical, "_negated": _negated}
_LENT = {name: getattr(stock, name) for name in _STOCK if hasattr(stock, name)} | _OURS


class _Truths(ast.NodeTransformer):
    """Calls what is above wherever Python would ask a block of several lanes for its truth value."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.Call:
        self.generic_visit(node)
        first, *others = node.values
        name = ast.Constant(value="and" if isinstance(node.op, ast.And) else "or")
        return _call("_logical", name, first, *map(_later, others))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _call("_negated", node.operand) if isinstance(node.op, ast.Not) else node

    def visit(self, node: ast.AST) -> Any:
        visited = super().visit(node)
        if isinstance(visited, ast.If | ast.IfExp | ast.While):
            visited.test = _call("_single_lane", visited.test)
        return visited


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    call = ast.Call(func=ast.Name(id=function, ctx=ast.Load()), args=list(arguments), keywords=[])
    return ast.copy_location(call, arguments[-1])


def _later(expression: ast.expr) -> ast.Lambda:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(args=nothing, body=expression), expression)


def rewritten(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with its assignments made Triton values; unlike the stock form it keeps its closure and globals.

    A function whose source cannot be read is returned as it is.
    """
    if function not in _rewritten:
        _rewritten[function] = _rewrite(function)
    return _rewritten[function]


def _rewrite(function: Any) -> Callable[..., Any]:
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return function  # type: ignore[no-any-return]
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return function  # type: ignore[no-any-return]
    _strip(definition)
    tree = stock.ASTTransformer().visit(_Truths().visit(tree))
    ast.increment_lineno(tree, first - 1)
    code = _code(tree, function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells |= {name: CellType(value) for name, value in _LENT.items()}
    closure = tuple(cells[name] for name in code.co_freevars)
    result = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    result.__kwdefaults__, result.__annotations__ = function.__kwdefaults__, function.__annotations__
    result.__module__, result.__qualname__ = function.__module__, function.__qualname__
    return result


def _strip(definition: ast.FunctionDef) -> None:
    """Without decorators, annotations and defaults: the function has them already, evaluated where it was defined."""
    definition.decorator_list, definition.returns = [], None
    arguments = definition.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    arguments.defaults = [ast.Constant(value=None) for _ in arguments.defaults]
    arguments.kw_defaults = [default and ast.Constant(value=None) for default in arguments.kw_defaults]


def _code(tree: ast.Module, function: Any) -> Any:
    """The compiled body, nested in a factory whose parameters become its free variables."""
    names = (*function.__code__.co_freevars, *_LENT)
    parameters = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=name) for name in names], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    module = ast.parse("def make(): pass")
    template: Any = module.body[0]
    template.args, template.body = parameters, tree.body
    ast.fix_missing_locations(module)
    flags = function.__code__.co_flags & _FUTURES
    outer = compile(module, function.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    factory = next(constant for constant in outer.co_consts if hasattr(constant, "co_code"))
    return next(c for c in factory.co_consts if hasattr(c, "co_code") and c.co_name == function.__name__)
