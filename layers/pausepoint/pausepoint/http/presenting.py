"""What the tool's author and the model say about a call, apart from what would run (R27)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pausepoint.domain.proposals import MODEL_TEXT_CHARACTERS
from pausepoint.http.rows import much_text
from pausepoint.http.visible import Segment, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pausepoint.domain.calls import PendingToolCall, Risk

_TITLES: Final[Mapping[Risk, str]] = {"low": "Low risk", "medium": "Medium risk", "high": "High risk"}


@dataclass(frozen=True)
class Stakes:
    """The tool's own word on what is at stake; it stands above the arguments."""

    risk: Risk
    title: str
    warning: list[Segment] | None


@dataclass(frozen=True)
class ModelWords:
    """What the model wrote with the call. `much` tells how much, for a long text; `cut`: there may be more."""

    text: list[Segment]
    much: str
    cut: bool


def stakes(call: PendingToolCall) -> Stakes:
    """Return how much is at stake, as the tool says."""
    told = call.presentation
    return Stakes(told.risk, _TITLES[told.risk], visible(told.warning) if told.warning else None)


def model_words(call: PendingToolCall) -> ModelWords | None:
    """Return what the model wrote along with the call; None when it wrote nothing."""
    text = call.presentation.model_text
    if not text:
        return None
    return ModelWords(visible(text), much_text(text, text.count("\n") + 1), cut=len(text) >= MODEL_TEXT_CHARACTERS)
