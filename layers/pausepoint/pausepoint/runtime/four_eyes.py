"""The rule that whoever asked for something does not approve it, where a deployment wants that.

It is about identities that AWS has verified, and says nothing about links: who holds one is only claimed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pausepoint.domain.events import UserMessage
from pausepoint.domain.identity import principal_of
from pausepoint.domain.session import Session
from pausepoint.errors import OwnRequest
from pausepoint.runtime.decisions import DecisionRequest


def refuse_own_requests(session: Session, requests: Sequence[DecisionRequest], *, by: str) -> None:
    """Refuse approvals, edited or not, by who started the session or said something in it.

    Everything else is theirs too: rejecting stops what they asked for, an answer is data and permits nothing, and
    `run_again` asks for another approval.

    Args:
        by: the caller's verified ARN.

    Raises:
        OwnRequest: one of the requests is such an approval; none of them may be recorded then.
    """
    asked = {session.head.owner, *(event.by for event in session.events if isinstance(event, UserMessage))}
    if principal_of(by) not in {principal_of(arn) for arn in asked}:
        return
    for index, request in enumerate(requests):
        if request.decision == "approved":
            raise OwnRequest(
                f"You asked for call {request.call_id}, since you started this session or said something in it, and "
                "here somebody else has to approve it: anybody else who may call this API, or who has its link. "
                "You may reject it.",
                field=f"decisions.{index}.decision",
            )
