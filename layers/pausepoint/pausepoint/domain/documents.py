"""Stored documents: frozen dataclasses, and the way between them and what JSON and the table hold.

The page behind a link reads them too, and somebody waits for it: what would do this at large costs it half as much
again as all of boto3 (docs/adr/0007-documents-are-dataclasses.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from typing import Any, ClassVar, Self, dataclass_transform, get_type_hints

from pausepoint.domain.fields import Kind, Malformed, kind_of


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
        """Return it as JSON has it, without what is None. Raises Malformed if `load` would refuse that."""
        kinds, _ = _shape(type(self))  # type: ignore[arg-type] # a class is hashable
        dumped: dict[str, Any] = {}
        name = ""
        try:
            for name, kind in kinds.items():
                if name not in without and (value := kind.write(getattr(self, name))) is not None:
                    dumped[name] = value
        except ValueError as error:
            raise Malformed(f"{type(self).__name__}.{name}: {error}") from None
        return dumped

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Self:
        """Return the document that `dump` made this of. Raises Malformed if it did not."""
        if not isinstance(stored, Mapping):
            raise Malformed(f"{cls.__name__}: {type(stored).__name__} is not an object")
        kinds, required = _shape(cls)  # type: ignore[arg-type] # a class is hashable
        if unknown := stored.keys() - kinds.keys():
            raise Malformed(f"{cls.__name__}: {min(unknown)!r} is not known")
        if missing := required - stored.keys():
            raise Malformed(f"{cls.__name__}: {min(missing)!r} is missing")
        values: dict[str, Any] = {}
        name = ""
        try:
            for name, value in stored.items():
                values[name] = kinds[name].read(value)
        except ValueError as error:
            raise Malformed(f"{cls.__name__}.{name}: {error}") from None
        return cls(**values)


@cache
def _shape(document: type[Document]) -> tuple[Mapping[str, Kind], frozenset[str]]:
    """Return the kinds of a document's fields, and the fields that must be there."""
    hints = get_type_hints(document)
    kinds = {each.name: kind_of(hints[each.name]) for each in fields(document)}
    return kinds, frozenset(each.name for each in fields(document) if each.default is MISSING)
