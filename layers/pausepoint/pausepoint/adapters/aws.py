"""Where AWS clients come from.

From botocore, whose clients boto3's are: what boto3 adds (resources, transfers) is not used here, and makes a cold
start longer by an eighth.
"""

from __future__ import annotations

from functools import cache

import botocore.session


@cache
def session() -> botocore.session.Session:
    """Return this process's session; made at the first call."""
    return botocore.session.get_session()
