"""Random walks through small worlds: events that may be allowed and events that should not be, judged by `step`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from kvspec import events as ev
from kvspec.contexts import Contexts
from kvspec.state import Live, State, initial
from kvspec.vocabulary import BlockId, Capabilities, KeyParts, Phase, Request, RequestId, StepId, TokenId, World

NAMES = "ABCDEFGH"
NEWCOMER = RequestId("new")


def begin(random: Random) -> State:
    """An empty small world; block sizes 1 to 3, with and without lookahead and a reserved block."""
    size = random.choice((1, 2, 3))
    reserved = frozenset({BlockId(0)}) if random.random() < 0.3 else frozenset()
    capabilities = Capabilities(
        salts=True,
        forks=True,
        resets=True,
        fails=True,
        remaps_duplicates=True,
        reserved_blocks=reserved,
        lookahead_blocks=random.choice((0, 0, 1)),
        idle_steps=1000,
    )
    world = World(random.choice((4, 5, 7)), size, token_budget=random.choice((2, 4, 6)), max_running=len(NAMES))
    return initial(world, capabilities, Contexts())


def propose(state: State, random: Random) -> ev.Event:
    """An event that makes sense in the state more often than not."""
    while True:
        event = random.choice(_PROPOSERS)(state, random)
        if event is not None:
            return event


def _pick(state: State, random: Random, *phases: Phase) -> Live | None:
    """A request in one of the phases; now and then one in another."""
    wanted = [live for live in state.requests.values() if live.phase in phases or random.random() < 0.03]
    return random.choice(wanted) if wanted else None


def _some_block(state: State, random: Random) -> BlockId:
    return BlockId(random.randrange(state.world.num_blocks))


def _idle(state: State, random: Random, count: int) -> list[BlockId]:
    """Blocks to take: idle ones, in any order; now and then one that is not, or one of them twice."""
    idle = list(state.free)
    random.shuffle(idle)
    chosen = idle[:count]
    if random.random() < 0.05:
        chosen = [*chosen[:-1], _some_block(state, random)]
    if random.random() < 0.05:
        chosen = [chosen[0]] * len(chosen) if chosen else chosen
    return chosen


def _request(state: State, random: Random, prompt: tuple[TokenId, ...] | None = None) -> Request | None:
    if len(state.requests) >= len(NAMES):
        return None
    length = random.randint(1, 3 * state.world.block_size + 1)
    tokens = prompt or tuple(TokenId(random.random() < 0.2) for _ in range(length))
    return Request(
        RequestId(NAMES[len(state.requests)]),
        tokens,
        random.randint(1, 4),
        parts=KeyParts(salt=random.choice((None, None, None, "x"))),
    )


def _add(state: State, random: Random) -> ev.Event | None:
    request = _request(state, random) if len(state.live()) < 4 else None
    return ev.Add(request) if request else None


def _start(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.WAITING)
    if live is None:
        return None
    size, blocks = state.world.block_size, list[BlockId]()
    for start in range(0, len(live.tokens), size):
        wanted = live.contexts[start : start + size]
        found = [BlockId(id) for id, block in enumerate(state.blocks) if block.contexts == wanted]
        if not found or random.random() < 0.1:
            break
        blocks.append(random.choice(found))
    if random.random() < 0.08:
        blocks.append(_some_block(state, random))
    return ev.Start(live.request.id, len(blocks) * size, tuple(blocks))


def _grown(state: State, random: Random, live: Live, end: int) -> tuple[BlockId, ...]:
    need = state.world.blocks_for(end) - len(live.table)
    need += random.choice((0, 0, 0, state.capabilities.lookahead_blocks, random.randint(-1, 1)))
    return (*live.table, *_idle(state, random, max(0, need)))


def _reserve(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.RUNNING)
    if live is None:
        return None
    end = live.computed + random.randint(0, 2 * state.world.block_size)
    return ev.Reserve(live.request.id, end, _grown(state, random, live, end))


def _compute(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.RUNNING)
    if live is None or (live.ran and random.random() < 0.9):
        return None
    most = min(state.left, len(live.tokens) - live.computed)
    count = random.randint(1, max(1, most + (random.random() < 0.1)))
    return ev.Compute(live.request.id, live.computed, count, _grown(state, random, live, live.computed + count))


def _copy(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.RUNNING)
    taken = _idle(state, random, 1)
    if live is None or not live.table or not taken:
        return None
    index = random.randrange(len(live.table))
    extent = random.choice((None, None, random.randint(0, state.world.block_size)))
    return ev.Copy(live.request.id, index, live.table[index], taken[0], extent)


def _remap(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.RUNNING)
    if live is None or not live.table:
        return None
    index, size = random.randrange(len(live.table)), state.world.block_size
    wanted = live.contexts[index * size : (index + 1) * size]
    same = [BlockId(id) for id, block in enumerate(state.blocks) if block.contexts == wanted]
    target = random.choice(same) if same and random.random() < 0.9 else _some_block(state, random)
    return ev.Remap(live.request.id, index, target)


def _fork(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.RUNNING)
    child = _request(state, random, live.request.prompt) if live else None
    if live is None or child is None or len(state.live()) >= 4:
        return None
    if random.random() < 0.8:
        child = Request(child.id, child.prompt, child.max_new_tokens, parts=live.request.parts)
    table = live.table[:]
    for index in range(len(table)):
        private = _idle(state, random, 1)
        if private and random.random() < 0.3 and private[0] not in table:
            table[index] = private[0]
    return ev.Fork(live.request.id, child, tuple(table))


def _sample(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.RUNNING)
    if live is None or (live.computed < len(live.tokens) and random.random() < 0.9):
        return None
    return ev.Sample(live.request.id, TokenId(random.random() < 0.2))


def _exit(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.RUNNING, Phase.WAITING)
    if live is None:
        return None
    id, deferred = live.request.id, random.random() < 0.3
    if live.generated >= live.request.max_new_tokens and random.random() < 0.7:
        return ev.Finish(id, deferred)
    if not state.feasible(live.request):
        return ev.Reject(id)
    return random.choice((ev.Abort(id, deferred), ev.Preempt(id), ev.Finish(id), None, None))


def _release(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.DONE)
    if live is None or (not live.table and random.random() < 0.8):
        return None
    return random.choice((ev.Release(live.request.id), ev.ReleaseAgain(live.request.id)))


def _told(state: State, random: Random) -> ev.Event | None:
    live = _pick(state, random, Phase.WAITING)
    if live is None or random.random() < 0.7:
        return ev.Observe(free=len(state.free)) if random.random() < 0.2 else None
    id = live.request.id
    return random.choice((ev.Lookup(id, 0), ev.Refuse(id, state.world.num_blocks + 1), ev.Decline(id)))


def _cache(state: State, random: Random) -> ev.Event | None:
    if random.random() < 0.8:
        return None
    if random.random() < 0.5:
        return ev.Reset(random.random() < 0.7)
    return ev.FailStep(StepId(max(0, state.step - random.randint(0, 2))))


def _flight(state: State, random: Random) -> ev.Event | None:
    flying = list(state.in_flight)
    if flying and random.random() < 0.6:
        return ev.Complete(flying[0])
    if state.planned and state.step not in flying:
        return ev.Dispatch(StepId(state.step if random.random() < 0.95 else 0))
    return ev.EndStep() if random.random() < 0.7 else None


_PROPOSERS: tuple[Callable[[State, Random], ev.Event | None], ...] = (
    *(_add, _start, _start, _reserve, _compute, _compute, _compute, _copy, _remap, _fork, _sample, _sample),
    *(_exit, _release, _told, _cache, _flight, _flight),
)
