"""Install an engine into the environment that runs this, from the root: `python conformance/install.py NAME MARKER`.

MARKER is a file for make. It stays empty, or it says in one line which package has no wheel for this Python; the engine
is then left out. pip itself is asked, so that nobody keeps a table. Whatever else pip fails of is shown and fails here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ENGINES = Path("conformance/kvengines")
PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST = PROJECT["requires-python"].removeprefix(">=")
HERE = ".".join(map(str, sys.version_info[:2]))
SUSPECT = re.compile(r"(?:No matching distribution found for|requested \(constraint\)|Failed building wheel for) (\S+)")
SOURCE = re.compile(r"([\w.-]+)-(\d[^\s/-]*)\.tar\.gz")


def pip(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `pip install` under the project's constraints, and keep all that it says."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "-c", "constraints.txt"]
    return subprocess.run(
        [*command, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def steps(name: str) -> list[list[object]]:
    """Arguments of pip, one list after the other. What may have no wheel is asked for before anything is installed."""
    requirements, alone = ENGINES / name / "requirements.txt", ENGINES / name / "nodeps.txt"
    if requirements.exists():
        return [["--dry-run", "--no-deps", "-r", alone], ["-r", requirements], ["--no-deps", "-r", alone]]
    return [packages(name)]


def packages(extra: str) -> list[object]:
    """The requirements of an extra, those of the extras of ours that it names among them."""
    found: list[object] = []
    for requirement in PROJECT["optional-dependencies"][extra]:
        ours = re.fullmatch(rf"{PROJECT['name']}\[(.+)\]", requirement)
        found += [one for other in ours[1].split(",") for one in packages(other)] if ours else [requirement]
    return found


def without_wheel(said: str) -> str | None:
    """A package that pip did not find or build, if it has a wheel for the oldest Python and none for this one."""
    sources = [f"{name}=={version}" for name, version in SOURCE.findall(said)]
    suspects = dict.fromkeys(SUSPECT.findall(said) + sources[-1:])
    return next((one for one in suspects if has_wheel(one, OLDEST) and not has_wheel(one, HERE)), None)


def has_wheel(package: str, python: str) -> bool:
    """Whether pip finds a wheel of the package for that version of Python on this kind of machine."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = ["--only-binary", ":all:", "--python-version", python, "--target", folder]
        return pip("--dry-run", "--no-deps", *wheel, package).returncode == 0


def main(name: str, marker: str) -> int:
    """Install, and write the marker. Returns pip's exit status, or 0 where a wheel is all that is missing."""
    left_out = ""
    for arguments in steps(name):
        done = pip(*arguments)
        if done.returncode and (package := without_wheel(done.stdout)):
            left_out = f"{name} is left out: {package} has no wheel for Python {HERE}\n"
            print(left_out, end="")
            break
        if done.returncode:
            print(done.stdout, end="", file=sys.stderr)
            return done.returncode
    Path(marker).write_text(left_out, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
