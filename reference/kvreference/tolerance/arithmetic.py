"""Roundings: bounds on chains of them, what an operation may flush, and the error of our own float64 arithmetic.

Certificates are computed in float64 with NumPy, so what they say is off like any other result. Section Own arithmetic
of `spec/attention-tolerance.md` derives the allowances that stand here and says where each is paid.
"""

from __future__ import annotations

from kvreference.arrays import DeclarationError

TINY = 2.0**-126
"""What an operation of a kernel may flush to zero."""
LEAST_CODE = 2.0**-16
"""The smallest magnitude of a code other than 0 (e5m2)."""
OWN_UNIT = 2.0**-53
OWN_LIBRARY = 8 * OWN_UNIT
"""Relative error of NumPy's exp, expm1, log, log1p and tanh: 4 ulp, checked against exact arithmetic in the tests."""
OWN_EXPONENT = 1024 * OWN_UNIT
"""Log-error of a weight exp(z - top) and of products with it: z - top is rounded at a size of at most 746."""


def gamma(chain: float, unit: float) -> float:
    """`chain * unit / (1 - chain * unit)`: relative error of `chain` roundings (Higham 2002, lemma 3.1)."""
    product = chain * unit
    if product >= 0.5:
        raise DeclarationError(f"{chain} roundings of unit {unit} leave no correct digit")
    return product / (1 - product)


def own_error(count: int, size: int) -> float:
    """Relative error of a positive result of ours that sums over `count` keys and `size` channels, in any order."""
    return gamma(8 * (count + size) + 4096, OWN_UNIT)
