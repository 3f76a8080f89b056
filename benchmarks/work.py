"""The work that is measured: N harmless calls, one a turn, about 1 KB of result each, then a gated one."""

from __future__ import annotations

import base64
import random
from collections.abc import Mapping
from typing import Any, Final

MESSAGE: Final = "Go through the files, then delete reports/2023.csv."
LAST: Final = "Deleted reports/2023.csv."
_RESULT_BYTES: Final = 1000
_TEXT: Final = (
    "the report of last month was checked by the team and no open question is left for the next meeting but the "
    "budget of two small projects that nobody has signed yet although both were sent to their owners in time"
)
_WORDS: Final = _TEXT.split(" ")

Call = tuple[str, Mapping[str, Any]]


def calls(count: int) -> list[Call]:
    """Return what the model asks for, one call a turn: `count` harmless ones and the dangerous one."""
    return [*(("read", {"number": number}) for number in range(count)), ("delete", {"path": "reports/2023.csv"})]


def result_of(number: int, kind: str) -> str:
    """Return about 1 KB of text, the same for the same number: random bytes in base64, or English words."""
    chance = random.Random(number)  # noqa: S311 - the same in every run
    if kind == "random":
        return base64.b64encode(chance.randbytes(_RESULT_BYTES * 3 // 4)).decode()
    words: list[str] = []
    while sum(map(len, words)) + len(words) < _RESULT_BYTES:
        words.append(chance.choice(_WORDS))
    return " ".join(words)
