"""What certificates and fixed tolerances catch: one wrong token or a wrong scale, and how often they cry wolf.

`python -m kvreference.evidence.power [trials] [seed]` prints, for each length, the share of rows with a fault that T1,
T2, `atol = rtol = 1e-2` and torch's defaults for bfloat16 refuse; the last line is the summary.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kvreference.arrays import Float
from kvreference.attention import Row, attend_row
from kvreference.evidence.kernels import nearest
from kvreference.evidence.rows import replaced, without
from kvreference.roundings import BF16, round_to
from kvreference.tolerance.certificates import t1, t2
from kvreference.tolerance.declaration import Declaration

LENGTHS = (128, 1024, 8192)
HEAD_DIM = 128
TILE = 64
Fault = Callable[[Row, np.random.Generator], Row]


def _dropped(row: Row, rng: np.random.Generator) -> Row:
    return without(row, int(rng.integers(len(row.keys))))


def _duplicated(row: Row, rng: np.random.Generator) -> Row:
    index = int(rng.integers(len(row.keys)))
    other = (index + 1) % len(row.keys)
    return replaced(row, index, row.keys[other], row.values[other])


def _stale(row: Row, rng: np.random.Generator) -> Row:
    index = int(rng.integers(len(row.keys)))
    key, value = rng.standard_normal((2, HEAD_DIM))
    return replaced(row, index, round_to(key, BF16), round_to(value, BF16))


FAULTS: dict[str, Fault] = {
    "dropped": _dropped,
    "duplicated": _duplicated,
    "stale": _stale,
    "logit scale * (1 + 2^-10)": lambda row, _: replace(row, scale=row.scale * (1 + 2.0**-10)),
    "value scale * (1 + 2^-6)": lambda row, _: replace(row, values=row.values * (1 + 2.0**-6)),
    "none": lambda row, _: row,
}
TOKENS = ("dropped", "duplicated", "stale")
JUDGES = ("T1", "T2", "1e-2", "torch")


def sample(rng: np.random.Generator, count: int, outliers: bool) -> Row:
    """A bfloat16 decode row of `count` standard normal tokens, with one outlier channel in the keys or none."""
    query, keys = rng.standard_normal(HEAD_DIM), rng.standard_normal((count, HEAD_DIM))
    if outliers:
        keys[:, rng.integers(HEAD_DIM)] += 8
    values = rng.standard_normal((count, HEAD_DIM))
    return Row(round_to(query, BF16), round_to(keys, BF16), round_to(values, BF16), HEAD_DIM**-0.5)


def verdicts(row: Row, outputs: dict[str, Float], declaration: Declaration) -> dict[tuple[str, str], bool]:
    """Which judge refuses which output (before the cast to bfloat16), by (fault, judge)."""
    first, second, exact = t1(row, declaration), t2(row, declaration), attend_row(row).output
    refused = {}
    for fault, output in outputs.items():
        stored = round_to(output, BF16)
        off = np.abs(stored - exact)
        refused[fault, "T1"] = not first.allows(stored, "bf16")
        refused[fault, "T2"] = not second.allows(stored, "bf16")
        refused[fault, "1e-2"] = bool((off > 1e-2 + 1e-2 * np.abs(exact)).any())
        refused[fault, "torch"] = bool((off > 1e-5 + 1.6e-2 * np.abs(exact)).any())
    return refused


def measure(count: int, trials: int, rng: np.random.Generator) -> Counter[tuple[str, str]]:
    """How many of `trials` rows of `count` tokens each judge refuses, half of them with outliers."""
    declaration = Declaration(kv_tile=TILE, h_qk=24, h_pv=TILE + -(-count // TILE))
    caught: Counter[tuple[str, str]] = Counter()
    for trial in range(trials):
        row = sample(rng, count, outliers=trial % 2 == 1)
        outputs = {name: nearest(fault(row, rng), declaration) for name, fault in FAULTS.items()}
        caught.update(key for key, refused in verdicts(row, outputs, declaration).items() if refused)
    return caught


def main(arguments: list[str]) -> int:
    """Print the table; the exit status is 1 where a certificate raised a false alarm."""
    trials = int(arguments[0]) if arguments else 80
    rng = np.random.default_rng(int(arguments[1]) if len(arguments) > 1 else 1)
    summary, alarms = [], 0
    for count in LENGTHS:
        caught = measure(count, trials, rng)
        print(f"{count} tokens, {trials} rows")
        for fault in FAULTS:
            shares = "  ".join(f"{judge} {caught[fault, judge] / trials:4.0%}" for judge in JUDGES)
            print(f"  {fault:26} {shares}", flush=True)
        tokens = {judge: sum(caught[f, judge] for f in TOKENS) / (len(TOKENS) * trials) for judge in JUDGES}
        summary.append(f"n={count}: " + " ".join(f"{judge} {share:.0%}" for judge, share in tokens.items()))
        alarms += caught["none", "T1"] + caught["none", "T2"]
    print(f"power, one wrong token caught: {'; '.join(summary)}; false alarms of T1 and T2: {alarms}")
    return int(alarms > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
