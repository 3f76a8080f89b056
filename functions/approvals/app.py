"""GET and POST /approvals/{session_id}/{call_id}: the page behind the link. Cannot run tools."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from pausepoint.bootstrap import application
from pausepoint.errors import PausepointError
from pausepoint.http import door
from pausepoint.http.approvals import PageAnswer, Post, decide, refusal, show

api = door.open_api()


@api.route("/approvals/<session_id>/<call_id>", method=["GET", "HEAD"])
def show_call(session_id: str, call_id: str) -> Response[str]:
    """Show what would run, or what became of it."""
    token = (api.current_event.query_string_parameters or {}).get("t", "")
    action = f"{door.base_url(api.current_event, application())}/approvals/{session_id}/{call_id}"
    return _page(show(application().services, session_id, call_id, token=token, action=action))


@api.post("/approvals/<session_id>/<call_id>")
def decide_call(session_id: str, call_id: str) -> Response[str]:
    """Record a posted decision."""
    headers = {name.lower(): value for name, value in api.current_event.headers.items()}
    post = Post(body=door.raw_body(api.current_event), headers=headers)
    answer = decide(application().services, session_id, call_id, post)
    if answer.decided is not None:
        door.count("Calls" + answer.decided.capitalize())
    return _page(answer)


def failed(error: PausepointError) -> Response[str]:
    """Answer people with a page, also when the table does not."""
    door.logger().exception("page failed")
    return _page(refusal(error))


def _page(answer: PageAnswer) -> Response[str]:
    return Response(answer.status, content_type="text/html; charset=utf-8", body=answer.html)


api.exception_handler(PausepointError)(failed)
handler = door.handler(api)
