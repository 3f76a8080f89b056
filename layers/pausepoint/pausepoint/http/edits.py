"""Changing a call's arguments on the page: a field for each, and what comes back checked by the tool's schema.

An argument is edited as the text it is only where that text survives a browser's form unchanged, and shows in
one; everything else is edited as JSON, in which hidden characters are escapes. So what nobody touches comes back
as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.canonical import call_digest, canonical_json, parse_json
from pausepoint.domain.session import SessionSpec
from pausepoint.errors import Conflict, InvalidInput
from pausepoint.http.schemas import fitted, unfit
from pausepoint.http.visible import Segment, visible

FIELD: Final = "argument."
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_ASCII: Final = re.compile(r"[ -~\n]*")
_BLANKS: Final = re.compile(r"[ \n]+")
_INDENTED: Final = 2048
"""JSON of up to so many characters is set on several lines; more would make the form larger than it may be."""
_MOST_ROWS: Final = 12

Kind = Literal["text", "number", "choice", "json"]


@dataclass(frozen=True)
class EditField:
    """One argument as a field of the form.

    Attributes:
        name: the field's, with the argument's in it.
        text: what stands in the field: the argument, or what the person typed.
        rows: of a text area.
        problem: what is wrong with what the person typed.
    """

    name: str
    label: list[Segment]
    kind: Kind
    text: str
    rows: int
    problem: list[Segment] | None = None


@dataclass(frozen=True)
class EditForm:
    """The part of the approval page in which arguments are changed. `problem` is about all of them."""

    fields: list[EditField]
    problem: list[Segment] | None = None
    open: bool = False


@dataclass(frozen=True)
class Edited:
    """Changed arguments that fit the tool's schema: canonical, with the digest of the call that they make."""

    arguments: str
    digest: str


class EditRefused(InvalidInput):
    """What was typed is no change that can be made; the page says so beside the fields.

    Attributes:
        problems: by the argument's name; under the empty name what is about all of them.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        name, why = next(iter(problems.items()))
        super().__init__(f"{name or 'The arguments'}: {why}.", field=f"{FIELD}{name}" if name else "arguments")
        self.problems = problems


def edit_form(
    call: PendingToolCall,
    *,
    values: Mapping[str, Any] | None = None,
    typed: Mapping[str, str] | None = None,
    problems: Mapping[str, str] | None = None,
) -> EditForm:
    """Return the form in which a pending call's arguments are changed.

    Args:
        values: the arguments to go on from, instead of those that were asked for.
        typed: what stood in the fields, by the argument's name.
        problems: what is wrong with it.
    """
    stored = _values(call)
    # What the fields are depends on the stored arguments alone: that is how they are read when they come back.
    kinds = {name: _kind(value) for name, value in stored.items()}
    texts = {name: _text(value, kinds[name]) for name, value in (stored | dict(values or {})).items()}
    texts |= typed or {}
    wrong = problems or {}
    return EditForm(
        fields=[
            EditField(
                name=FIELD + name,
                label=visible(name),
                kind=kind,
                text=texts[name],
                rows=min(texts[name].count("\n") + 1, _MOST_ROWS),
                problem=visible(wrong[name]) if name in wrong else None,
            )
            for name, kind in kinds.items()
        ],
        problem=visible(wrong[""]) if "" in wrong else None,
        open=bool(values or typed or problems),
    )


def read_edit(call: PendingToolCall, typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the values in the fields of the form, one for each argument of the call.

    Args:
        typed: the texts of the fields, by the argument's name.

    Raises:
        InvalidInput: a field is missing, or one too many; `field` names it.
        EditRefused: a text is not what its field takes.
    """
    stored = _values(call)
    _same_names(stored, typed, FIELD)
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, was in stored.items():
        try:
            values[name] = _value(typed[name], _kind(was))
        except InvalidInput as error:
            wrong[name] = str(error)
    if wrong:
        raise EditRefused(wrong)
    return values


def read_arguments_field(call: PendingToolCall, text: str | None) -> dict[str, Any]:
    """Return the arguments that a page of ours put into its form, after somebody had looked at them.

    Raises:
        InvalidInput: they are missing, or not canonical JSON of an object with just the call's arguments.
    """
    if text is None:
        raise InvalidInput("The field arguments is missing.", field="arguments")
    try:
        values = parse_json(text)
        whole = isinstance(values, dict) and canonical_json(values) == text
    except InvalidInput as error:
        raise InvalidInput(f"The field arguments {error}.", field="arguments") from None
    if not whole:
        raise InvalidInput("The field arguments is not what the page put there.", field="arguments")
    _same_names(_values(call), values, "arguments.")
    return dict(values)


def edited(call: PendingToolCall, spec: SessionSpec, values: Mapping[str, Any]) -> Edited:
    """Return changed arguments as they would run.

    Args:
        spec: the agent as the session started with it, which has the tool's schema.

    Raises:
        EditRefused: they do not fit the schema.
        Conflict: the schema is not at hand, or is not the call's any more.
    """
    tool = next((tool for tool in spec.tools if tool.name == call.name), None)
    if tool is None or tool.schema_hash != call.schema_hash:
        raise Conflict(
            "The tool changed after this session started, so its rules are not known on this page. "
            "Approve or reject the call as it is, or change its arguments through the API."
        )
    wanted = fitted(tool.input_schema, values)
    try:
        arguments = canonical_json(wanted)
    except InvalidInput as error:  # infinite, too large, too deep
        raise EditRefused({"": str(error)}) from None
    if wrong := unfit(tool.input_schema, wanted):
        raise EditRefused(wrong)
    return Edited(arguments, call_digest(call.name, arguments))


def _same_names(stored: Mapping[str, Any], found: Mapping[str, Any], prefix: str) -> None:
    for name in stored:
        if name not in found:
            raise InvalidInput(f"The argument {name} is missing.", field=prefix + name)
    for name in found:
        if name not in stored:
            raise InvalidInput("The call has no such argument.", field=prefix + name)


def _values(call: PendingToolCall) -> dict[str, Any]:
    values: dict[str, Any] = parse_json(call.arguments)
    return values


def _kind(value: object) -> Kind:
    match value:
        case bool():
            return "choice"
        case int() | float():
            return "number"
        case str() if _shows(value):
            return "text"
        case _:
            return "json"


def _shows(text: str) -> bool:
    """Say whether nothing in a text is hidden, or would be lost or altered in a form."""
    if _ASCII.fullmatch(text):
        return True
    return all(kind == "plain" for kind, _ in visible(_BLANKS.sub("x", f"x{text}")))


def _text(value: Any, kind: Kind) -> str:
    if kind == "text" and isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False)
    indent = 2 if isinstance(value, list | dict) and value and len(text) <= _INDENTED else None
    return json.dumps(value, ensure_ascii=not _shows(text), indent=indent)


def _value(text: str, kind: Kind) -> Any:
    match kind:
        case "text":
            if _CONTROLS.search(text):
                raise InvalidInput("contains control characters, which a form cannot keep")
            return text
        case "choice":
            if text not in ("true", "false"):
                raise InvalidInput("must be true or false")
            return text == "true"
        case "number":
            if not _NUMBER.fullmatch(text.strip()):
                raise InvalidInput("must be a number, such as 12 or 12.5")
        case "json":
            pass
    return parse_json(text)
