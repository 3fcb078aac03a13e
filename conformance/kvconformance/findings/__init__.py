"""Stand-alone reproductions of findings, named after the engine: a dozen lines each, without kvspec.

Each script uses only the engine's public API, prints what is wrong, and ends with exit status 1 while it is.
"""
