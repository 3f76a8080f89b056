"""Everything a function says: its log, what libraries log, what is printed."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pytest


ACCESS_KEY: Final = "AKIAFUNCTIONSROLE001"
SECRET_KEY: Final = "canary/of/the/functions/own/secret/key"


class Said:
    """What was written to the log or printed, in whatever way."""

    def __init__(self, lines: io.StringIO, records: io.StringIO, capture: pytest.CaptureFixture[str]) -> None:
        self._lines, self._records, self._capture = lines, records, capture

    def at_level(self, level: int) -> None:
        """Let every logger there is write at this level, as Lambda's ApplicationLogLevel does."""
        logging.getLogger().setLevel(level)

    def lines(self) -> list[dict[str, Any]]:
        """Return the function's own log: every line of it is one JSON object."""
        return [json.loads(line) for line in self._lines.getvalue().split("\n") if line]

    def everything(self) -> str:
        """Return the log, what any library logged, and what was printed."""
        out, err = self._capture.readouterr()
        return self._lines.getvalue() + self._records.getvalue() + out + err
