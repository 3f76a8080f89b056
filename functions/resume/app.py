"""POST /sessions/{id}/resume and the work queue: records decisions and carries sessions on."""

from __future__ import annotations

from pausepoint import cold_start  # isort: split

from typing import TYPE_CHECKING, Any

from pausepoint.bootstrap import application
from pausepoint.http import door
from pausepoint.http.bodies import ResumeRequest, read_body
from pausepoint.http.invocations import invocation, session_response
from pausepoint.http.requests import known_id
from pausepoint.worker import process_wakeups

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.utilities.typing import LambdaContext

api = door.open_api()
answer_request = door.handler(api)


@api.post("/sessions/<session_id>/resume")
def resume_session(session_id: str) -> Response[str]:
    """Record decisions of a signed-in caller and carry the session on."""
    context = invocation(api, application())
    body = read_body(door.raw_body(api.current_event), ResumeRequest)
    result = application().agent.resume(
        known_id(session_id),
        [decision.request() for decision in body.decisions],
        context=context,
        signed=door.signed(api.current_event),
    )
    return session_response(result)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Tell the two doors apart: the gateway's requests and the queue's batches."""
    if "Records" in event:
        return process_wakeups(application(), event, context)
    return answer_request(event, context)


cold_start.over()
