"""What is asked of a whole engine."""

from __future__ import annotations

from kvconformance.history import NewTokens, Operation, Prompt


class Generate(Operation, frozen=True):
    """Prompts are served together, each with the same number of new tokens."""

    prompts: tuple[Prompt, ...]
    max_new_tokens: NewTokens = 1

    def tokens(self) -> int:
        """Those of all prompts, and the new ones."""
        return sum(len(prompt) + self.max_new_tokens for prompt in self.prompts)
