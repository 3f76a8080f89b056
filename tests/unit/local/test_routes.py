"""The routes that the local stack makes for MiniStack's HTTP API."""

from __future__ import annotations

import itertools
from typing import Any

from local.routes import make_routes

URI = "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${%s.Arn}/invocations"


def _operation(function: str) -> dict[str, Any]:
    return {"x-amazon-apigateway-integration": {"uri": {"Fn::Sub": URI % function}}, "security": [{"AWS_IAM": []}]}


TEMPLATE = {
    "Resources": {
        "Table": {"Type": "AWS::DynamoDB::Table"},
        "Api": {
            "Type": "AWS::ApiGatewayV2::Api",
            "Properties": {
                "Body": {
                    "paths": {
                        "/sessions": {"post": _operation("Start"), "get": _operation("Sessions")},
                        "/sessions/{session_id}": {"get": _operation("Sessions")},
                    }
                }
            },
        },
    }
}


class FakeCloudFormation:
    def get_template(self, **_: Any) -> dict[str, Any]:
        return {"TemplateBody": TEMPLATE}

    def describe_stack_resources(self, **_: Any) -> dict[str, Any]:
        names = {"Api": "a1b2", "Start": "stack-Start-1", "Sessions": "stack-Sessions-1"}
        return {
            "StackResources": [
                {"LogicalResourceId": name, "PhysicalResourceId": physical} for name, physical in names.items()
            ]
        }


class FakeApiGateway:
    def __init__(self) -> None:
        self.routes: dict[str, Any] = {}
        self.integrations: dict[str, Any] = {}
        self._ids = map(str, itertools.count())

    def get_routes(self, **_: Any) -> Any:
        return {"Items": [{"RouteId": key} for key in self.routes]}

    def get_integrations(self, **_: Any) -> Any:
        return {"Items": [{"IntegrationId": key} for key in self.integrations]}

    def delete_route(self, *, ApiId: str, RouteId: str) -> None:  # noqa: N803 - boto3's names
        del self.routes[RouteId]

    def delete_integration(self, *, ApiId: str, IntegrationId: str) -> None:  # noqa: N803
        del self.integrations[IntegrationId]

    def create_integration(self, **values: Any) -> Any:
        key = next(self._ids)
        self.integrations[key] = values
        return {"IntegrationId": key}

    def create_route(self, **values: Any) -> None:
        self.routes[next(self._ids)] = values

    def reached(self) -> dict[str, str]:
        return {
            route["RouteKey"]: self.integrations[route["Target"].partition("/")[2]]["IntegrationUri"]
            for route in self.routes.values()
        }


def test_each_route_leads_to_its_function_and_takes_unsigned_requests() -> None:
    gateway = FakeApiGateway()
    assert make_routes(FakeCloudFormation(), gateway, "stack") == "a1b2"  # type: ignore[arg-type]
    assert gateway.reached() == {
        "POST /sessions": "stack-Start-1",
        "GET /sessions": "stack-Sessions-1",
        "GET /sessions/{session_id}": "stack-Sessions-1",
    }
    assert {route["AuthorizationType"] for route in gateway.routes.values()} == {"NONE"}


def test_making_them_again_changes_nothing_and_leaves_nothing_over() -> None:
    gateway = FakeApiGateway()
    gateway.create_route(RouteKey="GET /old", Target="integrations/x")
    for _ in range(2):
        make_routes(FakeCloudFormation(), gateway, "stack")  # type: ignore[arg-type]
    assert len(gateway.routes) == 3
    assert len(gateway.integrations) == 2
    assert "GET /old" not in gateway.reached()
