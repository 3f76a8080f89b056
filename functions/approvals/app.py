"""GET and POST /approvals/{session_id}/{call_id}: the page behind the link. Cannot run tools."""

from __future__ import annotations

from pausepoint import cold_start  # isort: split

from http import HTTPStatus
from typing import TYPE_CHECKING

from aws_lambda_powertools.event_handler import Response

from pausepoint.bootstrap import application
from pausepoint.errors import NotFound, PausepointError
from pausepoint.http import door
from pausepoint.http.approvals import PageAnswer, Post, decide, look, refusal, show
from pausepoint.telemetry import count, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.exceptions import NotFoundError

api = door.open_api()


@api.route("/approvals/<session_id>/<call_id>", method=["GET", "HEAD"])
def show_call(session_id: str, call_id: str) -> Response[str]:
    """Show what would run, or what became of it."""
    query = api.current_event.query_string_parameters or {}
    if "v" in query and "t" not in query:
        return _page(look(application().services, session_id, call_id, view=query["v"], looks=query.get("n", "")))
    token = query.get("t", "")
    action = f"{door.base_url(api.current_event, application())}/approvals/{session_id}/{call_id}"
    return _page(show(application().services, session_id, call_id, token=token, action=action))


@api.post("/approvals/<session_id>/<call_id>")
def decide_call(session_id: str, call_id: str) -> Response[str]:
    """Record a posted decision."""
    headers = {name.lower(): value for name, value in api.current_event.headers.items()}
    base_url = door.base_url(api.current_event, application())
    post = Post(body=door.raw_body(api.current_event), headers=headers, base_url=base_url)
    answer = decide(application().services, session_id, call_id, post)
    if answer.decided is not None:
        count("Calls" + answer.decided.title().replace("_", ""))
    return _page(answer)


@api.not_found
def no_page(_: NotFoundError) -> Response[str]:
    """Answer a mangled link like one that leads nowhere."""
    return _page(refusal(NotFound("no such page")))


def failed(error: Exception) -> Response[str]:
    """Answer people with a page, whatever went wrong."""
    answer = refusal(error)
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        logger().exception("page failed")
    return _page(answer)


def _page(answer: PageAnswer) -> Response[str]:
    headers: dict[str, str | list[str]] = {}
    if answer.retry_after:
        headers["Retry-After"] = str(answer.retry_after)
    if answer.refresh:
        headers["Refresh"] = answer.refresh
    return Response(answer.status, "text/html; charset=utf-8", answer.html, headers=headers)


api.exception_handler([PausepointError, Exception])(failed)
handler = door.handler(api)
cold_start.over()
