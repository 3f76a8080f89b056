"""The mailbox's page for people: newest mail first, its links clickable, everything escaped."""

from __future__ import annotations

import re
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from local.page import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local.mailbox_store import Mail

_REFRESH_SECONDS = 5
_LINK = re.compile(r"https?://[^\s<>\"'`]+", re.IGNORECASE)
_NOT_PART_OF_A_LINK = ".,;:!?)]}"

_BODY = """
<header><h1>Mailbox</h1><p class="note">This is the local mailbox: it shows what Amazon SNS would
have mailed. <strong>Nothing was really mailed.</strong></p></header>
<main>{mails}</main>
"""
_MAIL = """
<article><h2>{subject}</h2><time datetime="{received_at}">{shown_at}</time>
<pre>{body}</pre></article>
"""
_EMPTY = "<p>No mail yet. This page looks again every few seconds.</p>"


def render(mails: Sequence[Mail]) -> str:
    """Return the page for mails that come oldest first."""
    shown = "".join(_render_mail(mail) for mail in reversed(mails)) or _EMPTY
    return page("Mailbox", _BODY.format(mails=shown), refresh_seconds=_REFRESH_SECONDS)


def _render_mail(mail: Mail) -> str:
    received = datetime.fromisoformat(mail.received_at)
    return _MAIL.format(
        subject=escape(mail.subject),
        received_at=escape(mail.received_at),
        shown_at=f"{received:%d %b %Y, %H:%M:%S} UTC",
        body=with_links(mail.body),
    )


def with_links(text: str) -> str:
    """Return a text as HTML: escaped, its http(s) addresses as links."""
    pieces: list[str] = []
    end = 0
    for match in _LINK.finditer(text):
        address = match.group().rstrip(_NOT_PART_OF_A_LINK)
        pieces.append(escape(text[end : match.start()]))
        shown = escape(address)
        pieces.append(f'<a href="{shown}" rel="noreferrer" target="_blank">{shown}</a>')
        end = match.start() + len(address)
    pieces.append(escape(text[end:]))
    return "".join(pieces)
