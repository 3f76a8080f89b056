"""Canonical JSON and digests: the one text of a call that is shown, approved and executed."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

from pausepoint.errors import InvalidInput, TooLarge

MAX_ARGUMENT_BYTES: Final = 64 * 1024
MAX_DEPTH: Final = 32
_encode: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical_json(value: object) -> str:
    """Return the one canonical text of a JSON value: sorted keys, no blanks, UTF-8 as it is.

    Numbers keep their type (`1.0` stays a float, integers have any size).

    Raises:
        InvalidInput: NaN, infinities, lone surrogates, keys that are not strings, values that are not
            JSON, or nesting deeper than 32 levels.
        TooLarge: the text has more than 64 KiB.
    """
    _check(value, depth=0)
    try:
        text = _encode(value)
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InvalidInput("contains half of a surrogate pair, which is not text") from error
    except ValueError as error:  # integers beyond Python's limit of digits
        raise InvalidInput(f"is not representable as JSON: {error}") from error
    if size > MAX_ARGUMENT_BYTES:
        raise TooLarge(f"has {size} bytes; at most {MAX_ARGUMENT_BYTES} are allowed")
    return text


def parse_json(text: str | bytes) -> Any:
    """Parse JSON strictly: no duplicate keys, no NaN or Infinity.

    Raises:
        InvalidInput: it is not such JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constants)
    except RecursionError as error:
        raise InvalidInput("is nested too deeply") from error
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are ValueErrors
        raise InvalidInput(f"is not JSON: {error}") from error


def call_digest(name: str, arguments: str) -> str:
    """Return the SHA-256 (64 hex digits) of a call: the tool's name and the canonical arguments."""
    return sha256_hex(f"pausepoint.call.v1\n{name}\n{arguments}")


def short_code(digest: str) -> str:
    """Return a digest's first eight digits in two groups, for people to compare."""
    return f"{digest[:4]}-{digest[4:8]}".upper()


def sha256_hex(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _check(value: object, *, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"is nested deeper than {MAX_DEPTH} levels")
    match value:
        case None | bool() | int() | str():
            return
        case float():
            if not math.isfinite(value):
                raise InvalidInput("contains NaN or an infinity, which JSON does not have")
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise InvalidInput("has a key that is not a string")
                _check(item, depth=depth + 1)
        case list() | tuple():
            for item in value:
                _check(item, depth=depth + 1)
        case _:
            raise InvalidInput(f"contains a {type(value).__name__}, which JSON does not have")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise ValueError(f"the key {key!r} appears twice")
        value[key] = item
    return value


def _no_constants(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
