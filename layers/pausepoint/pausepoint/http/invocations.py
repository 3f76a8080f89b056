"""What the functions that run the agent have in common: how long they may, and how a session is answered."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pausepoint.http.door import base_url, caller, json_response
from pausepoint.http.queries import read_query
from pausepoint.http.views import session_body
from pausepoint.runtime.context import ExecutionContext
from pausepoint.telemetry import count

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

    from pausepoint.bootstrap import Application
    from pausepoint.runtime.result import AgentResult

INLINE_SECONDS: Final = 20
"""No step starts later than this in a request."""
ANSWER_SECONDS: Final = 27
"""A request is answered by then: API Gateway gives up after 30 seconds, while Lambda runs on."""
_ENDING_SECONDS: Final = 2


def invocation(api: APIGatewayHttpResolver, application: Application) -> ExecutionContext:
    """Return the context of a request that somebody waits for; `Prefer: respond-async` hands over at once.

    Raises:
        Unauthenticated: nobody signed it. InvalidInput: it has a query, and these routes know none.
    """
    by = caller(api.current_event, application)
    read_query(api.current_event)
    now = application.services.clock.now()
    remaining = timedelta(milliseconds=api.lambda_context.get_remaining_time_in_millis())
    ends_at = now + remaining - timedelta(seconds=_ENDING_SECONDS)
    at_once = "respond-async" in (api.current_event.headers.get("prefer") or "").lower()
    return ExecutionContext(
        id=application.services.new_id(),
        ends_at=ends_at,
        hand_over_at=now if at_once else min(ends_at, now + timedelta(seconds=INLINE_SECONDS)),
        answer_by=min(ends_at, now + timedelta(seconds=ANSWER_SECONDS)),
        caller=by,
        base_url=base_url(api.current_event, application),
    )


def session_response(result: AgentResult) -> Response[str]:
    """Return a session: 200 when it rests, 202 and where to look while it runs on."""
    count("Sessions" + result.status.capitalize())
    body = session_body(result.session)
    if result.status == "running":
        root = urlsplit(result.session.head.base_url).path  # a stage's name, or a path of a custom domain
        return json_response(202, body, Location=f"{root}/sessions/{result.session_id}")
    return json_response(200, body)
