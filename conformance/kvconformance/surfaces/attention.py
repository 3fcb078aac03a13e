"""The surface Attention, whose room is `kvconformance.attention`."""

from kvconformance.attention.driver import RAISES, AttentionDriver
from kvconformance.attention.recipes import attention_histories
from kvconformance.attention.surface import AttentionCapabilities
from kvconformance.checker import eventless
from kvconformance.history import Attend, History
from kvconformance.surfaces.base import SurfaceKind
from kvspec.rules import ADDRESS_RANGE, Rule
from kvspec.vocabulary import Surface


def fatal(history: History) -> Rule | None:
    """Far blocks are what kills a kernel that reads beyond."""
    far = any(isinstance(operation, Attend) and operation.probe == "far" for operation in history.operations)
    return ADDRESS_RANGE if far else None


SURFACE = SurfaceKind(
    surface=Surface.ATTENTION,
    required=("attend",),
    driver=AttentionDriver,
    histories=attention_histories,
    raises=RAISES,
    fatal=fatal,
    capabilities=AttentionCapabilities,
    declares="a kernel declares",
    machine=eventless,
    enough=250,
)
