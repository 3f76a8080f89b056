"""Pages from templates, which the layer's build compiles: a person waits for the first page of a process.

`python -m pausepoint.http.templating` compiles them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pausepoint.http.headers import TEMPLATES, style_text

if TYPE_CHECKING:
    from jinja2 import Environment

COMPILED: Final = Path(__file__).with_name("compiled_templates")


def render(template: str, **context: object) -> str:
    """Return a page."""
    return _environment().get_template(template).render(style=style_text(), **context)


@cache
def _environment() -> Environment:
    # Most functions never make a page: the import waits for the first one.
    from jinja2 import Environment, FileSystemLoader, ModuleLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        loader=ModuleLoader(COMPILED) if COMPILED.is_dir() else FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


if __name__ == "__main__":
    _environment().compile_templates(COMPILED, extensions=["html"], zip=None, ignore_errors=False)
