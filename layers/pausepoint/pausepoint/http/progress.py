"""How a page without script goes on after a decision: it looks again, by an address that can only look.

The address of the posted form has no secret in it, and must not get one: it would stay in the browser's history and
could decide whatever else the link may still decide. Loading the posted page again would post the form again. So the
page goes on to an address of its own with a *view* in it, which is derived from what is stored of the link's
secret. It opens the page that tells what became of the call and never a form; the secret cannot be had from it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.canonical import sha256_hex

if TYPE_CHECKING:
    from datetime import datetime

PAUSES: Final = (2, 3, 5, 10, 20, 40)
"""Seconds before each look; after the last one the page stays as it is."""
_VIEW: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_RUNNING: Final = frozenset({CallStatus.APPROVED, CallStatus.EXECUTING})
"""What moves by itself. What waits for a person is not worth looking at every few seconds."""


@dataclass(frozen=True)
class Look:
    """How the outcome page goes on.

    Attributes:
        now: the address to look again at once, and for as long as at first.
        stop: the address that looks once and then stays as it is.
        seconds: after how long the page looks by itself; None: it does not.
        then: the address it goes to by itself.
    """

    now: str
    stop: str
    seconds: int | None = None
    then: str = ""

    @property
    def refresh(self) -> str | None:
        """The value of the `Refresh` header, if the page goes on by itself."""
        return f"{self.seconds}; url={self.then}" if self.seconds is not None else None


def view_of(call: PendingToolCall, token: str) -> str:
    """Return the view that belongs to a link's secret."""
    return _derived(call, sha256_hex(token))


def opens(call: PendingToolCall, view: str) -> bool:
    """Whether a view belongs to one of a call's links; in the same time for all."""
    found = [hmac.compare_digest(view, _derived(call, token_hash)) for token_hash in call.token_hashes]
    return any(found)


def well_formed(view: str) -> bool:
    """Whether a text can be a view at all."""
    return _VIEW.fullmatch(view) is not None


def look_again(call: PendingToolCall, view: str, looks: str, now: datetime) -> Look | None:
    """Return how a page that shows the call goes on; None when it is final.

    Args:
        view: of the link that this reader came by.
        looks: how often the page has looked by itself, as its address says; anything odd stops it.
    """
    waiting = call.status in {CallStatus.PENDING, CallStatus.IN_DOUBT} and not _over(call, now)
    if not (call.status in _RUNNING or waiting):
        return None
    address = f"?v={view}"
    done = int(looks) if re.fullmatch("[0-9]{1,2}", looks) else len(PAUSES)
    if waiting or done >= len(PAUSES):
        return Look(f"{address}&n=0", address)
    return Look(f"{address}&n=0", address, PAUSES[done], f"{address}&n={done + 1}")


def _over(call: PendingToolCall, now: datetime) -> bool:
    return call.status is CallStatus.PENDING and call.overdue(now)


def _derived(call: PendingToolCall, token_hash: str) -> str:
    message = f"pausepoint.view.v1\n{call.session_id}\n{call.call_id}".encode()
    digest = hmac.new(bytes.fromhex(token_hash), message, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
