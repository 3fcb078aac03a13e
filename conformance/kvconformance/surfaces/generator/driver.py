"""Drives a Generator through a history: prompts served together must give the tokens that each gives alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kvconformance import history as h
from kvconformance.checker import Checker, Guarded
from kvconformance.surfaces import records
from kvconformance.surfaces.answers import several
from kvconformance.surfaces.base import Factory
from kvconformance.surfaces.generator.operations import Generate
from kvconformance.surfaces.requests import name
from kvspec import events as ev
from kvspec import rules
from kvspec.rules import Rule
from kvspec.state import State
from kvspec.violation import HarnessFault
from kvspec.vocabulary import Request, TokenId, World

RAISES = rules.PROGRESS_OR_REJECT
Prompts = Sequence[tuple[int, ...]]


class GeneratorDriver:
    """One checker, one history, and a fresh engine for each batch of prompts."""

    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.checker = checker
        self.factory = factory
        self.call = Guarded(checker, RAISES)

    def run(self, operations: tuple[h.Operation, ...]) -> None:
        """Serve every batch."""
        for operation in operations:
            self.checker.note(operation)
            if isinstance(operation, Generate):
                self.generate(operation.prompts, operation.max_new_tokens)

    def generate(self, prompts: Prompts, max_new_tokens: int) -> None:
        """Serve the prompts that fit, together, and compare each with the same prompt alone."""
        fitting = [prompt for prompt in prompts if self.add(prompt, max_new_tokens)]
        if not fitting:
            return
        outputs = self.serve(self.checker.world, fitting, max_new_tokens)
        self.checker.tally.met(rules.PROGRESS_OR_REJECT)
        for number, (output, wanted) in enumerate(zip(outputs, self.alone(fitting, max_new_tokens), strict=True)):
            if agrees(output, wanted, max_new_tokens):
                self.checker.tally.met(rules.CHUNK_INDEPENDENCE)
                continue
            self.checker.tally.broken(
                self.blame(fitting, max_new_tokens),
                f"prompt {number} of {len(fitting)} gives {list(output)}",
                f"{list(wanted)}, as it does alone",
                prompt=number,
            )

    def add(self, prompt: tuple[int, ...], max_new_tokens: int) -> bool:
        """Whether the prompt can be served at all; if so, tell the checker of it."""
        state: State = self.checker.state
        request = Request(name(len(state.requests)), tuple(TokenId(t) for t in prompt), max_new_tokens)
        if not state.feasible(request):
            return False
        self.checker.feed(ev.Add(request))
        return True

    def serve(self, world: World, prompts: Prompts, max_new_tokens: int) -> Sequence[Sequence[int]]:
        """The outputs of a fresh engine."""
        engine: Any = self.call("building the engine", self.factory, world)
        outputs = several(self.call("serving the prompts", engine.generate, prompts, max_new_tokens), "generate")
        if len(outputs) != len(prompts):
            raise HarnessFault(f"generate() answers {len(outputs)} outputs for {len(prompts)} prompts")
        return [records.listed(output, "generate") for output in outputs]

    def alone(self, prompts: Prompts, max_new_tokens: int) -> list[Sequence[int]]:
        """The tokens of each prompt by plain decoding, up to the first that rounding could decide."""
        engine: Any = self.call("building the engine", self.factory, self.checker.world)
        outputs = (self.call("decoding one prompt alone", engine.expected, p, max_new_tokens) for p in prompts)
        return [records.listed(output, "expected") for output in outputs]

    def blame(self, prompts: Prompts, max_new_tokens: int) -> Rule:
        """The rule that a wrong output breaks, if one thing alone puts it right: no prefix cache, or an ample pool."""
        world = self.checker.world
        ample = sum(world.blocks_for(len(prompt) + max_new_tokens) for prompt in prompts) + world.num_blocks
        uncached = world.caching and self.right(replace(world, caching=False), prompts, max_new_tokens)
        uninterrupted = self.right(replace(world, num_blocks=ample), prompts, max_new_tokens)
        if uncached == uninterrupted:
            return rules.CHUNK_INDEPENDENCE
        return rules.CONTENT_MATCHES_KEY if uncached else rules.RESUME_EQUALS_UNINTERRUPTED

    def right(self, world: World, prompts: Prompts, max_new_tokens: int) -> bool:
        """Whether all outputs are right in another world."""
        outputs = self.serve(world, prompts, max_new_tokens)
        wanted = self.alone(prompts, max_new_tokens)
        return all(agrees(a, b, max_new_tokens) for a, b in zip(outputs, wanted, strict=True))


def agrees(output: Sequence[int], wanted: Sequence[int], max_new_tokens: int) -> bool:
    """Whether an output is complete and begins with the tokens wanted, which end where rounding could decide."""
    return len(output) == max_new_tokens and list(output[: len(wanted)]) == list(wanted)
