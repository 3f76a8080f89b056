"""The conversation as the model must see it: results in the order of their calls, first in their message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pausepoint.domain.events import AssistantTurn, ToolCall, ToolResult


@dataclass(frozen=True)
class UserItem:
    """What the model reads as one user message: the results of its last turn first, then texts."""

    results: tuple[tuple[ToolCall, ToolResult], ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class AssistantItem:
    """What the model itself said before, as its provider gave it."""

    message: Mapping[str, Any]


Item = UserItem | AssistantItem


@dataclass(frozen=True)
class History:
    """A conversation up to some event, carried on from there.

    Attributes:
        settled: everything before the latest turn. Nothing can be added to it: the model is asked again only when
            every call of its turn has a result.
        results: those of the latest turn so far, by the id that the turn gave the call.
        texts: what was said since the latest turn.
    """

    settled: tuple[Item, ...] = ()
    turn: AssistantTurn | None = None
    results: Mapping[str, ToolResult] = field(default_factory=dict)
    texts: tuple[str, ...] = ()

    def turned(self, turn: AssistantTurn) -> History:
        """Return it after the model's next turn."""
        return History(settled=self.items, turn=turn)

    def answered(self, call_id: str, result: ToolResult) -> History:
        """Return it after a call of the latest turn got its result."""
        return replace(self, results={**self.results, call_id: result})

    def told(self, text: str) -> History:
        """Return it after somebody said something."""
        return replace(self, texts=(*self.texts, text))

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """What the model must see."""
        latest: list[Item] = [] if self.turn is None else [AssistantItem(self.turn.message)]
        calls = () if self.turn is None else self.turn.calls
        if calls or self.texts:
            results = tuple((call, self.results[call.call_id]) for call in calls if call.call_id in self.results)
            latest.append(UserItem(results, self.texts))
        return (*self.settled, *latest)
