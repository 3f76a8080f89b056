"""The routes that the functions really have, read from their routers."""

from __future__ import annotations

import importlib.util
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pausepoint.http.requests import SESSION_ID

FUNCTIONS: Final = Path(__file__).parents[1] / "functions"
_PLACEHOLDER: Final = re.compile(r"<(\w+)>")
_PATH_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "session_id": {"type": "string", "pattern": f"^{SESSION_ID.pattern}$"},
    "call_id": {"type": "string", "pattern": "^c[0-9]{1,10}-[0-9]{1,4}$"},
}


@dataclass(frozen=True)
class Route:
    """One route of one function. `path` is OpenAPI's; `name` and `summary` are those of what answers it."""

    function: str
    method: str
    path: str
    name: str
    summary: str

    @property
    def key(self) -> str:
        """How API Gateway names it."""
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """The parts of the path that vary."""
        names = re.findall(r"{(\w+)}", self.path)
        return [{"name": name, "in": "path", "required": True, "schema": _PATH_PARAMETERS[name]} for name in names]


def routes() -> list[Route]:
    """Return all routes of all functions, in the order of their keys."""
    found: list[Route] = []
    for place in sorted(FUNCTIONS.glob("*/app.py")):
        spec = importlib.util.spec_from_file_location(f"described_{place.parent.name}", place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, "api"):
            found += _routes_of(place.parent.name, module.api)
    return sorted(found, key=lambda route: (route.path, route.method))


def _routes_of(function: str, api: Any) -> list[Route]:
    found: list[Route] = []
    for route in (*api._static_routes, *api._dynamic_routes):  # noqa: SLF001 - Powertools has no other way to ask
        path = _PLACEHOLDER.sub(r"{\1}", route.path)
        summary = (inspect.getdoc(route.func) or "").partition("\n")[0].rstrip(".")
        methods = [route.method] if isinstance(route.method, str) else route.method
        for method in methods:
            name = route.func.__name__ if method != "HEAD" else f"probe_{route.func.__name__}"
            found.append(Route(function, method, path, name, summary))
    return found
