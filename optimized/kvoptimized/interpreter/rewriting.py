"""The Python form of a kernel: what the interpreter runs, with the line numbers of the source."""

from __future__ import annotations
import __future__

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import triton.runtime.interpreter as stock

_LENT = tuple(name for name in ("interpreter_semantic", "_InterpreterComparison") if hasattr(stock, name))
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_rewritten: dict[Callable[..., Any], Callable[..., Any]] = {}


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
    tree = stock.ASTTransformer().visit(tree)
    ast.increment_lineno(tree, first - 1)
    code = _code(tree, function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells |= {name: CellType(getattr(stock, name)) for name in _LENT}
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
