"""What Amazon SNS refuses to publish, and an SNS that refuses it: the emulators do not look.

From the reference of `Publish` and "Amazon SNS message attributes" in the developer guide.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import ClientError

MOST_BYTES: Final = 256 * 1024
_NAME: Final = re.compile(r"(?!(?i:aws|amazon)\.)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_NOT_IN_XML: Final = re.compile("[^\x09\x0a\x0d\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def faults(subject: str | None, message: str, attributes: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return what SNS would not like, in words; nothing for a message that it takes."""
    return [*_subject_faults(subject), *_message_faults(message, attributes), *_attribute_faults(attributes)]


def _subject_faults(subject: str | None) -> Iterator[str]:
    if subject is None:
        return
    if not 0 < len(subject) < 100:
        yield f"the subject has {len(subject)} characters"
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp", "Cs") for character in subject):
        yield "the subject has a line break or a control character"
    if subject[:1].isspace():
        yield "the subject begins with a blank"


def _message_faults(message: str, attributes: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    texts = [message, *(part for name, value in attributes.items() for part in (name, *value.values()))]
    if not message:
        yield "the message is empty"
    try:
        size = sum(len(text.encode("utf-8")) for text in texts)
    except UnicodeEncodeError:
        yield "the message is no UTF-8"
        return
    if size > MOST_BYTES:
        yield f"message and attributes have {size} bytes"


def _attribute_faults(attributes: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for name, attribute in attributes.items():
        value = attribute.get("StringValue", "")
        if not _NAME.fullmatch(name) or len(name) > 256:
            yield f"{name!r} is no name"
        if attribute.get("DataType") != "String":
            yield f"{name} has no type that a filter reads"
        if not value:
            yield f"{name} is empty"
        if _NOT_IN_XML.search(value):
            yield f"{name} has a character that XML does not have"


@dataclass
class StrictSns:
    """A boto3 client for SNS, as far as publishing goes, that refuses what SNS refuses."""

    published: list[dict[str, Any]] = field(default_factory=list)

    def publish(self, **request: Any) -> dict[str, str]:
        assert set(request) == {"TopicArn", "Subject", "Message", "MessageAttributes"}
        found = faults(request["Subject"], request["Message"], request["MessageAttributes"])
        if found:
            message = f"Invalid parameter: {'; '.join(found)}"
            raise ClientError({"Error": {"Code": "InvalidParameter", "Message": message}}, "Publish")
        self.published.append(request)
        return {"MessageId": "m-1"}
