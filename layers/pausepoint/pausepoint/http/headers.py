"""The security headers of every response, and the one style block that they allow (R7)."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Final

TEMPLATES: Final = Path(__file__).with_name("templates")


@cache
def style_text() -> str:
    """Return the pages' style exactly as they inline it; the policy has the hash of this text."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def security_headers() -> dict[str, str]:
    """Return the headers for every response of every function: pages, JSON and errors alike."""
    style_hash = base64.b64encode(hashlib.sha256(style_text().encode("utf-8")).digest()).decode("ascii")
    policy = (
        "default-src 'none'",
        f"style-src 'sha256-{style_hash}'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "object-src 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Strict-Transport-Security": "max-age=63072000",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }
