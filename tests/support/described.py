"""docs/openapi.yaml for schemathesis: requests are made up from it, and answers held against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import schemathesis
from schemathesis.checks import CHECKS as REGISTRY
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig

from tests.support.contract import closed

if TYPE_CHECKING:
    from schemathesis.specs.openapi.schemas import OpenApiSchema

load_all_checks()
CHECKS: Final = REGISTRY.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    ]
)
"""Not that whatever fits the description is taken: it cannot say what a page's `next` is, or a blank message."""
REJECTS: Final = REGISTRY.get_by_names(["negative_data_rejection"])
_CONFIG: Final[dict[str, Any]] = {
    "checks": {"negative_data_rejection": {"expected-statuses": [400, 403, 404, 409, 413]}},
    # How unknown methods are answered is the gateway's business.
    "phases": {"coverage": {"unexpected-methods": []}},
}


def described_api() -> OpenApiSchema:
    """Return the description, ready to be made requests from."""
    return schemathesis.openapi.from_dict(closed(), config=SchemathesisConfig.from_dict(_CONFIG))
