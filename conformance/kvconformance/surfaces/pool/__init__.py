"""The surface Pool: a block manager alone."""

from types import MappingProxyType

from kvconformance.surfaces.base import SurfaceKind, Traffic
from kvconformance.surfaces.pool.alphabet import LETTERS
from kvconformance.surfaces.pool.driver import PERFORM, RAISES, PoolDriver, stepless
from kvconformance.surfaces.pool.strategies import pool_histories, rarely, usually
from kvconformance.telling.story import PAGED
from kvspec import rules
from kvspec.vocabulary import Surface

SURFACE = SurfaceKind(
    surface=Surface.POOL,
    operations=tuple(PERFORM),
    required=("admit", "extend", "computed", "append", "free", "free_blocks"),
    driver=PoolDriver,
    histories=pool_histories,
    raises=RAISES,
    optional=MappingProxyType({"forks": "fork", "resets": "reset", "fails": "failed"}),
    needs=MappingProxyType(
        {rules.COUNTERS: "counters", rules.REPRODUCIBLE_KEY: "block_keys", rules.MIRROR_EQUALS_INDEX: "take_events"}
    ),
    setting=stepless,
    story=PAGED,
    traffic=Traffic(usually, rarely),
    letters=LETTERS,
)
