"""The shapes of the API's answers. docs/openapi.yaml is generated from them; the functions build nothing else."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic reads this one on every Python

from pausepoint.domain.calls import CallStatus, Risk
from pausepoint.domain.session import SessionStatus

DateTime = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Next = Annotated[str | None, Field(description="What to give as `next` for the next page; null on the last one.")]


class QuestionBody(TypedDict):
    """What a call asks a person, where it does not ask for permission."""

    text: str
    choices: Annotated[list[str], Field(description="What may be answered; empty: anything.")]


class CallBody(TypedDict):
    """A call that waits for a person, or went through one's decision."""

    call_id: str
    tool_call_id: Annotated[str, Field(description="The model's own id of it, which may repeat.")]
    name: Annotated[str, Field(description="The tool's.")]
    arguments: Annotated[dict[str, Any], Field(description="What would run, or was to.")]
    status: CallStatus
    risk: Risk
    warning: Annotated[str, Field(description="The tool's own words on what is at stake.")]
    highlight: Annotated[list[str], Field(description="The names of the arguments to look at first.")]
    model_text: Annotated[str, Field(description="What the model wrote beside the call. Nobody has checked it.")]
    digest: Annotated[str, Field(description="Of exactly this tool and these arguments.")]
    requested_at: DateTime
    expires_at: DateTime
    question: NotRequired[QuestionBody]
    decision: NotRequired[Annotated[dict[str, Any], WithJsonSchema({"stands-for": "Decision"})]]
    resolution: NotRequired[Annotated[dict[str, Any], WithJsonSchema({"stands-for": "Resolution"})]]


class WaitingBody(CallBody):
    """A call as the list of what waits shows it."""

    session_id: str
    agent: str
    requested_by: str
    age_seconds: Annotated[int, Field(description="Since it was asked for.")]


class HeadBody(TypedDict):
    """A session as the lists show it."""

    session_id: str
    status: SessionStatus
    agent: str
    requested_by: Annotated[str, Field(description="Who started it: an ARN, where requests are signed.")]
    created_at: DateTime
    updated_at: DateTime


class UsageBody(TypedDict):
    """What a session has used so far."""

    model_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int


class FailureBody(TypedDict):
    """Why a session failed."""

    code: str
    message: str


class EndingBody(TypedDict):
    """What a session has only if it failed."""

    error: NotRequired[FailureBody]


class SessionBody(HeadBody, EndingBody):
    """A session as it stands."""

    output: Annotated[str, Field(description="The text of the model's latest turn.")]
    pending_calls: list[CallBody]
    usage: UsageBody


class SessionsBody(TypedDict):
    """A page of the list of sessions."""

    sessions: list[HeadBody]
    next: Next


class ApprovalsBody(TypedDict):
    """A page of the list of what waits."""

    approvals: list[WaitingBody]
    next: Next


class EventsBody(TypedDict):
    """A page of a session's log."""

    events: list[Annotated[dict[str, Any], WithJsonSchema({"stands-for": "Event"})]]
    next: Next
