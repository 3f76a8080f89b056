"""Reads, lists and cancels sessions: GET /sessions…, GET /approvals, POST /sessions/{id}/cancel."""

from __future__ import annotations

from pausepoint import cold_start  # isort: split

from typing import TYPE_CHECKING

from pausepoint.bootstrap import application
from pausepoint.http import door
from pausepoint.http.queries import read_query, waiting_filter
from pausepoint.http.requests import cursor, known_id, page_size, page_start, status_filter
from pausepoint.http.views import events_body, head_body, session_body, waiting_body
from pausepoint.runtime.cancelling import cancel

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response

    from pausepoint.http.answers import ApprovalsBody, SessionsBody

api = door.open_api()


@api.get("/sessions")
def list_sessions() -> Response[str]:
    """List sessions, the latest changed first."""
    query = _query("status", "limit", "next")
    heads, following = application().services.store.sessions(
        status_filter(query), limit=page_size(query), before=cursor(query)
    )
    body: SessionsBody = {"sessions": [head_body(head) for head in heads], "next": following}
    return door.json_response(200, body)


@api.get("/sessions/<session_id>")
def get_session(session_id: str) -> Response[str]:
    """Show one session."""
    _query()
    return door.json_response(200, session_body(application().services.store.load(known_id(session_id))))


@api.get("/sessions/<session_id>/events")
def list_events(session_id: str) -> Response[str]:
    """Show a session's log: what was said, decided and run."""
    query = _query("limit", "next")
    after, limit = page_start(query), page_size(query)
    session = application().services.store.load(known_id(session_id))
    return door.json_response(200, events_body(session.events, after=after, limit=limit))


@api.get("/approvals")
def list_approvals() -> Response[str]:
    """List the calls of all sessions that wait for a person."""
    query = _query("agent", "tool", "risk", "session", "status", "limit", "next")
    services = application().services
    where = waiting_filter(query)
    calls, following = services.store.pending(limit=page_size(query), after=cursor(query), where=where)
    now = services.clock.now()
    body: ApprovalsBody = {"approvals": [waiting_body(call, now) for call in calls], "next": following}
    return door.json_response(200, body)


@api.post("/sessions/<session_id>/cancel")
def cancel_session(session_id: str) -> Response[str]:
    """End a session for good."""
    by = door.caller(api.current_event, application())
    read_query(api.current_event)
    return door.json_response(200, session_body(cancel(application().services, known_id(session_id), by=by)))


def _query(*known: str) -> dict[str, str]:
    """Return the query of a caller who is signed in."""
    door.caller(api.current_event, application())
    return read_query(api.current_event, *known)


handler = door.handler(api)
cold_start.over()
