"""What can keep the local stack from starting."""

from __future__ import annotations


class LocalStackError(Exception):
    """The local stack cannot go on; the message is one plain sentence for the person who started it."""
