"""Hypothesis profiles: `ci` bounded and derandomized, `dev` quick and random, `campaign` long."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("ci", max_examples=200, derandomize=True, **_COMMON)
settings.register_profile("dev", max_examples=100, **_COMMON)
settings.register_profile("campaign", max_examples=20_000, **_COMMON)
settings.load_profile(os.environ.get("KVSPEC_HYPOTHESIS", "ci"))
