"""All faults of the transitions of groups and of radix trees, by name."""

from __future__ import annotations

from kvexamine.explorer.groups.faults import FAULTS as GROUPS
from kvexamine.explorer.spoiling import SmallFault
from kvexamine.explorer.tree.faults import FAULTS as TREE

SMALL_FAULTS: dict[str, SmallFault] = {f"{fault.of}/{fault.name}": fault for fault in (*GROUPS, *TREE)}
