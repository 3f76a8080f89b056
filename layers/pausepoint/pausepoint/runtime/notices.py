"""What the approver is sent: fixed words, names from the registry, ids, and the link on a line of its own."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from pausepoint.domain.calls import PendingToolCall
from pausepoint.runtime.ports import Notice

SUBJECT: Final = "Pausepoint: a tool call waits for your decision"

_BODY: Final = """\
An agent wants to run a tool and waits for your decision.

Agent:    {agent}
Tool:     {name}
Expires:  {expires_at:%Y-%m-%d %H:%M} UTC
Session:  {session_id}
Call:     {call_id}

Open this page to see exactly what would run, and decide there:

{link}

Opening the page changes nothing. Whoever has this link can decide, so do not
forward it. If you do nothing, the call expires and is not run.
"""


def approval_link(base_url: str, call: PendingToolCall, token: str) -> str:
    """Return the address of the page where the call is shown and decided."""
    return f"{base_url}/approvals/{quote(call.session_id)}/{quote(call.call_id)}?t={quote(token)}"


def approval_notice(base_url: str, call: PendingToolCall, token: str) -> Notice:
    """Return the message that asks for a decision on a call."""
    body = _BODY.format(
        agent=_one_line(call.agent),
        name=_one_line(call.name),
        expires_at=call.expires_at,
        session_id=call.session_id,
        call_id=call.call_id,
        link=approval_link(base_url, call, token),
    )
    return Notice(subject=SUBJECT, body=body, session_id=call.session_id, call_id=call.call_id)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
