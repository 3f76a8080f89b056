"""The deployed API, through the local stack's gateway, held against docs/openapi.yaml."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.e2e.stack import Stack
from tests.support.described import CHECKS, described_api

pytestmark = pytest.mark.e2e

schema = described_api()
numbers = count()


@pytest.fixture(scope="session")
def session_id(running_stack: Stack) -> str:
    """A session that is there, whatever becomes of it."""
    running_stack.put_file("described.txt")
    started: str = running_stack.start_session("delete described.txt")["session_id"]
    return started


@schema.parametrize()
@settings(max_examples=3, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_it_is_sent_the_api_answers_as_described(case: Any, stack: Stack, session_id: str) -> None:
    if next(numbers) % 2 and "session_id" in (case.path_parameters or {}):
        case.path_parameters["session_id"] = session_id

    case.call_and_validate(base_url=stack.facts["api_url"], checks=CHECKS)
