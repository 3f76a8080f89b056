"""What programs are sent: everything to act on, ids that stay the same, and nothing that is too long."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args

import pytest

from pausepoint.domain.calls import CallStatus, Resolution
from pausepoint.domain.canonical import call_digest, canonical_json
from pausepoint.runtime.notices import notice_for
from pausepoint.runtime.payloads import MAX_TEXT_BYTES
from pausepoint.runtime.ports import NoticeEvent
from tests.support.aws import ROOT
from tests.support.clock import START
from tests.support.news import AT, BASE_URL, TOKEN, asked_call, decided, moved, notices


def payloads(**changes: Any) -> dict[str, Any]:
    return {event: json.loads(notice.payload) for event, notice in notices(**changes).items()}


def test_a_program_can_act_on_what_it_is_sent() -> None:
    payload = payloads()["requested"]
    data = payload["data"]

    assert (payload["type"], payload["timestamp"]) == ("approval.requested", "2026-11-29T12:30:00.000000Z")
    assert data["approve_url"] == f"{BASE_URL}/approvals/s1/c2-0?t={TOKEN}"
    assert data["risk"] == "high"
    assert data["call"] == {
        "session_id": "s1",
        "call_id": "c2-0",
        "name": "delete",
        "agent": "clerk",
        "status": "pending",
        "kind": "approval",
        "arguments": asked_call().arguments,
        "question": None,
        "choices": [],
        "requested_by": "maria",
        "requested_at": "2026-11-29T12:00:00.000000Z",
        "expires_at": "2026-11-29T13:00:00.000000Z",
    }
    assert data["digest"] == call_digest(data["call"]["name"], data["call"]["arguments"])
    assert (data["decision"], data["resolution"]) == (None, None)


@pytest.mark.parametrize("changes", [{}, {"question": "Which?"}])
def test_every_event_has_its_type_a_text_and_an_id_without_full_stops(changes: dict[str, Any]) -> None:
    found = payloads(**changes)

    for event, payload in found.items():
        assert list(payload) == ["id", "type", "timestamp", "text", "data"]
        assert payload["type"] == f"approval.{event}"
        assert payload["id"] == f"msg_s1_c2-0_{event}"
        assert "." not in payload["id"]
        assert payload["text"]
    assert len({payload["id"] for payload in found.values()}) == len(found)


def test_a_duplicate_with_another_link_has_the_same_id_and_another_call_has_not() -> None:
    call = asked_call()
    sent = [
        notice_for(BASE_URL, call, "one", at=AT),
        notice_for(BASE_URL, replace(call, token_hashes=("a", "b")), "two", at=AT + timedelta(minutes=1)),
        notice_for(BASE_URL, replace(call, call_id="c2-1"), "one", at=AT),
        notice_for(BASE_URL, replace(call, session_id="s2"), "one", at=AT),
    ]
    ids = [json.loads(notice.payload)["id"] for notice in sent]

    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


def test_a_chat_is_shown_fixed_words_the_registrys_names_and_the_link() -> None:
    payload = payloads(agent="<!channel> & @all", arguments=canonical_json({"path": "PRE-APPROVED"}))["requested"]

    assert payload["text"].splitlines() == [
        "Pausepoint: a tool call waits for your decision.",
        "delete, asked for by (!channel) + +all (risk high)",
        f"{BASE_URL}/approvals/s1/c2-0?t={TOKEN}",
    ]
    assert payloads()["decided"]["text"].splitlines()[1] == "delete, asked for by clerk (risk high, now approved)"


def test_what_was_decided_is_told_with_by_whom_and_how_that_is_known() -> None:
    assert payloads()["decided"]["data"]["decision"] == {
        "by": "maria",
        "at": "2026-11-29T12:00:00.000000Z",
        "verified": "link",
        "reason": "",
        "verdict": "approved",
        "answer": None,
        "digest_approved": asked_call().digest,
    }
    answered = payloads(question="Which?")["decided"]["data"]
    assert (answered["call"]["kind"], answered["call"]["question"]) == ("question", "Which?")
    assert answered["call"]["choices"] == ["yes", "no"]
    assert answered["decision"]["answer"] == '"yes"'


def test_what_somebody_said_of_a_call_in_doubt_is_told() -> None:
    resolution = Resolution(answer="happened", by="maria", at=START, verified="link")
    call = asked_call(status=CallStatus.IN_DOUBT)

    payload = json.loads(moved(call, CallStatus.SUCCEEDED, resolution=resolution).payload)

    assert payload["type"] == "approval.finished"
    assert payload["data"]["resolution"]["answer"] == "happened"


def test_what_is_too_long_is_left_out_and_the_rest_is_there() -> None:
    short, long = "x" * (MAX_TEXT_BYTES - 2), "x" * (MAX_TEXT_BYTES - 1)
    umlauts = "ä" * (MAX_TEXT_BYTES // 6 + 1)

    assert payloads(arguments=short)["requested"]["data"]["call"]["arguments"] == short
    for text in (long, umlauts):
        found = payloads(arguments=text, question=text)["decided"]["data"]
        assert (found["call"]["arguments"], found["call"]["question"]) == (None, None)
        assert found["digest"] == call_digest("delete", text)
    call = asked_call(question="Which?")
    answered = moved(call, CallStatus.ANSWERED, decision=decided(call, answer=long))
    assert json.loads(answered.payload)["data"]["decision"]["answer"] is None


DOCS = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")


def shape(value: Any) -> Any:
    """Return the names in a document, without what they stand for."""
    return {name: shape(item) for name, item in value.items()} if isinstance(value, dict) else None


def test_the_example_of_the_docs_has_the_shape_of_what_is_sent() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", DOCS, re.DOTALL)
    assert shape(json.loads(block)) == shape(payloads()["requested"])


def test_the_docs_name_every_event_and_every_part_of_a_decision() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", DOCS, re.MULTILINE)) == set(get_args(NoticeEvent))
    for name in payloads(question="Which?")["decided"]["data"]["decision"]:
        assert f"`{name}`" in DOCS


def test_the_digest_is_what_the_docs_say() -> None:
    data = payloads()["requested"]["data"]
    text = f"pausepoint.call.v1\n{data['call']['name']}\n{data['call']['arguments']}"
    assert data["digest"] == hashlib.sha256(text.encode()).hexdigest()
