"""Counting the one-time codes that are tried with a link, so that nobody can try them all.

A try is counted before anything depends on its code: however many are sent at once, no more than `MAX_TRIES` count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.errors import AlreadyDecided, LinkSpent, LostRace

MAX_TRIES: Final = 5
"""So many codes may be tried before the call's links are used up."""
MAX_ROUNDS: Final = 3
"""So often a call's links may be used up; after the last time nobody is sent another by itself."""


def code_tried(call: PendingToolCall, *, token_hash: str) -> PendingToolCall:
    """Return the call with one more try counted or, where there is none left, with its links used up.

    All links of a call are used up together: they were sent to the same people. The notice becomes due, so that a
    new link is sent, unless that has happened too often: who keeps using links up must not be kept supplied.

    Raises:
        AlreadyDecided: nobody is asked any more.
        LinkSpent: this link is used up.
        LostRace: the token is not among the known.
    """
    if call.status is not CallStatus.PENDING:
        raise AlreadyDecided(call)
    if token_hash in call.spent_hashes:
        raise LinkSpent(spent_text(call))
    if token_hash not in call.token_hashes:
        raise LostRace("the token opens nothing")
    if call.code_tries < MAX_TRIES:
        return replace(call, code_tries=call.code_tries + 1)
    rounds = call.spent_rounds + 1
    last = rounds >= MAX_ROUNDS
    return replace(
        call,
        token_hashes=(),
        spent_hashes=(*call.spent_hashes, *call.token_hashes),
        spent_rounds=rounds,
        code_tries=0,
        notify="sent" if last else "due",
        reminded=last or call.reminded,
    )


def spent_text(call: PendingToolCall) -> str:
    """Say what whoever holds a used-up link can do."""
    wrong = f"{MAX_TRIES} one-time codes were tried with this link, and it is used up. "
    if call.spent_rounds >= MAX_ROUNDS:
        return wrong + "It was not the first, so no other is sent: decide as a signed-in caller, or let it expire."
    return wrong + "A new link has been asked for, and comes in a message of its own within a few minutes."
