"""Radix trees with locks, explored: `world` has the words, `moves` what is tried and `lawful` what must be allowed.

`checks` says what a tree is for, `shown` what it would truthfully show and publish, and `model` puts it together.
"""
