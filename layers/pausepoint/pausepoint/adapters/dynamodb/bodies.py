"""Large texts in rows: compressed where that pays, and in a bucket where a row cannot hold them."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from botocore.exceptions import ClientError

from pausepoint.adapters.dynamodb.compression import deflated, inflated
from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.errors import ConfigurationError, PausepointError, Unavailable

ROW_BYTES: Final = 300 * 1024
"""A row of DynamoDB holds 400 KB, names and numbers included; a body of more than this goes to the bucket."""
_WORTH_TRYING: Final = 256
_MUST_SAVE: Final = 0.9

_SETUP_ERRORS: Final = frozenset({"NoSuchKey", "NoSuchBucket", "AccessDenied"})

Packed = dict[str, Any]


class Bodies:
    """Turns texts into attributes of a row, and back.

    Args:
        client: a boto3 S3 client.
        bucket: for what is too large for a row; the name of an object is the hash of its bytes, so writing
            it twice, or before a row that is then not written, does no harm.
    """

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def pack(self, text: str) -> Packed:
        """Return the attributes that hold a text. What does not fit into a row is stored before this returns.

        Raises:
            Unavailable: the bucket does not answer; nothing refers to what may have been written.
        """
        raw = text.encode("utf-8")
        if len(raw) < _WORTH_TRYING:
            return {"body": text}
        packed = deflated(raw)
        pays = len(packed) < len(raw) * _MUST_SAVE
        if pays and len(packed) <= ROW_BYTES:
            return {"body_zlib": packed}
        if len(raw) <= ROW_BYTES:
            return {"body": text}
        key = hashlib.sha256(packed).hexdigest()
        try:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=packed)
        except AWS_FAULTS as error:
            raise _translated(error) from error
        return {"body_key": key}

    def unpack(self, row: Packed) -> str:
        """Return the text that a row holds or names.

        Raises:
            Unavailable: the bucket does not answer.
            ConfigurationError: the bucket is another one, or the object is gone or was altered.
        """
        if "body" in row:
            return str(row["body"])
        if "body_zlib" in row:
            return inflated(bytes(row["body_zlib"])).decode("utf-8")
        try:
            packed = self._client.get_object(Bucket=self._bucket, Key=row["body_key"])["Body"].read()
        except AWS_FAULTS as error:
            raise _translated(error) from error
        if hashlib.sha256(packed).hexdigest() != row["body_key"]:
            raise ConfigurationError(f"The object {row['body_key']} is not what was stored.")
        return inflated(packed).decode("utf-8")


def _translated(error: Exception) -> PausepointError:
    if isinstance(error, ClientError) and error.response["Error"]["Code"] in _SETUP_ERRORS:
        return ConfigurationError(f"The overflow bucket refused a request: {error}")
    return Unavailable("The overflow bucket does not answer. Nothing is half done; try again in a moment.")
