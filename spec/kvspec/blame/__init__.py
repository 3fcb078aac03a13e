"""Blame: what a guard of the law says, called by the rule that explains it, and put into words.

The law (`kvspec.transition`, `kvspec.hits`, `kvspec.claims`) decides and names the guard's own rule; it knows nothing
of what went before but the state. Here the state at the guard, the event and the past (`past`) choose a better name
where there is one (`hits`, `reads`, `claims`) and the sentences (`words`). Nothing here decides whether an event is
allowed. `judge` is the transition with blame; who asks only what is allowed uses `kvspec.transition.advance`.
"""

from kvspec.blame.judging import Judged, begin, judge
from kvspec.blame.past import Past

__all__ = ["Judged", "Past", "begin", "judge"]
