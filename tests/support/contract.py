"""Holds answers against docs/openapi.yaml: statuses, content types, headers, and bodies without a field too many."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, Final

import jsonschema_rs
import yaml

from tests.support.aws import ROOT

PLACE: Final = ROOT / "docs" / "openapi.yaml"
_SCHEMAS: Final = "#/components/schemas/"


@cache
def described() -> dict[str, Any]:
    """Return docs/openapi.yaml."""
    document: dict[str, Any] = yaml.load(PLACE.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return document


@cache
def closed() -> dict[str, Any]:
    """Return docs/openapi.yaml with no room for fields that it does not describe: readers ignore them, tests do not."""
    document: dict[str, Any] = json.loads(json.dumps(described()))
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return document


class Contract:
    """What the description says, ready to be held against."""

    def __init__(self) -> None:
        self._document = closed()

    def check(self, method: str, path: str, status: int, headers: Mapping[str, str], text: str) -> None:
        """Fail unless the route may answer so. A path that is no route's is left to others."""
        operation = self._operation(method, path)
        if operation is None:
            return
        what = f"{method} {path} answered {status}"
        assert str(status) in operation["responses"], f"{what}, which docs/openapi.yaml does not know"
        answer = self._resolved(operation["responses"][str(status)])
        lowered = {name.lower(): value for name, value in headers.items()}
        for name, header in answer.get("headers", {}).items():
            assert name.lower() in lowered or not self._resolved(header).get("required"), f"{what} without {name}"
        kind = lowered["content-type"].partition(";")[0]
        assert kind in answer["content"], f"{what} as {kind}, which docs/openapi.yaml does not know"
        if kind.endswith("json"):
            self._validator(json.dumps(answer["content"][kind]["schema"])).validate(json.loads(text))

    def _operation(self, method: str, path: str) -> Any:
        for pattern, operations in self._paths:
            if pattern.fullmatch(path):
                return operations.get(method.lower())
        return None

    @cached_property
    def _paths(self) -> list[tuple[re.Pattern[str], dict[str, Any]]]:
        patterns = (
            (re.sub(r"{\w+}", "[^/]+", path), operations) for path, operations in self._document["paths"].items()
        )
        return [(re.compile(pattern), operations) for pattern, operations in patterns]

    def _resolved(self, part: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in part:
            return part
        found = self._document
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return found

    @cache  # noqa: B019 - one for all tests
    def _validator(self, schema: str) -> jsonschema_rs.Draft202012Validator:
        whole = {**json.loads(schema), "components": self._document["components"]}
        return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


@cache
def contract() -> Contract:
    """Return the one contract there is."""
    return Contract()
