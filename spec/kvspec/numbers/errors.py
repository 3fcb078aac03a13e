"""What can be wrong with an input of a quantizer, one kind of error for each kind of fault."""

from __future__ import annotations


class QuantizationError(ValueError):
    """Input that a scheme does not define; the message says what and where, and nothing was written."""


class NonFiniteValueError(QuantizationError):
    """NaN or infinity under a scheme that refuses it."""


class ScaleError(QuantizationError):
    """A scale that is missing, zero, not finite, or not a number of the scheme's scale format."""


class ScaleCountError(ScaleError):
    """Not one scale for each group: the scales have another granularity."""


class ShapeError(QuantizationError):
    """Values, groups or codes whose number does not fit."""


class CodeError(QuantizationError):
    """A code outside the codes of the scheme."""


class UndefinedError(QuantizationError):
    """A question that the scheme leaves open, such as the one code of an undeclared division."""
