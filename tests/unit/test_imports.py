"""What a function imports is what a person waits for after a cold start."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import Final

import pytest

from tests.support.aws import ROOT

_IMPORT: Final = "import json, sys; import app; print(json.dumps(sorted(sys.modules)))"
SLOW: Final = {"pydantic", "jsonschema", "jinja2"}
ALL_FUNCTIONS: Final = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
WITHOUT_AGENT: Final = sorted({*ALL_FUNCTIONS} - {"start", "resume"})


@cache
def imported(function: str) -> frozenset[str]:
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'functions' / function)!r}); {_IMPORT}"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return frozenset(json.loads(found.stdout))


@pytest.mark.parametrize("function", ALL_FUNCTIONS)
def test_no_function_imports_an_agent_a_model_or_what_boto3_adds_before_it_is_needed(function: str) -> None:
    modules = imported(function)

    assert "pausepoint.runtime.agent" not in modules
    assert not [name for name in modules if name.startswith("pausepoint.models.")]
    assert not {"custodian", "boto3", "s3transfer"} & modules


@pytest.mark.parametrize("function", WITHOUT_AGENT)
def test_what_runs_no_agent_does_not_import_what_validation_costs(function: str) -> None:
    assert not SLOW & imported(function)


def test_the_functions_that_run_an_agent_import_no_page() -> None:
    assert not [name for name in imported("start") | imported("resume") if "page" in name or name == "jinja2"]


@pytest.mark.parametrize("function", ["start", "resume", "approvals", "sessions"])
def test_garbage_is_not_collected_while_a_function_is_imported_and_is_afterwards(function: str) -> None:
    path = str(ROOT / "functions" / function)
    seen = "[each['collections'] for each in gc.get_stats()]"
    code = f"import gc, json, sys; sys.path.insert(0, {path!r}); before = {seen}; import app"
    told = f"print(json.dumps([before[1:], {seen}[1:], gc.isenabled(), gc.get_freeze_count()]))"
    found = subprocess.run([sys.executable, "-c", f"{code}; {told}"], capture_output=True, text=True, check=True)

    before, after, enabled, frozen = json.loads(found.stdout)
    assert after == before
    assert enabled
    assert frozen > 10_000


def test_what_users_import_is_there_and_nothing_else_is_claimed() -> None:
    import pausepoint  # noqa: PLC0415

    assert all(getattr(pausepoint, name) is not None for name in pausepoint.__all__)
    assert {*pausepoint.__all__} <= {*dir(pausepoint)}
    with pytest.raises(AttributeError, match="no attribute 'Agents'"):
        _ = pausepoint.Agents
