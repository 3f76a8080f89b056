"""JSON that keeps what a provider's message may hold, and moments as text."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from pausepoint.domain.fields import moment_text
from pausepoint.domain.values import dump_json, load_json
from tests.support.sessions import message, plain_call, result, session_of, turn
from tests.support.stores import as_stored
from tests.unit.domain.test_canonical import same

keys = st.sampled_from(["$bytes", "$escaped", "text", ""]) | st.text(max_size=5)
stored = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=15,
)


@given(stored)
@example({"$bytes": "aGk="})
@example({"$escaped": {"$bytes": b"hi"}})
@example({"$escaped": {"$escaped": {}}})
@example(["\ud800", {"\udfff": b"\x00\xff"}])
def test_case_32_what_is_read_is_what_was_written(value: Any) -> None:
    assert same(load_json(dump_json(value)), value)


def test_case_33_numbers_keep_their_value_and_type() -> None:
    value = {"amount": 12.5, "n": 3, "whole": 1.0, "tiny": 1e-130, "big": 10**40, "neg0": -0.0}
    assert same(load_json(dump_json(value)), value)


def test_text_is_text_whatever_else_it_looks_like() -> None:
    value = {"text": "2026-11-29T12:00:00Z", "number": "1e5", "key": {"$bytes": 3, "more": 1}}
    assert load_json(dump_json(value)) == value


def test_not_a_number_survives_since_a_provider_may_have_sent_it() -> None:
    assert math.isnan(load_json(dump_json([math.nan]))[0])


BLOCKS: list[dict[str, Any]] = [
    {"text": "Plain."},
    {"text": ""},
    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln=="}}},
    {"reasoningContent": {"reasoningText": {"text": "", "signature": "only a signature"}}},
    {"reasoningContent": {"redactedContent": b"\x00\xff\xfe not text"}},
    {"toolUse": {"toolUseId": "toolu_1", "name": "pay", "input": {"$bytes": "x", "n": 1.0, "big": 10**40}}},
    {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n"}}},
    {"citationsContent": {"content": [{"text": "Zoë 🎉"}], "citations": []}},
    {"cachePoint": {"type": "default"}},
]


def test_case_32_history_is_the_same_after_it_was_stored() -> None:
    said = replace(turn(plain_call("c2-0")), message={"role": "assistant", "content": BLOCKS})
    session = session_of(message("Zoë\n🎉\x00"), said, result("c2-0", "multi\nline \u202e"), turn(text="Done."))
    assert as_stored(session).history() == session.history()
    assert as_stored(session) == session


@given(st.lists(stored, max_size=3))
def test_case_32_and_so_is_every_message_a_provider_may_give(content: list[Any]) -> None:
    said = replace(turn(text="x"), message={"role": "assistant", "content": content})
    session = session_of(message(), said)
    assert same(as_stored(session).events[1].dump()["message"], {"role": "assistant", "content": content})


moments = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(9999, 1, 1))  # noqa: DTZ001 - given UTC below


@given(moments, moments)
def test_the_order_of_texts_is_the_order_of_moments(one: datetime, other: datetime) -> None:
    first, second = one.replace(tzinfo=UTC), other.replace(tzinfo=UTC)
    assert (moment_text(first) < moment_text(second)) == (first < second)
    assert datetime.fromisoformat(moment_text(first)) == first


def test_moments_are_written_in_utc() -> None:
    east = datetime(2026, 11, 29, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    assert moment_text(east) == "2026-11-29T12:00:00.000000Z"
