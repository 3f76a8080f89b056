"""Recording what a person decided. Needs no agent, no tools and no model: the public page uses only this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from pausepoint.domain.calls import Answer, CallStatus, Decision, PendingToolCall, Resolution, Verdict, decided
from pausepoint.domain.canonical import canonical_json, sha256_hex
from pausepoint.errors import AlreadyDecided, CallExpired, Conflict, InvalidInput, LostRace, NotFound, Unavailable
from pausepoint.runtime.context import Services

MAX_REASON_CHARACTERS: Final = 2000
_DECIDED: Final = frozenset({CallStatus.APPROVED, CallStatus.REJECTED, CallStatus.ANSWERED})
_ACTED_ON: Final = _DECIDED | {CallStatus.EXECUTING}
_NEVER_DOUBTED: Final = _ACTED_ON | {CallStatus.PENDING}
ANSWERS: Final[frozenset[str]] = frozenset(get_args(Answer))
VERDICTS: Final[frozenset[str]] = frozenset(get_args(Verdict))
BY_LINK: Final = "the holder of the approval link"
OTHER_SHOWN: Final = "The call is not the one that was shown. Open the link again and look at it."


@dataclass(frozen=True)
class DecisionRequest:
    """What somebody wants to decide, or says became of a call in doubt.

    Attributes:
        arguments: replace the call's arguments (approving only).
        answer: any JSON value but null (questions only).
        digest: of the call as the caller saw it. Where it is given, it must be the stored call's, else Conflict
            is raised and nothing is recorded; without it, the decision is on the call as it is stored.
    """

    call_id: str
    decision: Verdict | Answer
    reason: str = ""
    arguments: dict[str, Any] | None = None
    answer: Any = None
    digest: str | None = None


@dataclass(frozen=True)
class Recorded:
    """The call with its standing decision; `already` when the same verdict stood before."""

    call: PendingToolCall
    already: bool


def check_reason(reason: str, *, field: str = "reason") -> str:
    """Return the reason if it can be kept verbatim; raise InvalidInput otherwise."""
    return check_text(reason, "reason", field=field)


def check_text(text: str, what: str, *, field: str) -> str:
    """Return a text of a person's own if it can be kept verbatim; raise InvalidInput, naming `what`, otherwise."""
    if len(text) > MAX_REASON_CHARACTERS:
        raise InvalidInput(
            f"The {what} has {len(text)} characters; at most {MAX_REASON_CHARACTERS} are kept.", field=field
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(f"The {what} contains half of a surrogate pair.", field=field) from None
    return text


def make_decision(
    services: Services,
    call: PendingToolCall,
    verdict: Verdict,
    *,
    reason: str,
    by: str,
    verified: Literal["link", "aws-signature", "caller"],
    digest_shown: str,
    edited: tuple[str, str] | None = None,
    answer: str | None = None,
) -> Decision:
    """Return the decision to record.

    Args:
        edited: the (canonical arguments, digest) to run instead.
        answer: what was answered to a question, as canonical JSON.
    """
    arguments, digest_approved = edited if edited is not None else (None, call.digest)
    return Decision(
        verdict=verdict,
        by=by,
        at=services.clock.now(),
        verified=verified,
        reason=check_reason(reason),
        digest_shown=digest_shown,
        digest_approved=digest_approved,
        arguments=arguments,
        answer=answer,
    )


def record_decision(
    services: Services, call: PendingToolCall, decision: Decision, *, token: str | None = None
) -> Recorded:
    """Write a decision; the first one stands.

    Raises:
        AlreadyDecided: another verdict stands, or the call was cancelled.
        CallExpired: the time to decide is over.
        Conflict: what was shown is not what is stored.
        NotFound: the token is not one of the call's.
    """
    token_hash = sha256_hex(token) if token is not None else None
    try:
        stored = services.store.decide(call.session_id, call.call_id, decision, token_hash=token_hash)
    except AlreadyDecided as error:
        return Recorded(_standing(error.call, decision), already=True)
    except LostRace:
        current = services.store.call(call.session_id, call.call_id)
        if token_hash is not None and token_hash not in current.token_hashes:
            raise NotFound("There is nothing to decide here.") from None
        raise Conflict(OTHER_SHOWN) from None
    return Recorded(stored, already=False)


def make_resolution(
    services: Services,
    answer: Answer,
    *,
    reason: str,
    by: str,
    verified: Literal["link", "aws-signature", "caller"],
) -> Resolution:
    """Return what somebody says became of a call in doubt."""
    now = services.clock.now()
    return Resolution(answer=answer, by=by, at=now, verified=verified, reason=check_reason(reason))


def record_resolution(
    services: Services, call: PendingToolCall, resolution: Resolution, *, token: str | None = None
) -> Recorded:
    """Write what became of a call in doubt; the first answer stands.

    Raises:
        InvalidInput: the call was never in doubt.
        AlreadyDecided: another answer stands, or the execution reported after all.
        NotFound: the token is not one of the call's.
    """
    token_hash = sha256_hex(token) if token is not None else None
    try:
        stored = services.store.resolve(call.session_id, call.call_id, resolution, token_hash=token_hash)
    except AlreadyDecided as error:
        return Recorded(check_resolution(error.call, resolution), already=True)
    except LostRace:
        raise NotFound("There is nothing to decide here.") from None
    return Recorded(stored, already=False)


def check_resolution(call: PendingToolCall, resolution: Resolution) -> PendingToolCall:
    """Return a call of which the same was said before, or which is in doubt; else raise what stands."""
    if call.status is CallStatus.IN_DOUBT:
        return call
    if call.resolution is None and call.status in _NEVER_DOUBTED:
        raise InvalidInput(f"Call {call.call_id} is {call.status}, not in doubt.", field="decision")
    if call.resolution is None or call.resolution.answer != resolution.answer:
        raise AlreadyDecided(call)
    return call


def check_decision(call: PendingToolCall, decision: Decision) -> None:
    """Raise what `record_decision` would raise, as far as can be seen without writing.

    Raises:
        InvalidInput: permission for a question, or an answer to a request for permission.
    """
    check_word(call, decision.verdict)
    try:
        decided(call, decision, token_hash=None)
    except AlreadyDecided:
        _standing(call, decision)
    except LostRace:
        raise Conflict(OTHER_SHOWN) from None


def check_open(services: Services, call: PendingToolCall, *, digest_shown: str) -> None:
    """Raise unless the call, as it was shown, still asks for permission.

    Raises:
        InvalidInput: it asks a question. AlreadyDecided: it is not pending. CallExpired: the time is over.
        Conflict: what was shown is not what is stored.
    """
    check_word(call, "approved")
    if call.status is not CallStatus.PENDING:
        raise AlreadyDecided(call)
    decision = make_decision(services, call, "approved", reason="", by="", verified="link", digest_shown=digest_shown)
    check_decision(call, decision)


def check_answer(call: PendingToolCall, answer: object, *, field: str = "answer") -> str:
    """Return an answer to a call's question as canonical JSON.

    Raises:
        InvalidInput: there is none, it cannot be kept, or it is not among the choices.
    """
    if answer is None:
        raise InvalidInput("The answer is missing.", field=field)
    choices = call.question.choices if call.question else ()
    if choices and answer not in choices:
        raise InvalidInput(f"The answer must be one of: {', '.join(map(canonical_json, choices))}.", field=field)
    try:
        return canonical_json(answer)
    except InvalidInput as error:
        raise type(error)(f"The answer {error}.", field=field) from None


def check_word(call: PendingToolCall, verdict: Verdict) -> None:
    """Refuse an answer to what is no question, and permission where something is asked."""
    if call.question is None and verdict == "answered":
        raise InvalidInput(f"Call {call.call_id} asks for permission: approve or reject it.", field="decision")
    if call.question is not None and verdict != "answered":
        raise InvalidInput(f"Call {call.call_id} asks a question: answer it.", field="decision")


def needs_wake(call: PendingToolCall) -> bool:
    """Whether a decided call still has to be acted on (or may have to: waking in vain does no harm)."""
    return call.status in _ACTED_ON or (call.resolution is not None and not call.told)


def wake(services: Services, session_id: str) -> None:
    """Have a runner look at a session. Losing this loses time only: the records say that work is due."""
    try:
        services.queue.wake(session_id)
    except Unavailable as error:
        services.logger.warning("wake-up not sent", extra={"session_id": session_id, "why": str(error)})


def _standing(call: PendingToolCall, decision: Decision) -> PendingToolCall:
    if call.status is CallStatus.EXPIRED:
        raise CallExpired(f"Call {call.call_id} expired, and was not run.")
    same = call.decision is not None and (
        call.decision.verdict,
        call.decision.digest_approved,
        call.decision.answer,
    ) == (decision.verdict, decision.digest_approved, decision.answer)
    if not same or call.status is CallStatus.CANCELLED:  # approved or not, it will not run
        raise AlreadyDecided(call)
    return call
