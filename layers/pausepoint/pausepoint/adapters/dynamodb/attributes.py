"""Values as DynamoDB's API wants them, tagged with their type.

boto3 has this too, for numbers of every kind; importing it costs a cold start an eighth of what botocore does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Attribute = dict[str, Any]


def to_attribute(value: object) -> Attribute:
    """Return a value with its type's tag. Raises TypeError for what rows do not hold: a float, say."""
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case None:
            return {"NULL": True}
        case bytes():
            return {"B": value}
        case list() | tuple():
            return {"L": [to_attribute(item) for item in value]}
        case Mapping():
            return {"M": {name: to_attribute(item) for name, item in value.items()}}
        case _:
            raise TypeError(f"A row cannot hold a {type(value).__name__}.")


def from_attribute(attribute: Mapping[str, Any]) -> Any:
    """Return what `to_attribute` was given, tuples as lists."""
    ((kind, value),) = attribute.items()
    match kind:
        case "S" | "BOOL" | "B":
            return value
        case "N":
            return int(value)
        case "NULL":
            return None
        case "L":
            return [from_attribute(item) for item in value]
        case "M":
            return {name: from_attribute(item) for name, item in value.items()}
        case _:
            raise TypeError(f"Rows hold no attributes of the type {kind!r}.")
