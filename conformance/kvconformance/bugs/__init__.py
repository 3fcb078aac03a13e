"""The public bugs that the suite is measured by: where each was reported, what it breaks, and who imitates it.

`bugs.tsv` has one line for each: a bug is imitated by imposters, is drift that must not be reported and is imitated by
controls, or carries a reason why a run on a CPU cannot show it. Causes are told in our own words, from public reports
that were read and not reproduced; an open one may turn out otherwise.
"""

from __future__ import annotations

from kvconformance.bugs.table import BUGS, Bug, Why, read

__all__ = ["BUGS", "Bug", "Why", "read"]
