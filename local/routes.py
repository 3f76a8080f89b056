"""Gives MiniStack's HTTP API the routes that it does not read from the OpenAPI body SAM makes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_apigatewayv2 import ApiGatewayV2Client
    from mypy_boto3_cloudformation import CloudFormationClient

_FUNCTION = re.compile(r"\$\{(\w+)\.Arn\}")


def make_routes(cloudformation: CloudFormationClient, apigateway: ApiGatewayV2Client, stack_name: str) -> str:
    """Make the API of the stack answer as its template says, and return the API's id.

    The routes take unsigned requests: a person at this computer calls them with plain curl.
    Repeating it is harmless; routes that the template no longer has are removed.
    """
    template = cloudformation.get_template(StackName=stack_name, TemplateStage="Processed")
    document: Any = template["TemplateBody"]
    if isinstance(document, str):
        document = json.loads(document)
    names = {
        resource["LogicalResourceId"]: resource["PhysicalResourceId"]
        for resource in cloudformation.describe_stack_resources(StackName=stack_name)["StackResources"]
    }
    logical_id, body = _api(document)
    api_id = names[logical_id]
    wanted = dict(_routes(body))
    _drop_routes(apigateway, api_id)
    integrations = {
        function: apigateway.create_integration(
            ApiId=api_id,
            IntegrationType="AWS_PROXY",
            IntegrationMethod="POST",
            IntegrationUri=names[function],
            PayloadFormatVersion="2.0",
        )["IntegrationId"]
        for function in set(wanted.values())
    }
    for route_key, function in wanted.items():
        apigateway.create_route(
            ApiId=api_id,
            RouteKey=route_key,
            AuthorizationType="NONE",
            Target=f"integrations/{integrations[function]}",
        )
    return api_id


def _api(template: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    for logical_id, resource in template["Resources"].items():
        if resource["Type"] == "AWS::ApiGatewayV2::Api":
            return logical_id, resource["Properties"]["Body"]
    raise LookupError("The template has no HTTP API.")


def _routes(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each route's key and the logical id of its function."""
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            uri = operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
            if match := _FUNCTION.search(uri):
                yield f"{method.upper()} {path}", match.group(1)


def _drop_routes(apigateway: ApiGatewayV2Client, api_id: str) -> None:
    for route in apigateway.get_routes(ApiId=api_id, MaxResults="500")["Items"]:
        apigateway.delete_route(ApiId=api_id, RouteId=route["RouteId"])
    for integration in apigateway.get_integrations(ApiId=api_id, MaxResults="500")["Items"]:
        apigateway.delete_integration(ApiId=api_id, IntegrationId=integration["IntegrationId"])
