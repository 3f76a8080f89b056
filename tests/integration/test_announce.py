"""The table's stream tells what became of calls: once for each, again when the topic was away, and never of a link."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pausepoint.adapters.dynamodb import rows
from pausepoint.domain.session import SCHEMA_VERSION
from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import stored_event
from tests.support.said import Said
from tests.support.wire import Wire


@pytest.fixture
def watched(deployment: Deployment) -> Deployment:
    deployment.watch()
    return deployment


def news(deployment: Deployment) -> Sequence[dict[str, Any]]:
    """Let the whole stream be announced, and return what was published for programs."""
    assert deployment.announce(*deployment.changes()) == []
    return [json.loads(notice["MessageAttributes"]["payload"]["Value"]) for notice in deployment.notices()]


def told(deployment: Deployment) -> list[tuple[str, str, str]]:
    return [
        (payload["type"], payload["data"]["call"]["call_id"], payload["data"]["call"]["status"])
        for payload in news(deployment)
    ]


def test_a_call_that_is_approved_and_runs_is_decided_and_finished(watched: Deployment) -> None:
    link = watched.paused(SHRED, "Done.")
    watched.post(link, reason="go on")
    watched.deliver()

    decided, finished = news(watched)

    assert (decided["type"], decided["data"]["call"]["status"]) == ("approval.decided", "approved")
    assert decided["data"]["decision"]["reason"] == "go on"
    assert decided["data"]["decision"]["verified"] == "link"
    assert (finished["type"], finished["data"]["call"]["status"]) == ("approval.finished", "succeeded")
    assert decided["data"]["digest"] == finished["data"]["digest"] == watched.call(link)["digest"]["S"]


def test_a_call_that_is_rejected_is_decided_and_that_is_all(watched: Deployment) -> None:
    link = watched.paused(SHRED, "Done.")
    watched.post(link, decision="rejected")
    watched.deliver()
    assert told(watched) == [("approval.decided", "c2-0", "rejected")]


def test_a_tool_that_raises_is_finished_too(watched: Deployment) -> None:
    link = watched.paused(SHRED, "Done.")
    desk.result = ValueError("no paper")
    watched.post(link)
    watched.deliver()
    assert told(watched)[1:] == [("approval.finished", "c2-0", "failed")]


def test_a_call_that_nobody_decided_is_mailed_as_expired(watched: Deployment) -> None:
    link = watched.paused(SHRED, "Done.")
    watched.expire(link)
    watched.change(link, due_at="2026-01-01T00:00:00.000000Z")
    watched.sweep()
    watched.deliver()
    assert watched.announce(*watched.changes()) == []

    (notice,) = watched.notices()

    assert notice["Subject"] == "Pausepoint: a tool call expired, nobody decided"
    assert "It was not run, and the agent is told so." in notice["Message"]
    assert notice["MessageAttributes"]["event"]["Value"] == "expired"


def test_a_session_that_is_cancelled_takes_its_calls_back(watched: Deployment) -> None:
    link, _ = watched.paused_at([*SHRED, *SHRED], "Done.")
    watched.cancel(link.session_id)
    assert sorted(told(watched)) == [
        ("approval.finished", "c2-0", "cancelled"),
        ("approval.finished", "c2-1", "cancelled"),
    ]


def test_what_asks_a_person_and_what_nobody_was_asked_about_is_no_news(watched: Deployment) -> None:
    watched.paused([("stamp", {"path": "a.txt"})], SHRED, "Done.")
    assert told(watched) == []


def test_rows_that_the_table_forgets_are_no_news(watched: Deployment) -> None:
    link = watched.paused(SHRED, "Done.")
    watched.forget(link)
    assert any(record["eventName"] == "REMOVE" for record in watched.changes())
    assert told(watched) == []


def test_r48_what_the_topic_did_not_take_comes_again_and_has_the_same_id(
    watched: Deployment, wire: Wire, said: Said
) -> None:
    link = watched.paused(SHRED, "Done.")
    watched.post(link)
    watched.deliver()
    records = watched.changes()
    wire.fail("sns.*")

    again = watched.announce(*records)

    numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
    assert len(again) == 2
    assert set(again) <= set(numbers)
    assert watched.notices() == []
    wire.heal()
    ids = [payload["id"] for payload in news(watched)]
    assert ids == [payload["id"] for payload in news(watched)]
    assert len(set(ids)) == 2
    assert {line["message"] for line in said.lines()} == {"change not announced"}


def test_one_record_that_nobody_can_read_does_not_hold_up_the_others(watched: Deployment, said: Said) -> None:
    link = watched.paused(SHRED, "Done.")
    watched.post(link)
    watched.deliver()
    records = [record for record in watched.changes() if _is_call(record)]
    broken = json.loads(json.dumps(records[-1], default=str))
    broken["dynamodb"]["NewImage"]["status"]["S"] = "made up"
    broken["dynamodb"]["SequenceNumber"] = "999"

    assert watched.announce(broken, *records) == ["999"]

    assert len(watched.notices()) == 2


def test_case_47_a_row_of_a_newer_version_is_left_to_that_version(watched: Deployment, said: Said) -> None:
    link = watched.paused(SHRED, "Done.")
    watched.post(link)
    (record,) = [found for found in watched.changes() if _is_decision(found)]
    record["dynamodb"]["NewImage"]["version"] = {"N": str(SCHEMA_VERSION + 1)}

    assert watched.announce(record) == []

    assert watched.notices() == []
    assert [line["message"] for line in said.lines()] == ["change not announced"]


def test_i9_no_link_its_secret_or_hash_is_told_or_logged(watched: Deployment, said: Said) -> None:
    link = watched.paused(SHRED, "Done.")
    watched.post(link)
    watched.deliver()
    (token_hash,) = (each["S"] for each in watched.call(link)["token_hashes"]["L"])
    watched.announce(*watched.changes())

    published = json.dumps(watched.notices())
    for secret in (link.token, token_hash):
        assert secret not in published
        assert secret not in said.everything()
    assert "?t=" not in published


def test_a_stored_change_is_announced(deployment: Deployment) -> None:
    assert deployment.announce(*stored_event("announce")["Records"]) == []
    (notice,) = deployment.notices()
    assert notice["MessageAttributes"]["event"]["Value"] == "decided"


def _is_call(record: dict[str, Any]) -> bool:
    sk: str = record["dynamodb"]["Keys"]["sk"]["S"]
    return record["eventName"] == "MODIFY" and sk.startswith(rows.call_sk(""))


def _is_decision(record: dict[str, Any]) -> bool:
    return _is_call(record) and bool(record["dynamodb"]["NewImage"]["status"]["S"] == "approved")
