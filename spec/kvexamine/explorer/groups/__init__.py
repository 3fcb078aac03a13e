"""Caches with several groups, explored: `world` has the words, `moves` what is tried and `lawful` what must be allowed.

`reads` is the definition of attention, `checks` what must hold by it in every state, `finish` plays every request to
its end with blocks to spare, and `model` puts it together.
"""
