"""All faults of all models, by name."""

from __future__ import annotations

from kvexamine.explorer.groups.faults import FAULTS as GROUPS
from kvexamine.explorer.paged.faults import FAULTS as PAGED
from kvexamine.explorer.spoiling import Fault
from kvexamine.explorer.tree.faults import FAULTS as TREE

FAULTS: dict[str, Fault] = {fault.full_name: fault for fault in (*PAGED, *GROUPS, *TREE)}
