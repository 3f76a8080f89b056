"""POST /sessions and POST /sessions/{id}/messages: runs the agent until it pauses, ends, or takes long."""

from __future__ import annotations

from pausepoint import cold_start  # isort: split

from typing import TYPE_CHECKING

from pausepoint.bootstrap import application
from pausepoint.http import door
from pausepoint.http.bodies import NewMessage, read_body
from pausepoint.http.invocations import invocation, session_response
from pausepoint.http.requests import idempotency_key, known_id

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response

api = door.open_api()


@api.post("/sessions")
def start_session() -> Response[str]:
    """Start a session with a first message."""
    context = invocation(api, application())
    body = read_body(door.raw_body(api.current_event), NewMessage)
    key = idempotency_key(api.current_event.headers)
    result = application().agent.run(body.message, context=context, idempotency_key=key)
    return session_response(result)


@api.post("/sessions/<session_id>/messages")
def continue_session(session_id: str) -> Response[str]:
    """Say something more in a session that rests."""
    context = invocation(api, application())
    body = read_body(door.raw_body(api.current_event), NewMessage)
    result = application().agent.run(body.message, session_id=known_id(session_id), context=context)
    return session_response(result)


handler = door.handler(api)
cold_start.over()
