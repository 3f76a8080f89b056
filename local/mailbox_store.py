"""The mails of the local mailbox, kept in one file over restarts."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

_SCHEMA_VERSION = 1
_MAX_MAILS = 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Mail:
    """One mail. ``received_at`` is ISO 8601 in UTC, ``message_id`` is SNS's."""

    message_id: str
    subject: str
    body: str
    received_at: str


class MailStore:
    """The last 500 mails, oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._mails = _load(path)

    def all(self) -> list[Mail]:
        """Return the mails, oldest first."""
        with self._lock:
            return list(self._mails)

    def add(self, mail: Mail) -> bool:
        """Keep a mail; False if it is here already, since SNS may deliver one twice."""
        with self._lock:
            if any(each.message_id == mail.message_id for each in self._mails):
                return False
            mails = [*self._mails, mail][-_MAX_MAILS:]
            _save(self._path, mails)
            self._mails = mails
            return True


def _load(path: Path) -> list[Mail]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        known = document["schema_version"] == _SCHEMA_VERSION
        mails = [Mail(**each) for each in document["mails"]] if known else None
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError):
        mails = None
    if mails is None:
        aside = path.with_name(path.name + ".unreadable")
        path.replace(aside)
        logger.warning("%s is not a mailbox of this version; moved to %s.", path, aside)
    return mails or []


def _save(path: Path, mails: list[Mail]) -> None:
    document = {"schema_version": _SCHEMA_VERSION, "mails": [asdict(mail) for mail in mails]}
    path.parent.mkdir(parents=True, exist_ok=True)
    # A file of mkstemp is readable by its owner only: the mails hold links that decide.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
