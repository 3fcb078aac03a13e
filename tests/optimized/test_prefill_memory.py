"""What prefill reads and writes: nothing that no row sees, nothing twice, and as many bytes as its tiles say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from kvoptimized.cascade import cascade
from kvoptimized.interpreter import MemoryCheck, UninitialisedRead, counted, memory_checked
from kvoptimized.prefilling import tiling
from tests.optimized.attending import Placed, Scenario, place, scenarios
from tests.optimized.test_prefill import attended, few

WINDOWED = Scenario(((130, 5), (40, 40), (0, 2), (64, 1)), window=20, padding=3, format="int8", seed=2)


def require_own_reads(placed: Placed, written: Scenario, attend: Callable[[Placed], object] = attended) -> None:
    """Attend where only tokens have ever been written that some row of their request sees in the scenario `written`."""
    cache = placed.cache
    arrays = [x for x in (cache.keys, cache.values, cache.key_scales, cache.value_scales) if x is not None]
    with memory_checked(arrays if not cache.static else arrays[:2]) as check:
        for request, (tokens, rows) in enumerate(placed.scenario.requests):
            ranges = [written.layer.visible(tokens - rows + row, tokens) for row in range(rows)]
            for position in sorted({position for seen in ranges for position in seen}):
                declare(check, placed, int(placed.tables[request, position // cache.block_size]), position)
        attend(placed)


def declare(check: MemoryCheck, placed: Placed, block: int, position: int) -> None:
    cache, offset = placed.cache, position % placed.cache.block_size
    for pages in (cache.keys, cache.values):
        check.initialised(cache.token_major(pages)[block, offset])
    if cache.dynamic and cache.key_scales is not None and cache.value_scales is not None:
        for scales in (cache.key_scales, cache.value_scales):
            check.initialised(scales[block, :, offset])


@few
@given(scenarios())
def test_only_tokens_that_are_seen_are_read_and_every_state_is_stored_once(scenario: Scenario) -> None:
    scenario = replace(scenario, requests=scenario.requests[:2])
    require_own_reads(place(scenario), scenario)


def test_the_checker_would_see_a_token_read_behind_the_window() -> None:
    require_own_reads(place(WINDOWED), WINDOWED)
    with pytest.raises(UninitialisedRead):
        require_own_reads(place(replace(WINDOWED, window=21)), WINDOWED)


def test_a_cascade_reads_and_writes_only_what_is_its_own() -> None:
    placed = place(Scenario(((40, 1), (37, 2)), padding=1, seed=3))
    query, cache, tables, lengths, starts = placed.arrays
    with memory_checked():
        cascade(query, cache, tables[0], 32, tables, lengths, starts, scale=0.125)


@pytest.mark.parametrize(("causal", "window"), [(True, None), (False, None), (True, 16)])
def test_keys_and_values_are_read_once_for_each_tile_of_rows_that_sees_them(causal: bool, window: int | None) -> None:
    scenario = Scenario(((200, 50), (33, 1)), causal=causal, window=window, group=4, seed=1)
    placed = place(scenario)
    with counted() as traffic:
        attended(placed)
    seen = tokens_read(scenario)
    wanted = seen * scenario.kv_heads * scenario.head_dim * 2
    assert traffic.loaded("KEYS").issued == traffic.loaded("VALUES").issued == wanted
    assert traffic.stored("OUTPUT").issued == traffic.loaded("QUERY").issued == placed.query.numel() * 2


def tokens_read(scenario: Scenario) -> int:
    """Tokens from the first to the last that each tile sees: tiles hold positions with the same quotient."""
    positions = tiling(scenario.head_dim, scenario.group, "sm_80", scenario.format).rows // scenario.group
    total = 0
    for tokens, rows in scenario.requests:
        tiles: dict[int, list[range]] = {}
        for position in range(tokens - rows, tokens):
            tiles.setdefault(position // positions, []).append(scenario.layer.visible(position, tokens))
        total += sum(max(seen.stop for seen in tile) - min(seen.start for seen in tile) for tile in tiles.values())
    return total
