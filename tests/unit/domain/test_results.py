"""Results as text: always something, never a crash after the effect."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pausepoint.domain.results import MAX_RESULT_BYTES, NO_OUTPUT, error_text, result_text


class Colour(Enum):
    RED = "red"


class Size(StrEnum):
    BIG = "big"


@dataclasses.dataclass
class Point:
    x: int
    at: date


class Order(BaseModel):
    price: Decimal
    points: list[Point]


class Plain:
    def __str__(self) -> str:
        return "plain"


class Failing:
    def __str__(self) -> str:
        raise RuntimeError("no words")


class FailingError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def circle() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


def generator() -> Any:
    yield 1
    raise RuntimeError("half way")


@pytest.mark.parametrize("value", ["", None, "  ", "\n\t"])
def test_case_31_nothing_is_said_to_be_nothing(value: object) -> None:
    assert result_text(value) == NO_OUTPUT


@pytest.mark.parametrize(("value", "text"), [([], "[]"), ({}, "{}"), (0, "0"), (False, "false"), ('""', '""')])
def test_case_31_what_looks_empty_but_says_something_stays(value: object, text: str) -> None:
    assert result_text(value) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Exception(""), "Exception: (no message)"),
        (ValueError("  "), "ValueError: (no message)"),
        (KeyError("a"), "KeyError: 'a'"),
        (FailingError(), "FailingError: (no message)"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_case_31_an_error_has_words_even_if_it_has_no_message(error: BaseException, text: str) -> None:
    assert error_text(error) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime(2026, 11, 29, 12, 0, tzinfo=UTC), '"2026-11-29T12:00:00Z"'),
        (Decimal("1.10"), '"1.10"'),
        (UUID(int=0), '"00000000-0000-0000-0000-000000000000"'),
        (PurePosixPath("a/b"), '"a/b"'),
        ({3}, "[3]"),
        ((1, None), "[1,null]"),
        (Colour.RED, '"red"'),
        (Size.BIG, "big"),
        (Point(1, date(2026, 1, 2)), '{"x":1,"at":"2026-01-02"}'),
        (
            Order(price=Decimal("1.5"), points=[Point(1, date(2026, 1, 2))]),
            '{"price":"1.5","points":[{"x":1,"at":"2026-01-02"}]}',
        ),
        ({"deep": [{"when": date(2026, 1, 2), "what": Colour.RED}]}, '{"deep":[{"when":"2026-01-02","what":"red"}]}'),
        (Plain(), '"plain"'),
        (float("nan"), "NaN"),
        (b"bytes", '"bytes"'),
        (10**40, str(10**40)),
    ],
)
def test_case_34_results_of_many_kinds_have_a_defined_text(value: object, text: str) -> None:
    assert result_text(value) == text


@pytest.mark.parametrize(
    "value", [Failing(), [Failing()], circle(), b"\xff\xfe", generator(), {"a": {1: circle()}}, ["\ud800"]]
)
def test_case_34_what_has_no_text_is_said_to_have_none(value: object) -> None:
    text = result_text(value)
    assert type(value).__name__ in text
    assert "the tool finished" in text


def test_half_a_surrogate_pair_is_shown_not_stored() -> None:
    assert result_text("a\ud800b") == "a\\ud800b"
    assert error_text(ValueError("\udfff")) == "ValueError: \\udfff"


def test_case_35_a_result_of_500_kb_is_kept_whole() -> None:
    assert result_text("x" * 500_000) == "x" * 500_000


def test_case_35_a_result_of_more_than_a_megabyte_is_cut_and_says_so() -> None:
    text = result_text("x" * 1_500_000)
    kept, _, note = text.partition("\n")
    assert kept == "x" * len(kept)
    assert note == f"(cut here: the first {len(kept)} of 1500000 characters)"
    assert MAX_RESULT_BYTES * 0.9 < len(text) < MAX_RESULT_BYTES + 100


@pytest.mark.parametrize("character", ["x", "é", "€", "🎉", '"', "\\", "\n", "\x00", "\u202e"])
@pytest.mark.parametrize("extra", [-1, 0, 1, 2, 3])
def test_case_35_text_at_the_limit_is_whole_or_cut_between_characters(character: str, extra: int) -> None:
    each = len(json.dumps(character, ensure_ascii=False).encode()) - 2
    whole = character * ((MAX_RESULT_BYTES - 2) // each + extra)
    text = result_text("." + whole)
    fits = len(json.dumps("." + whole, ensure_ascii=False).encode()) <= MAX_RESULT_BYTES
    assert (text == "." + whole) == fits
    kept = text.split("\n(cut here")[0] if not fits and character != "\n" else None
    if kept is not None:
        assert ("." + whole).startswith(kept)
        assert len(kept) > len(whole) * 9 // 10


@given(st.recursive(st.none() | st.floats() | st.text(st.characters()) | st.binary(), st.lists, max_leaves=10))
def test_whatever_comes_back_becomes_text_that_can_be_stored_and_sent(value: object) -> None:
    text = result_text(value)
    assert text.strip()
    text.encode("utf-8")
