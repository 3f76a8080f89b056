"""Values with DynamoDB's types: as boto3 tags them, where rows hold such values."""

from __future__ import annotations

from typing import Any

import pytest
from boto3.dynamodb.types import TypeSerializer
from hypothesis import given
from hypothesis import strategies as st

from pausepoint.adapters.dynamodb.attributes import from_attribute, to_attribute
from pausepoint.domain.calls import CallStatus

plain = st.none() | st.booleans() | st.integers(-(10**37), 10**37) | st.text() | st.binary()
values = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(value=values)
def test_values_are_tagged_as_boto3_tags_them_and_come_back(value: Any) -> None:
    tagged = to_attribute(value)

    assert tagged == TypeSerializer().serialize(value)
    assert from_attribute(tagged) == value


def test_tuples_are_lists_and_statuses_are_their_words() -> None:
    assert to_attribute((CallStatus.PENDING,)) == {"L": [{"S": "pending"}]}


@pytest.mark.parametrize("value", [1.5, object(), {1, 2}])
def test_what_no_row_holds_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=type(value).__name__):
        to_attribute(value)


def test_an_attribute_that_no_row_has_is_refused() -> None:
    with pytest.raises(TypeError, match="NS"):
        from_attribute({"NS": ["1"]})
