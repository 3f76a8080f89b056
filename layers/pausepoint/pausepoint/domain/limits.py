"""The budgets of a session, and which of them is used up."""

from __future__ import annotations

from typing import Final

from pausepoint.domain.documents import Document
from pausepoint.errors import ConfigurationError

_MOST: Final = {"pending_calls": 20}


class Limits(Document):
    """What one session may use. Past a limit it fails and says which one.

    Attributes:
        tokens: input and output of all model calls together.
        seconds: age of the session, the waiting for people included.
        pending_calls: calls that may wait for a decision at the same time; further ones are refused.
        same_call_rejections: after so many rejections the identical call is refused without asking.
    """

    model_calls: int = 50
    tool_calls: int = 100
    tokens: int = 2_000_000
    seconds: int = 30 * 24 * 3600
    consecutive_rejections: int = 5
    pending_calls: int = 10
    same_call_rejections: int = 3

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            given, most = getattr(self, name), _MOST.get(name)
            if type(given) is not int or given < 1 or given > (most or given):
                up_to = f" and at most {most}" if most else ""
                raise ConfigurationError(f"Limits: {name} is {given!r}, and must be a whole number, at least 1{up_to}.")
