"""The bucket of files, named by the variable FILES_BUCKET."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class Bucket:
    """Files in S3."""

    def __init__(self, client: S3Client, name: str) -> None:
        self._client = client
        self._name = name

    def listed(self, prefix: str, *, most: int) -> tuple[list[dict[str, str | int]], bool]:
        """Return names and sizes, and whether there are more than `most`."""
        answer = self._client.list_objects_v2(Bucket=self._name, Prefix=prefix, MaxKeys=most)
        files: list[dict[str, str | int]] = [
            {"path": item["Key"], "bytes": item["Size"]} for item in answer.get("Contents", [])
        ]
        return files, bool(answer.get("IsTruncated"))

    def size(self, path: str) -> int | None:
        """Return a file's size in bytes, or None when there is no such file."""
        try:
            return self._client.head_object(Bucket=self._name, Key=path)["ContentLength"]
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey", "NotFound"):
                return None
            raise

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return self.size(path) is not None

    def read(self, path: str) -> bytes:
        """Return a file's content."""
        return self._client.get_object(Bucket=self._name, Key=path)["Body"].read()

    def copy(self, source: str, destination: str) -> None:
        """Copy a file; what stands at the destination is replaced."""
        self._client.copy_object(Bucket=self._name, Key=destination, CopySource={"Bucket": self._name, "Key": source})

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._client.delete_object(Bucket=self._name, Key=path)


@cache
def bucket() -> Bucket:
    """Return the bucket; made at the first use, so that importing the agent needs nothing."""
    # Here, since many a session never touches a file: what is slow to import is best imported where it is used.
    import boto3  # noqa: PLC0415

    return Bucket(boto3.client("s3"), os.environ["FILES_BUCKET"])
