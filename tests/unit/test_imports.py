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
def test_garbage_is_collected_again_once_everything_is_imported(function: str) -> None:
    path = str(ROOT / "functions" / function)
    code = f"import sys, gc; sys.path.insert(0, {path!r}); import app; sys.exit(not gc.isenabled())"

    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_users_import_is_there_and_nothing_else_is_claimed() -> None:
    import pausepoint  # noqa: PLC0415

    assert all(getattr(pausepoint, name) is not None for name in pausepoint.__all__)
    assert {*pausepoint.__all__} <= {*dir(pausepoint)}
    with pytest.raises(AttributeError, match="no attribute 'Agents'"):
        _ = pausepoint.Agents
