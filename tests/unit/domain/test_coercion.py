"""What the model gave becomes what will run, before anybody is asked; and the gate looks at that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from itertools import count
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, Field

from pausepoint import Tool, tool
from pausepoint.domain.canonical import MAX_ARGUMENT_BYTES, parse_json
from pausepoint.errors import InvalidInput, TooLarge
from tests.unit.domain.test_canonical import nested, values
from tests.unit.domain.test_tools import CONTEXT

Percent = Annotated[int, AfterValidator(lambda value: min(value, 100))]
_numbers = count()
Restless = Annotated[str, AfterValidator(lambda value: f"{value}{next(_numbers)}")]


@tool
def order(  # noqa: PLR0917 - as people write tools
    amount: int,
    discount: Percent = 0,
    at: datetime | None = None,
    price: Decimal = Decimal("9.90"),
    ratio: float = 1,
    tags: Annotated[list[str], Field(max_length=3)] = [],  # noqa: B006 - as people write it
) -> dict[str, Any]:
    """Order something."""
    return {"amount": amount, "discount": discount, "at": at, "price": price, "ratio": ratio, "tags": tags}


@tool
def anything(value: Any) -> Any:
    """Take anything."""
    return value


def over_1000(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["amount"] > 1000)


@tool(requires_confirmation=over_1000)
def pay(amount: int = 5000) -> int:
    """Pay an amount."""
    return amount


def test_case_08_what_will_run_is_coerced_completed_and_clamped() -> None:
    arguments = parse_json(order.arguments({"amount": "100", "discount": 250, "at": "2026-11-29T12:00:00+00:00"}))
    assert arguments == {
        "amount": 100,
        "discount": 100,
        "at": "2026-11-29T12:00:00Z",
        "price": "9.90",
        "ratio": 1.0,
        "tags": [],
    }


def test_case_08_the_body_gets_exactly_what_the_canonical_text_says() -> None:
    given_values = order.run(order.arguments({"amount": "100", "discount": 250}), CONTEXT)
    assert given_values == {
        "amount": 100,
        "discount": 100,
        "at": None,
        "price": Decimal("9.90"),
        "ratio": 1.0,
        "tags": [],
    }


@given(values)
def test_i2_arguments_that_were_validated_once_validate_to_themselves(value: Any) -> None:
    text = anything.arguments({"value": value})
    assert anything.arguments(parse_json(text)) == text


@given(st.integers(), st.integers(), st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=3))
def test_i2_coerced_arguments_are_stable_too(amount: int, discount: int, tags: list[str]) -> None:
    text = order.arguments({"amount": amount, "discount": discount, "tags": tags})
    assert order.arguments(parse_json(text)) == text


@given(st.permutations([0, 8, 16, 24, -1, "a"]), st.permutations(["x", "y", "z"]))
def test_i2_sets_have_one_text_whatever_the_order_they_come_in(members: list[Any], names: list[str]) -> None:
    @tool
    def label(members: set[int | str], more: dict[str, list[frozenset[str]]]) -> None:
        """Label."""

    text = label.arguments({"members": members, "more": {"b": [names], "a": []}})
    assert text == '{"members":["a",-1,0,16,24,8],"more":{"a":[],"b":[["x","y","z"]]}}'


def test_arguments_that_change_at_each_validation_cannot_be_approved() -> None:
    @tool
    def restless(value: Restless) -> str:
        """Never be the same."""
        return value

    with pytest.raises(InvalidInput, match="change each time"):
        restless.arguments({"value": "a"})


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({}, id="a missing one"),
        pytest.param({"amount": 1, "force": True}, id="an extra one"),
        pytest.param({"amount": "many"}, id="a wrong type"),
        pytest.param({"amount": 1.5}, id="a fraction for an int"),
        pytest.param({"amount": None}, id="null"),
        pytest.param({"amount": [1]}, id="a list"),
        pytest.param({"amount": 1, "ratio": math.nan}, id="nan"),
        pytest.param({"amount": 1, "ratio": "NaN"}, id="nan as text"),
        pytest.param({"amount": 1, "ratio": "Infinity"}, id="infinity as text"),
        pytest.param({"amount": 1, "tags": ["\ud800"]}, id="half a surrogate pair"),
        pytest.param({"amount": 1, "tags": nested(40)}, id="too deep"),
        pytest.param({"amount": 1, "tags": nested(3000)}, id="much too deep"),
        pytest.param({"amount": 1, "price": "NaN"}, id="a decimal that is no number"),
        pytest.param([], id="a list of arguments"),
        pytest.param("{broken", id="broken JSON, as a provider hands it on"),
        pytest.param(None, id="nothing"),
    ],
)
def test_case_36_arguments_that_do_not_fit_are_refused_with_words_for_the_model(raw: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        order.arguments(raw)
    assert str(refusal.value).isprintable()


def test_case_36_arguments_over_64_kib_are_refused() -> None:
    with pytest.raises(TooLarge):
        anything.arguments({"value": "x" * MAX_ARGUMENT_BYTES})


def test_i2_arguments_that_no_longer_mean_what_they_say_are_known() -> None:
    limit = [100]
    clamped = Annotated[int, AfterValidator(lambda value: min(value, limit[0]))]

    def act(amount: int) -> None:
        """Act."""

    act.__annotations__["amount"] = clamped
    made = Tool(act)
    text = made.arguments({"amount": 250})
    assert made.means(text)
    limit[0] = 50
    assert not made.means(text)
    assert not made.means('{"amount":"many"}')


def test_what_a_default_adds_counts_too() -> None:
    @tool
    def stamp(text: str, form: str = "x" * 40_000) -> str:
        """Stamp."""
        return text + form

    assert stamp.arguments({"text": "y" * 20_000})
    with pytest.raises(TooLarge):
        stamp.arguments({"text": "y" * 30_000})


@pytest.mark.parametrize(
    ("raw", "asks"),
    [
        pytest.param({"amount": 1000}, False, id="below"),
        pytest.param({"amount": 1001}, True, id="above"),
        pytest.param({"amount": "5000"}, True, id="above, as text"),
        pytest.param({"amount": 5000.0}, True, id="above, as a float"),
        pytest.param({}, True, id="above, by default"),
        pytest.param({"amount": True}, False, id="true is one"),
    ],
)
def test_case_09_the_gate_sees_what_will_run(raw: dict[str, Any], asks: bool) -> None:
    assert pay.needs_confirmation(pay.arguments(raw)) is asks


@pytest.mark.parametrize("amount", [math.nan, math.inf, None, [5000], {"value": 5000}, "5000 EUR", "5,000", "5e3x"])
def test_case_09_what_does_not_fit_never_comes_to_the_gate(amount: Any) -> None:
    with pytest.raises(InvalidInput):
        pay.arguments({"amount": amount})


def test_case_10_a_predicate_that_raises_says_yes() -> None:
    def fails(arguments: Mapping[str, Any]) -> bool:
        raise RuntimeError("the policy service is down")

    assert Tool(pay.function, requires_confirmation=fails).needs_confirmation("{}") is True


@pytest.mark.parametrize(("answer", "asks"), [(1, True), ("no", True), (0, False), (None, False), ("", False)])
def test_a_predicates_answer_counts_as_python_counts_it(answer: Any, asks: bool) -> None:
    assert Tool(pay.function, requires_confirmation=lambda _: answer).needs_confirmation("{}") is asks


@pytest.mark.parametrize("gate", [None, 0, "no", []])
def test_a_gate_that_is_neither_a_bool_nor_a_predicate_never_opens(gate: Any) -> None:
    assert Tool(pay.function, requires_confirmation=gate).needs_confirmation("{}") is True


def test_a_predicate_cannot_change_what_will_run() -> None:
    def meddles(arguments: Any) -> bool:
        arguments["amount"] = 1
        return False

    meddled = Tool(pay.function, requires_confirmation=meddles)
    text = meddled.arguments({"amount": 7})
    meddled.needs_confirmation(text)
    assert meddled.run(text, CONTEXT) == 7
