"""What stands behind an approval link: GET shows and changes nothing, POST records one decision."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from pausepoint.domain.calls import CallStatus, PendingToolCall, closed
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.code_tries import spent_text
from pausepoint.errors import (
    AlreadyDecided,
    CallExpired,
    Conflict,
    InvalidInput,
    LinkSpent,
    NotFound,
    PausepointError,
    Unavailable,
)
from pausepoint.http.forms import read_form
from pausepoint.http.page import approval_page, doubt_page, outcome_page, problem_page
from pausepoint.http.posting import change, record
from pausepoint.http.problems import status_of
from pausepoint.http.progress import look_again, opens, view_of, well_formed
from pausepoint.http.question_page import question_page
from pausepoint.http.requests import SESSION_ID
from pausepoint.runtime.codes import needs_code
from pausepoint.runtime.context import Services
from pausepoint.runtime.decisions import ANSWERS, needs_wake, wake

_CALL_ID: Final = re.compile(r"c[0-9]{1,10}-[0-9]{1,4}")
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_SAME_ORIGIN: Final = frozenset({"same-origin", "none"})
_BUSY: Final = (
    "Something that this page needs does not answer right now. Open the link again in a moment: "
    "the page then shows whether a decision was recorded."
)
_BROKEN: Final = (
    "That was our fault, not yours. Open the link again: the page then shows whether a decision was recorded. "
    "If this stays, tell whoever runs the agent."
)


@dataclass(frozen=True)
class PageAnswer:
    """A page and its status.

    Attributes:
        decided: the verdict that this request put on record, if it did.
        retry_after: in seconds, where trying again is worth it.
        refresh: where the page goes on by itself, and when: the value of a `Refresh` header.
    """

    status: int
    html: str
    decided: str | None = None
    retry_after: int | None = None
    refresh: str | None = None


@dataclass(frozen=True)
class Post:
    """A posted form, as the gateway hands it over.

    Attributes:
        headers: with names in lower case.
        base_url: the API's public address, from which the page came.
    """

    body: bytes
    headers: dict[str, str]
    base_url: str


def show(services: Services, session_id: str, call_id: str, *, token: str, action: str) -> PageAnswer:
    """Answer a GET: one read at most, and no write.

    Args:
        action: the address the form posts to, without the token.
    """
    try:
        call = _find(services, session_id, call_id, token)
    except (NotFound, LinkSpent) as error:
        return refusal(error)
    now = _now(services)
    if call.status is CallStatus.PENDING and not call.overdue(now):
        if call.question is not None:
            return PageAnswer(200, question_page(call, token=token, action=action, now=now))
        page = approval_page(call, token=token, action=action, now=now, needs_code=needs_code(services, call))
        return PageAnswer(200, page)
    if call.status is CallStatus.IN_DOUBT:
        return PageAnswer(200, doubt_page(call, token=token, action=action, now=now))
    return _outcome(services, call, 200, view_of(call, token))


def look(services: Services, session_id: str, call_id: str, *, view: str, looks: str) -> PageAnswer:
    """Answer a GET that can only look at what became of a call: one read at most, no write, and no form.

    Args:
        view: what opens it, as an outcome page put it into its address.
        looks: how often that page has looked by itself.
    """
    try:
        call = _find_viewed(services, session_id, call_id, view)
    except NotFound as error:
        return refusal(error)
    return _outcome(services, call, 200, view, looks=looks)


def decide(services: Services, session_id: str, call_id: str, post: Post) -> PageAnswer:
    """Answer a POST: record the decision, unless one stands, and wake the session; or only show a change."""
    try:
        _check_origin(post)
        form = read_form(post.body, post.headers.get("content-type", ""))
        call = _find(services, session_id, call_id, form.token)
        if form.decision in ("edit", "change"):
            action = f"{post.base_url}/approvals/{session_id}/{call_id}"
            return PageAnswer(*change(services, call, form, action=action, now=_now(services)))
        recorded = record(services, call, form)
    except AlreadyDecided as error:
        before = "decided" if error.call.question is None else "answered"
        heading = f"This was {before} before" if error.call.decision else None
        return _outcome(services, error.call, 409, view_of(call, form.token), heading=heading)
    except CallExpired:
        return _outcome(services, services.store.call(session_id, call_id), 410, view_of(call, form.token))
    except (InvalidInput, NotFound, Conflict, LinkSpent) as error:
        return refusal(error)
    if needs_wake(recorded.call):
        wake(services, recorded.call.session_id)
    if recorded.already:
        word = "answered" if form.decision in ANSWERS else form.decision
        return _outcome(services, recorded.call, 200, view_of(call, form.token), heading=f"Already {word}")
    return _outcome(services, recorded.call, 200, view_of(call, form.token), decided=form.decision)


def refusal(error: Exception) -> PageAnswer:
    """Return the page for an error, in words for whoever holds the link."""
    if not isinstance(error, PausepointError):
        return PageAnswer(500, problem_page("Something went wrong", _BROKEN))
    status, title = status_of(error)
    if isinstance(error, NotFound):
        # One page for unknown, wrong and malformed: it must not tell which (R1).
        return PageAnswer(404, problem_page("Nothing here", "This link does not lead to anything to decide."))
    if isinstance(error, Unavailable):
        return PageAnswer(status, problem_page(title, _BUSY), retry_after=error.retry_after)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return PageAnswer(status, problem_page("Something went wrong", _BROKEN))
    text = str(error)
    if isinstance(error, InvalidInput) and error.field:
        text = f"{text} (field: {error.field})"
    return PageAnswer(status, problem_page(title, text))


def _find(services: Services, session_id: str, call_id: str, token: str) -> PendingToolCall:
    if not (_well_formed(session_id, call_id) and _TOKEN.fullmatch(token)):
        raise NotFound("not a link of ours")
    call = services.store.call(session_id, call_id)
    presented = sha256_hex(token)
    known = [hmac.compare_digest(presented, token_hash) for token_hash in call.token_hashes]
    spent = [hmac.compare_digest(presented, token_hash) for token_hash in call.spent_hashes]
    if any(spent) and call.status is CallStatus.PENDING:
        raise LinkSpent(spent_text(call))
    if not any(known):
        raise NotFound("the token opens nothing")
    return call


def _find_viewed(services: Services, session_id: str, call_id: str, view: str) -> PendingToolCall:
    if not (_well_formed(session_id, call_id) and well_formed(view)):
        raise NotFound("not an address of ours")
    call = services.store.call(session_id, call_id)
    if not opens(call, view):
        raise NotFound("the view opens nothing")
    return call


def _well_formed(session_id: str, call_id: str) -> bool:
    return bool(SESSION_ID.fullmatch(session_id) and _CALL_ID.fullmatch(call_id))


def _check_origin(post: Post) -> None:
    """Refuse a form that another site's page posted (R6).

    `Referrer-Policy: no-referrer` makes browsers send `Origin: null` with our own form, so Origin says
    something only where Sec-Fetch-Site is absent; programs send neither.
    """
    site = post.headers.get("sec-fetch-site")
    origin = post.headers.get("origin")
    field = "origin" if site is None else "sec-fetch-site"
    if site is not None:
        foreign = site not in _SAME_ORIGIN
    else:
        foreign = origin is not None and origin != "null" and origin != _origin_of(post.base_url)
    if foreign:
        raise InvalidInput(
            "This form was sent from another site. Open the link from your message and decide on that page.",
            field=field,
        )


def _origin_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _outcome(
    services: Services,
    call: PendingToolCall,
    status: int,
    view: str,
    *,
    looks: str = "0",
    heading: str | None = None,
    decided: str | None = None,
) -> PageAnswer:
    now = _now(services)
    again = look_again(call, view, looks, now)
    if call.status is CallStatus.PENDING and call.overdue(now):  # and nobody has noted it yet
        call = closed(call, CallStatus.EXPIRED)
    if call.status is CallStatus.EXPIRED:
        status = 410
    html = outcome_page(call, now=now, heading=heading, look=again)
    return PageAnswer(status, html, decided, refresh=again.refresh if again else None)


def _now(services: Services) -> datetime:
    return services.clock.now().astimezone(services.zone)
