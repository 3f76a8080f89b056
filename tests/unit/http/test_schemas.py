"""The tool's schema, without the tool: what fits it is what the tool would take, and how it would take it."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from pausepoint import tool
from pausepoint.domain.canonical import canonical_json
from pausepoint.errors import Conflict
from pausepoint.http.schemas import fitted, unfit


class Where(BaseModel):
    shelf: int
    height: float = 1


class Branch(BaseModel):
    name: str
    under: list[Branch] = []


SHELF, ROOT = Where(shelf=1), Branch(name="root")


@tool
def order(
    *,
    amount: float,
    count: int | None = None,
    code: Annotated[str, Field(min_length=2, max_length=4, pattern="^a")] = "ab",
    rates: list[float] = [1],  # noqa: B006 - pydantic copies it
    where: Where = SHELF,
    way: Literal["air", "sea"] = "air",
    pair: tuple[int, float] = (1, 2),
    labels: dict[str, float] = {},  # noqa: B006
    either: int | float = 1,  # noqa: PYI041 - the two are told apart
    price: Decimal = Decimal("1.5"),
    day: date = date(2026, 1, 1),
    anything: Any = None,
    tree: Branch = ROOT,
    low: Annotated[int, Field(ge=1, lt=10, multiple_of=3)] = 3,
    places: list[Where] | None = None,
    unique: Annotated[set[int], Field(max_length=2)] = {1},  # noqa: B006
) -> str:
    """Order it."""
    raise AssertionError("entered")


SCHEMA = order.spec.input_schema
WHOLE: dict[str, Any] = json.loads(order.arguments({"amount": 1}))
FITS: list[dict[str, Any]] = [
    {"amount": 2},
    {"amount": -0.0},
    {"amount": 10**30},
    {"count": 2.0},
    {"count": None},
    {"code": "abc"},
    {"rates": [1, 2.5, 3]},
    {"where": {"shelf": 2}},
    {"where": {"shelf": 2, "height": 3}},
    {"way": "sea"},
    {"pair": [3, 4]},
    {"labels": {"any key": 1}},
    {"either": 2},
    {"either": 2.0},
    {"price": "2.50"},
    {"day": "2026-02-28"},
    {"anything": [1, {"a": None}]},
    {"tree": {"name": "a", "under": [{"name": "b"}]}},
    {"low": 9},
    {"places": [{"shelf": 1}, {"shelf": 2, "height": 0}]},
    {"unique": [2, 3]},
]
WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"amount": "much"}, "amount", "must be a number"),
    ({"amount": None}, "amount", "must be a number"),
    ({"amount": True}, "amount", "must be a number"),
    ({"count": "x"}, "count", "must be a whole number or null"),
    ({"count": 1.5}, "count", "must be a whole number or null"),
    ({"code": "a"}, "code", "must have at least 2 characters"),
    ({"code": "abcde"}, "code", "must have at most 4 characters"),
    ({"code": "bc"}, "code", "must match ^a"),
    ({"rates": [1, "2"]}, "rates", "1: must be a number"),
    ({"where": {"shelf": "top"}}, "where", "shelf: must be a whole number"),
    ({"where": {}}, "where", "shelf is missing"),
    ({"where": {"shelf": 1, "room": 2}}, "where", "has what the tool does not know: room"),
    ({"way": "road"}, "way", 'must be one of: "air", "sea"'),
    ({"pair": [1]}, "pair", "must have at least 2 entries"),
    ({"labels": {"a": "b"}}, "labels", "a: must be a number"),
    ({"day": "tomorrow"}, "day", "must be a date"),
    ({"tree": {"name": "a", "under": [{"name": 1}]}}, "tree", "under.0.name: must be text"),
    ({"low": 0}, "low", "must be at least 1"),
    ({"low": 10}, "low", "must be less than 10"),
    ({"low": 4}, "low", "must be a multiple of 3"),
    ({"unique": [1, 1]}, "unique", "must not have the same entry twice"),
    ({"other": 1}, "", "has what the tool does not know: other"),
]


@pytest.mark.parametrize("change", FITS, ids=str)
def test_what_fits_the_schema_is_what_the_tool_takes_unchanged(change: dict[str, Any]) -> None:
    values = fitted(SCHEMA, WHOLE | change)
    assert unfit(SCHEMA, values) == {}
    assert order.means(canonical_json(values))
    assert canonical_json(values) == order.arguments(WHOLE | change)


@pytest.mark.parametrize(("change", "name", "why"), WRONG, ids=str)
def test_case_05_what_does_not_fit_is_told_by_the_arguments_name(change: dict[str, Any], name: str, why: str) -> None:
    assert unfit(SCHEMA, fitted(SCHEMA, WHOLE | change)) == {name: why}


def test_several_arguments_are_told_of_at_once() -> None:
    assert unfit(SCHEMA, WHOLE | {"amount": "x", "way": 1}) == {
        "amount": "must be a number",
        "way": 'must be one of: "air", "sea"',
    }


def test_a_missing_argument_is_told() -> None:
    assert unfit(SCHEMA, {}) == {"": "amount is missing"}


def test_a_pattern_that_only_the_tools_own_engine_knows_is_not_passed_over() -> None:
    @tool
    def name(text: Annotated[str, Field(pattern=r"^\p{Lu}")]) -> str:
        """Name it."""
        raise AssertionError("entered")

    with pytest.raises(Conflict, match="cannot be checked on this page"):
        unfit(name.spec.input_schema, {"text": "Ä"})


def test_nothing_is_fetched_for_a_reference_that_leads_elsewhere() -> None:
    with pytest.raises(Conflict, match="cannot be checked on this page"):
        unfit({"properties": {"a": {"$ref": "https://example.com/schema.json"}}}, {"a": 1})


def test_a_key_that_is_a_word_of_json_schema_is_a_key_all_the_same() -> None:
    @tool
    def odd(properties: dict[str, int], type: str, default: Where, enum: int) -> str:  # noqa: A002
        """Odd."""
        raise AssertionError("entered")

    values = {"properties": {"type": 1}, "type": "object", "default": {"shelf": 1, "height": 1.0}, "enum": 1}
    schema = odd.spec.input_schema
    assert unfit(schema, fitted(schema, values)) == {}
    assert unfit(schema, values | {"default": {"shelf": 1, "x": 1}}) == {
        "default": "has what the tool does not know: x"
    }
