"""The table: one line per kernel and target, what is wrong with it, and a summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from kvoptimized.static.ceilings import Ceilings
from kvoptimized.static.compiling import NotCompiled
from kvoptimized.static.measures import Measures, measured
from kvoptimized.static.registry import Specialisation, is_amd, registered

BUDGETED = "sm_90"
"""The target of `Specialisation.budget`: issue slots per byte of memory traffic were counted for it."""
HEADER = (
    f"{'kernel':44} {'target':7} {'regs':>4} {'spills':>6} {'shared':>7} {'128-bit':>7} {'narrow':>6} "
    f"{'matrix':6} {'lane-ops':>8} {'fma':>4} {'approx':>6}"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One compilation: `found` is None where the compiler refused; `wrong` has one sentence per complaint."""

    specialisation: Specialisation
    target: str
    found: Measures | None
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        name = f"{self.specialisation.name:44} {self.target:7}"
        complaint = f"  ! {'; '.join(self.wrong)}" if self.wrong else ""
        if self.found is None:
            return name + complaint
        m = self.found
        lanes = "" if m.lane_operations is None else f"{m.lane_operations:.2f}"
        exact = f"{m.contracted:>4} {m.approximate:>6}" if self.specialisation.exact else f"{'':11}"
        return (
            f"{name} {m.registers:>4} {m.spills:>6} {m.shared:>7} {m.wide:>7} {m.narrow:>6} "
            f"{'+'.join(m.matrix):6} {lanes:>8} {exact}{complaint}"
        ).rstrip()


def lines(
    specialisations: Iterable[Specialisation], targets: Sequence[str], ceilings: Ceilings, jobs: int = 1
) -> Iterator[Line]:
    """Compile, measure and compare, in `jobs` processes, one line at a time and in order."""
    work = [(each, target) for each in specialisations for target in each.targets if target in targets]
    if jobs == 1:
        yield from (line(each, target, ceilings) for each, target in work)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        found = pool.map(_measured_by_name, [(each.name, target) for each, target in work])
        for (each, target), measures in zip(work, found, strict=True):
            yield _compared(each, target, measures, ceilings)


def line(specialisation: Specialisation, target: str, ceilings: Ceilings) -> Line:
    """One line."""
    return _compared(specialisation, target, _measured(specialisation, target), ceilings)


def _measured(specialisation: Specialisation, target: str) -> Measures | str:
    """What was counted, or why there is nothing to count."""
    try:
        return measured(specialisation, target)
    except NotCompiled as refused:
        return str(refused)


def _measured_by_name(work: tuple[str, str]) -> Measures | str:
    """The same in another process, to which kernels cannot be sent."""
    name, target = work
    room, _, _ = name.partition(" ")
    found = (each for each in registered([room]) if each.name == name and target in each.targets)
    return _measured(next(found), target)


def _compared(specialisation: Specialisation, target: str, found: Measures | str, ceilings: Ceilings) -> Line:
    if isinstance(found, str):
        return Line(specialisation, target, None, (found,))
    return Line(specialisation, target, found, tuple(complaints(specialisation, target, found, ceilings)))


def complaints(specialisation: Specialisation, target: str, found: Measures, ceilings: Ceilings) -> Iterator[str]:
    """What is not as it must be, or is more than recorded."""
    for check in (_spills, _exactness, _loads, _matrix, _budget):
        yield from check(specialisation, target, found)
    recorded = ceilings.get((specialisation.name, target))
    if recorded is None:
        yield "no ceiling is recorded; run `python -m kvoptimized.static --record`"
    else:
        yield from recorded.exceeded(found)


def summary(table: Sequence[Line]) -> str:
    """One line: what was compiled, lane operations per element on the budgeted target, and the verdict."""
    lanes: dict[str, float] = {}
    for each in table:
        if each.target == BUDGETED and each.specialisation.budget and each.found and each.found.lane_operations:
            lanes[each.specialisation.name] = each.found.lane_operations
    costs = ", ".join(f"{name} {cost:.2f}" for name, cost in lanes.items())
    costs = f"lane-ops per element: {costs}; " if costs else ""
    beyond = sum(bool(each.wrong) for each in table)
    verdict = f"{beyond} with complaints" if beyond else "all within their ceilings"
    return f"static: {len(table)} compilations; {costs}{verdict}"


def _spills(_: Specialisation, __: str, found: Measures) -> Iterator[str]:
    if found.spills:
        yield f"{found.spills} spills"


def _exactness(specialisation: Specialisation, target: str, found: Measures) -> Iterator[str]:
    if specialisation.exact and (found.contracted or found.approximate):
        yield f"{found.contracted} contracted multiply-adds and {found.approximate} approximate divisions change codes"


def _loads(specialisation: Specialisation, target: str, found: Measures) -> Iterator[str]:
    if is_amd(target) and specialisation.wide_bytes and not found.wide:
        yield "no 128-bit loads"
    if not is_amd(target) and found.wide_bytes < specialisation.wide_bytes:
        yield f"{found.wide_bytes} bytes per iteration in 128-bit loads, expected {specialisation.wide_bytes}"


def _matrix(specialisation: Specialisation, target: str, found: Measures) -> Iterator[str]:
    expected = specialisation.matrix.get(target)
    if expected is not None and expected not in found.matrix:
        yield f"no {expected}"


def _budget(specialisation: Specialisation, target: str, found: Measures) -> Iterator[str]:
    if target == BUDGETED and specialisation.budget is not None:
        if found.lane_operations is None:
            yield "no main loop with matrix instructions"
        elif found.lane_operations > specialisation.budget:
            yield f"{found.lane_operations:.2f} lane operations per element, the budget is {specialisation.budget}"
