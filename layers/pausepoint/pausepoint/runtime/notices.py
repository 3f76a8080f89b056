"""What people are told: fixed words, names from the registry, ids, and the link on a line of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import quote

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.runtime.payloads import payload_for
from pausepoint.runtime.ports import Notice, NoticeEvent

SUBJECT: Final = "Pausepoint: a tool call waits for your decision"
REMINDER_SUBJECT: Final = "Pausepoint: a tool call still waits for your decision"
DOUBT_SUBJECT: Final = "Pausepoint: please find out whether a tool call happened"


@dataclass(frozen=True)
class _Words:
    """A subject, how the text begins, and how one that asks something leads to its link and ends."""

    subject: str
    opening: str
    lead: str = ""
    ending: str = ""


_CALLS: Final[dict[NoticeEvent, _Words]] = {
    "requested": _Words(
        SUBJECT,
        "An agent wants to run a tool and waits for your decision.",
        "Open this page to see exactly what would run, and decide there:",
        "If you do nothing, the call expires and is not run.",
    ),
    "reminded": _Words(
        REMINDER_SUBJECT,
        "An agent still waits for your decision. This is the only reminder.",
        "Open this page to see exactly what would run, and decide there:",
        "If you do nothing, the call expires and is not run.",
    ),
    "in_doubt": _Words(
        DOUBT_SUBJECT,
        "The process died while a tool ran. Nobody knows whether it had its effect.\n"
        "Please find out, then say so. It is not run again unless you ask for it.",
        "Open this page to see exactly what was run, and say there what you found:",
        "Until you do, the agent waits.",
    ),
    "decided": _Words("Pausepoint: a tool call was decided", "Somebody decided about a tool call."),
    "finished": _Words("Pausepoint: a tool call came to its end", "A tool call that somebody was asked about is over."),
    "expired": _Words(
        "Pausepoint: a tool call expired, nobody decided",
        "Nobody decided about a tool call in time. It was not run, and the agent is told so.\nThere is nothing to do.",
    ),
}
_QUESTIONS: Final[dict[NoticeEvent, _Words]] = {
    "requested": _Words(
        "Pausepoint: an agent asks a question",
        "An agent has a question and waits for your answer.",
        "Open this page to read the question, and answer there:",
        "If you do nothing, the question expires and the agent goes on without an answer.",
    ),
    "reminded": _Words(
        "Pausepoint: an agent still waits for an answer",
        "An agent still waits for your answer. This is the only reminder.",
        "Open this page to read the question, and answer there:",
        "If you do nothing, the question expires and the agent goes on without an answer.",
    ),
    "decided": _Words("Pausepoint: a question was answered", "Somebody answered the question of an agent."),
    "finished": _Words("Pausepoint: a question was withdrawn", "An agent does not wait for an answer any more."),
    "expired": _Words(
        "Pausepoint: a question expired, nobody answered",
        "Nobody answered the question of an agent in time, and the agent is told so.\nThere is nothing to do.",
    ),
}

_ABOUT: Final = """\
{opening}

Agent:    {agent}
Tool:     {name}
Risk:     {risk}
{moment}
Session:  {session_id}
Call:     {call_id}
"""
_ASKING: Final = """
{lead}

{link}

Opening the page changes nothing. Whoever has this link can decide, so do not
forward it. {ending}
"""

# What chats take for their own signs: `<!channel>` and `<address|name>` in Slack, `@all` in its relatives.
_CHAT_SIGNS: Final = str.maketrans("<>&@", "()++")

_NEWS: Final[dict[CallStatus, NoticeEvent]] = {
    CallStatus.APPROVED: "decided",
    CallStatus.REJECTED: "decided",
    CallStatus.ANSWERED: "decided",
    CallStatus.EXPIRED: "expired",
    CallStatus.SUCCEEDED: "finished",
    CallStatus.FAILED: "finished",
    CallStatus.STALE: "finished",
    CallStatus.CANCELLED: "finished",
}


def approval_link(base_url: str, call: PendingToolCall, token: str) -> str:
    """Return the address of the page where the call is shown and decided."""
    return f"{base_url}/approvals/{quote(call.session_id)}/{quote(call.call_id)}?t={quote(token)}"


def notice_for(base_url: str, call: PendingToolCall, token: str, *, at: datetime) -> Notice:
    """Return the message that asks a person about a call: for a decision, once more, or what became of it."""
    event: NoticeEvent = "requested"
    if call.status is CallStatus.IN_DOUBT:
        event = "in_doubt"
    elif call.notify == "sent":
        event = "reminded"
    return _notice(event, call, at=at, link=approval_link(base_url, call, token))


def news_of(before: PendingToolCall, after: PendingToolCall, *, at: datetime) -> Notice | None:
    """Return the message about a call that moved; None where that is no news, or nobody was ever asked about it.

    What asks a person is sent with its link by whoever makes the link, not from here.
    """
    event = _NEWS.get(after.status)
    if event is None or after.status is before.status or not (after.gated or after.token_hashes):
        return None
    return _notice(event, after, at=at, link=None)


def one_line(text: str) -> str:
    """Return a name as what can stand on one line; a dash for one without characters."""
    return "".join(character if character.isprintable() else " " for character in text).strip() or "-"


def _notice(event: NoticeEvent, call: PendingToolCall, *, at: datetime, link: str | None) -> Notice:
    words = _CALLS[event] if call.question is None else _QUESTIONS[event]
    agent, tool = one_line(call.agent), one_line(call.name)
    body = _ABOUT.format(
        opening=words.opening,
        agent=agent,
        name=tool,
        risk=call.presentation.risk,
        moment=_moment(event, call),
        session_id=call.session_id,
        call_id=call.call_id,
    )
    if link is not None:
        body += _ASKING.format(lead=words.lead, link=link, ending=words.ending)
    return Notice(
        event=event,
        subject=words.subject,
        body=body,
        payload=payload_for(event, call, at=at, text=_chat(words, call, agent, tool, link), approve_url=link),
        session_id=call.session_id,
        call_id=call.call_id,
        agent=agent,
        tool=tool,
        risk=call.presentation.risk,
    )


def _moment(event: NoticeEvent, call: PendingToolCall) -> str:
    if event in ("requested", "reminded"):
        return f"Expires:  {call.expires_at:%Y-%m-%d %H:%M} UTC"
    if event == "in_doubt":
        return "Expires:  it waits for you"
    return f"Now:      {call.status.replace('_', ' ')}"


def _chat(words: _Words, call: PendingToolCall, agent: str, tool: str, link: str | None) -> str:
    """Return the lines that a chat shows."""
    status = "" if link else f", now {call.status.replace('_', ' ')}"
    about = f"{tool}, asked for by {agent} (risk {call.presentation.risk}{status})"
    lines = [f"{words.subject}.", about.translate(_CHAT_SIGNS)]
    return "\n".join([*lines, link] if link else lines)
