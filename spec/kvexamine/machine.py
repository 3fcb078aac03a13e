"""On which machine something was found, for whoever reads it later."""

from __future__ import annotations

import datetime
import os
import platform


def machine() -> str:
    """Cores, processor and Python in a few words."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def today() -> str:
    """The date, as in every table of results."""
    return str(datetime.datetime.now(tz=datetime.UTC).date())
