"""Certified tolerances: how far a kernel's attention may be from the exact one, computed from its inputs.

The room holds what a kernel declares (`declaration`), how far its exponents may be off (`exponents`), what that does
to a softmax average (`averages`), the certificates T1 and T2 with the interval rule (`certificates`), that of an LSE
(`logsum`), the error of our own arithmetic in all of them (`arithmetic`), and the statement about the quality of a
quantized cache (`quality`). Derivations stand in `spec/attention-tolerance.md`,
under the same names. Nothing here is tuned: every constant is a unit roundoff or is declared.
"""
