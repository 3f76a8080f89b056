"""What a tool gives back, as the text that the model reads. Never fails: the effect has already happened."""

from __future__ import annotations

import json
from typing import Final

from pydantic_core import to_json

NO_OUTPUT: Final = "(no output)"
MAX_RESULT_BYTES: Final = 1024 * 1024
"""As JSON text. A result of more is cut, and says so."""


def result_text(value: object) -> str:
    """Return a result as text: text as it is, everything else as JSON.

    Dates, decimals, UUIDs, paths, sets, enums, dataclasses and pydantic models have their usual JSON form;
    what has none is written as its `str()`. Empty results become "(no output)".
    """
    if isinstance(value, str):
        return _bounded(value)
    if value is None:
        return NO_OUTPUT
    try:
        return _bounded(to_json(value, fallback=_as_text, inf_nan_mode="constants").decode("utf-8"))
    except Exception:  # noqa: BLE001 - a circular list, a failing __str__: the tool has run, its result is lost
        return f"(the tool finished, but its result, a {type(value).__name__}, cannot be written as text)"


def error_text(error: BaseException) -> str:
    """Return what went wrong in a tool: the exception's type and its message, which may be empty."""
    try:
        message = str(error).strip()
    except Exception:  # noqa: BLE001 - the exception's own __str__ is the tool author's code
        message = ""
    return _bounded(f"{type(error).__name__}: {message or '(no message)'}")


def _as_text(value: object) -> str:
    return str(value)


def _bounded(text: str) -> str:
    # Half surrogate pairs are not text: they cannot be stored or sent, so they are shown as escapes.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if not text.strip():
        return NO_OUTPUT
    kept = text
    while (size := _json_bytes(kept)) > MAX_RESULT_BYTES:
        kept = kept[: min(len(kept) - 1, len(kept) * MAX_RESULT_BYTES // size)]
    if kept == text:
        return text
    return f"{kept}\n(cut here: the first {len(kept)} of {len(text)} characters)"


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8"))
