"""Errors as answers: from the tree of errors and the one table that turns them into HTTP."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pausepoint import errors
from pausepoint.http.headers import security_headers
from pausepoint.http.problems import INTERNAL_PROBLEM, TYPE_PREFIX, status_of
from tools.openapi_schemas import ref

_RETRY_AFTER: Final = "Retry-After"
GATEWAY_MESSAGE: Final[dict[str, Any]] = {
    "type": "object",
    "description": "What API Gateway itself answers: no signature, or too many requests.",
    "properties": {"message": {"type": "string"}},
    "required": ["message"],
}
_NOT_FOUND: Final = 404
_TOO_MANY: Final = 429
_GATEWAYS: Final = (403, _TOO_MANY)
"""What API Gateway answers by itself: to who has not signed, and to who asks too often."""
_EVERYWHERE: Final[tuple[type[errors.PausepointError], ...]] = (errors.Unavailable, errors.ConfigurationError)


def header_components() -> dict[str, Any]:
    """Return the headers that every answer of a function has (R7), and the one that says when to try again."""
    # The policy has the hash of the page's style in it, which is nobody's business here.
    schemas: dict[str, Any] = {name: {"const": value} for name, value in security_headers().items()}
    schemas["Content-Security-Policy"] = {"type": "string"}
    found = {name: {"schema": schema, "required": True} for name, schema in schemas.items()}
    again = {"description": "In so many seconds.", "schema": {"type": "integer"}, "required": True}
    return {**found, _RETRY_AFTER: again}


def headers(*more: str) -> dict[str, Any]:
    """Return references to the headers of every answer, and to others by name."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*security_headers(), *more)}


def problem_answers(kinds: Iterable[type[errors.PausepointError]], *, public: bool) -> dict[int, tuple[str, Any]]:
    """Return the answers for these errors, and for those that anything may end in: by status, a name and the answer.

    Args:
        public: for people, who read pages and no problems.
    """
    codes: dict[int, list[str]] = defaultdict(list)
    titles: dict[int, list[str]] = defaultdict(list)
    for kind in (*kinds, *_EVERYWHERE):
        status, title = _status_of(kind)
        codes[status].append(kind.code)
        titles[status] += [title] if title not in titles[status] else []
    codes[INTERNAL_PROBLEM.status].append(INTERNAL_PROBLEM.body["type"].removeprefix(TYPE_PREFIX))
    if _NOT_FOUND in codes:  # the router itself takes no id with odd characters
        codes[_NOT_FOUND].append("no-route")
    codes[_TOO_MANY] = []
    titles[_TOO_MANY].append("Too many requests")
    answers: dict[int, tuple[str, Any]] = {}
    for status, known in codes.items():
        answer: dict[str, Any] = {"description": "; ".join(titles[status])}
        if status not in _GATEWAYS:  # which knows nothing of the functions' headers
            answer["headers"] = headers(*([_RETRY_AFTER] if status == _status_of(errors.Unavailable)[0] else []))
        answer["content"] = {}
        if known:
            answer["content"] |= PAGE if public else _problem(sorted(known))
        if status in _GATEWAYS:
            answer["content"]["application/json"] = {"schema": ref("GatewayMessage")}
        name = "-or-".join(sorted(known)) or "gateway"
        answers[status] = (f"{status}-{'page-' if public else ''}{name}", answer)
    return answers


def problem_schema() -> dict[str, Any]:
    """Return the schema of a problem, whatever is wrong."""
    codes = {kind.code for kind in _all(errors.PausepointError)}
    types = sorted(TYPE_PREFIX + code for code in {*codes, "internal", "no-route"})
    return {
        "type": "object",
        "description": "What is wrong (RFC 9457).",
        "properties": {
            "type": {"enum": types, "description": "Stable: what a program should look at."},
            "title": {"type": "string"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string", "description": "In words: what was wrong, with what, and what to do."},
            "field": {
                "type": "string",
                "description": "The part of the request that is wrong, e.g. `decisions.0.reason`.",
            },
            "call": {**ref("CallBody"), "description": "The call as it stands, where another decision stands."},
            "calls": {
                "type": "array",
                "items": ref("CallBody"),
                "description": "The calls that have to be decided first.",
            },
        },
        "required": ["type", "title", "status", "detail"],
    }


PAGE: Final[dict[str, Any]] = {"text/html": {"schema": {"type": "string"}}}


def _problem(codes: list[str]) -> dict[str, Any]:
    only = {"properties": {"type": {"enum": [TYPE_PREFIX + code for code in codes]}}}
    return {"application/problem+json": {"schema": {"allOf": [ref("Problem"), only]}}}


def _status_of(kind: type[errors.PausepointError]) -> tuple[int, str]:
    # The table goes by class alone: what an error says does not matter to it.
    return status_of(kind.__new__(kind))


def _all(kind: type[errors.PausepointError]) -> Iterator[type[errors.PausepointError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _all(narrower)
