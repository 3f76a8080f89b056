"""The query of a signed request, read strictly: what is not known here is refused, not overlooked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast, get_args
from urllib.parse import parse_qsl

from pausepoint.domain.calls import ASKING, CallStatus, Risk
from pausepoint.domain.waiting import Waiting
from pausepoint.errors import InvalidInput
from pausepoint.http.requests import SESSION_ID

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

MAX_NAME: Final = 200
TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SIGNATURE: Final = "x-amz-"
"""A request may carry its signature in the query; its parts are the gateway's business."""


def read_query(event: APIGatewayProxyEventV2, *known: str) -> dict[str, str]:
    """Return the query's parameters.

    Raises:
        InvalidInput: one is not among `known`, or appears twice; `field` names it.
    """
    query = {
        name: value or ""
        for name, value in (event.query_string_parameters or {}).items()
        if not name.lower().startswith(_SIGNATURE)
    }
    for name in query:
        if name not in known:
            words = f"Known are: {', '.join(known)}." if known else "None is known here."
            raise InvalidInput(f"The query parameter {name!r} is not known here. {words}", field=name)
    # The gateway joins values with commas, and a comma may be part of one: only the raw text tells.
    seen = [name for name, _ in parse_qsl(event.raw_query_string or "", keep_blank_values=True)]
    for name in query:
        if seen.count(name) > 1:
            raise InvalidInput(f"The query parameter {name!r} appears twice.", field=name)
    return query


def waiting_filter(query: Mapping[str, str]) -> Waiting:
    """Return which of the calls that wait are asked for: `agent`, `tool`, `risk`, `session`, `status`.

    Raises:
        InvalidInput: a value is empty, or none that there can be; `field` names it.
    """
    status = _one_of(query, "status", sorted(ASKING, reverse=True))
    return Waiting(
        agent=_agent(query),
        tool=_matching(query, "tool", TOOL_NAME, "1 to 64 of the characters a-z A-Z 0-9 _ -"),
        risk=cast("Risk | None", _one_of(query, "risk", get_args(Risk))),
        session_id=_matching(query, "session", SESSION_ID, "the id of a session"),
        status=CallStatus(status) if status is not None else None,
    )


def _agent(query: Mapping[str, str]) -> str | None:
    agent = query.get("agent")
    if agent is not None and not 1 <= len(agent) <= MAX_NAME:
        raise InvalidInput(f"`agent` must have 1 to {MAX_NAME} characters.", field="agent")
    return agent


def _matching(query: Mapping[str, str], name: str, pattern: re.Pattern[str], what: str) -> str | None:
    text = query.get(name)
    if text is not None and not pattern.fullmatch(text):
        raise InvalidInput(f"`{name}` must be {what}.", field=name)
    return text


def _one_of(query: Mapping[str, str], name: str, words: Sequence[str]) -> str | None:
    text = query.get(name)
    if text is not None and text not in words:
        raise InvalidInput(f"`{name}` must be one of {', '.join(words)}.", field=name)
    return text
