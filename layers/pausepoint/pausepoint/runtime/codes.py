"""One-time codes: a second thing that whoever approves a risky call by a link must have, beside the link."""

from __future__ import annotations

import re
from typing import Final

from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.code_tries import MAX_TRIES, spent_text
from pausepoint.errors import InvalidInput, LinkSpent, LostRace, NotFound
from pausepoint.runtime.context import Services

_CODE: Final = re.compile(r"[0-9]{6}")


def needs_code(services: Services, call: PendingToolCall) -> bool:
    """Whether approving this call by a link takes a one-time code: where there are any, and the risk is high."""
    return services.codes is not None and call.presentation.risk == "high" and call.question is None


def check_code(services: Services, call: PendingToolCall, code: str, *, token: str) -> None:
    """Return if the code is right; it is used up then, and so is one try of the call's links.

    A try is counted before anything depends on whether the code is right, and a code is right only once in the whole
    deployment (RFC 6238, section 5.2): who has looked over somebody's shoulder cannot approve another call with what
    they saw.

    Args:
        code: what the person typed; spaces are ignored, as authenticators show some.
        token: the link's secret; it opens the call.

    Raises:
        InvalidInput: it is missing, no code at all (neither is counted), wrong, or was used before.
        LinkSpent: it was wrong, and the last that may be tried.
        AlreadyDecided: somebody else decided meanwhile. NotFound: the token opens nothing any more.
        Unavailable: the table or the secret cannot be reached.
    """
    assert services.codes is not None
    digits = "".join(code.split())
    if not _CODE.fullmatch(digits):
        raise InvalidInput(
            "Approving this takes the six digits that your authenticator app shows now. Open the link again.",
            field="code",
        )
    # Before counting: where the secret cannot be read, nobody has tried anything.
    step = services.codes.step_of(digits, services.clock.now())
    token_hash = sha256_hex(token)
    counted = _counted(services, call, token_hash)
    if token_hash not in counted.token_hashes:
        raise LinkSpent(spent_text(counted))
    if step is not None and _is_unused(services, step):
        return
    if counted.code_tries >= MAX_TRIES:
        raise LinkSpent(spent_text(_counted(services, call, token_hash)))
    left = MAX_TRIES - counted.code_tries
    why = "wrong" if step is None else "right, but it was used before: wait for the next one"
    tries = "once" if left == 1 else f"{left} times"
    raise InvalidInput(f"The one-time code is {why}. You can try {tries} more: open the link again.", field="code")


def _counted(services: Services, call: PendingToolCall, token_hash: str) -> PendingToolCall:
    try:
        return services.store.count_code_try(call.session_id, call.call_id, token_hash)
    except LostRace:
        raise NotFound("There is nothing to decide here.") from None


def _is_unused(services: Services, step: int) -> bool:
    try:
        services.store.use_code(step)
    except LostRace:
        return False
    return True
