"""The budgets of a session, and which of them is used up."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pausepoint.domain.values import Document

_Count = Annotated[int, Field(ge=1)]


class Limits(Document):
    """What one session may use. Past a limit it fails and says which one.

    Attributes:
        tokens: input and output of all model calls together.
        seconds: age of the session, the waiting for people included.
        pending_calls: calls that may wait for a decision at the same time; further ones are refused.
        same_call_rejections: after so many rejections the identical call is refused without asking.
    """

    model_calls: _Count = 50
    tool_calls: _Count = 100
    tokens: _Count = 2_000_000
    seconds: _Count = 30 * 24 * 3600
    consecutive_rejections: _Count = 5
    pending_calls: Annotated[int, Field(ge=1, le=20)] = 10
    same_call_rejections: _Count = 3
