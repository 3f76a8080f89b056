"""The command line before the real handlers, behind a gateway that checks the signature."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pausepoint.bootstrap import application
from tests.support.command_line import ACCESS_KEY, SECRET_KEY, CommandLine, Handlers
from tests.support.deployment import Deployment


@pytest.fixture
def handlers(deployment: Deployment) -> Handlers:
    return Handlers(deployment)


@pytest.fixture
def pausepoint(
    deployment: Deployment, handlers: Handlers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> CommandLine:
    """The command; while it waits, the worker does what is in its queue."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    return CommandLine(handlers, tmp_path, now=lambda: datetime.now(UTC), meanwhile=deployment.deliver)


@pytest.fixture
def registrar(pausepoint: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command, with an agent whose tools say what is at stake, and which asks questions."""
    monkeypatch.setenv("AGENT", "tests.support.registrar:agent")
    application.cache_clear()
    return pausepoint
