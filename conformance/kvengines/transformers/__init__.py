"""Hugging Face transformers: continuous batching, its paged cache alone, and whole generations of a tiny Llama.

Everything judged here is the installed code: its cache, scheduler, offloading manager, batch processor and tensors.
The adapters only translate names and physical indices and decide nothing.
"""

from __future__ import annotations

import transformers

from kvconformance.surfaces import Engine
from kvengines.transformers.generator import TransformersGenerator
from kvengines.transformers.pool import TransformersPool
from kvengines.transformers.stepper import TransformersStepper
from kvspec.vocabulary import Surface


def engine() -> Engine:
    """The installed transformers on the CPU."""
    return Engine(
        "transformers",
        transformers.__version__,
        {
            Surface.POOL: TransformersPool,
            Surface.STEPPER: TransformersStepper,
            Surface.GENERATOR: TransformersGenerator,
        },
    )


__all__ = ["TransformersGenerator", "TransformersPool", "TransformersStepper", "engine"]
