"""The reference engine under its own name: it needs no adapter, it speaks the vocabulary."""

from __future__ import annotations

from kvreference.contiguous import ContiguousPool
from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper
from kvspec.vocabulary import Surface

from kvconformance.report import kvspec_version
from kvconformance.surfaces import Engine


def engine() -> Engine:
    """The paged reference engine."""
    factories = {Surface.POOL: ReferencePool, Surface.STEPPER: ReferenceStepper}
    return Engine("reference", kvspec_version(), factories)


def contiguous() -> Engine:
    """The contiguous baseline: one buffer of maximal length per request."""
    return Engine("contiguous", kvspec_version(), {Surface.POOL: ContiguousPool})
