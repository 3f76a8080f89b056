"""The headers of R7, and the style they allow."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys

from pausepoint.http.headers import security_headers, style_text
from pausepoint.http.page import problem_page


def test_every_header_of_the_policy_is_there() -> None:
    headers = security_headers()
    style = headers.pop("Content-Security-Policy")
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; "
        r"frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
        style,
    )
    assert headers == {
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Strict-Transport-Security": "max-age=63072000",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }


def test_the_policy_allows_exactly_the_style_that_a_page_inlines() -> None:
    [style] = re.findall(r"<style>(.*?)</style>", problem_page("t", "x"), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in security_headers()["Content-Security-Policy"]


def test_the_style_loads_nothing_and_survives_html_parsing() -> None:
    style = style_text()
    assert not re.search(r"url\(|@import|@font-face|</|\r", style)


def test_callers_get_headers_of_their_own() -> None:
    security_headers().clear()
    assert security_headers()


def test_what_the_first_page_or_the_first_edit_needs_is_not_imported_before() -> None:
    code = (
        "import sys, pausepoint.http.headers, pausepoint.http.approvals;"
        "pausepoint.http.headers.security_headers(); sys.exit(len({'jinja2', 'jsonschema'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
