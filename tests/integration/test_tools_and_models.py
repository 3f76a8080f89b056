"""Tools and models that fail, or give back oddities: the session says so, goes on, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint.errors import ModelError, Unavailable
from pausepoint.models.scripted import Turn
from pausepoint.runtime.ports import ModelReply
from tests.support.clerk import NOT_JSON, desk
from tests.support.deployment import SHRED, Deployment
from tests.support.said import Said

UNGATED: Turn = [("look", {"path": "a.txt"})]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words for it")


class Stranger:
    def __str__(self) -> str:
        raise RuntimeError("no words for it")


def circle() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


GIVEN: list[tuple[Any, str, str]] = [
    ("", "success", "(no output)"),
    (None, "success", "(no output)"),
    ("  ", "success", "(no output)"),
    ([], "success", "[]"),
    (Exception(""), "error", "Exception: (no message)"),
    (ValueError("the disk is full"), "error", "ValueError: the disk is full"),
    (SystemExit(1), "error", "SystemExit: 1"),
    (Unprintable(), "error", "Unprintable: (no message)"),
    ({1}, "success", "[1]"),
    (Stranger(), "success", "(the tool finished, but its result, a Stranger, cannot be written as text)"),
    (circle(), "success", "(the tool finished, but its result, a list, cannot be written as text)"),
]


@pytest.mark.parametrize(("given", "status", "text"), GIVEN, ids=[repr(text) for _, _, text in GIVEN])
def test_case_31_case_34_an_approved_tool_that_gives_back_an_oddity_has_one_truthful_result(
    deployment: Deployment, given: Any, status: str, text: str
) -> None:
    link = deployment.paused(SHRED, "Done.")
    desk.result = given
    deployment.post(link)
    deployment.deliver()

    assert len(desk.entered) == 1
    ((_, result),) = desk.asked[1].history[-1].results  # type: ignore[union-attr]
    assert (result.status, result.text) == (status, text)
    assert deployment.status(link) == ("succeeded" if status == "success" else "failed")
    assert deployment.session(link.session_id)["status"] == "completed"
    assert text in deployment.show(link).page


@pytest.mark.parametrize("given", [*NOT_JSON, Exception(""), None])
def test_case_31_case_34_a_tool_that_nobody_had_to_approve_does_not_end_the_session_either(
    deployment: Deployment, given: Any
) -> None:
    desk.script(UNGATED, "Done.")
    desk.result = given

    answer = deployment.start()

    assert (answer.status, answer.json["status"], answer.json["output"]) == (200, "completed", "Done.")
    ((_, result),) = desk.asked[1].history[-1].results  # type: ignore[union-attr]
    assert result.text.strip()


def test_a_call_of_an_unknown_tool_or_with_wrong_arguments_is_answered_and_never_asked_for(
    deployment: Deployment,
) -> None:
    desk.script([("shread", {}), ("shred", {"path": 1}), ("shred", {"path": "a", "force": True})], "I see.")

    assert deployment.start().json["status"] == "completed"

    assert deployment.notices() == []
    results = [result for _, result in desk.asked[1].history[-1].results]  # type: ignore[union-attr]
    assert [result.entered for result in results] == [False] * 3
    assert results[0].text.startswith("Not run: there is no tool 'shread'. There are: look, shred, ")
    assert results[1].text == "Not run. Invalid arguments. path: Input should be a valid string."


@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        (ModelError("The model refused the request."), "model-failed", "The model refused the request."),
        (Unavailable("The model is throttled."), "unavailable", "The model is throttled."),
        (KeyError("usage"), "model-failed", "The model's adapter raised KeyError."),
    ],
)
def test_a_model_that_fails_fails_the_session_which_says_so_and_another_message_continues_it(
    deployment: Deployment, fault: Exception, code: str, message: str
) -> None:
    desk.script(fault, "Here I am again.")
    answer = deployment.start("hello")

    assert answer.status == 200
    assert (answer.json["status"], answer.json["error"]) == ("failed", {"code": code, "message": message})
    failed = deployment.events(answer.json["session_id"])[-1]
    assert (failed["type"], failed["code"], failed["message"]) == ("session_failed", code, message)

    again = deployment.say(answer.json["session_id"], "are you there?").json

    assert (again["status"], again["output"]) == ("completed", "Here I am again.")
    assert "error" not in again
    assert desk.asked[1].history[-1].texts == ("hello", "are you there?")  # type: ignore[union-attr]


def test_a_model_that_fails_after_an_approved_call_loses_neither_the_call_nor_its_result(
    deployment: Deployment,
) -> None:
    link = deployment.paused(SHRED, ModelError("Out of order."), "Where were we?")
    deployment.post(link)
    deployment.deliver()
    assert deployment.session(link.session_id)["status"] == "failed"

    deployment.say(link.session_id, "go on")

    assert len(desk.entered) == 1
    last = desk.asked[2].history[-1]
    assert [result.text for _, result in last.results] == ["done"]  # type: ignore[union-attr]
    assert last.texts == ("go on",)  # type: ignore[union-attr]


@pytest.mark.parametrize("reason", ["max_tokens", "content_filtered", "guardrail_intervened"])
def test_a_turn_that_was_cut_off_runs_nothing_and_asks_nobody(deployment: Deployment, reason: str) -> None:
    message = {"role": "assistant", "content": [{"text": "I was about to"}]}
    desk.script(ModelReply(message=message, text="I was about to", stop_reason=reason))

    answer = deployment.start().json

    assert (answer["status"], answer["error"]["code"]) == ("failed", "model-stopped")
    assert answer["error"]["message"] == f"The model stopped before its answer was complete ({reason})."
    assert deployment.notices() == []


def test_a_tools_failure_is_logged_with_its_traceback_and_the_call_it_was(deployment: Deployment, said: Said) -> None:
    desk.script(UNGATED, "Done.")
    desk.result = ValueError("the disk is full")
    deployment.start()

    (line,) = said.lines()
    assert (line["message"], line["tool"], line["call_id"]) == ("tool raised", "look", "c2-0")
    assert "ValueError: the disk is full" in line["exception"]


def test_a_tool_knows_who_approved_and_has_one_key_for_its_call(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link)
    deployment.deliver()

    (context,) = desk.contexts
    assert context.approver == "the holder of the approval link"
    assert context.idempotency_key == f"{link.session_id}:{link.call_id}"
