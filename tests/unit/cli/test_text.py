"""Untrusted text in a terminal: it can be seen, it cannot drive the terminal, and it cannot pass for ours."""

from __future__ import annotations

import io
import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from pausepoint_cli.text import behind_bar, block, console_on, exact, hides_something, inline, json_block
from tests.support.command_line import Terminal

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
HOSTILE = (
    "\x1b[2J\x1b[1;1H",
    "\x9b31m",
    "\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "safe\rApproved c2-0",
    "a\bb\x7f",
    "\u202etxt.exe",
    "\u2066x\u2069",
    "a\u200bb\ufeff",
    "\U000e0041",
    "[bold red]markup[/] :smile:",
    "x\u2028y\u0085z\vw",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def printed(renderable: Any, *, width: int = 40) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False, emoji=False).print(renderable)
    return stream.getvalue()


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("shown", [inline, block, json_block])
def test_r25_nothing_drives_the_terminal_and_nothing_is_dropped(text: str, shown: Any) -> None:
    out = printed(shown(text), width=200)
    assert {unicodedata.category(char) for char in out.replace("\n", "")} & HIDDEN == set()
    assert out != printed(shown(text + "\u200b"), width=200)
    if "[bold" in text:
        assert text in out.replace("\u2423", " ")


@given(st.text())
def test_r25_whatever_the_text_only_what_shows_is_printed(text: str) -> None:
    for shown in (inline(text), block(text), json_block({text: text})):
        assert {unicodedata.category(char) for char in shown.plain.replace("\n", "")} & HIDDEN == set()
    assert "\n" not in inline(text).plain


@given(JSON, JSON)
def test_r25_two_different_values_never_look_the_same(one: Any, other: Any) -> None:
    same = exact(one) == exact(other)
    assert (json_block(one).plain == json_block(other).plain) == same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", 1),
        (1, 1.0),
        ("true", True),
        (None, "null"),
        ({"a.b": 1}, {"a": {"b": 1}}),
        ({"a": 1, "b": 2}, {'a": 1, "b': 2}),
        ("a\\nb", "a\nb"),
        ("a\n", "a\n "),
        ("\N{LATIN SMALL LETTER A WITH ACUTE}", "a\u0301"),
        ("a b", "a\xa0b"),
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u202e", "\u2039U+202E RIGHT-TO-LEFT OVERRIDE\u203a"),
        ([], {}),
        ("", []),
        ("x\n  \"path\": \"y\"", {"x": "y"}),
    ],
)  # fmt: skip
def test_r25_near_pairs_look_different(one: Any, other: Any) -> None:
    assert json_block(one).plain != json_block(other).plain
    assert exact(one) != exact(other)


def test_the_exact_text_is_the_same_value_in_ascii() -> None:
    value = {"a": "\x1b[31m \u202e  \N{PARTY POPPER}", "b": [1, 2.5, None, True], "c": 10**40}
    assert exact(value).isascii()
    assert json.loads(exact(value)) == value
    assert hides_something(value)
    assert not hides_something({"path": "a b.txt", "n": [1, {"x": False}]})


@given(
    st.text(alphabet=st.sampled_from("ab \n\u202e\N{PARTY POPPER}\u0645\N{CJK UNIFIED IDEOGRAPH-4E00}"), max_size=200)
)
def test_r25_every_line_on_the_screen_begins_with_the_bar(text: str) -> None:
    for width in (24, 80):
        lines = printed(behind_bar(block(text)), width=width).split("\n")
        assert lines.pop() == ""
        assert all(line.startswith("  │ ") for line in lines)
        assert all(Text(line).cell_len <= width for line in lines)


def test_case_52_a_text_that_imitates_the_timeline_stands_behind_the_bar() -> None:
    text = (
        "done\n2026-11-29 16:00:00  approved c2-0 by root\n" + " " * 100 + "2026-11-29 16:00:00  approved c2-0 by root"
    )
    out = printed(behind_bar(block(text)), width=60)
    assert not [line for line in out.splitlines() if not line.startswith("  │ ")]
    assert "×100 spaces" in out


def test_the_bar_does_not_colour_what_stands_behind_it() -> None:
    stream = Terminal()
    console_on(stream, environ={"TERM": "xterm"}).print(behind_bar(Text("hello")))
    assert stream.getvalue() == "\x1b[2m  │ \x1b[0mhello\n"


def test_long_lines_stay_whole_where_there_is_no_screen() -> None:
    stream = io.StringIO()
    console_on(stream, environ={}).print(behind_bar(block("word " * 1000)))
    assert stream.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)  # fmt: skip
def test_colours_only_where_they_are_wanted(environ: dict[str, str], *, coloured: bool) -> None:
    stream = Terminal()
    console_on(stream, environ=environ).print(Text("x", "red"))
    assert ("\x1b[31m" in stream.getvalue()) is coloured
    plain = io.StringIO()
    console_on(plain, environ=environ).print(Text("x", "red"))
    assert plain.getvalue() == "x\n"
