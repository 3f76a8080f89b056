"""What each route takes, and may answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from pausepoint import errors
from pausepoint.domain.calls import ASKING, Risk
from pausepoint.domain.session import SessionStatus
from pausepoint.http import forms
from pausepoint.http.answers import ApprovalsBody, EventsBody, SessionBody, SessionsBody
from pausepoint.http.bodies import NewMessage, ResumeRequest
from pausepoint.http.queries import MAX_NAME, TOOL_NAME
from pausepoint.http.requests import DEFAULT_PAGE, IDEMPOTENCY_KEY, MAX_PAGE, SESSION_ID
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS
from tools.openapi_errors import PAGE, headers
from tools.openapi_schemas import ref

if TYPE_CHECKING:
    from pydantic import BaseModel

Parameter = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """One route, but for what the functions themselves say of it.

    Attributes:
        answers: by status, what is no error.
        public: takes no signature, and answers with pages.
    """

    tag: str
    answers: dict[int, Any]
    errors: tuple[type[errors.PausepointError], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    body: dict[str, Any] | None = None
    public: bool = False


def _json(kind: type, description: str, **more: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": ref(kind.__name__)}}
    return {"description": description, "headers": {**headers(), **more}, "content": content}


def _takes(kind: type[BaseModel]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": ref(kind.__name__)}}}


def _query(name: str, description: str, **schema: Any) -> Parameter:
    return {"name": name, "in": "query", "description": description, "schema": {"type": "string", **schema}}


_LOCATION: Final = {"Location": {"description": "Where to look.", "schema": {"type": "string"}, "required": True}}
_RUNS: Final = {
    200: _json(SessionBody, "The session, which rests"),
    202: _json(SessionBody, "The session, which goes on in the background", **_LOCATION),
}
_PREFER: Final[Parameter] = {
    "name": "Prefer",
    "in": "header",
    "description": "`respond-async` answers 202 at once.",
    "schema": {"type": "string"},
    "example": "respond-async",
}
_KEY: Final[Parameter] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same key with the same message finds the session that was started with it.",
    "schema": {"type": "string", "pattern": f"^{IDEMPOTENCY_KEY.pattern}$"},
    "example": "3f1c9a52-8d5e-4a4e-9a53-0f6f6a4b7c11",
}
_LIMIT: Final[Parameter] = {
    "name": "limit",
    "in": "query",
    "description": "So many at most; a page may have fewer and still have a next one.",
    "schema": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": DEFAULT_PAGE},
}
_NEXT: Final = _query("next", "The `next` of the page before.")
_LOG_NEXT: Final = _query("next", "The `next` of the page before.", pattern="^[0-9]{1,10}$")
_SIGNED: Final = (errors.InvalidInput, errors.Unauthenticated)
_ONE: Final = (*_SIGNED, errors.NotFound, errors.UnsupportedVersion)
_CHANGES: Final = (*_ONE, errors.TooLarge, errors.Conflict)

_TOKEN: Final = _query("t", "The link's secret.")
_SEEN: Final = {200: {"description": "What would run, or what became of it", "headers": headers(), "content": PAGE}}
_PAGE_ERRORS: Final = (errors.NotFound, errors.CallExpired, errors.LinkSpent, errors.UnsupportedVersion)
_FIELDS: Final[dict[str, dict[str, Any]]] = {
    "t": {"description": "The link's secret."},
    "digest": {"description": "Of what was shown."},
    "decision": {"enum": list(forms.DECISIONS)},
    "reason": {"maxLength": MAX_REASON_CHARACTERS},
    "answer": {"description": "To a question."},
    "code": {"description": "Of an authenticator app, where approving takes one."},
}
_FORM: Final = {
    "type": "object",
    "properties": {name: {"type": "string", **_FIELDS.get(name, {})} for name in forms.FIELDS},
    "required": ["t", "digest", "decision"],
}

OPERATIONS: Final[dict[str, Operation]] = {
    "POST /sessions": Operation(
        tag="sessions",
        parameters=(_KEY, _PREFER),
        body=_takes(NewMessage),
        answers=_RUNS,
        errors=(*_SIGNED, errors.TooLarge, errors.IdempotencyMismatch, errors.NotFound, errors.UnsupportedVersion),
    ),
    "POST /sessions/{session_id}/messages": Operation(
        tag="sessions",
        parameters=(_PREFER,),
        body=_takes(NewMessage),
        answers=_RUNS,
        errors=(*_CHANGES, errors.CallsPending, errors.SessionBusy, errors.SessionEnded),
    ),
    "POST /sessions/{session_id}/resume": Operation(
        tag="approvals",
        parameters=(_PREFER,),
        body=_takes(ResumeRequest),
        answers=_RUNS,
        errors=(*_CHANGES, errors.AlreadyDecided, errors.CallExpired, errors.OwnRequest),
    ),
    "POST /sessions/{session_id}/cancel": Operation(
        tag="sessions", answers={200: _json(SessionBody, "The session, which has ended")}, errors=_ONE
    ),
    "GET /sessions": Operation(
        tag="sessions",
        parameters=(_query("status", "Only these.", enum=list(SessionStatus)), _LIMIT, _NEXT),
        answers={200: _json(SessionsBody, "A page, the latest changed first")},
        errors=_SIGNED,
    ),
    "GET /sessions/{session_id}": Operation(
        tag="sessions", answers={200: _json(SessionBody, "The session")}, errors=_ONE
    ),
    "GET /sessions/{session_id}/events": Operation(
        tag="sessions",
        parameters=(_LIMIT, _LOG_NEXT),
        answers={200: _json(EventsBody, "A page of the log, the oldest first")},
        errors=_ONE,
    ),
    "GET /approvals": Operation(
        tag="approvals",
        parameters=(
            _query("agent", "Only calls of this agent.", minLength=1, maxLength=MAX_NAME),
            _query("tool", "Only calls of this tool.", pattern=f"^{TOOL_NAME.pattern}$"),
            _query("risk", "Only calls of this risk.", enum=list(get_args(Risk))),
            _query("session", "Only calls of this session.", pattern=f"^{SESSION_ID.pattern}$"),
            _query("status", "Only calls that stand so.", enum=sorted(ASKING, reverse=True)),
            _LIMIT,
            _NEXT,
        ),
        answers={200: _json(ApprovalsBody, "A page, the most urgent first")},
        errors=_SIGNED,
    ),
    "GET /approvals/{session_id}/{call_id}": Operation(
        tag="page", public=True, parameters=(_TOKEN,), answers=_SEEN, errors=_PAGE_ERRORS
    ),
    "HEAD /approvals/{session_id}/{call_id}": Operation(
        tag="page", public=True, parameters=(_TOKEN,), answers=_SEEN, errors=_PAGE_ERRORS
    ),
    "POST /approvals/{session_id}/{call_id}": Operation(
        tag="page",
        public=True,
        body={"required": True, "content": {"application/x-www-form-urlencoded": {"schema": _FORM}}},
        answers={200: {"description": "What was recorded", "headers": headers(), "content": PAGE}},
        errors=(*_PAGE_ERRORS, errors.InvalidInput, errors.TooLarge, errors.Conflict),
    ),
}
