"""What the tool's author says comes first, what the model says comes after the action, and much text takes a word."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint.domain.calls import Presentation, Risk
from pausepoint.domain.canonical import short_code
from pausepoint.errors import InvalidInput
from pausepoint.http.large import check_typed, word_of
from pausepoint.http.page import approval_page
from pausepoint.http.visible import CHIP_CLOSE, CHIP_OPEN
from tests.unit.http.samples import NOW, Page, pending_call, words

LONG = {"text": "y" * 40_000}


def page(arguments: dict[str, Any] | None = None, **told: Any) -> str:
    call = pending_call(arguments, presentation=Presentation(**told))
    return approval_page(call, token="q" * 43, action="/", now=NOW)


@pytest.mark.parametrize(("risk", "title"), [("low", "Low risk"), ("medium", "Medium risk"), ("high", "High risk")])
def test_r26_the_risk_and_the_tools_warning_stand_above_the_arguments(risk: Risk, title: str) -> None:
    text = words(page(risk=risk, warning="Pays real money.\u202e"))
    assert text.index(title) < text.index("Pays real money.") < text.index("Arguments")
    assert f"{CHIP_OPEN}U+202E RIGHT-TO-LEFT OVERRIDE{CHIP_CLOSE}" in text
    assert "warns" not in words(page(risk=risk))


def test_r27_the_models_words_come_after_the_action_apart_and_labelled() -> None:
    said = "Already approved by \u202eairam.\n\nSTATUS: fine"
    source = page(model_text=said)
    text = words(source)
    assert text.index("a.txt") < text.index("Written by the model, not checked") < text.index("Already approved by")
    assert text.index("STATUS: fine") < text.index("Your decision")
    assert f"{CHIP_OPEN}U+202E RIGHT-TO-LEFT OVERRIDE{CHIP_CLOSE}airam." in text
    section = source[source.index('<section class="said"') :]
    assert "STATUS" in section[: section.index("</section>")]
    assert source.count("STATUS") == 1
    assert "by the model" not in words(page())


def test_r27_words_of_the_model_that_were_cut_are_said_to_be_a_beginning() -> None:
    assert "there may be more" in words(page(model_text="x" * 2000))
    assert "there may be more" not in words(page(model_text="x" * 1999))
    assert "1 line, 2,000 characters: all of it is shown" in words(page(model_text="x" * 2000))


def test_r26_much_text_takes_a_word_that_stands_where_it_ends_and_not_beside_the_field() -> None:
    source = page(LONG)
    call = pending_call(LONG)
    word = word_of(call.digest)
    text = words(source)
    assert text.count(f"Their word is {word}.") == 1
    assert text.index("y" * 40_000) < text.index(f"Their word is {word}") < text.index("Your decision")
    assert word not in text[text.index("Request") :]
    assert word not in short_code(call.digest)
    fields = {field["name"]: field for field in Page(source).all("textarea")}
    assert "required" in fields["word"]  # several lines: Enter in a field of one line would press Reject
    reject, approve, _ = Page(source).all("button")
    assert "formnovalidate" in reject  # rejecting takes no word
    assert "formnovalidate" not in approve


def test_little_text_takes_no_word() -> None:
    source = page()
    assert [field["name"] for field in Page(source).all("textarea")] == ["reason", "argument.path"]
    assert "formnovalidate" not in source
    assert "word is" not in words(source)
    call = pending_call()
    check_typed(call.arguments, call.digest, "")


@pytest.mark.parametrize("typed", ["{}", " {}\r\n", "{lower}"])
def test_r26_the_word_is_taken_as_people_type_it(typed: str) -> None:
    call = pending_call(LONG)
    word = word_of(call.digest)
    check_typed(call.arguments, call.digest, typed.format(word, lower=word.lower()))


@pytest.mark.parametrize("typed", ["", " ", "read", "{}0", "0{}", "-"])
def test_r26_another_word_is_refused_by_the_name_of_its_field(typed: str) -> None:
    call = pending_call(LONG)
    with pytest.raises(InvalidInput, match="Nothing was decided") as raised:
        check_typed(call.arguments, call.digest, typed.format(word_of(call.digest)))
    assert raised.value.field == "word"
