"""The kinds of fields that documents have: how each becomes what JSON has, and is made of it again.

Both ways refuse what is not of the kind: what could not be loaded is never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin


class Malformed(ValueError):
    """A value is not what its field says; names the document and the field."""


@dataclass(frozen=True)
class Kind:
    """One kind of field. Both raise ValueError."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def kind_of(hint: Any) -> Kind:
    """Return the kind of a field with this type, as `Document` allows them."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        word = partial(_one_of, parts)
        return Kind(word, word)
    if origin in (Union, UnionType):
        return _union(parts)
    if origin is tuple:
        item = kind_of(parts[0])
        return Kind(partial(_listed, item.write), partial(_tuple, item.read))
    if hint is Any:
        return Kind(_anything, _anything)
    if hint is datetime:
        return Kind(_dated, _moment)
    if origin is dict:
        return Kind(partial(_exactly, dict), partial(_exactly, dict))
    if is_dataclass(hint):
        return Kind(partial(_dumped, (hint,)), hint.load)  # type: ignore[union-attr] # a document
    if issubclass(hint, Enum):
        return Kind(lambda value: hint(value).value, hint)
    exactly = partial(_exactly, hint)
    return Kind(_text, exactly) if hint is str else Kind(exactly, exactly)


def moment_text(moment: datetime) -> str:
    """Return a moment as UTC text of fixed width, so that the order of texts is the order of time."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _union(parts: tuple[Any, ...]) -> Kind:
    kinds = tuple(part for part in parts if part is not NoneType)
    if len(kinds) == 1:
        kind = kind_of(kinds[0])
    else:  # documents, which their `type` tells apart
        kind = Kind(partial(_dumped, kinds), partial(_tagged, {each.type: each for each in kinds}))
    if len(kinds) == len(parts):
        return kind
    return Kind(partial(_unless_none, kind.write), partial(_unless_none, kind.read))


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise Malformed(f"{type(value).__name__} is not {kind.__name__}")
    return value


def _text(value: Any) -> Any:
    if not isinstance(value, str):  # a word of a StrEnum is text too
        raise Malformed(f"{type(value).__name__} is not str")
    return value


def _anything(value: Any) -> Any:
    return value


def _one_of(words: tuple[Any, ...], value: Any) -> Any:
    if value not in words:
        raise Malformed(f"{value!r} is not one of {', '.join(sorted(map(str, words)))}")
    return value


def _unless_none(convert: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else convert(value)


def _listed(write: Callable[[Any], Any], value: Any) -> list[Any]:
    return [write(item) for item in _exactly(tuple, value)]


def _tuple(read: Callable[[Any], Any], value: Any) -> tuple[Any, ...]:
    return tuple(map(read, _exactly(list, value)))


def _dumped(kinds: tuple[Any, ...], value: Any) -> Any:
    if type(value) not in kinds:
        raise Malformed(f"{type(value).__name__} is not {' or '.join(kind.__name__ for kind in kinds)}")
    return value.dump()


def _tagged(kinds: Mapping[str, Any], value: Any) -> Any:
    tag = _exactly(dict, value).get("type")
    if not isinstance(tag, str) or tag not in kinds:
        raise Malformed(f"the type {tag!r} is not known")
    return kinds[tag].load(value)


def _dated(value: Any) -> str:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise Malformed(f"{value!r} is not a moment with a time zone")
    return moment_text(value)


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(_exactly(str, value))
    if moment.tzinfo is None:
        raise Malformed(f"{value!r} has no time zone")
    return moment
