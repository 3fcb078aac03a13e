"""Imposters that shift or copy quantized blocks wrongly."""

from __future__ import annotations

import numpy as np

from kvconformance.engines.reference_quantizer import ReferenceQuantizer, turned
from kvconformance.imposters.quantization import INT8
from kvconformance.surfaces.quantizer import Array, Single
from kvspec import rules
from kvspec.vocabulary import World


class CopyTakesTheOtherAxis(ReferenceQuantizer):
    """Copies slot to slot in every block where block to block is meant (vLLM #17362)."""

    bug, broken_rule, capabilities = "B159", rules.SCALE_TRAVELS, INT8

    def copy(self, source: int, target: int) -> None:
        size = self.world.block_size
        for part in self.blocks.parts:
            part.storage[:, target % size] = part.storage[:, source % size]


class ShiftInTheFirstStreamOnly(ReferenceQuantizer):
    """Shifts the rows of the first block and forgets to loop over the others (llama.cpp #14742)."""

    bug, broken_rule, capabilities = "B188", rules.COMMUTES, INT8

    def rotate(self, slots: Array, cosine: Single, sine: Single) -> None:
        first = slots // self.world.block_size == slots[0] // self.world.block_size
        super().rotate(slots[first], cosine[first], sine[first])


class SecondShiftReplacesTheFirst(ReferenceQuantizer):
    """Shifts when it reads, by a distance that a second shift sets and does not add to (llama.cpp #3835)."""

    bug, broken_rule, capabilities = "B187", rules.COMMUTES, INT8

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.shift: dict[int, tuple[Single, Single]] = {}

    def write(self, slots: Array, x: Single) -> None:
        super().write(slots, x)
        for slot in slots.tolist():
            self.shift.pop(slot, None)

    def copy(self, source: int, target: int) -> None:
        super().copy(source, target)
        size = self.world.block_size
        for offset in range(size):
            self.shift.pop(target * size + offset, None)
            if source * size + offset in self.shift:
                self.shift[target * size + offset] = self.shift[source * size + offset]

    def rotate(self, slots: Array, cosine: Single, sine: Single) -> None:
        self.shift |= {int(slot): (cosine[i], sine[i]) for i, slot in enumerate(slots)}

    def read(self, slots: Array) -> Array:
        rows = super().read(slots).astype(np.float32)
        for row, slot in enumerate(slots.tolist()):
            if slot in self.shift:
                cosine, sine = self.shift[slot]
                rows[row] = turned(rows[row][None], cosine[None], sine[None])[0]
        return rows
