"""The reference engine under its own name: it needs no adapter, it speaks the vocabulary."""

from __future__ import annotations

from kvconformance.engines.reference_attention import ReferenceAttention
from kvconformance.engines.reference_quantizer import ReferenceQuantizer
from kvconformance.report import kvspec_version
from kvconformance.surfaces import Engine
from kvreference.contiguous import ContiguousPool
from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper
from kvspec.vocabulary import Surface


def engine() -> Engine:
    """The paged reference engine."""
    factories = {
        Surface.POOL: ReferencePool,
        Surface.STEPPER: ReferenceStepper,
        Surface.QUANTIZER: ReferenceQuantizer,
        Surface.ATTENTION: ReferenceAttention,
    }
    return Engine("reference", kvspec_version(), factories)


def contiguous() -> Engine:
    """The contiguous baseline: one buffer of maximal length per request."""
    return Engine("contiguous", kvspec_version(), {Surface.POOL: ContiguousPool})
