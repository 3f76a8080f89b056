"""What was compressed once can be read for ever."""

from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausepoint.adapters.dynamodb.compression import deflated, inflated

KEPT = base64.b64decode("eLtHq+o9i8aboyAJyFDXyDLEyMDKAIT0DMAgCpbZsvIR8esCLmMUEvVKKkp0FA7v0VOqjQUAV5McLg==")
TEXT = '[{"type":"user_message","at":"2026-11-29T20:00:00.000000Z","by":"jo","text":"Delete a.txt, ü."}]'


def test_a_row_of_the_first_version_can_still_be_read() -> None:
    assert inflated(KEPT).decode("utf-8") == TEXT


def test_what_was_compressed_without_a_dictionary_can_be_read_too() -> None:
    assert inflated(zlib.compress(TEXT.encode())).decode() == TEXT


def test_an_entry_of_a_log_becomes_much_shorter() -> None:
    assert len(deflated(TEXT.encode())) < len(TEXT) * 0.65 < len(zlib.compress(TEXT.encode()))


@given(st.binary(max_size=5000))
def test_nothing_is_lost(raw: bytes) -> None:
    assert inflated(deflated(raw)) == raw


@pytest.mark.parametrize("packed", [b"garbage", KEPT[:-1], KEPT[:-5] + bytes(5)], ids=["garbage", "short", "altered"])
def test_what_is_not_whole_is_refused(packed: bytes) -> None:
    with pytest.raises(zlib.error):
        inflated(packed)
