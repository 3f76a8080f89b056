"""From what the model asked for to calls: what is refused is never asked for and never run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from pausepoint import Tool, tool
from pausepoint.domain.calls import CallStatus
from pausepoint.domain.canonical import call_digest
from pausepoint.domain.events import ToolCall
from pausepoint.domain.proposals import propose, record_of
from pausepoint.domain.session import Session
from pausepoint.runtime.ports import RequestedCall
from tests.support.clock import START
from tests.support.sessions import DIGEST, decision_recorded, message, record, session_of, tool_call, turn
from tests.support.tools import Files

TOOLS = {made.name: made for made in Files().all}


def proposed(
    *requests: tuple[str, Any],
    session: Session | None = None,
    stop_reason: str = "tool_use",
    tools: Mapping[str, Tool] = TOOLS,
) -> tuple[ToolCall, ...]:
    return propose(
        session or session_of(message()),
        [RequestedCall(f"toolu_{index}", name, arguments) for index, (name, arguments) in enumerate(requests)],
        tools,
        stop_reason=stop_reason,
    )


def test_a_call_is_understood_completely_before_anybody_is_asked() -> None:
    (call,) = proposed(("delete", {"path": "a.txt"}))
    assert call == ToolCall(
        call_id="c2-0",
        tool_call_id="toolu_0",
        name="delete",
        arguments='{"path":"a.txt"}',
        digest=DIGEST,
        schema_hash=TOOLS["delete"].schema_hash,
        gated=True,
        retry_safe=False,
    )


def test_case_21_calls_are_named_by_their_place_in_the_log_not_by_the_provider() -> None:
    later = session_of(message(), turn(text="Done."), message())
    assert [call.call_id for call in proposed(("read", {"path": "a"}), ("read", {"path": "b"}))] == ["c2-0", "c2-1"]
    assert [call.call_id for call in proposed(("read", {"path": "a"}), session=later)] == ["c4-0"]


def test_case_15_equal_calls_of_a_turn_are_different_calls() -> None:
    one, two = proposed(("delete", {"path": "a.txt"}), ("delete", {"path": "a.txt"}))
    assert one.digest == two.digest
    assert one.call_id != two.call_id


@pytest.mark.parametrize(
    ("name", "gated", "retry_safe", "guarded"),
    [("delete", True, False, True), ("read", False, True, False), ("send", False, False, True)],
)
def test_gated_and_not_retry_safe_calls_are_guarded(name: str, gated: bool, retry_safe: bool, guarded: bool) -> None:
    (call,) = proposed((name, {"to" if name == "send" else "path": "a"}))
    assert (call.gated, call.retry_safe, call.guarded) == (gated, retry_safe, guarded)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("destroy", {}, "no tool 'destroy'. There are: delete, read, send"),
        ("delete", {}, "path"),
        ("delete", {"path": 7}, "path"),
        ("delete", {"path": "a", "force": True}, "force"),
        ("delete", "{broken", "JSON object"),
        ("delete", {"path": "\ud800"}, "surrogate"),
    ],
)
def test_what_cannot_run_is_refused_with_words_for_the_model(name: str, arguments: Any, says: str) -> None:
    (call,) = proposed((name, arguments))
    assert call.refusal is not None
    assert call.refusal.startswith("Not run")
    assert says in call.refusal
    assert not call.guarded


@pytest.mark.parametrize(
    "stop_reason",
    [
        "max_tokens",
        "guardrail_intervened",
        "content_filtered",
        "malformed_model_output",
        "malformed_tool_use",
        "model_context_window_exceeded",
        "something new",
    ],
)
def test_after_a_turn_that_is_not_whole_nothing_of_it_is_asked_for_or_run(stop_reason: str) -> None:
    calls = proposed(("delete", {"path": "a"}), ("read", {"path": "a"}), stop_reason=stop_reason)
    assert [call.guarded for call in calls] == [False, False]
    assert all(call.refusal and stop_reason in call.refusal for call in calls)


@pytest.mark.parametrize("stop_reason", ["tool_use", "end_turn", "stop_sequence"])
def test_a_whole_turn_may_ask(stop_reason: str) -> None:
    assert proposed(("delete", {"path": "a"}), stop_reason=stop_reason)[0].refusal is None


def test_case_09_the_gate_is_asked_about_what_will_run() -> None:
    @tool(requires_confirmation=lambda arguments: arguments["amount"] > 1000)
    def pay(amount: int = 5000) -> None:
        """Pay."""

    calls = proposed(("pay", {"amount": "5000"}), ("pay", {}), ("pay", {"amount": 10}), tools={"pay": pay})
    assert [call.gated for call in calls] == [True, True, False]


def test_case_27_r30_the_identical_call_is_refused_after_three_rejections() -> None:
    rejected = [decision_recorded("rejected")] * 3
    twice, thrice = session_of(message(), *rejected[:2]), session_of(message(), *rejected)
    assert proposed(("delete", {"path": "a.txt"}), session=twice)[0].refusal is None
    refusal = proposed(("delete", {"path": "a.txt"}), session=thrice)[0].refusal
    assert refusal is not None
    assert "rejected exactly this call" in refusal
    assert proposed(("delete", {"path": "b.txt"}), session=thrice)[0].refusal is None


def test_r30_only_so_many_calls_may_wait_at_a_time() -> None:
    session = session_of(message(), limits={"pending_calls": 2})
    calls = proposed(
        *[("delete", {"path": str(index)}) for index in range(3)], ("read", {"path": "a"}), session=session
    )
    assert [call.refusal is None for call in calls] == [True, True, False, True]


def test_calls_that_wait_already_count() -> None:
    waiting = session_of(message(), turn(tool_call()), calls=[record()], limits={"pending_calls": 1})
    assert proposed(("delete", {"path": "a"}), session=waiting)[0].refusal is not None


def test_r66_the_tool_calls_of_a_session_are_counted_also_within_a_turn() -> None:
    session = session_of(message(), turn(tool_call()), limits={"tool_calls": 2})
    calls = proposed(("read", {"path": "a"}), ("read", {"path": "b"}), session=session)
    assert [call.refusal is None for call in calls] == [True, False]


def test_a_gated_call_starts_pending_with_the_hash_of_its_link() -> None:
    (call,) = proposed(("delete", {"path": "a.txt"}))
    ends = START + timedelta(hours=1)
    made = record_of(
        call, session_of(message()), TOOLS[call.name], model_text="", now=START, expires_at=ends, token_hash="hash"
    )
    assert (made.status, made.notify, made.token_hashes) == (CallStatus.PENDING, "due", ("hash",))
    assert (made.digest, made.digest) == (call.digest, call_digest("delete", made.arguments))
    assert (made.requested_by, made.agent, made.expires_at) == ("maria", "clerk", ends)


def test_a_call_nobody_has_to_approve_starts_approved_and_tells_nobody() -> None:
    (call,) = proposed(("send", {"to": "maria"}))
    made = record_of(
        call, session_of(message()), TOOLS[call.name], model_text="", now=START, expires_at=START, token_hash=None
    )
    assert (made.status, made.notify, made.token_hashes, made.decision) == (CallStatus.APPROVED, "none", (), None)
