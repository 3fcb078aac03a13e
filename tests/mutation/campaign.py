"""`make mutants [ARGS="module ..."]`: tries all mutants, prints a table, fails on a survivor that nothing excuses."""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path

from tests.mutation import equivalents
from tests.mutation.mutants import ROOT, Mutant, mutants_of, path_of
from tests.mutation.scope import chosen
from tests.mutation.session import Session
from tests.mutation.trying import try_mutant, warm_up

FOLDER = ROOT / ".venv" / "mutants"
KINDS = ("tests", "imposters", "honest", "crash", "timeout")
PATIENCE = 4
"""Times as much CPU as the unchanged module needs; whoever needs more has a loop without end."""


def main() -> int:
    """Exit status: 0 every mutant is killed or listed, 1 not so, 2 usage."""
    arguments = _arguments()
    modules = chosen(arguments.modules)
    path = _corpus()
    session = Session(FOLDER / "fates.jsonl", fresh=arguments.fresh)
    excused = set(equivalents.load())
    with get_context("spawn").Pool(arguments.workers, initializer=warm_up) as pool:
        bad = 0
        for module in modules:
            bad += _run(pool, module, path, session, excused)
    print(table(modules, session, excused))
    return judge(modules, session, excused) or bad


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=main.__doc__)
    parser.add_argument("modules", nargs="*", help="ends of names, as `pool` or `transition.guards`; none: all")
    parser.add_argument("--workers", type=int, default=1, choices=(1, 2), help="processes (1)")
    parser.add_argument("--fresh", action="store_true", help="try those again that were killed before")
    return parser.parse_args()


def _corpus() -> Path:
    """Made in a process of its own: this one must not import what is mutated."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_load_corpus)


def _load_corpus() -> Path:
    from tests.mutation import corpus

    return corpus.load(FOLDER, partial(print, file=sys.stderr, flush=True))


def _run(pool: Pool, module: str, corpus: Path, session: Session, excused: set[tuple[str, ...]]) -> int:
    """Try what nothing is known of, and survivors without an excuse; 1 if the unchanged module does not live."""
    mutants = [mutant for mutant in mutants_of(module) if not session.settled(mutant, excused)]
    honest = pool.apply(try_mutant, (unchanged(module), corpus, 600))
    if honest.how != "survived":
        print(f"{module} as it is does not live: {honest.how}, {honest.seen}")
        return 1
    seconds = max(4, math.ceil(PATIENCE * honest.cpu))
    tried = pool.imap(partial(try_mutant, corpus=corpus, seconds=seconds), mutants)
    for number, (mutant, fate) in enumerate(zip(mutants, tried, strict=True), 1):
        session.record(mutant, fate)
        print(f"{module} {number}/{len(mutants)} {fate.how}: {fate.seen}"[:120], file=sys.stderr, flush=True)
    return 0


def unchanged(module: str) -> Mutant:
    """The module itself, which everybody must let live."""
    source = path_of(module).read_text(encoding="utf-8")
    return Mutant(module, "", "none", "", "", source, source)


def table(modules: Sequence[str], session: Session, excused: set[tuple[str, ...]]) -> str:
    """By module: the mutants, who killed them, how many live and are excused, how many live."""
    lines = ["| module | mutants | tests | imposters | honest engines | crash | no end | equivalent | survived |"]
    lines.append("|---|" + "---|" * 8)
    total: Counter[str] = Counter()
    for module in modules:
        counts = Counter(how for _, how in _fates(module, session, excused))
        total += counts
        lines.append(_row(f"`{module}`", counts))
    return "\n".join([*lines, _row("all", total)])


def _row(name: str, counts: Counter[str]) -> str:
    cells = (counts.total(), *(counts[kind] for kind in (*KINDS, "equivalent", "survived")))
    return f"| {name} | " + " | ".join(str(cell) for cell in cells) + " |"


def _fates(module: str, session: Session, excused: set[tuple[str, ...]]) -> Iterator[tuple[Mutant, str]]:
    for mutant in mutants_of(module):
        how = session.fates[mutant.digest].how if mutant.digest in session.fates else "not tried"
        yield mutant, "equivalent" if how == "survived" and mutant.key in excused else how


def judge(modules: Sequence[str], session: Session, excused: set[tuple[str, ...]]) -> int:
    """Name whoever lives without an excuse, and whoever has an excuse and was killed."""
    bad = 0
    for mutant, how in (pair for module in modules for pair in _fates(module, session, excused)):
        if how == "survived":
            print(f"survived: {mutant} ({mutant.operator})")
            bad = 1
        elif how != "equivalent" and mutant.key in excused:
            print(f"listed as equivalent, yet noticed: {mutant}: {session.fates[mutant.digest].seen}")
            bad = 1
    return bad
