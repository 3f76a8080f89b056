"""The extra word that approving very long arguments takes (R26).

The page shows the word where the arguments end, and nowhere near the field that asks for it: whoever can type it
has at least gone past all of them. It comes from the digest, so the word of one call does not fit another, but from a
part of it that the call's code, which stands beside the form, does not show.
"""

from __future__ import annotations

from pausepoint.errors import InvalidInput
from pausepoint.http.rows import is_large


def check_typed(arguments: str, digest: str, typed: str) -> None:
    """Refuse an approval of long arguments without their word; short ones need none.

    Args:
        arguments: the canonical arguments that were shown.
        digest: of the call with these arguments.
        typed: what the form's field `word` holds; case and blanks do not count.

    Raises:
        InvalidInput: the arguments are long, and this is not their word.
    """
    if is_large(arguments) and "".join(typed.split()).upper() != word_of(digest):
        raise InvalidInput(
            "To approve this much text, type the word that stands at the end of the arguments. "
            "Nothing was decided: go back and type it.",
            field="word",
        )


def word_of(digest: str) -> str:
    """Return the word for a call: four characters that are not in its code."""
    return digest[8:12].upper()
