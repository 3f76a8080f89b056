"""Arguments for an editor, and the difference between two sets of them."""

from __future__ import annotations

import io
import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausepoint_cli.editing import difference, editable
from pausepoint_cli.text import console_on
from tests.unit.cli.test_text import HIDDEN, JSON


def shown(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    stream = io.StringIO()
    console = console_on(stream, environ={})
    for line in difference(before, after):
        console.print(line)
    return stream.getvalue().splitlines()


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_an_editor_gets_the_same_values_and_nothing_hidden(arguments: dict[str, Any]) -> None:
    text = editable(arguments)
    assert json.loads(text) == arguments
    assert {unicodedata.category(char) for char in text.replace("\n", "")} & HIDDEN == set()


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"a": 1}, {"a": 2}, ['  -   "a": 1', '  +   "a": 2']),
        ({"a": 1}, {"a": 1.0}, ['  -   "a": 1', '  +   "a": 1.0']),
        ({"a": "x"}, {"a": "x\u200b"}, ['  -   "a": "x"', '  +   "a": "x‹U+200B ZERO WIDTH SPACE›"']),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2, "b": 1}}, []),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}, []),
        ({"a": "one\ntwo"}, {"a": "one\nthree"}, ['  - two"', '  + three"']),
    ],
)
def test_the_difference_is_what_differs(before: dict[str, Any], after: dict[str, Any], changed: list[str]) -> None:
    assert [line for line in shown(before, after) if line[2] in "+-"] == changed


def test_a_text_cannot_pass_for_a_line_of_the_difference() -> None:
    lines = shown({"a": "x"}, {"a": 'x\n  +   "b": 1\n'})
    assert all(line[:4] in ("    ", "  - ", "  + ") for line in lines)
    assert [line for line in lines if line.startswith('  +   "b"')] == []
