"""The fields in which arguments are changed: what nobody touches comes back as it was, whatever it is."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pausepoint import Tool, tool
from pausepoint.domain.canonical import call_digest, canonical_json
from pausepoint.domain.session import SessionSpec
from pausepoint.errors import Conflict, InvalidInput
from pausepoint.http.edits import FIELD, EditRefused, edit_form, edited, read_arguments_field, read_edit
from pausepoint.http.forms import MAX_EDIT_BYTES, MAX_FORM_BYTES, read_form
from pausepoint.http.page import approval_page
from tests.unit.http.samples import NOW, Page, pending_call, words

FORM = "application/x-www-form-urlencoded"


class Browser(HTMLParser):
    """The second form of a page as a browser reads it, and posts it when its button is pressed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._open: tuple[str, list[str]] | None = None
        start = page.index('class="edit"')
        # HTML, "preprocessing the input stream": line breaks are made one kind before anything is read.
        self.feed(re.sub(r"\r\n?", "\n", page[page.rindex("<form", 0, start) : page.index("</form>", start)]))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        match tag:
            case "input":
                self.fields[given["name"]] = re.sub(r"[\r\n]", "", given["value"])
            case "textarea":
                self._open = (given["name"], [])
            case "select":
                self._open = (given["name"], [])
            case "option":
                self._chosen = "selected" in given
            case "button":
                self.fields[given["name"]] = given["value"]
            case _:
                pass

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._open is None:
            return
        name, texts = self._open
        if tag == "option":
            if self._chosen:
                self.fields[name] = "".join(texts).strip()
            texts.clear()
        if tag == "textarea":
            self.fields[name] = "".join(texts).removeprefix("\n")
        if tag in ("textarea", "select"):
            self._open = None

    def post(self, **changes: str) -> bytes:
        fields = self.fields | {FIELD + name: text for name, text in changes.items()}
        return urlencode({name: re.sub(r"\r?\n", "\r\n", text) for name, text in fields.items()}).encode()


def shown(arguments: dict[str, Any]) -> Browser:
    return Browser(approval_page(pending_call(arguments), token="t", action="/a", now=NOW))


NAMES = st.text(st.characters(categories=["L", "N"], include_characters="_"), min_size=1, max_size=8)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=5))
@example({"a": "\n\nx\n"})
@example({"a": "a\r\nb\rc"})
@example({"a": " x ", "b": "\t", "c": "", "d": "</textarea><script>", "e": '"'})
@example({"a": "\x00\x1b[2J\u202e\u200b", "b": -0.0, "c": 1e-130, "d": 10**40, "e": 1.0})
@example({"a": ["\r\n", "\x00", {"</textarea>": "\u2028"}], "b": {}, "c": [], "d": None, "e": True})
def test_r20_what_nobody_touches_comes_back_byte_for_byte(arguments: dict[str, Any]) -> None:
    call = pending_call(arguments)
    form = read_form(shown(arguments).post(), FORM)
    assert (form.decision, form.digest) == ("edit", call.digest)
    assert canonical_json(read_edit(call, form.typed)) == call.arguments


@pytest.mark.parametrize(
    "arguments",
    [
        {"a": "x" * 65_000},
        {"a": "\N{PARTY POPPER}" * 16_000},
        {"a": "\u202e" * 21_000},
        {"a": list(range(11_000))},
        {"a": ["\u200b"] * 10_000},
        {"a": "\n" * 32_000},
        {"a": {"b": {"c": ["\N{PARTY POPPER}"] * 5000}}},
    ],
    ids=lambda arguments: str(arguments)[:12],
)
def test_r9_the_largest_arguments_fit_the_largest_form(arguments: dict[str, Any]) -> None:
    raw = shown(arguments).post()
    assert MAX_FORM_BYTES < len(raw) < MAX_EDIT_BYTES
    assert canonical_json(read_edit(pending_call(arguments), read_form(raw, FORM).typed)) == canonical_json(arguments)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a.txt", "text"),
        ("Straße 日本", "text"),
        ("  deep\n\n\n\n        indent", "text"),
        ("", "text"),
        (12, "number"),
        (1.5, "number"),
        (True, "choice"),
        ("a\u202eb", "json"),
        ("a\tb", "json"),
        ("\x1b", "json"),
        (None, "json"),
        ([], "json"),
        ({"a": 1}, "json"),
    ],
    ids=repr,
)
def test_a_simple_argument_has_a_field_and_the_rest_is_json(value: Any, kind: str) -> None:
    (field,) = edit_form(pending_call({"a": value})).fields
    assert (field.name, field.kind) == ("argument.a", kind)


def test_the_form_leads_back_to_itself_without_script() -> None:
    parsed = Page(approval_page(pending_call(ARGUMENTS), token="t", action="/a", now=NOW))
    assert [form["action"] for form in parsed.all("form")] == ["/a", "/a#edit"]
    assert {"id": "edit"} in parsed.all("details")


def test_a_call_without_arguments_has_nothing_to_change() -> None:
    assert len(Page(approval_page(pending_call({}), token="t", action="/a", now=NOW)).all("form")) == 1


def test_r25_hidden_characters_stand_in_a_field_as_escapes() -> None:
    (field,) = edit_form(pending_call({"a": ["x\u202ey\u200b"]})).fields
    assert field.text == '[\n  "x\\u202ey\\u200b"\n]'


ARGUMENTS: dict[str, Any] = {"amount": 5, "flag": True, "labels": {"a": 1}, "path": "a.txt"}


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({"amount": " 7 "}, {"amount": 7}),
        ({"amount": "-1.5e3"}, {"amount": -1500.0}),
        ({"flag": "false"}, {"flag": False}),
        ({"labels": '{"b": [null, "x"]}'}, {"labels": {"b": [None, "x"]}}),
        ({"path": 'two\nlines "quoted" \t'}, {"path": 'two\nlines "quoted" \t'}),
        ({"path": ""}, {"path": ""}),
    ],
)
def test_what_is_typed_is_the_value(changes: dict[str, str], value: dict[str, Any]) -> None:
    form = read_form(shown(ARGUMENTS).post(**changes), FORM)
    assert read_edit(pending_call(ARGUMENTS), form.typed) == ARGUMENTS | value


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("amount", "many", "must be a number, such as 12 or 12.5"),
        ("amount", "", "must be a number, such as 12 or 12.5"),
        ("amount", "1,000", "must be a number, such as 12 or 12.5"),
        ("amount", "007", "must be a number, such as 12 or 12.5"),
        ("amount", "NaN", "must be a number, such as 12 or 12.5"),
        ("amount", "true", "must be a number, such as 12 or 12.5"),
        ("amount", "１２", "must be a number, such as 12 or 12.5"),
        ("amount", "9" * 5000, "is not JSON: Exceeds the limit"),
        ("flag", "yes", "must be true or false"),
        ("labels", "x", "is not JSON: Expecting value"),
        ("labels", '{"a": 1, "a": 2}', "is not JSON: the key 'a' appears twice"),
        ("labels", "[" * 100_000, "is nested too deeply"),
        ("labels", "Infinity", "is not JSON: Infinity is not JSON"),
        ("path", "a\x00b", "contains control characters, which a form cannot keep"),
        ("path", "a\x1bb", "contains control characters, which a form cannot keep"),
    ],
    ids=lambda text: str(text)[:12],
)
def test_case_05_what_is_no_value_is_told_beside_its_field_and_stays_there(name: str, text: str, why: str) -> None:
    call = pending_call(ARGUMENTS)
    typed = {"amount": "5", "flag": "true", "labels": "{}", "path": "b"} | {name: text}
    with pytest.raises(EditRefused) as refused:
        read_edit(call, typed)
    assert list(refused.value.problems) == [name]
    assert refused.value.problems[name].startswith(why)
    assert refused.value.field == f"argument.{name}"
    form = edit_form(call, typed=typed, problems=refused.value.problems)
    assert form.open
    assert {field.name.removeprefix(FIELD): field.text for field in form.fields} == typed
    assert why.split(maxsplit=1)[0] in words(approval_page(call, token="t", action="/a", now=NOW, edit=form))


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"other": "1"}, "argument.other"), ({"": "1"}, "argument."), ({"name": "shred"}, "argument.name")],
)
def test_case_05_a_field_that_the_call_does_not_have_is_refused_by_name(changes: dict[str, str], field: str) -> None:
    form = read_form(shown(ARGUMENTS).post(**changes), FORM)
    with pytest.raises(InvalidInput) as refused:
        read_edit(pending_call(ARGUMENTS), form.typed)
    assert refused.value.field == field


def test_case_05_a_field_that_is_missing_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_edit(pending_call(ARGUMENTS), {"amount": "1", "flag": "true", "labels": "{}"})
    assert refused.value.field == "argument.path"


@tool(requires_confirmation=True)
def pay(amount: float, to: str = "maria") -> str:
    """Pay."""
    raise AssertionError("entered")


def asked(arguments: dict[str, Any], by: Tool = pay) -> Any:
    canonical = by.arguments(arguments)
    digest = call_digest(by.name, canonical)
    return pending_call(json.loads(canonical), name=by.name, digest=digest, schema_hash=by.schema_hash)


def spec_of(*tools: Tool) -> SessionSpec:
    stored = SessionSpec(system="", tools=tuple(tool.spec for tool in tools), model={})
    return SessionSpec.load(json.loads(json.dumps(stored.dump())))


def test_i2_a_change_is_what_the_tool_would_take_with_the_digest_of_that() -> None:
    change = edited(asked({"amount": 5}), spec_of(pay), {"amount": 7, "to": "jo"})
    assert change.arguments == '{"amount":7.0,"to":"jo"}'
    assert change.digest == call_digest("pay", change.arguments)
    assert pay.means(change.arguments)


@pytest.mark.parametrize("amount", ["7", None, [7], float("inf")])
def test_case_05_a_change_that_does_not_fit_the_schema_is_none(amount: Any) -> None:
    with pytest.raises(EditRefused):
        edited(asked({"amount": 5}), spec_of(pay), {"amount": amount, "to": "jo"})


def test_case_36_a_change_that_is_too_large_is_none() -> None:
    with pytest.raises(EditRefused, match="at most 65536 are allowed"):
        edited(asked({"amount": 5}), spec_of(pay), {"amount": 7, "to": "j" * 65_536})


def test_i2_what_our_page_put_into_its_form_is_read_as_it_was() -> None:
    text = '{"amount":7.0,"to":"jo"}'
    assert read_arguments_field(asked({"amount": 5}), text) == {"amount": 7.0, "to": "jo"}


@tool(name="pay", requires_confirmation=True)
def pay_in_a_currency(amount: float, to: str = "maria", currency: str = "EUR") -> str:
    """Pay."""
    raise AssertionError("entered")


@pytest.mark.parametrize("spec", [spec_of(), spec_of(pay_in_a_currency)])
def test_case_46_without_the_very_schema_of_the_call_nothing_is_changed(spec: SessionSpec) -> None:
    with pytest.raises(Conflict, match="changed after this session started"):
        edited(asked({"amount": 5}), spec, {"amount": 7, "to": "jo"})


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "null",
        "[]",
        '"x"',
        "{}",
        '{"amount":7.0}',
        '{"amount":7.0,"other":1,"to":"jo"}',
        '{"amount":7.0,"name":"shred","to":"jo"}',
        '{"amount": 7.0, "to": "jo"}',
        '{"to":"jo","amount":7.0}',
        '{"amount":7.0,"to":"\\u006ao"}',
        '{"amount":NaN,"to":"jo"}',
        '{"amount":7.0,"amount":7.0,"to":"jo"}',
    ],
    ids=str,
)
def test_case_11_arguments_that_our_page_did_not_put_there_are_refused(text: str | None) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_arguments_field(asked({"amount": 5}), text)
    assert str(refused.value.field).startswith("arguments")
