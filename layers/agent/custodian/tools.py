"""What the custodian can do. Deleting always asks a person; moving asks when it would overwrite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from custodian.bucket import Bucket, bucket
from pausepoint import ToolContext, tool

_MOST_LISTED: Final = 200
_MOST_READ: Final = 64 * 1024

Path = Annotated[str, Field(min_length=1, max_length=1024, description="The file's whole name in the bucket.")]


def _would_overwrite(arguments: Mapping[str, Any]) -> bool:
    return bucket().exists(arguments["destination"])


@tool
def list_files(
    prefix: Annotated[str, Field(max_length=1024, description="Only names that start so.")] = "",
) -> dict[str, Any]:
    """List the files whose name starts with prefix, with their sizes in bytes."""
    files, more = bucket().listed(prefix, most=_MOST_LISTED)
    return {"files": files, **({"note": "There are more; use a longer prefix."} if more else {})}


@tool
def read_file(path: Path) -> str:
    """Read a text file."""
    size = _existing(bucket(), path)
    if size > _MOST_READ:
        raise ValueError(f"{path} has {size} bytes; at most {_MOST_READ} can be read")
    try:
        return bucket().read(path).decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file") from None


@tool(
    requires_confirmation=True,
    risk="high",
    warning="The file is gone for good: the bucket keeps no earlier versions.",
    highlight=["path"],
)
def delete_file(path: Path, context: ToolContext) -> str:
    """Delete a file. This cannot be undone."""
    _existing(bucket(), path)
    bucket().delete(path)
    context.logger.info("file deleted", extra={"path": path, "approver": context.approver})
    return f"Deleted {path}."


@tool(requires_confirmation=_would_overwrite)
def move_file(source: Path, destination: Path) -> str:
    """Move a file to another name. Whatever has that name is replaced."""
    if source == destination:
        raise ValueError("source and destination are the same file")
    _existing(bucket(), source)
    bucket().copy(source, destination)
    bucket().delete(source)
    return f"Moved {source} to {destination}."


def _existing(files: Bucket, path: str) -> int:
    size = files.size(path)
    if size is None:
        raise FileNotFoundError(f"there is no file {path}")
    return size
