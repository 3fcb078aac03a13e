"""Theorem Q and its fp8 sibling in Gappa: scripts generated from the schemes, kept beside their certificates.

`python -m kvexamine.proofs.gappa` writes `spec/proofs/`: for each claim the script and the Coq certificate that Gappa
makes of it, which names the SHA-256 of its script. Where Gappa is installed the scripts are proved anew. Elsewhere the
kept ones are compared with what is generated, and are called kept, not proved. Formulas: `numbers.bounds`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from kvexamine.proofs.results import Kind, Outcome
from kvspec.numbers.bounds import kappa
from kvspec.numbers.floats import FP32, FloatFormat, floor_log2, power_of_two
from kvspec.numbers.schemes import (
    E4M3,
    E5M2_CODES,
    INT4,
    INT8,
    KIVI_KEY,
    UINT4,
    UINT8,
    Division,
    IntegerCodes,
    Scheme,
)
from kvspec.numbers.steps import HALF

KEPT = Path(__file__).parents[2] / "proofs"
SECONDS = 60
_FORMS = (Division.DIVIDE, Division.RECIPROCAL, Division.INVERSE_FIRST)


@dataclass(frozen=True)
class Claim:
    """A statement for Gappa: definitions, bounds that hold each on its range, and rewritings that it may try.

    `limits` are (hypothesis, expression, bound of its magnitude), each a script of its own; `false` has bounds that are
    too small, for some of them.
    """

    name: str
    statement: str
    definitions: tuple[str, ...]
    limits: tuple[tuple[str, str, Fraction], ...]
    false: tuple[tuple[str, int, Fraction], ...]
    """(what it is, which of the limits, the bound)."""
    hints: tuple[str, ...] = ()

    def script(self, index: int, bound: Fraction | None = None) -> str:
        """What Gappa reads for one of the limits, or for another bound of the same."""
        given, what, limit = self.limits[index]
        goal = f"{{ {given} -> |{what}| <= {dyadic(limit if bound is None else bound)} }}"
        return "\n".join((f"# {self.statement}", *self.definitions, goal, *self.hints)) + "\n"

    @property
    def text(self) -> str:
        """All scripts, as they are kept."""
        count = len(self.limits)
        return "\n".join(f"# script {k + 1} of {count}\n{self.script(k)}" for k in range(count))


def dyadic(value: Fraction) -> str:
    """A dyadic rational as Gappa writes it: 131073b-18 for 131073 / 2**18."""
    return f"{value.numerator}b-{value.denominator.bit_length() - 1}"


def claims() -> list[Claim]:
    """One claim for each kind of codes and each division that is a function."""
    symmetric = [_integer(base, form) for base in (INT8, INT4) for form in _FORMS]
    return [
        *symmetric,
        *(_integer(base, base.division) for base in (UINT8, UINT4, KIVI_KEY)),
        _fp8(E4M3),
        _fp8(E5M2_CODES),
    ]


def _integer(scheme: Scheme, form: Division) -> Claim:
    """|q - x / s| <= 1/2 + kappa before clipping, for every number s > 0 of the arithmetic and |x / s| <= Q."""
    arithmetic, levels = scheme.arithmetic, _largest_quotient(scheme.codes)
    extra = kappa(levels, form, arithmetic)
    if form is Division.INVERSE_FIRST:  # Gappa knows rounding errors as u, not as u / (1 + u)
        extra += levels * arithmetic.unit_roundoff**2
    rounding = f"@rnd = float<{arithmetic.precision}, {floor_log2(arithmetic.smallest)}, ne>;"
    quotient = _QUOTIENTS[form](levels, arithmetic)
    return Claim(
        f"{scheme.name.split('/')[0]}-{form.name.lower().replace('_', '-')}",
        f"Theorem Q, codes up to {levels}, {form.value} in {arithmetic.name}: the code is within 1/2 + kappa of x / s.",
        (rounding, "x = rnd(xx);", *quotient.definitions, "n = int<ne>(t);"),
        ((f"{quotient.domain} /\\ |x / s| <= {levels}", "n - x / s", HALF + extra),),
        (("half a step", 0, HALF), ("seven eighths of kappa", 0, HALF + extra * 7 / 8)),
        quotient.hints,
    )


def _largest_quotient(codes: IntegerCodes | FloatFormat) -> int:
    """Of a code that is not clipped: Q, or N where codes are counted from a zero point or a minimum."""
    if not isinstance(codes, IntegerCodes):
        raise TypeError(f"{codes} has no integer codes")
    return codes.largest


@dataclass(frozen=True)
class _Quotient:
    """How a division is defined, the scales or anchors that it is claimed for, and rewritings."""

    definitions: tuple[str, ...]
    domain: str
    hints: tuple[str, ...] = ()


def _divided(levels: int, arithmetic: FloatFormat) -> _Quotient:
    """Every positive number of the format."""
    least, beyond = floor_log2(arithmetic.smallest), floor_log2(arithmetic.largest) + 1
    return _Quotient(("s = rnd(ss);", "t = rnd(x / s);"), f"s in [1b{least}, 1b{beyond}]")


def _multiplied(levels: int, arithmetic: FloatFormat) -> _Quotient:
    """Scales whose reciprocals are normal, but for a binade at the end."""
    return _Quotient(
        ("s = rnd(ss);", "m = rnd(1 / s);", "t = rnd(x * m);"),
        f"s in [1b{-floor_log2(arithmetic.largest)}, 1b{-arithmetic.emin - 1}]",
        ("x / s -> x * (1 / s) { s <> 0 };",),
    )


def _inverted(levels: int, arithmetic: FloatFormat) -> _Quotient:
    """Anchors for which a / Q and Q / a are normal."""
    low = arithmetic.emin + floor_log2(Fraction(levels)) + 1
    high = min(floor_log2(arithmetic.largest), -arithmetic.emin)
    ratio, inverse = f"a / {levels}", f"{levels} / a"
    one, two = f"(s - {ratio}) / ({ratio})", f"(m - {inverse}) / ({inverse})"
    return _Quotient(
        ("a = rnd(aa);", f"s = rnd({ratio});", f"m = rnd({inverse});", "t = rnd(x * m);"),
        f"a in [1b{low}, 1b{high}]",
        (
            "x * m - x / s -> x / s * (s * m - 1) { s <> 0 };",
            f"s * m - 1 -> {one} + {two} + {one} * ({two}) {{ a <> 0 }};",
        ),
    )


_QUOTIENTS = {Division.DIVIDE: _divided, Division.RECIPROCAL: _multiplied, Division.INVERSE_FIRST: _inverted}


def _fp8(scheme: Scheme) -> Claim:
    """|y - t| <= 2**(e - p) + 2**(e - 24) for 2**e <= t <= 2**(e + 1), t = x / s: half a spacing and u t.

    Below the smallest normal number y is within half the smallest number of fl(t), which is within u t of t.
    """
    codes = scheme.codes
    if isinstance(codes, IntegerCodes):
        raise TypeError(scheme.name)
    given, fine = _divided(0, FP32).domain, FP32.unit_roundoff
    limits = []
    for exponent in range(codes.emin, floor_log2(codes.largest) + 1):
        low, top = power_of_two(exponent), min(power_of_two(exponent + 1), codes.largest)
        step = low * codes.unit_roundoff
        limits.append((f"{given} /\\ x / s in [{dyadic(low)}, {dyadic(top)}]", "y - x / s", step + low * fine))
    least = power_of_two(codes.emin)
    limits.append((f"{given} /\\ |x / s| <= {dyadic(least)}", "y - t", codes.smallest / 2))
    limits.append((f"{given} /\\ x / s in [1b-125, {dyadic(least)}]", "t -/ (x / s)", fine))
    return Claim(
        f"{scheme.name.split('/')[0]}-divide",
        f"{codes.name} codes: within half a spacing and u t of t = x / s, up to {codes.largest}.",
        (
            f"@rnd = float<{FP32.precision}, {floor_log2(FP32.smallest)}, ne>;",
            f"@code = float<{codes.precision}, {floor_log2(codes.smallest)}, ne>;",
            *("x = rnd(xx);", "s = rnd(ss);", "t = rnd(x / s);", "y = code(t);"),
        ),
        tuple(limits),
        (
            ("half a spacing", 0, least * codes.unit_roundoff),
            ("half a spacing, topmost binade", len(limits) - 3, step),
            ("a quarter of the smallest number", len(limits) - 2, codes.smallest / 4),
        ),
    )


def ask(script: str, *options: str) -> tuple[bool, str]:
    """Whether Gappa proves the script, and what it prints. An answer that is neither yes nor no is an error."""
    program = shutil.which("gappa") or "gappa"
    done = subprocess.run(  # noqa: S603 - a program on the path, reading our own script
        [program, *options], input=script, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode and "not satisfied" not in done.stderr:
        raise RuntimeError(f"gappa: {done.stderr.strip()[:300]}")
    return done.returncode == 0, done.stdout


def proved(claim: Claim) -> Outcome:
    """The claim by Gappa where it is installed, else by comparison with the kept certificate."""
    missing = shutil.which("gappa") is None
    kept = list(drift(claim)) if missing or KEPT.is_dir() else []  # an installed wheel comes without certificates
    name, statement = f"gappa/{claim.name}", claim.statement
    if missing:
        return Outcome(name, Kind.KEPT, statement, tuple(kept), vacuity="gappa is not installed")
    failures = kept + [
        f"Gappa does not prove {claim.limits[k]}" for k in range(len(claim.limits)) if not ask(claim.script(k))[0]
    ]
    false = {said: ask(claim.script(index, bound))[0] for said, index, bound in claim.false}
    failures += [f"Gappa proves the false bound '{said}'" for said, holds in false.items() if holds]
    return Outcome(
        name,
        Kind.MACHINE,
        statement,
        tuple(failures),
        proved=len(claim.limits),
        vacuity="false bounds refused",
        mutants=len(false),
        refuted=sum(not holds for holds in false.values()),
    )


def drift(claim: Claim) -> Iterator[str]:
    """How what is kept differs from what is generated."""
    script, certificate = KEPT / f"{claim.name}.gappa", KEPT / f"{claim.name}.v"
    if not script.is_file() or not certificate.is_file():
        yield f"no script or certificate {claim.name} in {KEPT.name}/; python -m kvexamine.proofs.gappa writes them"
    elif script.read_text("utf-8") != claim.text:
        yield f"the kept script {script.name} is not what is generated"
    elif not certificate.read_text("utf-8").startswith(_header(claim)):
        yield f"the certificate {certificate.name} is of another script"


def _header(claim: Claim) -> str:
    return f"(* Made by Gappa of {claim.name}.gappa, SHA-256 {sha256(claim.text.encode()).hexdigest()}. *)\n"


def main() -> int:
    """Write every script with its certificate; the exit status is 1 if Gappa refuses one."""
    for claim in claims():
        answers = [ask(claim.script(k), "-Bcoq") for k in range(len(claim.limits))]
        if not all(holds for holds, _ in answers):
            print(f"{claim.name}: Gappa does not prove it")
            return 1
        (KEPT / f"{claim.name}.gappa").write_text(claim.text, "utf-8")
        (KEPT / f"{claim.name}.v").write_text(
            _header(claim) + "".join(certificate for _, certificate in answers), "utf-8"
        )
        print(f"{claim.name}: {len(answers)} bounds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
