"""All faults of the two smaller transitions, by name."""

from __future__ import annotations

from kvexamine.explorer.small.groups.faults import FAULTS as GROUPS
from kvexamine.explorer.small.spoiling import SmallFault
from kvexamine.explorer.small.tree.faults import FAULTS as TREE

SMALL_FAULTS: dict[str, SmallFault] = {f"{fault.of}/{fault.name}": fault for fault in (*GROUPS, *TREE)}
