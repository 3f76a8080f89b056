"""The timeline: every type of event in words, and none that can pass for another."""

from __future__ import annotations

import io
import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausepoint.domain.events import Event
from pausepoint_cli.text import console_on
from pausepoint_cli.timeline import _TELLERS, timeline

AT = "2026-11-29T16:04:09.123456Z"
CALL = {"call_id": "c2-0", "name": "shred"}
RUN = {"type": "execution", **CALL, "execution_id": "e", "digest_run": "0"}
RESULT = {"type": "tool_result", **CALL}
DECISION = {"type": "decision", **CALL, "verdict": "approved", "by": "eve", "verified": "link", "reason": "fine"}
EVENTS: list[dict[str, Any]] = [
    {"type": "user_message", "by": "ada", "text": "shred it"},
    {"type": "assistant_turn", "text": "I will.", "calls": [{**CALL, "arguments": {"path": "a"}}]},
    {"type": "assistant_turn", "text": "", "calls": [{**CALL, "refusal": "There is no such tool."}]},
    {**DECISION, "digest_shown": "0", "arguments_approved": '{"path":"b"}'},
    {**RUN, "status": "succeeded", "ended_at": AT},
    {**RUN, "status": "executing"},
    {**RESULT, "status": "success", "text": "done", "entered": True},
    {**RESULT, "status": "error", "text": "expired", "entered": False},
    {"type": "doubt_resolved", **CALL, "answer": "happened", "by": "eve", "verified": "reconcile", "reason": "looked"},
    {"type": "call_reissued", **CALL, "reissued_as": "c5-0", "arguments": '{"path":"b"}', "digest": "0"},
    {"type": "session_failed", "code": "model-failed", "message": "no"},
    {"type": "session_cancelled", "by": "ada"},
]


def shown(*events: dict[str, Any], width: int = 100, full: bool = False) -> str:
    stream = io.StringIO()
    console = console_on(stream, environ={"COLUMNS": str(width)})
    for renderable in timeline([{"at": AT, **event} for event in events], width=width, full=full):
        console.print(renderable)
    return stream.getvalue()


def test_every_type_of_event_of_the_library_is_told() -> None:
    types = {kind.__dataclass_fields__["type"].default for kind in get_args(Event)}
    assert types == set(_TELLERS)
    assert types == {event["type"] for event in EVENTS}


@pytest.mark.parametrize("width", [30, 60, 100, 200])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event["type"])
def test_an_event_begins_with_its_time_and_shows_all_its_texts(event: dict[str, Any], width: int) -> None:
    out = shown(event, width=width)
    assert out.startswith("2026-11-29 16:04:09  ")
    assert out.count("2026-11-29 16:04:09  ") == 1
    for name in ("text", "reason", "message", "by"):
        assert event.get(name, "") in out


def test_who_and_how_that_is_known() -> None:
    for verified, told in {
        "aws-signature": "verified: by an AWS signature",
        "link": "claimed: by holding the link",
        "caller": "claimed: by the caller's own word",
        "something-newer": "something-newer",
    }.items():
        assert f"by eve ({told})" in shown(EVENTS[3] | {"verified": verified})
    assert "(verified)" in shown(EVENTS[3] | {"verified": "passkey", "identity": "verified"})


def test_a_cut_off_execution_says_so() -> None:
    assert "was cut off" in shown(EVENTS[5])
    assert "was cut off" not in shown(EVENTS[4])


def test_a_newer_kind_of_event_is_shown_as_it_is() -> None:
    out = shown({"type": "teleported\x1b[31m", "to": "Mars"})
    assert "an event of a newer kind: teleported" in out
    assert "\x1b" not in out
    assert '"to": "Mars"' in out


@given(
    st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs", "Cc", "Cf"]), max_size=300),
    st.sampled_from([30, 100]),
)
def test_case_52_no_text_of_others_makes_a_line_of_ours(text: str, width: int) -> None:
    forged = f"{text}\n2026-11-29 16:04:09  approved c2-0 shred by root\nthe reason\n{text}"
    for event in EVENTS:
        changed = {name: forged if name in ("text", "reason", "message") else value for name, value in event.items()}
        ours = [line for line in shown(changed, width=width).splitlines() if not line.lstrip().startswith("│")]
        expected = [line for line in shown(event, width=width).splitlines() if not line.lstrip().startswith("│")]
        assert ours == expected


@pytest.mark.parametrize(
    "name", ["by", "name", "call_id", "status", "code", "verified", "answer", "reissued_as", "type"]
)
def test_case_52_no_name_breaks_its_line_or_drives_the_terminal(name: str) -> None:
    for event in EVENTS:
        if name in event:
            out = shown(event | {name: "x\n2026-11-29 16:04:09  approved\x1b[2J"}, width=1000)
            assert "\x1b" not in out
            assert len(re.findall(r"^2026", out, re.MULTILINE)) == 1


def test_arguments_in_the_log_are_shown_as_json() -> None:
    out = shown(EVENTS[3])
    assert '"path": "b"' in out
    assert json.loads(out[out.index("{") : out.index("}") + 1].replace("│", "")) == {"path": "b"}


def test_the_beginning_of_a_long_text_does_not_pass_for_the_whole() -> None:
    event = {**EVENTS[6], "text": "word " * 2000 + "the end"}
    assert "the end" not in shown(event)
    assert "… the first 4,000 of 10,007 characters; --full shows all of them\n" in shown(event)
    assert "the end" in shown(event, full=True)
    assert "characters" not in shown(event, full=True)
    assert "characters" not in shown({**event, "text": "x" * 4000})
