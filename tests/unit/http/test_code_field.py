"""R3: the field for a one-time code: there where it is needed, named, and no trap for who presses Enter in it."""

from __future__ import annotations

import re

from pausepoint.http.page import approval_page
from tests.unit.http.samples import NOW, pending_call


def page(*, needs_code: bool) -> str:
    return approval_page(pending_call(), token="t" * 43, action="https://example.com/a", now=NOW, needs_code=needs_code)


def test_r3_the_field_is_there_only_where_a_code_is_needed() -> None:
    with_code, without = page(needs_code=True), page(needs_code=False)

    assert 'name="code"' not in without
    (field,) = re.findall(r"<input [^>]*name=\"code\"[^>]*>", with_code)
    for attribute in ('autocomplete="one-time-code"', 'inputmode="numeric"', 'aria-describedby="code-hint"'):
        assert attribute in field
    assert '<label for="code">' in with_code
    assert 'id="code-hint"' in with_code


def test_r3_rejecting_is_not_held_up_by_an_empty_field() -> None:
    (field,) = re.findall(r"<input [^>]*name=\"code\"[^>]*>", page(needs_code=True))

    assert not re.search(r"\b(?:required|pattern|minlength)\b", field)


def test_r3_enter_in_the_field_presses_no_button() -> None:
    # HTML, "implicit submission": the first button of a form is pressed, unless it is disabled.
    form, _, _ = page(needs_code=True).partition("</form>")
    buttons = re.findall(r"<button[^>]*>", form)

    assert buttons[0] == "<button disabled hidden>"
    assert ["disabled" in button for button in buttons[1:]] == [False, False]


def test_a_code_does_not_come_back_from_a_cache_of_forms() -> None:
    assert re.search(r"<form [^>]*autocomplete=\"off\"", page(needs_code=True))
