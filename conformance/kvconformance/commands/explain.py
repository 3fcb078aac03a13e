"""The command `kvspec explain`: a rule, or another name of the specification, with all that is known of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from kvconformance.explain import law
from kvconformance.telling.output import usage
from kvspec.rules import RULES, find

if TYPE_CHECKING:
    from kvconformance.explain.facts import Broke, Explanation

console = Console(highlight=False, soft_wrap=True)


def explain(
    rule: Annotated[str, typer.Argument(help="A rule id, such as prefix/one-token-left; or S4, L2, publishes.")],
    json: Annotated[bool, typer.Option("--json", help="As JSON on standard output; rules only.")] = False,
) -> None:
    """Say what a rule means, why, where it is guarded, and which tests, imposters, bugs and engines know of it.

    The paragraph is that of `spec/cache.md`, which also defines invariants (S1 to S15), liveness (L1 to L5), freedoms.
    """
    defined = law.definitions()
    if rule in defined and rule not in RULES and not json:
        console.print(escape(plain(defined[rule])))
        return
    from kvconformance.explain.facts import explanation  # noqa: PLC0415 - no other command needs the imposters

    try:
        found = explanation(find(rule))
    except KeyError as error:
        usage(str(error.args[0]))
    if json:
        sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
        return
    console.print(f"[bold]{found.id}[/]  ({'profile ' + found.profile if found.profile else 'must'})")
    console.print(f"  {escape(found.sentence)}\n\n  {escape(plain(found.text))}\n")
    for line in _lines(found):
        console.print(escape(line))


def plain(paragraph: str) -> str:
    """A paragraph without its marks of emphasis."""
    return re.sub(r"[*`]", "", paragraph)


def _lines(found: Explanation) -> Iterator[str]:
    yield f"  surfaces       {', '.join(found.surfaces)}"
    yield f"  falls with it  {', '.join(found.falls_with_it) or '-'}"
    yield f"  falls with     {', '.join(found.falls_with) or '-'}"
    yield f"  sources        {', '.join(found.sources)}"
    yield f"  checked        {found.checked or 'not by this version'}"
    yield from _list("guards", (f"{guard.module}: {guard.function}" for guard in found.guards))
    if found.tests is None:
        yield "  tests          (they are in the repository, which is not here)"
    else:
        yield from _list("tests", found.tests)
    yield from _list("imposters", (f"{each.name} ({each.bug}, {each.surface})" for each in found.imposters))
    yield from _list("bugs", (f"{bug.id} {bug.reference}: {bug.cause}" for bug in found.bugs))
    yield from _list("engines", map(_broke, found.engines))


def _broke(engine: Broke) -> str:
    return f"{engine.engine} {engine.version}, {engine.surface}: {', '.join(engine.findings) or 'no script'}"


def _list(name: str, lines: Iterable[str]) -> Iterator[str]:
    rest = list(lines)
    yield f"  {name:<14} {len(rest) or '-'}"
    yield from (f"    {line}" for line in rest)
