"""Traces: what an engine did, as a file of JSON lines that anybody can write, and its judgement by the specification.

`wire` says how an event is written down, `files` reads and writes whole traces, `traffic` makes worlds busy,
`recording` drives an engine, `apart` does so in a child process, `judging` follows the compatible states, `refining`
does both for many worlds, `chronicle` tells the story of a request and a block.
"""

from kvconformance.traces.files import Header, TraceError, open_trace, write_trace
from kvconformance.traces.judging import Judgement, judge, judge_file

__all__ = ["Header", "Judgement", "TraceError", "judge", "judge_file", "open_trace", "write_trace"]
