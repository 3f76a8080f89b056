"""JSON that keeps bytes."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

_BYTES: Final = "$bytes"
_ESCAPED: Final = "$escaped"
_MARK: Final = '"$'
"""A text without it holds neither of the two: most have no bytes, and nothing that looks as if."""
_encode: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def dump_json(value: object) -> str:
    """Return JSON text that `load_json` turns into an equal value: floats, big integers and bytes included.

    Bytes become `{"$bytes": base64}`; a dict that happens to look like that is escaped.
    """
    tagged = value
    try:
        text = _encode(value)
    except TypeError:  # bytes
        text = _MARK
    if _MARK in text:
        tagged = _tag(value)
        text = _encode(tagged)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair: legal in JSON as an escape only
        return json.dumps(tagged, separators=(",", ":"))
    return text


def load_json(text: str) -> Any:
    """Return the value that `dump_json` was given."""
    value = json.loads(text)
    return _untag(value) if _MARK in text else value


def _tag(value: object) -> object:
    match value:
        case bytes():
            return {_BYTES: base64.b64encode(value).decode("ascii")}
        case dict():
            tagged = {key: _tag(item) for key, item in value.items()}
            return {_ESCAPED: tagged} if tagged.keys() in ({_BYTES}, {_ESCAPED}) else tagged
        case list() | tuple():
            return [_tag(item) for item in value]
        case _:
            return value


def _untag(value: Any) -> Any:
    match value:
        case dict():
            if value.keys() == {_BYTES}:
                return base64.b64decode(value[_BYTES])
            if value.keys() == {_ESCAPED}:
                return {key: _untag(item) for key, item in value[_ESCAPED].items()}
            return {key: _untag(item) for key, item in value.items()}
        case list():
            return [_untag(item) for item in value]
        case _:
            return value
