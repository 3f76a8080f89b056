"""What folds from a session's log, carried on from event to event: a step costs what it adds, not what was before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pausepoint.domain.events import (
    AssistantTurn,
    CallReissued,
    DecisionRecorded,
    Event,
    SessionCancelled,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from pausepoint.domain.history import History


@dataclass(frozen=True)
class Tally:
    """The fold of a log up to some event.

    Attributes:
        last_turn: the model's latest turn.
        open_calls: its calls that have no result yet, by the id that the turn gave them, in the order of the
            turn; one that was reissued as it is now.
        turns_own: for calls that took the place of others: the id that the turn gave.
        rejections: how often a call with a digest was rejected.
        consecutive_rejections: how many decisions in a row were rejections, since the user's last message.
    """

    last_turn: AssistantTurn | None = None
    open_calls: Mapping[str, ToolCall] = field(default_factory=dict)
    turns_own: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    model_calls: int = 0
    tool_calls: int = 0
    rejections: Mapping[str, int] = field(default_factory=dict)
    consecutive_rejections: int = 0
    history: History = field(default_factory=History)
    cancelled: bool = False

    def after(self, events: Iterable[Event]) -> Tally:
        """Return the fold up to the last of these events."""
        tally = self
        for event in events:
            tally = tally._after(event)
        return tally

    def _after(self, event: Event) -> Tally:
        match event:
            case AssistantTurn():
                return replace(
                    self,
                    last_turn=event,
                    open_calls={call.call_id: call for call in event.calls},
                    usage=self.usage + event.usage,
                    model_calls=self.model_calls + 1,
                    tool_calls=self.tool_calls + len(event.calls),
                    history=self.history.turned(event),
                )
            case ToolResult():
                own = self.turns_own.get(event.call_id, event.call_id)
                open_calls = {key: call for key, call in self.open_calls.items() if key != own}
                return replace(self, open_calls=open_calls, history=self.history.answered(own, event))
            case CallReissued():
                return self._reissued(event)
            case DecisionRecorded(verdict="rejected", digest_shown=digest):
                rejections = {**self.rejections, digest: self.rejections.get(digest, 0) + 1}
                return replace(self, rejections=rejections, consecutive_rejections=self.consecutive_rejections + 1)
            case DecisionRecorded():
                return replace(self, consecutive_rejections=0)
            case UserMessage():
                return replace(self, consecutive_rejections=0, history=self.history.told(event.text))
            case SessionCancelled():
                return replace(self, cancelled=True)
            case _:
                return self

    def _reissued(self, event: CallReissued) -> Tally:
        own = self.turns_own.get(event.call_id, event.call_id)
        open_calls = dict(self.open_calls)
        if (call := open_calls.get(own)) is not None:
            open_calls[own] = replace(
                call, call_id=event.reissued_as, arguments=event.arguments, digest=event.digest, gated=True
            )
        return replace(self, open_calls=open_calls, turns_own={**self.turns_own, event.reissued_as: own})
