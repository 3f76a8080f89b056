"""The shapes of requests and answers as JSON Schema, from the models that the functions use."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, cast, get_args, get_type_hints

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from pausepoint.domain.calls import Decision, Resolution
from pausepoint.domain.documents import Document
from pausepoint.domain.events import AssistantTurn, DecisionRecorded, DoubtResolved, Event, ToolCall
from pausepoint.domain.identity import Identity
from pausepoint.http.answers import ApprovalsBody, EventsBody, SessionBody, SessionsBody
from pausepoint.http.bodies import NewMessage, ResumeRequest
from tools.openapi_examples import EXAMPLES

Schema = dict[str, Any]
_DEFS: Final = "#/components/schemas/"
_ANYTHING: Final[Schema] = {"description": "Any JSON."}
_OBJECT: Final[Schema] = {"type": "object", "additionalProperties": True}
_IDENTITY: Final[Schema] = {
    "enum": list(get_args(Identity)),
    "description": "`verified`: AWS checked a signature of theirs. `claimed`: they had the link, or only said so. "
    "Absent where no person said it.",
}
_KINDS: Final = (Decision, Resolution, *get_args(Event))
"""Stored documents that answers show, without what is null."""
_SHOWN_AS: Final[dict[type[Document], dict[str, Schema]]] = {
    Decision: {"arguments": _OBJECT, "answer": _ANYTHING},
    ToolCall: {"arguments": _OBJECT},
    DecisionRecorded: {
        "arguments_approved": {"type": "string", "description": "Canonical JSON, where the approver changed them."},
        "answer": {"type": "string", "description": "Canonical JSON, of what was answered to a question."},
    },
}
"""What is stored as canonical JSON and shown as what it says, or said to be that."""
_NOT_SHOWN: Final[dict[type[Document], frozenset[str]]] = {AssistantTurn: frozenset({"message"})}
_IDENTIFIED: Final = {Decision: True, DecisionRecorded: True, Resolution: False, DoubtResolved: False}
"""What says how sure it is who decided, and whether it always does."""
_MOMENT: Final[Schema] = {"type": "string", "format": "date-time"}


def ref(name: str) -> Schema:
    """Return a reference to a schema of this document."""
    return {"$ref": _DEFS + name}


def schemas() -> dict[str, Schema]:
    """Return all schemas by name, each with an example where there is one."""
    found: dict[str, Schema] = {}
    for kind in (NewMessage, ResumeRequest, SessionBody, SessionsBody, ApprovalsBody, EventsBody):
        found |= _with_parts(TypeAdapter(kind), "validation" if issubclass(kind, BaseModel) else "serialization")
    for kind in (*_KINDS, ToolCall):
        found |= _as_shown(kind)
    found["Event"] = {
        "description": "One immutable fact of a session's log.",
        "oneOf": [ref(kind.__name__) for kind in get_args(Event)],
        "discriminator": {
            "propertyName": "type",
            "mapping": {kind.__dataclass_fields__["type"].default: _DEFS + kind.__name__ for kind in get_args(Event)},
        },
    }
    for name, example in EXAMPLES.items():
        found[name]["examples"] = [example]
    return {name: found[name] for name in sorted(found)}


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def _with_parts(adapter: TypeAdapter[Any], mode: Any) -> dict[str, Schema]:
    schema = adapter.json_schema(ref_template=_DEFS + "{model}", schema_generator=_Untitled, mode=mode)
    parts = schema.pop("$defs", {})
    found = {**parts, schema["title"]: schema}
    return {name: cast("Schema", _plain(part)) for name, part in found.items()}


def _as_shown(kind: type[Document]) -> dict[str, Schema]:
    found = _with_parts(TypeAdapter(kind), "serialization")
    stored, hidden = found[kind.__name__]["properties"], _NOT_SHOWN.get(kind, frozenset())
    properties = {name: _never_null(part) for name, part in stored.items() if name not in hidden}
    properties |= {name: _MOMENT for name in properties if datetime in _types(get_type_hints(kind)[name])}
    properties |= _SHOWN_AS.get(kind, {})
    required = [name for name in properties if not _may_be_null(stored[name])]
    if kind in get_args(Event):
        properties = {"seq": {"type": "integer", "minimum": 1}, **properties}
        required = ["seq", *required]
    if kind in _IDENTIFIED:
        properties["identity"] = _IDENTITY
        required += ["identity"] if _IDENTIFIED[kind] else []
    shown = {name: part for name, part in found[kind.__name__].items() if name != "additionalProperties"}
    # The rest of a docstring is for who stores it.
    about = shown["description"].partition(". ")[0].partition("\n")[0].rstrip(".") + "."
    return {**found, kind.__name__: {**shown, "description": about, "properties": properties, "required": required}}


def _types(annotation: Any) -> tuple[Any, ...]:
    return (annotation, *get_args(annotation))


def _may_be_null(schema: Schema) -> bool:
    return {"type": "null"} in schema.get("anyOf", [])


def _never_null(schema: Schema) -> Schema:
    """Return the schema of a field that is left out where it would be null."""
    if not _may_be_null(schema):
        return {name: part for name, part in schema.items() if name != "default"}
    kinds = [part for part in schema["anyOf"] if part != {"type": "null"}]
    rest = {name: part for name, part in schema.items() if name not in ("anyOf", "default")}
    return {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}), **rest}


def _plain(schema: Any) -> Any:
    """Return a schema with its stand-ins replaced, and without titles, which are names once more."""
    match schema:
        case {"stands-for": str(name)}:
            return ref(name)
        case dict():
            return {key: _plain(part) for key, part in schema.items() if not (key == "title" and isinstance(part, str))}
        case list():
            return [_plain(part) for part in schema]
        case _:
            return schema
