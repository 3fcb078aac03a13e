"""What else can be wrong with an input of a quantizer, beside the refusals that all packages share."""

from __future__ import annotations

from kvspec.refusals import Refused, ScaleError


class ScaleCountError(ScaleError):
    """Not one scale for each group: the scales have another granularity."""


class CodeError(Refused):
    """A code outside the codes of the scheme."""


class UndefinedError(Refused):
    """A question that the scheme leaves open, such as the one code of an undeclared division."""
