"""The stand-ins for what SGLang imports and does not call, tried without SGLang in a process of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("transformers")

SCRIPT = """
import sys
from kvengines.sglang.stand_ins import stand_in
stand_in(); stand_in()
assert [type(finder).__module__ for finder in sys.meta_path].count("kvengines.sglang.stand_ins") == 2
import einops, fastapi.responses, json, setproctitle, torchvision.transforms, uvicorn
route = torchvision.transforms.Route("/health")
def health(): return 7
assert route(health) is health and route.anything() is route
class Response(fastapi.responses.Response): pass
assert json.loads("[1]") == [1]
try:
    import no_such_package
except ImportError:
    print("as it was")
"""


def test_the_packages_of_a_server_and_of_vision_are_found_and_no_others() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.stdout == "as it was\n", done.stderr[-2000:]
