"""Sends one sample request to the local stack, and tells how its session goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from local.errors import LocalStackError
from local.inbox import find_link
from local.processes import wait_for

_ENDED = frozenset({"completed", "failed", "cancelled"})


@dataclass
class Demo:
    """One sample session.

    Attributes:
        api_url: Where the API answers.
        mailbox_url: Where the approval link arrives.
        session_id: The session, once the request was sent.
    """

    api_url: str
    mailbox_url: str
    session_id: str = ""
    _over: bool = False

    def start(self, message: str) -> str:
        """Send the message, wait for the link, and return what to tell the person at the screen.

        Raises:
            LocalStackError: the API refused the request, or no link arrived.
        """
        answer = _call(f"{self.api_url}/sessions", {"message": message})
        self.session_id = answer["session_id"]
        text = f'Asked the agent: "{message}". Session {self.session_id} is {answer["status"]}.'
        if answer["status"] in _ENDED:
            self._over = True
            return f"{text}\n\n  {answer.get('output') or ''}"
        links: list[str] = []

        def arrived() -> bool:
            link = find_link(self.mailbox_url, self.session_id)
            links.extend([link] if link else [])
            return bool(links)

        if not wait_for(arrived, seconds=30, pause=0.3):
            raise LocalStackError(f"{text} No approval link arrived in {self.mailbox_url}.")
        return f"{text}\nSomebody has to decide. Open this link:\n\n  {links[0]}\n"

    def news(self) -> str | None:
        """Return a line when the session has ended, once; None before and after."""
        if self._over or not self.session_id:
            return None
        try:
            session = _call(f"{self.api_url}/sessions/{self.session_id}")
        except LocalStackError:  # a busy machine; it is asked again in a second
            return None
        if session["status"] not in _ENDED:
            return None
        self._over = True
        return f"Session {self.session_id} is {session['status']}: {session.get('output') or ''}"


def _call(url: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data=data, headers={"Content-Type": "application/json"})  # noqa: S310
    try:
        with urlopen(request, timeout=40) as response:  # noqa: S310 - an address of our own
            return json.load(response)
    except HTTPError as error:
        with error:
            answer = error.read().decode(errors="replace")
        raise LocalStackError(f"{url} answered {error.code}: {answer}") from None
    except (OSError, ValueError) as error:
        raise LocalStackError(f"{url} did not answer as it should: {error}") from None
