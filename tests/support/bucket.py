"""A bucket in memory, with as much of S3's client as bodies need."""

from __future__ import annotations

import io
from typing import Any


class Bucket:
    """Honours `put_object` and `get_object`.

    Attributes:
        objects: what it holds, by key.
    """

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def put_object(self, *, Bucket: str, Key: str, Body: bytes) -> None:  # noqa: N803 - as boto3 names them
        self.objects[Key] = Body

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        return {"Body": io.BytesIO(self.objects[Key])}
