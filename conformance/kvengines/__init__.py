"""Adapters for strangers' engines, a package each: the adapter, what it needs installed, and what was found with it.

Each is named by an entry point of the group `kvspec.engines`, as the adapter of any distribution is; nothing of ours
imports it. `requirements.txt` and `nodeps.txt` stand beside the adapters of engines that no extra can install. The
folder `findings` has stand-alone reproductions, a dozen lines each, without kvspec: each script uses only the engine's
public API, prints what is wrong, and ends with exit status 1 while it is.
"""
