"""What a tool's JSON Schema says of arguments that a person changed: the tool itself is not here, and must not be.

The schema is the one that the model was told (JSON Schema 2020-12, as pydantic writes it). What it cannot say,
a validator of the tool's own for example, is found out where the tool is, before it is entered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from pausepoint.errors import Conflict

if TYPE_CHECKING:
    from jsonschema import ValidationError

Schema = Mapping[str, Any]

_KINDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
_WHY: Final = {
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} entries",
    "maxItems": "must have at most {} entries",
    "uniqueItems": "must not have the same entry twice",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "pattern": "must match {}",
    "format": "must be a {}",
    "const": "must be {}",
}
_VALUES: Final = frozenset({"default", "const", "enum", "examples"})
"""What stands under these words is no schema."""


def unfit(schema: Schema, values: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with arguments, by the argument's name; nothing when they fit.

    Raises:
        Conflict: the schema has rules that cannot be checked here.
    """
    # Showing a call and deciding on it need none of this, and it takes as long to import as the page itself.
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import best_match  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    # With a registry of its own it fetches nothing, wherever a `$ref` may point.
    validator = Draft202012Validator(
        _closed(schema), registry=Registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    found: dict[str, str] = {}
    try:
        for error in validator.iter_errors(values):
            name, *inside = [str(part) for part in error.absolute_path] or [""]
            why = _why(best_match([error]) or error)
            found.setdefault(name, f"{'.'.join(inside)}: {why}" if inside else why)
    except (re.error, Unresolvable) as error:  # pydantic's engine for patterns is another one than Python's
        raise Conflict(
            "The rules of this tool cannot be checked on this page. Change the arguments through the API."
        ) from error
    return found


def fitted(schema: Schema, value: Any, root: Schema | None = None) -> Any:
    """Return a JSON value as the tool would: `12` for a fraction is `12.0`, a key left out has its default."""
    root = schema if root is None else root
    branches = list(_branches(schema, root))
    kinds = {kind for branch in branches for kind in _kinds(branch)}
    match value:
        case bool() | str() | None:
            return value
        case int():
            return _float(value) if "number" in kinds and "integer" not in kinds else value
        case float():
            return int(value) if value.is_integer() and "integer" in kinds and "number" not in kinds else value
        case list():
            own = _only(branches, "array")
            first = own.get("prefixItems", [])
            return [
                fitted(first[index] if index < len(first) else _schema(own.get("items")), item, root)
                for index, item in enumerate(value)
            ]
        case _:
            own = _only(branches, "object")
            named = own.get("properties", {})
            others = _schema(own.get("additionalProperties"))
            whole = {name: each["default"] for name, each in named.items() if "default" in each} | value
            return {name: fitted(named.get(name, others), item, root) for name, item in whole.items()}


def _closed(schema: Any) -> Any:
    """Return a schema in which objects with named keys take no others: pydantic would drop them without a word."""
    match schema:
        case dict():
            closed = {name: part if name in _VALUES else _closed(part) for name, part in schema.items()}
            named = closed.get("type") == "object" and isinstance(closed.get("properties"), dict)
            return {"additionalProperties": False, **closed} if named else closed
        case list():
            return [_closed(part) for part in schema]
        case _:
            return schema


def _branches(schema: Schema, root: Schema) -> Iterator[Schema]:
    """Return a schema without its references and alternatives: each branch that may apply."""
    if "$ref" in schema:
        yield from _branches(root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}), root)
    parts = [part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, ())]
    for part in parts:
        yield from _branches(part, root)
    if not parts:
        yield schema


def _only(branches: list[Schema], kind: str) -> Schema:
    """Return the one branch of a kind; where there are several, nobody can say here which one is meant."""
    own = [branch for branch in branches if kind in _kinds(branch)]
    return own[0] if len(own) == 1 else {}


def _kinds(schema: Schema) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _schema(value: object) -> Schema:
    return value if isinstance(value, dict) else {}


def _float(value: int) -> int | float:
    try:
        return float(value)
    except OverflowError:
        return value


def _why(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    found: Any = error.instance
    schema: Any = error.schema
    match error.validator:
        case "type":
            return f"must be {_listed(_KINDS.get(kind, kind) for kind in _kinds(schema))}"
        case "anyOf" | "oneOf":
            kinds = [kind for branch in _branches(schema, {}) for kind in _kinds(branch)]
            return f"must be {_listed(_KINDS[kind] for kind in kinds)}" if kinds else "is none of what it may be"
        case "enum":
            return f"must be one of: {', '.join(_json(value) for value in wanted)}"
        case "required":
            return f"{_listed((name for name in wanted if name not in found), 'and')} is missing"
        case "additionalProperties":
            known = schema.get("properties", {})
            return f"has what the tool does not know: {', '.join(name for name in found if name not in known)}"
        case str() as rule if rule in _WHY:
            return _WHY[rule].format(wanted if isinstance(wanted, str) else _json(wanted))
        case rule:
            return f"breaks the tool's rule {rule}: {_json(wanted)}"


def _listed(words: Iterator[str], last: str = "or") -> str:
    *most, end = dict.fromkeys(words)
    return f"{', '.join(most)} {last} {end}" if most else end


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
