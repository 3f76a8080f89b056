"""Stored documents: frozen dataclasses, and the way between them and what JSON and the table hold.

The page behind a link reads them too, and somebody waits for it: what would do this at large costs it half as much
again as all of boto3 (docs/adr/0007-documents-are-dataclasses.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from datetime import UTC, datetime
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, cast, dataclass_transform, get_args, get_origin, get_type_hints

_Reader = Callable[[Any], Any]


class Malformed(ValueError):
    """What is stored is not what its kind of document says; names the part."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Document:
    """Base of what is stored or answered: frozen, and its fields are given by name.

    A field is text, a number, a truth value, a moment, a word of a `Literal` or an `Enum`, another document, one of
    several that their `type` tells apart, a tuple of such, or JSON of any shape (`dict[str, Any]`).
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        # The methods below serve all kinds: made for each, as dataclass does, they take a cold start some time.
        dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def dump(self, *, without: Collection[str] = ()) -> dict[str, Any]:
        """Return it as JSON has it. What is None stays away."""
        values = ((name, getattr(self, name)) for name in self.__dataclass_fields__ if name not in without)
        return {name: _plain(value) for name, value in values if value is not None}

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Self:
        """Return the document that `dump` made this of. Raises Malformed if it did not."""
        if not isinstance(stored, Mapping):
            raise Malformed(f"{cls.__name__}: {type(stored).__name__} is not an object")
        readers, required = _shape(cls)  # type: ignore[arg-type] # a class is hashable
        if unknown := stored.keys() - readers.keys():
            raise Malformed(f"{cls.__name__}: {min(unknown)!r} is not known")
        if missing := required - stored.keys():
            raise Malformed(f"{cls.__name__}: {min(missing)!r} is missing")
        values = {}
        for name, value in stored.items():
            try:
                values[name] = readers[name](value)
            except ValueError as error:
                raise Malformed(f"{cls.__name__}.{name}: {error}") from None
        return cls(**values)


def moment_text(moment: datetime) -> str:
    """Return a moment as UTC text of fixed width, so that the order of texts is the order of time."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def reader_of(hint: Any) -> _Reader:
    """Return what makes a value of this type, as `Document` allows it, from what JSON has. It raises ValueError."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return partial(_one_of, parts)
    if origin in (Union, UnionType):
        kinds = [part for part in parts if part is not NoneType]
        by_type = {kind.type: kind for kind in kinds} if len(kinds) > 1 else None
        read = partial(_tagged, by_type) if by_type else reader_of(kinds[0])
        return read if len(kinds) == len(parts) else partial(_optional, read)
    if origin is tuple:
        return partial(_tuple, reader_of(parts[0]))
    if hint is Any:
        return _anything
    if hint is datetime:
        return _moment
    if issubclass(hint, Document):
        return cast("_Reader", hint.load)
    return hint if issubclass(hint, Enum) else partial(_instance, origin or hint)


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return moment_text(value)
        case tuple():
            return [_plain(item) for item in value]
        case Document():
            return value.dump()
        case Enum():
            return value.value
        case _:
            return value


@cache
def _shape(kind: Any) -> tuple[Mapping[str, _Reader], frozenset[str]]:
    """Return what reads each field, and the fields that must be there."""
    hints = get_type_hints(kind)
    readers = {each.name: reader_of(hints[each.name]) for each in fields(kind)}
    return readers, frozenset(each.name for each in fields(kind) if each.default is MISSING)


def _instance(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise Malformed(f"{type(value).__name__} is not {kind.__name__}")
    return value


def _anything(value: Any) -> Any:
    return value


def _one_of(words: tuple[Any, ...], value: Any) -> Any:
    if value not in words:
        raise Malformed(f"{value!r} is not one of {', '.join(sorted(map(str, words)))}")
    return value


def _optional(read: _Reader, value: Any) -> Any:
    return None if value is None else read(value)


def _tuple(read: _Reader, value: Any) -> tuple[Any, ...]:
    return tuple(map(read, _instance(list, value)))


def _tagged(kinds: Mapping[str, type[Document]], value: Any) -> Document:
    tag = _instance(dict, value).get("type")
    if not isinstance(tag, str) or tag not in kinds:
        raise Malformed(f"the type {tag!r} is not known")
    return kinds[tag].load(value)


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(_instance(str, value))
    if moment.tzinfo is None:
        raise Malformed(f"{value!r} has no time zone")
    return moment
