"""The search: histories are tried on an engine until one breaks a rule, and made small.

`check` goes through the surfaces of an engine, by random histories (`examples`, `draws`) or by every history of small
worlds (`kvconformance.exhaust`). `trial` plays one, `shorten` and `fatal` leave out what does not matter, `keys`
compares two processes. `supervise` does all that in a child process, which `isolate` runs.
"""
