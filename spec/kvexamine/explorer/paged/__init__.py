"""The model of the paged cache: every state of a scope, written down as a number for each of its parts.

`scopes` names the worlds, `moves` proposes what may happen next, the specification's own transition accepts or refuses
it, `packing` writes a state down up to the names of blocks, `search` goes breadth first through those keys (for speed:
`spec/explorer.md` has the ratio to plain breadth-first search), `liveness` looks for runs that never end, and `faults`
breaks the transition on purpose to show which scope would notice.
"""
