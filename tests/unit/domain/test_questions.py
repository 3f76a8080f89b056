"""Tools that ask a person something, and what a tool's author wants a person to see."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import ToolContext, ask_human, tool
from pausepoint.domain.calls import Presentation, Question
from pausepoint.domain.canonical import call_digest
from pausepoint.domain.events import ToolCall
from pausepoint.domain.proposals import MODEL_TEXT_CHARACTERS, record_of, reissue_of
from pausepoint.domain.tools import Tool
from pausepoint.errors import ConfigurationError, InvalidInput
from tests.support.clock import START
from tests.support.sessions import message, session_of


@tool(question=True)
def pick(path: str, choices: list[int]) -> str:
    """Pick one."""
    raise AssertionError("entered")


def remove(path: str, force: bool = False) -> str:
    """Remove."""
    raise AssertionError("entered")


def made(by: Tool, arguments: dict[str, Any], *, model_text: str = "") -> Any:
    canonical = by.arguments(arguments)
    call = ToolCall(
        call_id="c2-0",
        tool_call_id="toolu_1",
        name=by.name,
        arguments=canonical,
        digest=call_digest(by.name, canonical),
        schema_hash=by.schema_hash,
        gated=by.needs_confirmation(canonical),
        retry_safe=by.retry_safe,
    )
    return record_of(
        call, session_of(message()), by, model_text=model_text, now=START, expires_at=START, token_hash="hash"
    )


def test_ask_human_asks_with_or_without_choices() -> None:
    assert made(ask_human, {"question": "Which?"}).question == Question(text="Which?")
    asked = made(ask_human, {"question": "Which?", "choices": ["eu", "us"]})
    assert asked.question == Question(text="Which?", choices=("eu", "us"))
    assert (asked.status, asked.gated, asked.notify) == ("pending", True, "due")


@pytest.mark.parametrize("arguments", [{}, {"question": ""}, {"question": 1}, {"question": "a", "choices": "eu"}])
def test_a_question_that_does_not_fit_is_not_asked(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ask_human.arguments(arguments)


def test_what_the_model_is_told_of_ask_human() -> None:
    schema = ask_human.spec.input_schema
    assert ask_human.spec.name == "ask_human"
    assert ask_human.spec.description.startswith("Ask a person a question")
    assert (schema["required"], set(schema["properties"])) == (["question"], {"question", "choices"})


def test_any_tool_may_be_marked_as_one_that_asks() -> None:
    assert made(pick, {"path": "a", "choices": [1, 2]}).question == Question(text="", choices=("1", "2"))
    assert pick.needs_confirmation("{}")


def test_a_tool_that_does_not_ask_has_no_question() -> None:
    @tool(requires_confirmation=True)
    def order(question: str, choices: list[str]) -> str:
        """Order."""
        raise AssertionError("entered")

    assert made(order, {"question": "Which?", "choices": ["eu"]}).question is None


def _look(arguments: object, context: ToolContext) -> bool | None:
    return None


@pytest.mark.parametrize(
    "marks", [{"requires_confirmation": True}, {"requires_confirmation": lambda _: False}, {"reconcile": _look}]
)
def test_a_question_has_nothing_to_confirm_or_to_reconcile(marks: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="there is nothing to confirm or to reconcile"):
        tool(question=True, **marks)(remove)


def test_r27_a_record_carries_what_its_author_and_its_model_want_seen() -> None:
    marked = tool(requires_confirmation=True, risk="high", warning="Gone for good.", highlight=["force"])(remove)
    record = made(marked, {"path": "a"}, model_text="  I clean up.\n")
    assert record.presentation == Presentation(
        risk="high", warning="Gone for good.", highlight=("force",), model_text="I clean up."
    )
    again = reissue_of(record, "c5-0", now=START, expires_at=START, token_hash="hash")
    assert again.presentation == record.presentation


def test_without_marks_a_call_is_of_medium_risk_and_a_question_of_low() -> None:
    assert made(tool(requires_confirmation=True)(remove), {"path": "a"}).presentation == Presentation()
    assert Presentation().risk == "medium"
    assert made(ask_human, {"question": "Which?"}).presentation.risk == "low"


def test_of_much_text_of_the_model_the_beginning_is_kept() -> None:
    marked = tool(requires_confirmation=True)(remove)
    kept = made(marked, {"path": "a"}, model_text="x" * (MODEL_TEXT_CHARACTERS + 1)).presentation.model_text
    assert kept == "x" * MODEL_TEXT_CHARACTERS


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ({"highlight": ["path", "target"]}, "there is no argument 'target' to highlight"),
        ({"risk": "extreme"}, "risk is one of low, medium, high"),
    ],
)
def test_marks_that_cannot_be_are_refused_when_the_tool_is_made(marks: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        tool(**marks)(remove)


def test_marks_do_not_change_what_a_tool_is() -> None:
    assert tool(risk="high", warning="w", highlight=["path"])(remove).schema_hash == tool(remove).schema_hash
