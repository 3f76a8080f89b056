"""Asking once more when an answer arrived damaged or cut short, which boto3 takes for a whole one.

botocore switches urllib3's check of Content-Length off, its standard retries do not look at the CRC-32 that DynamoDB
sends, and JSON that is none parses to an answer without content: a row that is there looks like one that is not.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

from botocore.exceptions import ConnectionClosedError

_ATTEMPTS: Final = 4
_PAUSE_SECONDS: Final = 0.05


def require_whole_answers(client: Any) -> None:
    """Have a boto3 client repeat requests whose answers are not whole, and raise ConnectionClosedError in the end."""
    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register_first(f"before-parse.{service}", _empty_if_damaged)
    client.meta.events.register_first(f"needs-retry.{service}", _again_if_damaged)


def _empty_if_damaged(response_dict: dict[str, Any], **_: Any) -> None:
    # Half a character would stop the parser before anybody could ask again.
    if _is_damaged(response_dict["headers"], response_dict["body"]):
        response_dict["body"] = b""


def _again_if_damaged(response: Any, attempts: int, endpoint: Any, **_: Any) -> float | None:
    if response is None or not _is_damaged(response[0].headers, response[0].content):
        return None
    if attempts >= _ATTEMPTS:
        raise ConnectionClosedError(endpoint_url=endpoint.host)
    return _PAUSE_SECONDS


def _is_damaged(headers: Any, body: bytes) -> bool:
    length, checksum = headers.get("content-length"), headers.get("x-amz-crc32")
    return (length is not None and int(length) != len(body)) or (
        checksum is not None and int(checksum) != zlib.crc32(body)
    )
