"""What holds for every test: sockets only where a marker allows them, a browser only where there is one."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

_WITH_SOCKETS = ("emulator", "e2e", "browser")
_BROWSER_PROGRAMS = ("chromium", "chromedriver")

# How long an example takes says something about the machine, not about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [program for program in _BROWSER_PROGRAMS if shutil.which(program) is None]
    # In continuous integration a missing browser is a failure, not a reason to look away.
    may_skip = os.environ.get("CI", "").lower() != "true"
    for item in items:
        if any(item.get_closest_marker(name) for name in _WITH_SOCKETS):
            item.add_marker(pytest.mark.enable_socket)
        if missing and may_skip and item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=f"not on this machine: {', '.join(missing)}"))
