"""Are keys reproducible? The same prompts through fresh engines in different order must have the same keys."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from kvconformance.adapters import load
from kvspec.violation import HarnessFault
from kvspec.vocabulary import KeyParts, Request, RequestId, Surface, TokenId, World

LOAD_PATIENCE = 600.0
"""Seconds for another process to import the engine and to tell its keys."""
_WORLD = World(num_blocks=8, block_size=2)
_PARTS = (KeyParts(), KeyParts(salt="x"), KeyParts(adapter="a"), KeyParts(adapter="b"), KeyParts(adapter="c"))


def probes() -> list[Request]:
    """Prompts under every kind of key part that the key chain covers."""
    prompts = [(a, b, 2, c) for a in (0, 1, 256) for b in range(6) for c in (0, 1, 2)]
    return [
        Request(RequestId(f"key{i}-{j}"), tuple(TokenId(t) for t in prompt), 1, 0, parts)
        for i, prompt in enumerate(prompts)
        for j, parts in enumerate(_PARTS)
    ]


def all_keys(factory: Callable[[World], Any], *, backwards: bool) -> dict[str, list[str]]:
    """The keys of all probes from one fresh engine, asked for in one order or the other."""
    capabilities = factory.capabilities  # type: ignore[attr-defined]
    wanted = [
        p
        for p in probes()
        if (capabilities.salts or p.parts.salt is None) and (capabilities.adapters or p.parts.adapter is None)
    ]
    engine = factory(_WORLD)
    ordered = reversed(wanted) if backwards else wanted
    return {request.id: [repr(key) for key in engine.block_keys(request)] for request in ordered}


def compare_keys(
    factory: Callable[[World], Any], engine: str | None, alive: Callable[[], None] = lambda: None
) -> tuple[int, str | None]:
    """(keys compared, the first difference): between load orders and, for a named engine, between processes.

    `alive` is called every second in which the other process is still importing the engine.
    """
    first = all_keys(factory, backwards=False)
    others = {"after loading in the opposite order": all_keys(factory, backwards=True)}
    if engine is not None:
        others["in another process"] = _keys_of_another_process(engine, alive)
    for where, keys in others.items():
        for request, wanted in first.items():
            if keys.get(request) != wanted:
                return len(first), f"the keys of prompt {request} {where} are {keys.get(request)}, before {wanted}"
    return len(first) * len(others), None


def _keys_of_another_process(engine: str, alive: Callable[[], None]) -> dict[str, list[str]]:
    """The keys of a fresh interpreter with another hash seed. Raises `HarnessFault` if it does not answer."""
    command = [sys.executable, "-P", "-m", "kvconformance.search.keys", engine]
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    until = time.monotonic() + LOAD_PATIENCE
    # S603: the command is our own interpreter with our own module
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:  # noqa: S603
        while True:
            try:
                told, errors = child.communicate(timeout=1.0)
                break
            except subprocess.TimeoutExpired:
                alive()
                if time.monotonic() > until:
                    child.kill()
    if child.returncode:
        raise HarnessFault(f"the keys of another process: {errors.decode()[-500:]}")
    keys: dict[str, list[str]] = msgspec.json.decode(told.splitlines()[-1], type=dict[str, list[str]])
    return keys


def main() -> None:
    """Print the keys of the engine named on the command line as one line of JSON."""
    factory = load(sys.argv[1]).factories[Surface.POOL]
    sys.stdout.buffer.write(msgspec.json.encode(all_keys(factory, backwards=False)) + b"\n")


if __name__ == "__main__":
    main()
