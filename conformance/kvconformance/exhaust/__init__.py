"""Bounded-exhaustive checks of engines: *every* history of a small world, shortest first, instead of random ones.

The worlds are the scopes of `kvexamine.explorer`. `worlds` says whether an engine can live in one, `alphabet` which
operations apply after a history, `search` plays all of them, `telling` says how far; `kills` finds and
`page` prints which scopes kill which imposters.
"""
