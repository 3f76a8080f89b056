"""Who somebody is: how that is known, and when two names of AWS are taken for the same one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

Identity = Literal["verified", "claimed"]
"""`verified`: AWS has checked a signature of theirs. `claimed`: whoever it was had a link, or only said so."""

_IDENTITIES: Final[Mapping[str, Identity]] = {"aws-signature": "verified", "link": "claimed", "caller": "claimed"}
# arn:aws:sts::123456789012:assumed-role/Role/what-the-caller-called-this-session
_SESSION: Final = re.compile(r"(arn:[^:]+:sts::[0-9]+:(?:assumed-role/[^/]+|federated-user))/.*", re.DOTALL)


def identity_of(verified: str) -> Identity | None:
    """Return whether who decided is verified or only claimed, by how it was established (`Decision.verified`).

    None for what no person said: a tool's own `reconcile`.
    """
    return _IDENTITIES.get(verified)


def principal_of(arn: str) -> str:
    """Return the part of a caller's ARN that the caller cannot choose.

    Whoever may assume a role names the session of it as they like: two sessions of one role may be one person, and
    are taken for one.
    """
    match = _SESSION.fullmatch(arn)
    return match[1] if match else arn
