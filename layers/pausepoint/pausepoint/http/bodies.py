"""The JSON bodies that the API accepts."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pausepoint.domain.calls import Answer, Verdict
from pausepoint.domain.canonical import parse_json
from pausepoint.errors import InvalidInput, TooLarge
from pausepoint.runtime.decisions import DecisionRequest

MAX_BODY_BYTES: Final = 256 * 1024
MAX_DECISIONS: Final = 50


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NewMessage(_Request):
    """Body of `POST /sessions` and `POST /sessions/{id}/messages`."""

    message: str


class OneDecision(_Request):
    """One member of a `ResumeRequest`.

    `digest` is the call's as the caller saw it: where it is given and is not the stored one, nothing is recorded,
    and the answer is a 409. `arguments` (with `approved`) run instead of the call's own; `answer` (with `answered`)
    is any JSON value but null.
    """

    call_id: str
    decision: Literal[Verdict, Answer]  # one list of words, not a choice of lists, which errors would show
    reason: str | None = None
    arguments: dict[str, Any] | None = None
    answer: Any = None
    digest: str | None = None

    def request(self) -> DecisionRequest:
        """Return it in the runtime's words."""
        return DecisionRequest(self.call_id, self.decision, self.reason or "", self.arguments, self.answer, self.digest)


class ResumeRequest(_Request):
    """Body of `POST /sessions/{id}/resume`."""

    decisions: Annotated[list[OneDecision], Field(max_length=MAX_DECISIONS)]


Body = TypeVar("Body", bound=_Request)
_WHY: Final = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_type": "must be a string",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be a JSON object",
    "literal_error": "must be {expected}",
    "too_long": "has {actual_length} entries; at most {max_length} are allowed",
}
"""Pydantic's kinds of errors in words for callers, who know nothing of Python."""


def read_body(raw: bytes, kind: type[Body]) -> Body:
    """Return a request's body as `kind`.

    Raises:
        TooLarge: it has more than 256 KiB.
        InvalidInput: it is not strict JSON, or does not fit; `field` names the first part that does not.
    """
    if len(raw) > MAX_BODY_BYTES:
        raise TooLarge(f"The body has {len(raw)} bytes; at most {MAX_BODY_BYTES} are allowed.", field="body")
    if not raw.strip():
        raise InvalidInput("The body is empty, and must be a JSON object.", field="body")
    try:
        value = parse_json(raw)
    except InvalidInput as error:
        raise InvalidInput(f"The body {error}.", field="body") from None
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in problem["loc"])
        why = _WHY.get(problem["type"], "is wrong: {msg}").format(msg=problem["msg"], **problem.get("ctx", {}))
        raise InvalidInput(f"{f'`{field}`' if field else 'The body'} {why}.", field=field or "body") from None
