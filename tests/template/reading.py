"""Reads a CloudFormation template: resources by type, intrinsic functions as short text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def resources(template: Mapping[str, Any], kind: str) -> dict[str, Mapping[str, Any]]:
    """Return the properties of every resource of a type, by logical id."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template["Resources"].items()
        if resource["Type"] == kind
    }


def short(value: Any) -> str:
    """Return a value as one line: `Table`, `Table.Arn`, `${Table.Arn}/index/due`, `a | b` for a choice."""
    match value:
        case {"Ref": name}:
            return str(name)
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{name}.{attribute}"
        case {"Fn::Sub": str(text)}:
            return text
        case {"Fn::Sub": [str(text), Mapping() as values]}:
            for name, inner in values.items():
                text = text.replace(f"${{{name}}}", short(inner))
            return text
        case {"Fn::If": [_, yes, no]}:
            return f"{short(yes)} | {short(no)}"
        case _:
            return str(value)


def listed(value: Any) -> list[Any]:
    """Return a list, also of what stands alone."""
    return value if isinstance(value, list) else [value]


def grants(template: Mapping[str, Any], role: str) -> set[tuple[str, str]]:
    """Return what a role may do, as pairs of an action and a resource, through all its policies."""
    properties = resources(template, "AWS::IAM::Role")[role]
    managed = resources(template, "AWS::IAM::ManagedPolicy")
    documents = [_at_most(policy)["PolicyDocument"] for policy in properties.get("Policies", [])]
    documents += [managed[short(name)]["PolicyDocument"] for name in properties.get("ManagedPolicyArns", [])]
    return {pair for document in documents for pair in _pairs(document)}


def _at_most(value: Any) -> Any:
    """Return what a choice gives when its condition holds: a role is judged by the most that it may get."""
    match value:
        case {"Fn::If": [_, yes, _]}:
            return yes
        case _:
            return value


def _pairs(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for statement in listed(document["Statement"]):
        assert statement["Effect"] == "Allow"
        assert not {"NotAction", "NotResource"} & set(statement)
        for action in listed(statement["Action"]):
            for resource in listed(statement["Resource"]):
                yield action, short(resource)
