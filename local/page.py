"""The frame that the pages of the local stack share."""

from __future__ import annotations

from html import escape

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{head}<title>{title} · Pausepoint</title>
<style>
:root {{ color-scheme: light dark; --line: #8884; --soft: #8881; }}
* {{ box-sizing: border-box; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; }}
h1 {{ font-size: 1.5rem; margin: .5rem 0; }}
h2 {{ font-size: 1.1rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }}
.note {{ border-left: 4px solid #d97706; background: var(--soft); padding: .5rem .75rem; }}
article {{ border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; }}
article {{ margin: 1rem 0; }}
article h2 {{ margin: 0; }}
time {{ font-size: .875rem; opacity: .75; }}
pre, code {{ font: .875rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }}
pre {{ white-space: pre-wrap; margin: .75rem 0 0; }}
code {{ background: var(--soft); padding: .1em .3em; border-radius: .25rem; }}
li {{ margin: .35rem 0; }}
ul {{ padding-left: 1.25rem; }}
</style>
</head>
<body>{body}</body>
</html>
"""


def page(title: str, body: str, *, refresh_seconds: int | None = None) -> str:
    """Return a whole HTML page.

    Args:
        title: Plain text.
        body: HTML, whatever comes from outside already escaped in it.
        refresh_seconds: How often the browser is to load the page again; never if None.
    """
    head = f'<meta http-equiv="refresh" content="{refresh_seconds}">\n' if refresh_seconds else ""
    return _FRAME.format(title=escape(title), body=body, head=head)
