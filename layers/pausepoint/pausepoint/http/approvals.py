"""What stands behind an approval link: GET shows and changes nothing, POST records one decision."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
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
from pausepoint.http.forms import DecisionForm, read_form
from pausepoint.http.page import approval_page, doubt_page, outcome_page, problem_page
from pausepoint.http.problems import status_of
from pausepoint.http.requests import SESSION_ID
from pausepoint.runtime.codes import check_code, needs_code
from pausepoint.runtime.context import Services
from pausepoint.runtime.decisions import (
    ANSWERS,
    BY_LINK,
    Recorded,
    check_answer,
    check_decision,
    check_resolution,
    check_word,
    make_decision,
    make_resolution,
    needs_wake,
    record_decision,
    record_resolution,
    wake,
)

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
    """

    status: int
    html: str
    decided: str | None = None
    retry_after: int | None = None


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
    now = services.clock.now()
    if call.status is CallStatus.PENDING and not call.overdue(now):
        page = approval_page(call, token=token, action=action, now=now, needs_code=needs_code(services, call))
        return PageAnswer(200, page)
    if call.status is CallStatus.IN_DOUBT:
        return PageAnswer(200, doubt_page(call, token=token, action=action, now=now))
    return _outcome(services, call, 200)


def decide(services: Services, session_id: str, call_id: str, post: Post) -> PageAnswer:
    """Answer a POST: record the decision, unless one stands, and wake the session."""
    try:
        _check_origin(post)
        form = read_form(post.body, post.headers.get("content-type", ""))
        call = _find(services, session_id, call_id, form.token)
        recorded = _record(services, call, form)
    except AlreadyDecided as error:
        heading = "This was decided before" if error.call.decision else None
        return _outcome(services, error.call, 409, heading=heading)
    except CallExpired:
        return _outcome(services, services.store.call(session_id, call_id), 410)
    except (InvalidInput, NotFound, Conflict, LinkSpent) as error:
        return refusal(error)
    if needs_wake(recorded.call):
        wake(services, recorded.call.session_id)
    if recorded.already:
        word = "answered" if form.decision in ANSWERS else form.decision
        return _outcome(services, recorded.call, 200, heading=f"Already {word}")
    return _outcome(services, recorded.call, 200, decided=form.decision)


def _record(services: Services, call: PendingToolCall, form: DecisionForm) -> Recorded:
    # Either is checked first: what can be seen to be wrong costs no write (R10).
    match form.decision:
        case "approved" | "rejected" | "answered" as verdict:
            check_word(call, verdict)
            answers = verdict == "answered"
            if form.answer is not None and not answers:
                raise InvalidInput("Only a question has an answer.", field="answer")
            decision = make_decision(
                services,
                call,
                verdict,
                reason=form.reason,
                by=BY_LINK,
                verified="link",
                digest_shown=form.digest,
                answer=check_answer(call, form.answer) if answers else None,
            )
            check_decision(call, decision)
            if verdict == "approved" and call.status is CallStatus.PENDING and needs_code(services, call):
                check_code(services, call, form.code, token=form.token)
            return record_decision(services, call, decision, token=form.token)
        case answer:
            resolution = make_resolution(services, answer, reason=form.reason, by=BY_LINK, verified="link")
            check_resolution(call, resolution)
            return record_resolution(services, call, resolution, token=form.token)


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
    malformed = not (SESSION_ID.fullmatch(session_id) and _CALL_ID.fullmatch(call_id) and _TOKEN.fullmatch(token))
    if malformed:
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
