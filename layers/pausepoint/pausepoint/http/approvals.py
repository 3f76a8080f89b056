"""What stands behind an approval link: GET shows and changes nothing, POST records one decision."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Final

from pausepoint.domain.calls import CallStatus, PendingToolCall, closed
from pausepoint.domain.canonical import sha256_hex
from pausepoint.errors import AlreadyDecided, CallExpired, InvalidInput, NotFound, PausepointError
from pausepoint.http.forms import read_form
from pausepoint.http.page import approval_page, outcome_page, problem_page
from pausepoint.http.problems import detail_of, status_of
from pausepoint.runtime.context import Services
from pausepoint.runtime.decisions import (
    BY_LINK,
    make_decision,
    needs_wake,
    record_decision,
    wake,
)

_SESSION_ID: Final = re.compile(r"[a-z0-9]{26}")
_CALL_ID: Final = re.compile(r"c[0-9]{1,10}-[0-9]{1,4}")
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_SAME_ORIGIN: Final = frozenset({"same-origin", "none"})


@dataclass(frozen=True)
class PageAnswer:
    """A page and its status. `decided` is the verdict that this request put on record, if it did."""

    status: int
    html: str
    decided: str | None = None


@dataclass(frozen=True)
class Post:
    """A posted form, as the gateway hands it over; header names are in lower case."""

    body: bytes
    headers: dict[str, str]


def show(services: Services, session_id: str, call_id: str, *, token: str, action: str) -> PageAnswer:
    """Answer a GET: one read at most, and no write.

    Args:
        action: the address the form posts to, without the token.
    """
    try:
        call = _find(services, session_id, call_id, token)
    except PausepointError as error:
        return refusal(error)
    now = services.clock.now()
    if call.status is CallStatus.PENDING and not call.overdue(now):
        return PageAnswer(200, approval_page(call, token=token, action=action, now=now))
    return _outcome(services, call, 200)


def decide(services: Services, session_id: str, call_id: str, post: Post) -> PageAnswer:
    """Answer a POST: record the decision, unless one stands, and wake the session."""
    try:
        _check_origin(post.headers)
        form = read_form(post.body, post.headers.get("content-type", ""))
        call = _find(services, session_id, call_id, form.token)
        decision = make_decision(
            services,
            call,
            form.verdict,
            reason=form.reason,
            by=BY_LINK,
            verified="link",
            digest_shown=form.digest,
        )
        recorded = record_decision(services, call, decision, token=form.token)
    except AlreadyDecided as error:
        return _outcome(services, error.call, 409, heading="This was decided before")
    except CallExpired:
        return _outcome(services, services.store.call(session_id, call_id), 410)
    except PausepointError as error:
        return refusal(error)
    if needs_wake(recorded.call):
        wake(services, recorded.call.session_id)
    if recorded.already:
        return _outcome(services, recorded.call, 200, heading=f"Already {form.verdict}")
    return _outcome(services, recorded.call, 200, decided=form.verdict)


def refusal(error: PausepointError) -> PageAnswer:
    """Return the page for an error."""
    status, title = status_of(error)
    if isinstance(error, NotFound):
        # One page for unknown, wrong and malformed: it must not tell which (R1).
        return PageAnswer(404, problem_page("Nothing here", "This link does not lead to anything to decide."))
    text = detail_of(error)
    if isinstance(error, InvalidInput) and error.field:
        text = f"{text} (field: {error.field})"
    return PageAnswer(status, problem_page(title, text))


def _find(services: Services, session_id: str, call_id: str, token: str) -> PendingToolCall:
    malformed = not (_SESSION_ID.fullmatch(session_id) and _CALL_ID.fullmatch(call_id) and _TOKEN.fullmatch(token))
    if malformed:
        raise NotFound("not a link of ours")
    call = services.store.call(session_id, call_id)
    presented = sha256_hex(token)
    known = [hmac.compare_digest(presented, token_hash) for token_hash in call.token_hashes]
    if not any(known):
        raise NotFound("the token opens nothing")
    return call


def _check_origin(headers: dict[str, str]) -> None:
    """Refuse a form that another site's page posted (R6).

    `Referrer-Policy: no-referrer` makes browsers send `Origin: null` with our own form, so Origin says
    something only where Sec-Fetch-Site is absent; programs send neither.
    """
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    if site is not None:
        foreign = site not in _SAME_ORIGIN
    else:
        foreign = origin is not None and origin != "null" and origin.split("//")[-1] != headers.get("host")
    if foreign:
        raise InvalidInput("The decision must come from the page itself.", field="sec-fetch-site")


def _outcome(
    services: Services,
    call: PendingToolCall,
    status: int,
    *,
    heading: str | None = None,
    decided: str | None = None,
) -> PageAnswer:
    now = services.clock.now()
    if call.status is CallStatus.PENDING:  # overdue, and nobody has noted it yet
        call = closed(call, CallStatus.EXPIRED)
    if call.status is CallStatus.EXPIRED:
        status = 410
    return PageAnswer(status, outcome_page(call, now=now, heading=heading), decided)
