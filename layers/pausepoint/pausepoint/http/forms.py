"""The form of the approval page, read strictly: anything unexpected is an error, nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, cast, get_args
from urllib.parse import parse_qsl

from pausepoint.domain.calls import Answer, Verdict
from pausepoint.errors import InvalidInput, TooLarge
from pausepoint.runtime.decisions import check_text

MAX_FORM_BYTES: Final = 8 * 1024
FIELDS: Final = ("t", "digest", "decision", "reason", "answer", "code")
DECISIONS: Final = (*get_args(Verdict), *get_args(Answer))
_FORM_TYPE: Final = "application/x-www-form-urlencoded"
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class DecisionForm:
    """What a person posted."""

    token: str
    digest: str
    decision: Verdict | Answer
    reason: str
    answer: str | None = None
    code: str = ""


def read_form(raw: bytes, content_type: str) -> DecisionForm:
    """Return the posted form.

    Raises:
        TooLarge: it has more than 8 KiB.
        InvalidInput: it is not a form, or a field is missing, unknown, repeated or wrong; `field` names it.
    """
    if len(raw) > MAX_FORM_BYTES:
        raise TooLarge(f"The form has more than {MAX_FORM_BYTES} bytes. Shorten the reason.", field="reason")
    if content_type.split(";", maxsplit=1)[0].strip().lower() != _FORM_TYPE:
        raise InvalidInput("A decision is posted as the page's form.", field="content-type")
    fields: dict[str, str] = {}
    for name, value in _pairs(raw):
        if name not in FIELDS:
            raise InvalidInput("The form has a field that the page does not have.", field="body")
        if name in fields:
            raise InvalidInput(f"The field {name} appears twice.", field=name)
        fields[name] = value
    for name in FIELDS[:3]:
        if name not in fields:
            raise InvalidInput(f"The field {name} is missing.", field=name)
    if fields["decision"] not in DECISIONS:
        raise InvalidInput(f"The decision must be one of {', '.join(DECISIONS)}.", field="decision")
    return DecisionForm(
        token=fields["t"],
        digest=fields["digest"],
        decision=cast("Verdict | Answer", fields["decision"]),
        reason=_text(fields.get("reason", ""), "reason"),
        answer=_text(fields["answer"], "answer") if "answer" in fields else None,
        code=fields.get("code", ""),
    )


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=10
        )
    except ValueError as error:  # UnicodeError included: neither is the form a browser sends
        raise InvalidInput("This is not the page's form.", field="body") from error


def _text(text: str, field: str) -> str:
    # Browsers send line ends as CR LF (HTML, "form submission"); people mean line feeds.
    text = text.replace("\r\n", "\n")
    if _CONTROLS.search(text):
        raise InvalidInput(f"The {field} contains control characters.", field=field)
    return check_text(text, field, field=field)
