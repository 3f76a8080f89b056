"""The functions' handlers, loaded as they lie in the repository."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Final

from tests.support.aws import ROOT

FUNCTIONS: Final = ("start", "resume", "approvals", "sessions", "sweep", "announce", "webhook", "undelivered")


def load_functions(*names: str) -> dict[str, ModuleType]:
    """Load each functions/<name>/app.py under a name of its own: all of them, or those that are named."""
    loaded = {}
    for name in names or FUNCTIONS:
        spec = importlib.util.spec_from_file_location(f"function_{name}", ROOT / "functions" / name / "app.py")
        assert spec is not None
        assert spec.loader is not None
        loaded[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded[name])
    return loaded
