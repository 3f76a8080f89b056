"""What is put in comes out: every kind of value and block, with its type."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest

from pausepoint.domain.canonical import call_digest, canonical_json
from pausepoint.domain.events import AssistantTurn, SessionFailed, Usage
from pausepoint.domain.limits import Limits
from pausepoint.domain.session import SessionSpec, ToolSpec
from pausepoint.errors import NotFound
from pausepoint.runtime.ports import SessionStore
from tests.contract.conftest import Place
from tests.support.stored import a_call, a_session, a_turn, appending, moment, paused, said

NUMBERS: dict[str, Any] = {
    "amount": 12.5,
    "n": 3,
    "whole": 1.0,
    "tiny": 1e-130,
    "tiniest": 5e-324,
    "huge": 1.7976931348623157e308,
    "third": 0.1 + 0.2,
    "big": 10**40,
    "negative": -(10**40),
    "neg0": -0.0,
    "zero": 0,
    "yes": True,
    "no": False,
    "nothing": None,
}
LOOKALIKES: list[Any] = [
    {"$bytes": "AAE="},
    {"$bytes": b"\x00\x01"},
    {"$bytes": {"$bytes": "AAE="}},
    {"$bytes": None, "more": 1},
    {"$escaped": {"$bytes": "AAE="}},
    {"$escaped": {"$escaped": {"$bytes": b"\xff"}}},
    {"$bytes": []},
]
TEXTS = ["", " ", "\x00", "\u202e\u200b", "\ud800", "\N{PILE OF POO}", '"\\/\b\f\n\r\t', "ä" * 1000]
BLOCKS: list[dict[str, Any]] = [
    {"reasoningContent": {"reasoningText": {"text": "First I think.", "signature": "c2lnbmF0dXJl"}}},
    {"reasoningContent": {"reasoningText": {"text": "", "signature": "b25seSBzaWduZWQ="}}},
    {"reasoningContent": {"redactedContent": bytes(range(256))}},
    {"reasoningContent": {"redactedContent": b""}},
    {"text": "Then I delete it."},
    {"toolUse": {"toolUseId": "toolu_1", "name": "delete", "input": {"path": "a.txt", "deep": [[[{"x": [1.0]}]]]}}},
    {"SDK_UNKNOWN_MEMBER": {"name": "tomorrow's block"}},
]


def stored_message(store: SessionStore, message: dict[str, Any]) -> dict[str, Any]:
    """Put a provider's message through the store."""
    store.create(a_session())
    store.commit(appending(store.load("s1"), a_turn(message=message)))
    event = store.load("s1").events[-1]
    assert isinstance(event, AssistantTurn)
    return event.message


@pytest.mark.parametrize(
    "value",
    [NUMBERS, LOOKALIKES, TEXTS, b"\x00\xff", {"": {"": []}}, [[], {}, [None]]],
    ids=["numbers", "lookalikes", "texts", "bytes", "empty_keys", "empty"],
)
def test_case_33_a_value_keeps_its_type_on_its_way_through_the_store(store: SessionStore, value: Any) -> None:
    message = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "n", "input": value}}]}

    loaded = stored_message(store, message)

    # Equality alone does not tell 1.0 from 1, True from 1, or -0.0 from 0.0.
    assert repr(loaded) == repr(message)


def test_case_30_reasoning_comes_back_as_the_provider_gave_it(store: SessionStore) -> None:
    message = {"role": "assistant", "content": BLOCKS}

    assert repr(stored_message(store, message)) == repr(message)


def test_case_32_every_kind_of_event_and_a_whole_head_come_back_equal(store: SessionStore) -> None:
    session = a_session(limits=Limits(model_calls=7, tokens=10**9), base_url="", request_hash="")
    spec = SessionSpec(
        system="Line one.\nLine \N{PILE OF POO}",
        tools=(ToolSpec(name="t", description="d", input_schema={"minimum": 1.0, "maximum": 10**40, "x": [None]}),),
        model={"temperature": 0.7, "max_tokens": 4096, "stop": [], "opaque": b"\x00"},
        ordered=True,
    )
    session = type(session)(head=session.head, spec=spec, events=session.events)
    store.create(session)
    turn = replace(a_turn(a_call(), message={"content": BLOCKS}), usage=Usage(input_tokens=10**9))
    failed = SessionFailed(at=moment(1.000001), code="model-failed", message='{"$bytes": 1}')

    store.commit(appending(store.load("s1"), said("\ud800 half"), turn, failed))

    loaded = store.load("s1")
    assert loaded.head == session.head
    assert repr(loaded.spec) == repr(spec)
    assert loaded.events[1:] == (said("\ud800 half"), turn, failed)
    assert loaded.last_turn is not None
    assert repr(loaded.last_turn.message) == repr(turn.message)


def test_case_33_arguments_are_kept_to_the_byte(store: SessionStore) -> None:
    arguments = canonical_json({**NUMBERS, "text": "ä\u202e\x00\N{PILE OF POO}", "long": "x" * 60_000})
    call = a_call(arguments=arguments, digest=call_digest("delete", arguments))
    paused(store, call)

    kept = store.call("s1", "c2-0")

    assert kept.arguments == arguments
    assert call_digest(kept.name, kept.arguments) == call.digest


def test_a_moment_keeps_its_microseconds_and_comes_back_in_utc(store: SessionStore) -> None:
    moments = [moment(0.000001), moment(0), moment(0.5).astimezone(timezone(timedelta(hours=5, minutes=30)))]
    calls = [a_call(f"c2-{number}", requested_at=at) for number, at in enumerate(moments)]
    paused(store, *calls)

    loaded = store.load("s1").calls

    assert [loaded[call.call_id].requested_at for call in calls] == moments


def test_case_12_an_id_of_the_provider_may_be_anything(store: SessionStore) -> None:
    for number, provider_id in enumerate(("toolu_1", "", "#|/\\", "ä" * 200)):
        paused(store, a_call(session_id=f"s{number}", tool_call_id=provider_id), session_id=f"s{number}")
        assert store.call(f"s{number}", "c2-0").tool_call_id == provider_id


def test_the_agent_of_a_session_is_read_by_itself_as_it_was_stored(place: Place) -> None:
    schema = {"type": "object", "properties": {"a": {"default": 1.0, "maximum": 1e300, "const": 10**40}}}
    session = a_session()
    tools = (ToolSpec(name="delete", description="Delete.", input_schema=schema),)
    place.store.create(replace(session, spec=replace(session.spec, tools=tools)))

    spec = place.store.spec("s1")

    assert spec == place.store.load("s1").spec
    assert spec.tools == tools
    assert spec.tools[0].schema_hash == tools[0].schema_hash
    with pytest.raises(NotFound):
        place.store.spec("s9")
