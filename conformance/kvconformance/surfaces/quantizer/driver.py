"""Drives a quantizer through a history."""

from __future__ import annotations

from typing import Any

import numpy as np

from kvconformance import history as h
from kvconformance.checker import Checker, Guarded
from kvconformance.surfaces.base import Factory
from kvconformance.surfaces.quantizer import operations as ops
from kvconformance.surfaces.quantizer import recipes
from kvconformance.surfaces.quantizer.blocks import Blocks
from kvconformance.surfaces.quantizer.expected import Expected, per_token
from kvconformance.surfaces.quantizer.judge import Judge
from kvconformance.surfaces.quantizer.protocol import (
    Declaration,
    Encoded,
    QuantizerCapabilities,
    Setting,
    Single,
    require_honest,
)
from kvconformance.surfaces.quantizer.sequences import Sequences
from kvspec import rules
from kvspec.numbers.floats import power_of_two
from kvspec.numbers.schemes import Zero
from kvspec.violation import HarnessFault
from kvspec.vocabulary import World

RAISES = rules.HALF_STEP
FIXED_SCALES = (1.0, 0.04, 2.0, 0.25, 3.0 * 2.0**-20)
"""Scales that are given from outside: files hold such, and 1 is what an ignored scale looks like."""


class QuantizerDriver:
    """One checker, one quantizer, one history."""

    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.checker, self.factory = checker, factory
        self.world: World = checker.world
        self.setting = Setting.of(self.world)
        self.declared = declaration(factory.capabilities, self.setting.name)  # type: ignore[attr-defined]
        self.call = Guarded(checker, RAISES)
        self.engine = self.build()
        tally = checker.tally
        self.blocks = Blocks(self.engine, self.call, tally, self.declared, self.world)
        self.sequences = Sequences(self.engine, self.call, tally, self.declared, self.build)

    def build(self) -> Any:
        """A fresh quantizer."""
        return self.call("building", self.factory, self.world)

    def run(self, operations: tuple[h.Operation, ...]) -> None:
        """Perform every operation that the quantizer has."""
        for operation in operations:
            self.checker.note(operation)
            perform = getattr(self, f"do_{type(operation).__name__.lower()}", None)
            if perform is not None:
                # Infinity and NaN are looked at where they matter.
                with np.errstate(all="ignore"):
                    perform(operation)

    def array(self, values: ops.Values, times: int = 1) -> Single:
        """The numbers of a recipe, `times` as many tokens."""
        many = ops.Values(values.pattern, values.tokens * times, values.seed, values.exponent, values.at)
        return recipes.values(many, self.setting.kv_heads, self.setting.head_dim, self.declared.scheme)

    def do_encode(self, operation: ops.Encode) -> None:
        """Encode and decode."""
        x = self.array(operation.values)
        self.checker.say(told(operation.values, x))
        self.encoded(Expected(x, self.declared.scheme))

    def encoded(self, expected: Expected) -> Any:
        """Encode alone, judge, and give what it decodes to; None where a refusal is right."""
        try:
            encoded: Encoded = self.engine.encode(expected.x.copy())
        except Exception as error:  # whether a refusal is right, the scheme says
            if expected.meaning() is not None:
                self.call("encode", _raise, error)
            return None
        decoded = np.asarray(self.call("decode", self.engine.decode, encoded))
        Judge(self.checker.tally, self.declared, expected).judge(encoded, decoded)
        return decoded

    def do_encodefixed(self, operation: ops.EncodeFixed) -> None:
        """Encode with given scales, where the quantizer takes them."""
        if not hasattr(self.engine, "encode_with"):
            return
        x = self.array(operation.values)
        scales, zeros = self.fixed(operation.scale, Expected(x, self.declared.scheme))
        self.checker.say(f"{told(operation.values, x)}, under given scales {scales.ravel()[:3].tolist()}")
        expected = Expected(x, self.declared.scheme, (scales, zeros))
        encoded = self.call("encode_with", self.engine.encode_with, x.copy(), scales, zeros)
        decoded = np.asarray(self.call("decode", self.engine.decode, encoded))
        Judge(self.checker.tally, self.declared, expected).judge(encoded, decoded)

    def fixed(self, which: int, expected: Expected) -> tuple[Single, Single | None]:
        """One scale for each group, all different, and zeros where the scheme has them."""
        scheme, count = self.declared.scheme, int(expected.group.max()) + 1
        name = scheme.scale_format.name
        base = np.float32(FIXED_SCALES[which % len(FIXED_SCALES)])
        if name == "fp16":
            base = np.float32(np.float16(base))
        scales = (base * 2.0 ** (np.arange(count) % 3)).astype(np.float32)
        if scheme.zero is Zero.SYMMETRIC:
            return scales, None
        return scales, np.full(count, 3 if scheme.zero is Zero.ZERO_POINT else -1.5, np.float32)

    def do_put(self, operation: ops.Put) -> None:
        """Write rows to slots, some of them padding."""
        if not hasattr(self.engine, "write") or not per_token(self.declared.scheme):
            return
        x = self.array(operation.values)[: self.blocks.num_slots]
        slots = (operation.start + np.arange(len(x))) % self.blocks.num_slots
        meant = self.encoded(Expected(x, self.declared.scheme))
        if meant is None:
            return
        self.checker.say(f"{told(operation.values, x)} to slots {slots.tolist()}")
        self.blocks.put(*self.padded(slots, x, operation.padding), meant)

    def padded(self, slots: Any, x: Single, every: int) -> tuple[Any, Single]:
        """Rows of garbage with slot -1 before every `every`-th row and at the end."""
        if every < 1:
            return slots, x
        places = [*range(0, len(x), every), len(x)]
        rubbish = recipes.garbage(len(places), *x.shape[1:])
        return np.insert(slots, places, -1), np.insert(x, places, rubbish, axis=0)

    def do_copyblock(self, operation: ops.CopyBlock) -> None:
        """Copy a block that holds something to another."""
        if not hasattr(self.engine, "copy") or not self.blocks.rows:
            return
        held = sorted({slot // self.world.block_size for slot in self.blocks.rows})
        source, target = held[operation.source % len(held)], operation.target % self.world.num_blocks
        if source != target:
            self.checker.say(f"block {source} to block {target}")
            self.blocks.copy(source, target)

    def do_rotate(self, operation: ops.Rotate) -> None:
        """Rotate all that is stored."""
        if hasattr(self.engine, "rotate") and self.blocks.rows and self.setting.head_dim > 1:
            self.checker.say(f"{len(self.blocks.rows)} rows")
            self.blocks.rotate(operation.turns)

    def do_append(self, operation: ops.Append) -> None:
        """Append a chunk to all sequences."""
        if not hasattr(self.engine, "append") or self.sequences.overflowed:
            return
        flat = self.array(operation.values, self.setting.sequences)
        x = flat.reshape(self.setting.sequences, operation.values.tokens, *flat.shape[1:])
        if self.sequences.may_refuse(x):
            return
        self.checker.say(f"{told(operation.values, flat)} to {self.setting.sequences} sequences")
        self.sequences.append(x)

    def do_crop(self, operation: ops.Crop) -> None:
        """Crop all sequences."""
        if hasattr(self.engine, "crop") and self.sequences.may_crop(operation.count):
            self.checker.say(f"{operation.count} tokens")
            self.sequences.crop(operation.count)

    def do_reorder(self, operation: ops.Reorder) -> None:
        """Reorder the sequences."""
        if not hasattr(self.engine, "reorder"):
            return
        count = self.setting.sequences
        order = (np.arange(count) * (0 if operation.keep else 1) + operation.by) % count
        self.checker.say(f"to {order.tolist()}")
        self.sequences.reorder(order)

    def do_restart(self, operation: ops.Restart) -> None:
        """Empty the sequences."""
        if hasattr(self.engine, "restart") and self.sequences.length:
            self.checker.say("all sequences")
            self.sequences.restart()


def declaration(capabilities: QuantizerCapabilities, name: str) -> Declaration:
    """The declaration of a scheme by its name. Raises `HarnessFault` for a name that is not declared."""
    if name not in capabilities.schemes:
        raise HarnessFault(f"no scheme is called {name!r}; declared are {', '.join(capabilities.schemes)}")
    require_honest(capabilities.schemes[name])
    return capabilities.schemes[name]


def told(values: ops.Values, x: Single) -> str:
    """A recipe in words, with the largest magnitude that it gives."""
    times = f" x {float(power_of_two(values.exponent)):g}" if values.exponent else ""
    finite = x[np.isfinite(x)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    return f"{values.pattern}{times}, seed {values.seed}, {len(x)} tokens, magnitude up to {largest:g}"


def _raise(error: Exception) -> None:
    raise error
