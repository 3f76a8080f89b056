"""The writes around one-time codes: counting tries on a call, and using each code only once."""

from __future__ import annotations

from typing import Any, Final

from pausepoint.adapters.dynamodb import rows
from pausepoint.adapters.dynamodb.upkeep import WITH_LINK, Upkeep
from pausepoint.adapters.dynamodb.writes import Write
from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.code_tries import code_tried
from pausepoint.domain.session import SCHEMA_VERSION
from pausepoint.errors import Unavailable

LAST_CODE_KEY: Final = rows.key("ONE-TIME-CODES", "LAST")
"""One row for the whole deployment, since approvers share one secret. No session has such an id."""
_ATTEMPTS: Final = 10
_COUNTABLE: Final = (
    # nobody has decided
    "#status = :pending"
    # and nobody has counted another try since it was looked at; a row of before codes were counted has no number
    " AND (#code_tries = :tries{absent})"
) + WITH_LINK
_ALL_KNOWN: Final = (
    # no link was made meanwhile, which would be used up without a word
    " AND #token_hashes = :links"
)
_UNUSED: Final = (
    # neither this code nor a later one was used
    "attribute_not_exists(#last_step) OR #last_step < :step"
)


class Codes(Upkeep):
    """The part of the store that one-time codes need."""

    def count_code_try(self, session_id: str, call_id: str, token_hash: str) -> PendingToolCall:
        """Count one try or, where none is left, use the call's links up."""
        missing = f"There is no call {call_id!r} in session {session_id!r}."
        call = rows.to_call(self.get(session_id, rows.call_sk(call_id), missing))
        for _ in range(_ATTEMPTS):
            changed = code_tried(call, token_hash=token_hash)
            nonce = self.new_id()
            spent: dict[str, Any] = {
                "token_hashes": list(changed.token_hashes),
                "spent_hashes": list(changed.spent_hashes),
                "spent_rounds": changed.spent_rounds,
                "notify": changed.notify,
                "reminded": changed.reminded,
                **rows.call_index(changed),
                "sweeps": 0,
            }
            condition = _COUNTABLE.format(absent="" if call.code_tries else " OR attribute_not_exists(#code_tries)")
            values: dict[str, Any] = {"pending": CallStatus.PENDING, "tries": call.code_tries, "token_hash": token_hash}
            if not changed.token_hashes:
                condition += _ALL_KNOWN
                values["links"] = list(call.token_hashes)
            write = Write(
                key=rows.key(session_id, rows.call_sk(call_id)),
                condition=condition,
                values=values,
                row={"code_tries": changed.code_tries, **({} if changed.token_hashes else spent), "nonce": nonce},
            )
            call, written = self.write_call(session_id, call_id, write, nonce=nonce)
            if written:
                return call  # else somebody counted meanwhile: look at what is left
        raise Unavailable("Many codes are tried at once.")

    def use_code(self, step: int) -> None:
        """Note that the code of a time step was used."""
        nonce = self.new_id()
        row = {"last_step": step, "version": SCHEMA_VERSION, "nonce": nonce}
        self.write_all([Write(key=LAST_CODE_KEY, condition=_UNUSED, values={"step": step}, row=row)], nonce=nonce)
