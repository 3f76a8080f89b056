"""An agent that asks a person something: the same pause, the same link, and the answer is the result."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import DecisionRequest, ask_human
from pausepoint.errors import AlreadyDecided, Conflict, InvalidInput
from pausepoint.models.scripted import ScriptedModel
from tests.support.agents import World, approve, asked, results_in
from tests.support.tools import Files

QUESTION = ("ask_human", {"question": "Which?"})
CHOOSING = ("ask_human", {"question": "Which?", "choices": ["eu", "us", "0"]})
DELETE = ("delete", {"path": "a"})


class Asked:
    """A session that waits for an answer."""

    def __init__(self, *calls: Any, **options: Any) -> None:
        self.world, self.files = World(), Files()
        self.model = ScriptedModel([list(calls or [QUESTION]), "Thanks."])
        self.options = options
        self.session_id = self.agent().run("Ask").session_id

    def agent(self) -> Any:
        return self.world.agent(self.model, [ask_human, *self.files.all], **self.options)

    def resume(self, *requests: DecisionRequest) -> Any:
        return self.agent().resume(self.session_id, requests)

    def answer(self, value: Any, **fields: Any) -> Any:
        return self.resume(DecisionRequest("c2-0", "answered", answer=value, **fields))

    def status(self, call_id: str = "c2-0") -> str:
        return str(self.world.store.call(self.session_id, call_id).status)


@pytest.mark.parametrize(
    ("value", "text"),
    [("eu", "eu"), (False, "false"), (0, "0"), ("", '""'), ([], "[]"), ({"b": 1, "a": 2.0}, '{"a":2.0,"b":1}')],
    ids=repr,
)
def test_an_answer_is_the_result_and_the_tool_is_not_entered(value: Any, text: str) -> None:
    session = Asked()
    done = session.answer(value)
    assert done.status == "completed"
    assert [read[1:] for read in results_in(session.model.requests[1])] == [("success", text)]
    (result,) = (event for event in session.world.session(session.session_id).events if event.type == "tool_result")
    assert (result.entered, result.status) == (False, "success")


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, object(), "\ud800", "x" * 70_000, [[]] * 40_000], ids=repr)
def test_case_36_an_answer_that_cannot_be_kept_is_refused_by_name(value: Any) -> None:
    session = Asked()
    with pytest.raises(InvalidInput) as refusal:
        session.answer(value)
    assert refusal.value.field == "decisions.0.answer"
    assert session.status() == "pending"


@pytest.mark.parametrize("value", [None, 0, "EU", "eu ", ["eu"], True], ids=repr)
def test_case_03_only_a_choice_is_an_answer_where_there_are_choices(value: Any) -> None:
    session = Asked(CHOOSING)
    with pytest.raises(InvalidInput) as refusal:
        session.answer(value)
    assert refusal.value.field == "decisions.0.answer"
    assert session.status() == "pending"
    session.answer("0")
    assert session.status() == "answered"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (DecisionRequest("c2-0", "approved"), "decision"),
        (DecisionRequest("c2-0", "rejected", reason="no"), "decision"),
        (DecisionRequest("c2-0", "happened"), "decision"),
        (DecisionRequest("c2-0", "approved", answer="eu"), "answer"),
        (DecisionRequest("c2-0", "answered"), "answer"),
        (DecisionRequest("c2-0", "answered", answer="eu", arguments={"question": "What?"}), "arguments"),
        (DecisionRequest("c2-1", "answered", answer="eu"), "decision"),
        (DecisionRequest("c2-1", "approved", answer="eu"), "answer"),
    ],
    ids=str,
)
def test_case_04_a_word_for_the_other_kind_is_refused_and_both_still_wait(
    request_: DecisionRequest, field: str
) -> None:
    session = Asked(QUESTION, DELETE)
    with pytest.raises(InvalidInput) as refusal:
        session.resume(request_)
    assert refusal.value.field == f"decisions.0.{field}"
    assert (session.status("c2-0"), session.status("c2-1")) == ("pending", "pending")


def test_case_18_a_question_and_a_call_of_one_turn_are_each_answered_once() -> None:
    session = Asked(QUESTION, DELETE)
    assert session.answer("eu").status == "paused"
    done = session.resume(*approve("c2-1"))
    assert done.status == "completed"
    assert [text for _, _, text in results_in(session.model.requests[1])] == ["eu", "Deleted a."]
    assert asked(session.model) == 2


def test_r2_i5_the_first_answer_stands() -> None:
    session = Asked(QUESTION, DELETE)
    session.answer("eu")
    session.answer("eu")
    with pytest.raises(AlreadyDecided):
        session.answer("us")
    zero = Asked(QUESTION, DELETE)
    zero.answer(0)
    with pytest.raises(AlreadyDecided):  # equal for Python, and not the same answer
        zero.answer(False)


def test_case_45_a_question_that_expired_is_told_as_that() -> None:
    session = Asked()
    session.world.clock.advance(hours=25)
    session.world.store.expire(session.world.store.call(session.session_id, "c2-0"), now=session.world.clock.now())
    session.resume()
    ((_, status, text),) = results_in(session.model.requests[1])
    assert (status, text) == ("error", "Not answered: nobody answered in time, so the question expired.")


def test_a_question_waits_behind_an_earlier_call_only_where_calls_are_in_order() -> None:
    session = Asked(DELETE, QUESTION, ordered=True)
    session.resume(DecisionRequest("c2-1", "answered", answer="eu"))
    assert session.status("c2-1") == "answered"
    done = session.resume(*approve("c2-0"))
    assert [text for _, _, text in results_in(session.model.requests[1])] == ["Deleted a.", "eu"]
    assert done.status == "completed"


@pytest.mark.parametrize("decision", ["answered", "approved"])
def test_r20_a_digest_that_is_not_the_stored_one_decides_nothing(decision: Any) -> None:
    session = Asked(QUESTION, DELETE)
    call_id, answer = ("c2-0", "eu") if decision == "answered" else ("c2-1", None)
    for digest in ("0" * 64, "", session.world.store.call(session.session_id, call_id).digest.upper()):
        with pytest.raises(Conflict, match="not the one that was shown"):
            session.resume(DecisionRequest(call_id, decision, answer=answer, digest=digest))
    assert session.status(call_id) == "pending"
    digest = session.world.store.call(session.session_id, call_id).digest
    session.resume(DecisionRequest(call_id, decision, answer=answer, digest=digest))
    stored = session.world.store.call(session.session_id, call_id).decision
    assert stored is not None
    assert stored.digest_shown == digest
