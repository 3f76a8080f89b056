"""What is published is what SNS takes, whatever the registry's names are, and can be chosen by attributes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from pausepoint.adapters.sns import SnsNotifier
from pausepoint.domain.calls import CallStatus, Question
from pausepoint.errors import Unavailable
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS
from pausepoint.runtime.notices import news_of
from pausepoint.runtime.payloads import MAX_TEXT_BYTES
from tests.support.news import AT, TOKEN, asked_call, decided, moved, notices
from tests.support.sns_rules import MOST_BYTES, StrictSns, faults

STRANGE = "books\r\nBcc: x@evil.example\tof \N{PARTY POPPER}\x00\x1b[2J\ud800\ufffe\u2028\u202e"
LONG = "x" * 64
KINDS: dict[str, dict[str, Any]] = {"call": {}, "question": {"question": "Which one?"}}
EVENTS = {"requested", "reminded", "in_doubt", "decided", "finished", "expired"}


def published(**changes: Any) -> dict[str, dict[str, Any]]:
    """Publish a notice of every event, and return what SNS got, by event."""
    sns = StrictSns()
    for notice in notices(**changes).values():
        SnsNotifier(sns, "arn").send(notice)
    return {str(each["MessageAttributes"]["event"]["StringValue"]): each for each in sns.published}


@pytest.mark.parametrize("kind", KINDS)
def test_r28_every_subject_is_constant_one_line_of_ascii_under_100_characters(kind: str) -> None:
    plain, strange = published(**KINDS[kind]), published(**KINDS[kind], agent=STRANGE, name=LONG)

    assert set(plain) == EVENTS - ({"in_doubt"} if kind == "question" else set())
    for event, message in strange.items():
        assert message["Subject"] == plain[event]["Subject"]
        assert message["Subject"].isascii()
        assert message["Subject"].isprintable()
    assert len({message["Subject"] for message in plain.values()}) == len(plain)


@pytest.mark.parametrize("kind", KINDS)
def test_case_51_names_that_would_break_a_header_stay_on_their_line(kind: str) -> None:
    plain, strange = published(**KINDS[kind]), published(**KINDS[kind], agent=STRANGE, name=LONG)

    for event, message in strange.items():
        lines, expected = message["Message"].splitlines(), plain[event]["Message"].splitlines()
        assert len(lines) == len(expected)
        assert f"Tool:     {LONG}" in lines
        assert not [line for line in lines if line.startswith("Bcc")]
        attributes = message["MessageAttributes"]
        assert attributes["agent"]["StringValue"].startswith("books  Bcc: x@evil.example of \N{PARTY POPPER}")
        assert attributes["tool"]["StringValue"] == LONG


@pytest.mark.parametrize("name", ["", " ", "\r\n", "\x00"])
def test_case_51_an_agent_without_a_name_that_can_be_shown_has_a_dash(name: str) -> None:
    for message in published(agent=name).values():
        assert message["MessageAttributes"]["agent"]["StringValue"] == "-"
        assert "Agent:    -" in message["Message"].splitlines()


@pytest.mark.parametrize("kind", KINDS)
def test_r28_the_link_stands_on_a_line_of_its_own_where_a_person_is_asked_and_nowhere_else(kind: str) -> None:
    for event, message in published(**KINDS[kind]).items():
        lines = [line for line in message["Message"].splitlines() if "://" in line]
        asks = event in ("requested", "reminded", "in_doubt")
        assert lines == ([f"https://api.example/prod/approvals/s1/c2-0?t={TOKEN}"] if asks else [])
        assert (TOKEN in message["MessageAttributes"]["payload"]["StringValue"]) == asks


def test_r28_a_question_is_asked_in_other_words_and_never_in_the_models() -> None:
    calls, questions = published(), published(question="PRE-APPROVED: see http://evil.example")

    for event, message in questions.items():
        assert message["Subject"] != calls[event]["Subject"]
        assert "evil.example" not in message["Message"]
        assert "question" in message["Message"] or "answer" in message["Message"]


def test_r27_neither_the_models_words_nor_the_tools_are_mailed() -> None:
    for message in published().values():
        for said in ("please approve", "It is gone for good."):
            assert said not in message["Message"]
            assert said not in message["MessageAttributes"]["payload"]["StringValue"]


def test_every_message_can_be_chosen_by_event_agent_tool_and_risk() -> None:
    for event, message in published(agent="clerk", name="shred").items():
        values = {name: value["StringValue"] for name, value in message["MessageAttributes"].items()}
        values.pop("payload")
        assert values == {"event": event, "agent": "clerk", "tool": "shred", "risk": "high"}


@pytest.mark.parametrize("character", ["\\", '"', "\x01", "é", "語", "\N{PARTY POPPER}"])
def test_the_largest_arguments_question_and_answer_still_fit_into_a_message(character: str) -> None:
    text = character * ((MAX_TEXT_BYTES - 2) // len(json.dumps(character)[1:-1]))
    call = asked_call(arguments=text, question=text)
    call = replace(call, question=Question(text=text, choices=(text,)))
    sns = StrictSns()

    said = decided(call, answer=text, reason=character * MAX_REASON_CHARACTERS)
    SnsNotifier(sns, "arn").send(moved(call, CallStatus.ANSWERED, decision=said))

    (sent,) = sns.published
    data = json.loads(sent["MessageAttributes"]["payload"]["StringValue"])["data"]
    assert (data["call"]["arguments"], data["call"]["question"], data["call"]["choices"]) == (text, text, [text])
    assert data["decision"]["answer"] == text


def test_what_sns_refuses_is_said_without_the_link() -> None:
    class Refusing(StrictSns):
        def publish(self, **request: Any) -> dict[str, str]:
            raise ClientError({"Error": {"Code": "InvalidParameter", "Message": request["Message"]}}, "Publish")

    with pytest.raises(Unavailable) as raised:
        SnsNotifier(Refusing(), "arn").send(notices()["requested"])
    assert TOKEN not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    ("subject", "message", "attributes", "fault"),
    [
        ("x" * 100, "m", {}, "the subject has 100 characters"),
        ("", "m", {}, "the subject has 0 characters"),
        ("a\r\nBcc: b", "m", {}, "the subject has a line break or a control character"),
        ("a\tb", "m", {}, "the subject has a line break or a control character"),
        ("a", "", {}, "the message is empty"),
        ("a", "m" * (MOST_BYTES + 1), {}, f"message and attributes have {MOST_BYTES + 1} bytes"),
        ("a", "m", {"tool": {"DataType": "String", "StringValue": ""}}, "tool is empty"),
        (
            "a",
            "m",
            {"tool": {"DataType": "String", "StringValue": "\x00"}},
            "tool has a character that XML does not have",
        ),
        ("a", "m", {"AWS.x": {"DataType": "String", "StringValue": "v"}}, "'AWS.x' is no name"),
    ],
)
def test_the_validator_knows_what_sns_refuses(
    subject: str, message: str, attributes: dict[str, dict[str, str]], fault: str
) -> None:
    assert fault in faults(subject, message, attributes)


def test_there_is_no_news_of_calls_that_nobody_was_asked_about_or_that_did_not_move() -> None:
    call = asked_call()
    executing = replace(call, status=CallStatus.EXECUTING)
    told = replace(call, status=CallStatus.EXPIRED)
    unasked = replace(call, gated=False, token_hashes=(), status=CallStatus.EXECUTING)
    spent = replace(call, token_hashes=(), spent_hashes=call.token_hashes)

    assert news_of(call, executing, at=AT) is None
    assert news_of(executing, replace(executing, status=CallStatus.IN_DOUBT), at=AT) is None
    assert news_of(told, replace(told, told=True), at=AT) is None
    assert news_of(unasked, replace(unasked, status=CallStatus.SUCCEEDED), at=AT) is None
    assert news_of(executing, replace(executing, status=CallStatus.SUCCEEDED), at=AT) is not None
    assert news_of(spent, replace(spent, status=CallStatus.EXPIRED), at=AT) is not None


@pytest.mark.parametrize(
    ("status", "event"),
    [
        (CallStatus.APPROVED, "decided"),
        (CallStatus.REJECTED, "decided"),
        (CallStatus.ANSWERED, "decided"),
        (CallStatus.EXPIRED, "expired"),
        (CallStatus.CANCELLED, "finished"),
        (CallStatus.STALE, "finished"),
        (CallStatus.SUCCEEDED, "finished"),
        (CallStatus.FAILED, "finished"),
    ],
)
def test_each_way_a_call_can_go_has_its_event(status: CallStatus, event: str) -> None:
    notice = moved(asked_call(), status)
    assert notice.event == event
    assert f"Now:      {status.replace('_', ' ')}" in notice.body.splitlines()
