"""Tools: what the model is told about a function, and what is refused when the agent is written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from pausepoint import Tool, ToolContext, tool
from pausepoint.errors import ConfigurationError, InvalidInput
from tests.support.clock import START

CONTEXT = ToolContext(
    session_id="s1",
    call_id="c2-0",
    idempotency_key="s1:c2-0",
    approver="maria",
    deadline=START,
    logger=logging.getLogger("test"),
)


class Address(BaseModel):
    street: str
    city: str = "Berlin"


@tool
def book(
    day: date,
    seats: Annotated[int, Field(ge=1, description="How many people.")],
    kind: Literal["window", "aisle"] = "window",
    address: Address | None = None,
) -> str:
    """Book a table.

    On one day only.
    """
    return f"{day:%d %b} {seats} {kind} {address.city if address else '-'}"


def unresolvable(x: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821 - the fault under test
    """Refer to a type that is not there."""


def test_the_schema_comes_from_the_type_hints() -> None:
    schema = book.spec.input_schema
    assert schema["required"] == ["day", "seats"]
    assert schema["properties"]["day"] == {"format": "date", "type": "string"}
    assert schema["properties"]["seats"] == {"description": "How many people.", "minimum": 1, "type": "integer"}
    assert schema["properties"]["kind"]["default"] == "window"
    assert schema["additionalProperties"] is False
    assert "title" not in schema


def test_name_and_description_come_from_the_function() -> None:
    assert book.spec.name == "book"
    assert book.spec.description == "Book a table.\n\nOn one day only."


def test_a_tool_is_still_the_function() -> None:
    assert book(date(2026, 11, 29), 2) == "29 Nov 2 window -"


def test_the_body_gets_values_of_the_annotated_types() -> None:
    arguments = book.arguments({"day": "2026-11-29", "seats": 2, "address": {"street": "Main"}})
    assert book.run(arguments, CONTEXT) == "29 Nov 2 window Berlin"


def test_the_context_is_injected_and_not_in_the_schema() -> None:
    seen: list[tuple[str, ToolContext | None]] = []

    @tool
    def look(what: str, context: ToolContext) -> None:
        """Look."""
        seen.append((what, context))

    @tool
    def glance(context: ToolContext | None = None) -> None:
        """Glance."""
        seen.append(("glance", context))

    look.run(look.arguments({"what": "up"}), CONTEXT)
    glance.run(glance.arguments({}), CONTEXT)
    assert seen == [("up", CONTEXT), ("glance", CONTEXT)]
    assert list(look.spec.input_schema["properties"]) == ["what"]
    assert "context" not in str(glance.spec.input_schema)


def test_the_model_cannot_pass_the_context() -> None:
    @tool
    def look(context: ToolContext) -> None:
        """Look."""

    with pytest.raises(InvalidInput, match="context"):
        look.arguments({"context": {}})


@pytest.mark.parametrize("name", ["json", "copy", "model_config", "self_", "schema"])
def test_parameters_may_be_called_like_pydantics_own_attributes(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def f({name}: int) -> int:\n    'Return it.'\n    return {name}", namespace)
    made = tool(namespace["f"])
    assert made.run(made.arguments({name: "3"}), CONTEXT) == 3


def test_async_functions_run_to_their_end() -> None:
    @tool
    async def wait(seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(0)
        return f"waited {seconds}"

    assert wait.run(wait.arguments({"seconds": 1}), CONTEXT) == "waited 1.0"


def test_async_functions_run_also_inside_an_event_loop() -> None:
    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(0)
        return "waited"

    async def notebook() -> Any:
        return wait.run("{}", CONTEXT)

    assert asyncio.run(notebook()) == "waited"


def test_retry_safe_is_the_default_for_tools_that_never_ask() -> None:
    def act() -> None:
        """Act."""

    assert Tool(act).retry_safe is True
    assert Tool(act, requires_confirmation=True).retry_safe is False
    assert Tool(act, requires_confirmation=lambda _: False).retry_safe is False
    assert Tool(act, requires_confirmation=True, retry_safe=True).retry_safe is True
    assert Tool(act, retry_safe=False).retry_safe is False


@pytest.mark.parametrize("name", ["", "delete file", "löschen", "a" * 65, "a.b", "a\n"])
def test_names_that_a_provider_refuses_are_refused_first(name: str) -> None:
    def act() -> None:
        """Act."""

    with pytest.raises(ConfigurationError, match="name"):
        Tool(act, name=name or "?")


def test_case_51_a_name_may_have_64_characters() -> None:
    assert tool(name="x" * 64)(unresolvable_free).spec.name == "x" * 64


def unresolvable_free() -> None:
    """Do nothing."""


def _no_annotation(x) -> None:  # type: ignore[no-untyped-def]
    """Miss an annotation."""


def _stars(*args: int) -> None:
    """Take any number."""


def _keywords(**kwargs: int) -> None:
    """Take any keywords."""


def _positional(x: int, /) -> None:
    """Take one by position."""


def _without_schema(x: Callable[[], None]) -> None:
    """Take a function."""


def _endless_default(x: float = float("inf")) -> None:
    """Have a default that JSON does not know."""


def _huge_default(x: str = "x" * 70_000) -> None:
    """Have a schema that no model should be told."""


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_no_annotation, "needs a type annotation"),
        (_stars, "ordinary"),
        (_keywords, "ordinary"),
        (_positional, "ordinary"),
        (unresolvable, "cannot be resolved"),
        (_without_schema, "schema"),
        (_endless_default, "schema"),
        (_huge_default, "schema"),
    ],
)
def test_functions_that_cannot_be_tools_are_refused_with_what_to_change(
    function: Callable[..., Any], says: str
) -> None:
    with pytest.raises(ConfigurationError, match=says):
        tool(function)


def test_the_schema_hash_changes_with_the_meaning_of_arguments() -> None:
    def one(path: str) -> None:
        """Act."""

    def renamed(file: str) -> None:
        """Act."""

    def wider(path: str, force: bool) -> None:
        """Act."""

    def reworded(path: str) -> str:
        """Act, and say what was done."""
        return path

    first = Tool(one, name="act").schema_hash
    assert Tool(one, name="act").schema_hash == first
    assert Tool(reworded, name="act").schema_hash == first
    assert len({first, *(Tool(f, name="act").schema_hash for f in (renamed, wider))}) == 3
    assert Tool(one, name="other").schema_hash != first
