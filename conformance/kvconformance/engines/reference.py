"""The reference engine under its own name: it needs no adapter, it speaks the vocabulary."""

from __future__ import annotations

from kvconformance.engines.reference_cached_attention import ReferenceCachedAttention
from kvconformance.engines.reference_quantizer import ReferenceQuantizer
from kvconformance.surfaces import Engine
from kvconformance.telling.report import kvspec_version
from kvreference.contiguous import ContiguousPool
from kvreference.groups import ReferenceGroups
from kvreference.hybrid import HybridStepper
from kvreference.publishing import PublishingPool, PublishingStepper
from kvreference.radix_publishing import PublishingTree
from kvspec.vocabulary import Surface


def engine() -> Engine:
    """The paged reference engine."""
    factories = {
        Surface.POOL: PublishingPool,
        Surface.STEPPER: PublishingStepper,
        Surface.TREE: PublishingTree,
        Surface.GROUPS: ReferenceGroups,
        Surface.QUANTIZER: ReferenceQuantizer,
        Surface.ATTENTION: ReferenceCachedAttention,
    }
    return Engine("reference", kvspec_version(), factories)


def hybrid() -> Engine:
    """The reference scheduler over several groups of layers."""
    return Engine("hybrid", kvspec_version(), {Surface.STEPPER: HybridStepper})


def contiguous() -> Engine:
    """The contiguous baseline: one buffer of maximal length per request."""
    return Engine("contiguous", kvspec_version(), {Surface.POOL: ContiguousPool})
