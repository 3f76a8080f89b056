"""Canonical JSON: one text per value, and strict about what is a value."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausepoint.domain.canonical import (
    MAX_ARGUMENT_BYTES,
    MAX_DEPTH,
    call_digest,
    canonical_json,
    parse_json,
    short_code,
)
from pausepoint.errors import InvalidInput, TooLarge

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=20
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal in value and in type: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return bool(one == other)


def shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(item, order)) for key, item in value.items()]
        order.shuffle(items)
        return dict(items)
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@given(values)
def test_reading_the_text_gives_the_same_value_of_the_same_types(value: Any) -> None:
    assert same(parse_json(canonical_json(value)), value)


@given(values)
def test_the_text_of_what_was_read_is_the_text(value: Any) -> None:
    text = canonical_json(value)
    assert canonical_json(parse_json(text)) == text


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: Any, order: random.Random) -> None:
    assert canonical_json(shuffled(value, order)) == canonical_json(value)


@given(values, values)
def test_different_values_have_different_texts(one: Any, other: Any) -> None:
    assert (canonical_json(one) == canonical_json(other)) == same(one, other)


def test_case_33_numbers_keep_their_value_and_type() -> None:
    value = {"amount": 12.5, "n": 3, "whole": 1.0, "tiny": 1e-130, "big": 10**40, "neg0": -0.0}
    assert same(parse_json(canonical_json(value)), value)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(math.nan, id="nan"),
        pytest.param({"a": [math.inf]}, id="infinity"),
        pytest.param([-math.inf], id="minus infinity"),
        pytest.param("\ud800", id="half a surrogate pair"),
        pytest.param({"\udfff": 1}, id="half a surrogate pair as key"),
        pytest.param({1: "a"}, id="a key that is a number"),
        pytest.param({None: "a"}, id="a key that is null"),
        pytest.param({"a": b"bytes"}, id="bytes"),
        pytest.param({"a": {1, 2}}, id="a set"),
        pytest.param(10**5000, id="more digits than Python writes"),
        pytest.param(nested(MAX_DEPTH + 1), id="too deep"),
        pytest.param(nested(900), id="much too deep"),
    ],
)
def test_case_36_what_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        canonical_json(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(InvalidInput):
        canonical_json(circle)


def test_case_36_the_deepest_value_allowed_is_32_levels() -> None:
    assert canonical_json(nested(MAX_DEPTH - 1))
    assert MAX_DEPTH == 32


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"b": {"a": 1, "a": 1}}',
        "NaN",
        '{"a": Infinity}',
        "[-Infinity]",
        "{broken",
        "",
        b"\xff",
        "[" * 100_000,
        "1" * 5000,
    ],
)
def test_case_36_json_text_is_read_strictly(text: str | bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_json(text)


def test_case_36_arguments_have_64_kib_at_most_counted_in_bytes() -> None:
    overhead = len('{"a":""}')
    room = MAX_ARGUMENT_BYTES - overhead
    fits = "é" * (room // 2)
    assert len(canonical_json({"a": fits}).encode()) == MAX_ARGUMENT_BYTES
    with pytest.raises(TooLarge):
        canonical_json({"a": fits + "é"})


def test_text_stays_readable() -> None:
    assert canonical_json({"name": "Zoë 🎉"}) == '{"name":"Zoë 🎉"}'


@given(values, values)
def test_the_digest_is_of_name_and_arguments(one: Any, other: Any) -> None:
    first, second = canonical_json(one), canonical_json(other)
    assert (call_digest("pay", first) == call_digest("pay", second)) == (first == second)
    assert call_digest("pay", first) != call_digest("play", first)


@given(st.from_regex(r"[a-zA-Z0-9_-]{1,64}", fullmatch=True), values)
def test_name_and_arguments_cannot_be_shifted_into_each_other(name: str, value: Any) -> None:
    assert call_digest(name, canonical_json(value)) != call_digest(name + "\n", canonical_json(value))


def test_the_short_code_is_the_beginning_of_the_digest() -> None:
    digest = call_digest("pay", "{}")
    assert short_code(digest).replace("-", "").lower() == digest[:8]


def test_json_dumps_would_not_do() -> None:
    """Why this module exists: the standard text keeps the order of keys, and lets NaN through."""
    assert json.dumps({"b": 1, "a": 2}) != json.dumps({"a": 2, "b": 1})
    assert json.loads(json.dumps(math.nan)) is not None
