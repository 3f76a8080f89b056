"""The sample files that the example agent has in its bucket on a new local stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

SAMPLES = {
    "notes/readme.txt": "These files are here to be listed, read, moved and deleted.\n",
    "reports/2023.csv": "month,visitors\n2023-11,1204\n2023-12,987\n",
    "reports/2024.csv": "month,visitors\n2024-11,1633\n2024-12,1410\n",
    "reports/2025.csv": "month,visitors\n2025-11,1871\n2025-12,1502\n",
    "tmp/draft.txt": "Nobody needs this one.\n",
}


def seed(s3: S3Client, bucket: str) -> None:
    """Put the samples there, unless the bucket has files already."""
    if s3.list_objects_v2(Bucket=bucket, MaxKeys=1)["KeyCount"]:
        return
    for key, text in SAMPLES.items():
        s3.put_object(Bucket=bucket, Key=key, Body=text.encode(), ContentType="text/plain")


def choose_victim(s3: S3Client, bucket: str) -> str | None:
    """Return a file that the sample request may ask to delete, the same one while it is there."""
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
    preferred = [key for key in keys if key.startswith("reports/")]
    return next(iter(sorted(preferred or keys)), None)
