"""Arguments as rows: every value as what it is, and nothing left out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from pausepoint.domain.calls import CallStatus, Presentation
from pausepoint.domain.canonical import canonical_json
from pausepoint.http.page import approval_page, outcome_page
from pausepoint.http.rows import Row, is_large, read_arguments
from pausepoint.http.values import Grid, Leaf
from pausepoint.http.visible import CHIP_CLOSE, CHIP_OPEN, NEWLINE_MARK, flat
from tests.unit.http.samples import NOW, decided_call, pending_call, table, words


def page(arguments: dict[str, Any], **changes: Any) -> str:
    return approval_page(pending_call(arguments, **changes), token="t", action="/", now=NOW)


def shown(arguments: dict[str, Any]) -> str:
    return table(page(arguments))


def row_of(value: Any) -> Row:
    [row] = read_arguments(canonical_json({"k": value})).rows
    return row


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("5", "text", "5"),
        ("a\nb", "text, 2 lines", f"a{NEWLINE_MARK}b"),
        (5, "number", "5"),
        (5.0, "number", "5.0"),
        (12345678901234567890123, "number", "12345678901234567890123"),
        (True, "true/false", "true"),
        (None, "no value", "null"),
        ([], "list, 0 items", f"{CHIP_OPEN}empty list{CHIP_CLOSE}"),
        ({}, "object, 0 keys", f"{CHIP_OPEN}empty object{CHIP_CLOSE}"),
        ("", "text", f"{CHIP_OPEN}empty text{CHIP_CLOSE}"),
    ],
)
def test_simple_values_are_shown_as_what_they_are(value: Any, kind: str, text: str) -> None:
    row = row_of(value)
    assert row.kind == kind
    assert isinstance(row.value, Leaf)
    assert flat(row.value.text) == text


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ({"a": 1, "b": "x", "c": []}, "pairs"),
        ({"a": {"b": 1}}, "tree"),
        (["a", "b"], "tree"),
        ([{"a": 1, "b": "x"}, {"a": 2}], "grid"),
        ([{"a": 1}, {"a": [1]}], "tree"),
        ([{"a": 1}, 5], "tree"),
        ([{}, {}], "tree"),
        ([dict.fromkeys("abcd", 1)], "grid"),
        ([dict.fromkeys("abcde", 1)], "tree"),
        ([{"a": "x" * 201}], "tree"),
        ([{"a": "two\nlines"}], "tree"),
    ],
)
def test_what_is_flat_is_a_table_and_what_is_deep_a_tree(value: Any, shape: str) -> None:
    assert row_of(value).value.shape == shape


def test_more_parts_than_a_page_can_hold_in_tables_are_shown_as_json() -> None:
    many = read_arguments(canonical_json({"a": list(range(2000)), "b": {"c": 1}, "d": "x"}))
    assert [row.kind for row in many.rows] == ["list, 2,000 items, as JSON", "object, 1 key, as JSON", "text"]
    few = read_arguments(canonical_json({"a": list(range(1900)), "b": {"c": 1}, "d": "x"}))
    assert [row.kind for row in few.rows] == ["list, 1,900 items", "object, 1 key", "text"]


BULKY: list[Any] = [
    [1] * 32_000,
    [[]] * 21_000,
    [{"a": 1}] * 8_000,
    dict.fromkeys(map(str, range(7_000)), 1),
    "\ta" * 21_000,
    "\n " * 20_000,
    "\na" * 20_000,
    "  a" * 21_000,
    "\u200ba" * 16_000,
    "\u05d01" * 21_000,
    "\U000e0041a" * 13_000,
    [[[[[["x"]]]]]] * 3_500,
]


@pytest.mark.parametrize("value", BULKY, ids=range(len(BULKY)))
def test_r26_whatever_the_arguments_both_sets_fit_into_what_lambda_may_answer(value: Any) -> None:
    text = canonical_json({"k": value})
    assert len(text) > 20_000
    call = replace(decided_call(CallStatus.SUCCEEDED, edited=text), arguments=text)
    answer = json.dumps(outcome_page(call, now=NOW), ensure_ascii=False).encode()
    assert len(answer) < 5_000_000  # of 6 MB


def test_a_key_that_one_object_of_a_list_lacks_is_said_to_be_missing() -> None:
    grid = row_of([{"a": 1, "b": ""}, {"a": None}]).value
    assert isinstance(grid, Grid)
    assert [[cell and flat(cell.text) for cell in row] for row in grid.rows] == [
        ["1", f"{CHIP_OPEN}empty text{CHIP_CLOSE}"],
        ["null", None],
    ]
    assert "not there" in shown({"k": [{"a": 1, "b": ""}, {"a": None}]})


def test_highlighted_arguments_come_first_and_are_marked() -> None:
    text = canonical_json({"a": 1, "b": 2, "c": 3})
    arguments = read_arguments(text, highlight=("c", "b", "unknown"))
    assert [(flat(row.name), row.first) for row in arguments.rows] == [("b", True), ("c", True), ("a", False)]
    source = table(page({"a": 1, "b": 2}, presentation=Presentation(highlight=("b",))))
    assert source.index("look at this first") < source.index(" b ") < source.index(" a ")
    assert source.count("look at this first") == 1


@pytest.mark.parametrize(
    ("value", "much"),
    [
        ("x" * 1500, ""),
        ("x" * 1501, "1 line, 1,501 characters"),
        ("\n" * 24, ""),
        ("\n" * 25, "26 lines, 25 characters"),
        (list(range(26)), "26 lines, 94 characters"),
    ],
)
def test_r26_a_long_value_says_how_much_it_holds_and_is_open_until_somebody_folds_it(value: Any, much: str) -> None:
    assert row_of(value).much == much
    source = page({"k": value})
    assert ('<details open class="long">' in source) == bool(much)
    assert (f"{much}: all of it is shown" in words(source)) == bool(much)
    assert source.count("<details") == 2 + bool(much)  # the exact text, and the form for changing it


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
    assert is_large(text) is large
