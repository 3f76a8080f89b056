"""The signature of a request, computed again from what arrived, as AWS documents it: without botocore."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote, urlsplit

UNRESERVED: Final = "-_.~"


def signature_fits(method: str, url: str, headers: Mapping[str, str], body: bytes, *, secret: str) -> bool:
    """Whether the Authorization header of a request is what this secret gives for it."""
    lowered = {name.lower(): value for name, value in headers.items()}
    parts = urlsplit(url)
    lowered.setdefault("host", parts.netloc)
    authorization = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=[^/]+/((\d{8})/([^/]+)/([^/]+)/aws4_request), "
        r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
        lowered.get("authorization", ""),
    )
    if authorization is None:
        return False
    scope, date, region, service, names, signature = authorization.groups()
    query = sorted(each.partition("=")[::2] for each in parts.query.split("&") if each)
    canonical = "\n".join(
        (
            method,
            # Encoded once more than it was sent, part by part: all services but S3 want it so.
            "/".join(quote(part, safe=UNRESERVED) for part in parts.path.split("/")),
            "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in query),
            *(f"{name}:{' '.join(lowered[name].split())}" for name in names.split(";")),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        )
    )
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = f"AWS4-HMAC-SHA256\n{lowered['x-amz-date']}\n{scope}\n{hashed}"
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    expected = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature) and {"host", "x-amz-date"} <= set(names.split(";"))


def _encoded(text: str) -> str:
    return quote(unquote(text), safe=UNRESERVED)
