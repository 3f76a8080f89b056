"""Calls of a deployment whose process died inside the tool, long enough ago that nobody will hear from it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.support.agents import Killed
from tests.support.clerk import desk
from tests.support.deployment import TABLE, Deployment
from tests.support.gateway import Link

LONG_AGO: Final = "2026-01-01T00:00:00.000000Z"


def cut_off(deployment: Deployment, link: Link) -> None:
    """Approve a call and let the process die inside its tool."""
    assert deployment.post(link).status == 200
    desk.result = Killed()
    with pytest.raises(Killed):
        deployment.deliver()
    desk.result = "done"
    assert deployment.status(link) == "executing"
    make_old(deployment, link.session_id)


def put_in_doubt(deployment: Deployment, *turns: Any) -> Link:
    """Bring a call into doubt and return the link that asks what became of it."""
    link = deployment.paused(*turns)
    cut_off(deployment, link)
    deployment.sweep()
    deployment.deliver()
    (asking,) = deployment.links()
    assert (deployment.status(asking), asking.call_id) == ("in_doubt", link.call_id)
    return asking


def age(deployment: Deployment) -> None:
    """Let everything that waits for its time be long overdue."""
    for row in deployment.table():
        if "due_at" in row:
            deployment._dynamodb.put_item(TableName=TABLE, Item=row | {"due_at": {"S": LONG_AGO}})


def make_old(deployment: Deployment, session_id: str) -> None:
    """Let the process that was at a session be gone for long."""
    for row in deployment.table():
        if row["pk"]["S"] == session_id:
            if "execution" in row:
                row["execution"]["M"]["deadline"] = {"S": LONG_AGO}
            if "lease" in row:
                row["lease"]["M"]["until"] = {"S": LONG_AGO}
            deployment._dynamodb.put_item(TableName=TABLE, Item=row)
    age(deployment)
