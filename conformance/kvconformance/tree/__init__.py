"""The surface Tree: a prefix cache as a radix tree of pages, whose nodes are split, locked and evicted.

`surface` is what a third party writes, `driver` the road through a history, `strategies` what the search tries, `story`
how a finding is told.
"""
