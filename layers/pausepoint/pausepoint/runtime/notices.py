"""What the approver is sent: fixed words, names from the registry, ids, and the link on a line of its own."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.runtime.ports import Notice

SUBJECT: Final = "Pausepoint: a tool call waits for your decision"
REMINDER_SUBJECT: Final = "Pausepoint: a tool call still waits for your decision"
DOUBT_SUBJECT: Final = "Pausepoint: please find out whether a tool call happened"

_ASKS: Final = "An agent wants to run a tool and waits for your decision."
_STILL_ASKS: Final = "An agent still waits for your decision. This is the only reminder."
_DOUBTS: Final = """\
The process died while a tool ran. Nobody knows whether it had its effect.
Please find out, then say so. It is not run again unless you ask for it."""

_BODY: Final = """\
{opening}

Agent:    {agent}
Tool:     {name}
Expires:  {expires}
Session:  {session_id}
Call:     {call_id}

Open this page to see exactly what {would_run}, and decide there:

{link}

Opening the page changes nothing. Whoever has this link can decide, so do not
forward it. {otherwise}
"""


def approval_link(base_url: str, call: PendingToolCall, token: str) -> str:
    """Return the address of the page where the call is shown and decided."""
    return f"{base_url}/approvals/{quote(call.session_id)}/{quote(call.call_id)}?t={quote(token)}"


def notice_for(base_url: str, call: PendingToolCall, token: str) -> Notice:
    """Return the message that asks a person about a call: for a decision, once more, or what became of it."""
    in_doubt = call.status is CallStatus.IN_DOUBT
    again = call.notify == "sent"
    subject = DOUBT_SUBJECT if in_doubt else REMINDER_SUBJECT if again else SUBJECT
    body = _BODY.format(
        opening=_DOUBTS if in_doubt else _STILL_ASKS if again else _ASKS,
        agent=_one_line(call.agent),
        name=_one_line(call.name),
        expires="it waits for you" if in_doubt else f"{call.expires_at:%Y-%m-%d %H:%M} UTC",
        session_id=call.session_id,
        call_id=call.call_id,
        would_run="was run" if in_doubt else "would run",
        link=approval_link(base_url, call, token),
        otherwise="Until you do, the agent waits."
        if in_doubt
        else "If you do nothing, the call expires and is not run.",
    )
    return Notice(subject=subject, body=body, session_id=call.session_id, call_id=call.call_id)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
