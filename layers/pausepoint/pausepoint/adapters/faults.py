"""What boto3 raises when a service refuses, cannot be reached, or answers what is no answer."""

from __future__ import annotations

from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

# A garbled answer is an exception of a family of its own, and means what a lost one means.
NO_ANSWER: Final = (BotoCoreError, ResponseParserError)
AWS_FAULTS: Final = (ClientError, *NO_ANSWER)
