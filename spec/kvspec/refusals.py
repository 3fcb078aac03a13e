"""Named refusals of bad input, one kind for each kind of fault: the same in every package, whoever finds it."""

from __future__ import annotations


class Refused(ValueError):
    """Input that does not fit what it is used for; the message says what and where, and nothing was written."""


class ShapeError(Refused):
    """The number of axes, of elements or of groups, or the length of an axis is wrong."""


class DtypeError(Refused):
    """The element type cannot be used here."""


class ScaleError(Refused):
    """A scale that is missing, of the wrong granularity, or no number that the scheme could store or divide by."""


class NonFiniteError(Refused):
    """NaN or infinity where the scheme refuses it, or the format has no code for it."""


class BlockRangeError(Refused):
    """A block id or slot lies outside the cache."""


class ShortTableError(Refused):
    """A block table covers fewer tokens than are to be read."""
