"""The page that shows a change before it counts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausepoint.domain.canonical import call_digest, canonical_json, short_code
from pausepoint.http.edit_page import _differences, confirm_page
from pausepoint.http.edits import Edited
from pausepoint.http.visible import flat, visible
from tests.unit.http.samples import NOW, Page, pending_call, stripped, words

ASKED = {"amount": 5, "path": "reports/q3.pdf", "to": "maria"}


def change(arguments: dict[str, Any], asked: dict[str, Any] | None = None) -> str:
    call = pending_call(asked or ASKED)
    canonical = canonical_json((asked or ASKED) | arguments)
    changed = Edited(canonical, call_digest(call.name, canonical))
    return confirm_page(call, changed, token="q" * 43, action="/approvals/s-1/c3-0", now=NOW)


def difference(page: str) -> str:
    start = page.index('id="difference"')
    return page[start : page.index("</section>", start)]


def test_case_29_what_was_asked_and_what_would_run_stand_side_by_side() -> None:
    page = change({"path": "reports/q4.pdf", "amount": 7})
    shown = " ".join(stripped(difference(page)).split())
    assert "amount Asked for ‹number› 5 Your change ‹number› 7" in shown
    assert "path Asked for ‹text› reports/q3.pdf Your change ‹text› reports/q4.pdf" in shown
    assert "maria" not in shown
    assert "reports/<del>q3</del>.pdf" in page
    assert "reports/<ins>q4</ins>.pdf" in page


def test_r20_i2_the_form_posts_what_was_shown_of_both() -> None:
    page = change({"amount": 7})
    call = pending_call(ASKED)
    hidden = {field["name"]: field["value"] for field in Page(page).all("input")}
    new = canonical_json(ASKED | {"amount": 7})
    assert hidden == {"t": "q" * 43, "digest": call.digest, "arguments": new}
    text = words(page)
    for part in (short_code(call.digest), short_code(call_digest(call.name, new)), "What will run", new):
        assert part in text
    assert [form["action"] for form in Page(page).all("form")] == ["/approvals/s-1/c3-0#edit"]
    assert [(b["name"], b["value"]) for b in Page(page).all("button")] == [
        ("decision", "change"),  # first: an accidental Enter must run nothing
        ("decision", "approved"),
    ]


def test_r25_hidden_characters_of_a_change_are_named() -> None:
    shown = stripped(difference(change({"path": "reports/\u202eq3.pdf\u200b"})))
    assert "‹U+202E RIGHT-TO-LEFT OVERRIDE›" in shown
    assert "‹U+200B ZERO WIDTH SPACE›" in shown


def test_a_look_alike_in_a_change_is_told() -> None:
    assert "Not only ASCII: Cyrillic" in words(change({"to": "m\u0430ria"}))


@pytest.mark.parametrize(("was", "becomes"), [(1, 1.0), (1, True), ("1", 1), ("null", None), ([], {}), ("", [])])
def test_values_that_differ_in_kind_alone_are_a_difference(was: Any, becomes: Any) -> None:
    old, new = canonical_json({"a": was}), canonical_json({"a": becomes})
    assert [flat(each.name) for each in _differences(old, new)] == ["a"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(TEXTS, TEXTS)
def test_r26_a_difference_leaves_nothing_out(was: str, becomes: str) -> None:
    found = list(_differences(canonical_json({"a": was}), canonical_json({"a": becomes})))
    if was == becomes:
        assert found == []
        return
    (each,) = found
    assert flat([*each.was.parts[0], *each.was.parts[1], *each.was.parts[2]]) == flat(visible(was))
    assert flat([*each.becomes.parts[0], *each.becomes.parts[1], *each.becomes.parts[2]]) == flat(visible(becomes))
    assert each.was.parts[0] == each.becomes.parts[0]
    assert each.was.parts[2] == each.becomes.parts[2]


def test_a_value_of_json_is_compared_as_it_is_shown() -> None:
    page = change({"labels": {"a": [1, 3]}}, {"labels": {"a": [1, 2]}})
    assert re.search(r"<del>2</del>", page)
    assert re.search(r"<ins>3</ins>", page)
