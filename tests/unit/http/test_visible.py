"""Untrusted text stays text, shows whole, and no two texts look alike."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from itertools import groupby
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pausepoint.domain.canonical import canonical_json
from pausepoint.http.templating import _environment
from pausepoint.http.visible import (
    CHIP_CLOSE,
    CHIP_OPEN,
    NEWLINE_MARK,
    SPACE_MARK,
    TIMES,
    Segment,
    ascii_escaped,
    beyond_ascii,
    flat,
    right_to_left,
    visible,
)
from tests.unit.http.reading import read_back
from tests.unit.http.samples import stripped

TRICKY = (
    "ab <>&\"'/\\ \n\t\r\0\x1b\x7f\x85\xa0\xad\u034f\u115f\u1160\u2028\u200b\u200d\u202e\u2066\u2069"
    "\u2800\u3164\ue000\ufe0f\ufeff\ufffd\U000e0041\U000e0100\u0301\u0323\u0489\u0338e\u00e9\u212a\u037e"
    "\u1100\u1161\u11a8\u0430\u05d0\u0627\U0001f468" + CHIP_OPEN + CHIP_CLOSE + NEWLINE_MARK + SPACE_MARK + TIMES
)
texts = st.one_of(
    st.text(),
    st.text(alphabet=TRICKY),
    st.lists(st.sampled_from(["\n", " ", "\n \n", "a", "\u0301", "\u200b", "U+200B", "tab", "\t"])).map("".join),
)

BLOCK: Any = vars(_environment().get_template("parts.html").module)["block"]


def rendered(text: str) -> str:
    return stripped(str(BLOCK(visible(text))))


@given(texts)
@example("a\n\n\n\nb")
@example("\n" * 201)
@example(CHIP_OPEN + "U+202E RIGHT-TO-LEFT OVERRIDE" + CHIP_CLOSE)
def test_the_text_can_be_read_back_from_what_is_shown_without_tags(text: str) -> None:
    assert read_back(rendered(text)) == text


@given(texts, texts)
def test_two_different_texts_never_have_the_same_segments(one: str, other: str) -> None:
    assert (visible(one) == visible(other)) == (one == other)


@given(texts)
def test_only_characters_that_show_are_left_plain(text: str) -> None:
    runs = groupby(visible(text), lambda segment: segment.kind in {"plain", "rtl"})
    for piece in ("".join(segment.text for segment in run) for shown, run in runs if shown):
        assert unicodedata.is_normalized("NFC", piece)
        assert not unicodedata.category(piece[0]).startswith("M")
        assert piece == piece.strip(" ")
        assert "  " not in piece
        assert {unicodedata.category(char) for char in piece if char != " "}.isdisjoint(
            {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}
        )


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u2066", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("\u200b", "U+200B ZERO WIDTH SPACE"),
        ("\ufeff", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("\x1b", "U+001B ESCAPE"),
        ("\0", "U+0000 NULL"),
        ("\x1f", "U+001F UNIT SEPARATOR"),
        ("\x7f", "U+007F DELETE"),
        ("\x85", "U+0085 NEXT LINE"),
        ("\x9b", "U+009B CONTROL"),
        ("\r", "U+000D CARRIAGE RETURN"),
        ("\t", "tab"),
        ("\xa0", "U+00A0 NO-BREAK SPACE"),
        ("\u3164", "U+3164 HANGUL FILLER"),
        ("\u2800", "U+2800 BRAILLE PATTERN BLANK"),
        ("\ufe0f", "U+FE0F VARIATION SELECTOR-16"),
        ("\ue000", "U+E000 PRIVATE USE"),
        ("\U0010ffff", "U+10FFFF UNASSIGNED"),
        ("\ud800", "U+D800 SURROGATE"),
        ("\u212a", "U+212A KELVIN SIGN"),
        ("\u0301", "U+0301 COMBINING ACUTE ACCENT"),
        ("\U0001f1fa", "U+1F1FA REGIONAL INDICATOR SYMBOL LETTER U"),
        ("\U00016fe4", "U+16FE4 KHITAN SMALL SCRIPT FILLER"),
        ("", "empty text"),
        ("\u200b" * 500, f"{TIMES}500 U+200B ZERO WIDTH SPACE"),
        (" " * 40, f"{TIMES}40 spaces"),
        ("\t\t", f"{TIMES}2 tabs"),
    ],
)
def test_case_52_what_does_not_show_has_a_chip_with_its_name(text: str, label: str) -> None:
    assert visible(text) == [Segment("chip", label)]


def test_case_52_two_hundred_blank_lines_take_one_line() -> None:
    assert visible("a" + "\n" * 201 + "b") == [
        Segment("plain", "a"),
        Segment("mark", NEWLINE_MARK),
        Segment("layout", "\n"),
        Segment("chip", f"{TIMES}200 blank lines"),
        Segment("layout", "\n"),
        Segment("plain", "b"),
    ]


def test_lines_of_spaces_cannot_push_text_out_of_sight() -> None:
    assert rendered("a" + " \n" * 200 + "b").count("\n") == 1


def test_one_line_break_stays_a_line_break() -> None:
    assert flat(visible("a b\nc")) == f"a b{NEWLINE_MARK}c"
    assert rendered("a b\nc") == f"a b{NEWLINE_MARK}\nc"


def test_spaces_are_marked_where_they_could_be_missed() -> None:
    mark = SPACE_MARK
    assert flat(visible(" a  b c ")) == f"{mark}a{mark}{mark}b c{mark}"
    assert flat(visible("a \u200bb")).startswith(f"a{mark}{CHIP_OPEN}U+200B")


def test_writing_with_its_usual_marks_is_left_alone() -> None:
    for written in ("Grüße", "tiếng Việt", "हिन्दी", "မြို့", "日本語", "한국어"):
        text = unicodedata.normalize("NFC", written)
        assert visible(text) == [Segment("plain", text)], text
    for written in ("שָׁלוֹם", "שלום עולם", "السلام عليكم"):
        text = unicodedata.normalize("NFC", written)
        assert visible(text) == [Segment("rtl", text)], text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("\u05d01", ["\u05d0", "1"]),
        ("1\u05d0", ["1", "\u05d0"]),
        ("a \u05d0 \u05d1 (\u05d2) b", ["a ", "\u05d0 \u05d1", " (", "\u05d2", ") b"]),
        ("\u0627\u0661\u0662\u0628", ["\u0627", "\u0661\u0662", "\u0628"]),
    ],
)
def test_r25_what_is_written_from_right_to_left_is_set_apart_so_that_nothing_changes_places(
    text: str, pieces: list[str]
) -> None:
    assert [segment.text for segment in visible(text)] == pieces
    for segment in visible(text):
        directions = {unicodedata.bidirectional(char) for char in segment.text}
        if segment.kind == "rtl":
            assert directions <= {"R", "AL", "NSM", "WS"} or directions <= {"AN", "NSM"}
        else:
            assert directions.isdisjoint({"R", "AL", "AN"})


@pytest.mark.parametrize("category", ["Cf", "Cc", "Co", "Cn", "Cs", "Zl", "Zp", "Zs"])
def test_r25_every_character_of_unicode_that_does_not_show_has_a_chip(category: str) -> None:
    hidden = [
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(char) == category and char not in " \n"
    ]
    assert hidden
    for start in range(0, len(hidden), 4096):
        text = "".join(hidden[start : start + 4096])
        segments = visible(text)
        assert {segment.kind for segment in segments} == {"chip"}
        assert read_back(flat(segments)) == text
    for char in {*hidden[:100], *hidden[-100:]}:
        assert [segment.kind for segment in visible(f"a{char}b")] == ["plain", "chip", "plain"]


@pytest.mark.parametrize("text", ["0\u0308", ".\u0323", "x\u0336", "l\u0338", "5\u20e3", "\U0001f468\u0301"])
def test_marks_that_strike_out_or_stand_on_what_is_no_letter_are_named(text: str) -> None:
    assert [segment.kind for segment in visible(text)] == ["plain", "chip"]
    assert read_back(flat(visible(text))) == text


def test_a_pile_of_marks_and_a_split_letter_are_named() -> None:
    assert visible("e\u0301") == [Segment("plain", "e"), Segment("chip", "U+0301 COMBINING ACUTE ACCENT")]
    piled = visible("Z" + "\u0316\u0317\u0318\u0319\u031a")
    assert piled == [
        Segment("plain", "Z"),
        Segment("chip", "5 special characters: U+0316, U+0317, U+0318, U+0319, U+031A"),
    ]


@given(texts)
def test_the_ascii_form_is_ascii_and_the_same_json(text: str) -> None:
    exact = ascii_escaped(canonical_json({"k": text}))
    assert re.fullmatch(r"[ -~]*", exact)
    assert "  " not in exact
    assert json.loads(exact) == {"k": text}


def test_letters_beyond_ascii_are_told_by_script() -> None:
    assert beyond_ascii("paypal.com\u200b\n") == []
    assert beyond_ascii("p\u0430ypal \u00fc \u2014 \u6f22") == ["CJK", "Cyrillic", "Latin", "symbols"]
    assert right_to_left("a\u05d0")
    assert not right_to_left("a\u0430")
