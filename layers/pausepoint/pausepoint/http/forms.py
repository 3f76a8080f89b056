"""The forms of the pages, read strictly: anything unexpected is an error, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast, get_args
from urllib.parse import parse_qsl

from pausepoint.domain.calls import Answer, Verdict
from pausepoint.domain.canonical import MAX_ARGUMENT_BYTES
from pausepoint.errors import InvalidInput, TooLarge
from pausepoint.http.edits import FIELD
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS, check_text

Step = Literal["edit", "change"]
"""What decides nothing: look at the difference that a change makes, and go back to change it again."""

_ESCAPED: Final = 3
"""A form writes a byte as up to three, `%C3`."""
MAX_FORM_BYTES: Final = 8 * 1024 + MAX_REASON_CHARACTERS * 4 * _ESCAPED
"""8 KiB, and the longest reason (or answer) there may be, all of it characters of four bytes."""
MAX_EDIT_BYTES: Final = MAX_FORM_BYTES + MAX_ARGUMENT_BYTES * _ESCAPED
"""The same, and the largest arguments that there may be."""
FIELDS: Final = ("t", "digest", "decision", "reason", "answer", "choice", "arguments", "word", "code")
_MAX_FIELDS: Final = 200
STEPS: Final = get_args(Step)
DECISIONS: Final = (*get_args(Verdict), *get_args(Answer))
_EDIT: Final = re.compile(rb"(?:^|&)(?:decision=(?:edit|change)(?:&|$)|arguments=)")
_FORM_TYPE: Final = "application/x-www-form-urlencoded"
_INDEX: Final = re.compile(r"[0-9]{1,6}")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class DecisionForm:
    """What a person posted.

    Attributes:
        answer: to a question, in the person's own words.
        choice: the number of the choice that answers a question, from 0.
        arguments: canonical arguments to run instead, as the page had put them into its form.
        typed: what stands in the fields of the arguments, by the argument's name; with `edit` only.
    """

    token: str
    digest: str
    decision: Verdict | Answer | Step
    reason: str
    answer: str | None = None
    word: str = ""
    code: str = ""
    choice: int | None = None
    arguments: str | None = None
    typed: Mapping[str, str] = field(default_factory=dict)


def read_form(raw: bytes, content_type: str) -> DecisionForm:
    """Return the posted form.

    Raises:
        TooLarge: it has more than some 32 KB, or some 223 KB with changed arguments.
        InvalidInput: it is not a form, or a field is missing, unknown, repeated or wrong; `field` names it.
    """
    _check_size(raw)
    if content_type.split(";", maxsplit=1)[0].strip().lower() != _FORM_TYPE:
        raise InvalidInput("A decision is posted as the page's form.", field="content-type")
    fields: dict[str, str] = {}
    for name, value in _pairs(raw):
        if name not in FIELDS and not name.startswith(FIELD):
            raise InvalidInput("The form has a field that the page does not have.", field="body")
        if name in fields:
            raise InvalidInput(f"The field {name} appears twice.", field=name)
        fields[name] = value
    for name in FIELDS[:3]:
        if name not in fields:
            raise InvalidInput(f"The field {name} is missing.", field=name)
    if fields["decision"] not in (*DECISIONS, *STEPS):
        raise InvalidInput(f"The decision must be one of {', '.join(DECISIONS)}.", field="decision")
    typed = {name.removeprefix(FIELD): _lines(value) for name, value in fields.items() if name.startswith(FIELD)}
    if typed and fields["decision"] != "edit":
        raise InvalidInput("This form decides on the call as it was shown; it changes no arguments.", field="body")
    return DecisionForm(
        token=fields["t"],
        digest=fields["digest"],
        decision=cast("Verdict | Answer | Step", fields["decision"]),
        reason=_text(fields.get("reason", ""), "reason"),
        answer=_text(fields["answer"], "answer") if "answer" in fields else None,
        word=_text(fields.get("word", ""), "word"),
        choice=_choice(fields["choice"]) if "choice" in fields else None,
        arguments=fields.get("arguments"),
        typed=typed,
        code=fields.get("code", ""),
    )


def _check_size(raw: bytes) -> None:
    if len(raw) <= MAX_FORM_BYTES:
        return
    if not _EDIT.search(raw):
        raise TooLarge(f"The form has more than {MAX_FORM_BYTES} bytes. Shorten the text in it.", field="body")
    if len(raw) > MAX_EDIT_BYTES:
        raise TooLarge(f"The form has more than {MAX_EDIT_BYTES} bytes. Shorten the arguments.", field="arguments")


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError as error:  # UnicodeError included: neither is the form a browser sends
        raise InvalidInput("This is not the page's form.", field="body") from error


def _text(text: str, field: str) -> str:
    text = _lines(text)
    if _CONTROLS.search(text):
        raise InvalidInput(f"The {field} contains control characters.", field=field)
    return check_text(text, field, field=field)


def _lines(text: str) -> str:
    # Browsers send line ends as CR LF (HTML, "form submission"); people mean line feeds.
    return text.replace("\r\n", "\n")


def _choice(text: str) -> int:
    if not _INDEX.fullmatch(text):
        raise InvalidInput("The choice is not a number of the page's.", field="choice")
    return int(text)
