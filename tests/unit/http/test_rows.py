"""Arguments as rows: every value as what it is, no two sets of arguments alike."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pausepoint.domain.canonical import canonical_json
from pausepoint.http.page import approval_page
from pausepoint.http.rows import read_arguments
from pausepoint.http.visible import CHIP_CLOSE, CHIP_OPEN, flat
from tests.unit.http.samples import NOW, pending_call, table
from tests.unit.http.test_visible import read_back, texts

scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
small = st.text(alphabet="ab \n1" + CHIP_OPEN + CHIP_CLOSE, max_size=4)
small_objects = st.dictionaries(
    small, st.one_of(small, st.none(), st.integers(0, 2), st.lists(small, max_size=2)), min_size=1, max_size=3
)


def shown(arguments: dict[str, Any]) -> str:
    return table(approval_page(pending_call(arguments), token="t", action="/", now=NOW))


@given(values)
def test_a_value_can_be_read_back_from_its_row(value: Any) -> None:
    [row] = read_arguments(canonical_json({"k": value})).rows
    text = "".join(f"{CHIP_OPEN}{text}{CHIP_CLOSE}" if kind == "chip" else text for kind, text in row.value)
    if isinstance(value, str):
        assert row.kind.startswith("text")
        assert read_back(text) == value
    else:
        assert not row.kind.startswith("text")
        again = json.loads(read_back(text))
        assert (again, type(again)) == (value, type(value))


@given(small_objects, small_objects)
@example({"a": "x", "b": "y"}, {"a": "x b text y"})
@example({"a": "x b", "c": "y"}, {"a": "x", "b c": "y"})
@example({"a": "1"}, {"a": 1})
@example({"a": "null"}, {"a": None})
@example({"a": "[]"}, {"a": []})
@example({"a": 1}, {"a": 1.0})
def test_two_different_sets_of_arguments_never_look_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assume(canonical_json(one) != canonical_json(other))
    assert shown(one) != shown(other)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("5", "text", "5"),
        (5, "number", "5"),
        (5.0, "number", "5.0"),
        (12345678901234567890123, "number", "12345678901234567890123"),
        (True, "true/false", "true"),
        (None, "no value", "null"),
        ([], "list, 0 items", "[]"),
        ({"a": [1, None]}, "object, 1 key", '{\n  "a": [\n    1,\n    null\n  ]\n}'),
    ],
)
def test_values_are_shown_as_what_they_are(value: Any, kind: str, text: str) -> None:
    [row] = read_arguments(canonical_json({"k": value})).rows
    assert row.kind == kind
    assert "".join(segment.text for segment in row.value) == text


def test_counts_are_of_arguments_bytes_and_lines() -> None:
    arguments = {"a": "x\ny\nz", "b": ["é", "1\n2"], "c": 1}
    size = len(canonical_json(arguments).encode())
    assert read_arguments(canonical_json(arguments)).counts == f"3 arguments · {size} bytes · 7 lines"
    assert read_arguments("{}").counts == "0 arguments · 2 bytes · 0 lines"


def test_letters_outside_ascii_are_told_and_so_is_their_direction() -> None:
    [ascii_only, cyrillic, hebrew, key] = read_arguments(
        canonical_json({"a": "paypal", "b": "p\u0430ypal", "c": ["\u05d0"], "\u0434": 1})
    ).rows
    assert ascii_only.note == ""
    assert cyrillic.note.startswith("Not only ASCII: Cyrillic.")
    assert "right to left" in hebrew.note
    assert "Cyrillic" in key.note


def test_names_are_made_visible_too() -> None:
    [row] = read_arguments(canonical_json({"pa\u200bth": 1})).rows
    assert re.fullmatch(rf"pa{CHIP_OPEN}U\+200B [A-Z ]+{CHIP_CLOSE}th", flat(row.name))


@pytest.mark.parametrize(("size", "large"), [(32 * 1024, False), (32 * 1024 + 1, True)])
def test_more_than_32_kilobytes_are_large(size: int, large: bool) -> None:
    text = canonical_json({"k": "x" * (size - len('{"k":""}'))})
    assert len(text) == size
    assert read_arguments(text).large is large
