"""How sure it is who somebody is, and which names of AWS are one."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from pausepoint.domain.calls import Decision, Resolution
from pausepoint.domain.identity import identity_of, principal_of


def test_every_way_to_establish_an_identity_is_known() -> None:
    known = {
        word: identity_of(word)
        for kind in (Decision, Resolution)
        for word in get_args(get_type_hints(kind)["verified"])
    }

    assert known == {"link": "claimed", "caller": "claimed", "aws-signature": "verified", "reconcile": None}


ROLE = "arn:aws:sts::123456789012:assumed-role/Approver"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("arn:aws:iam::123456789012:user/ada", "arn:aws:iam::123456789012:user/ada", True),
        ("arn:aws:iam::123456789012:user/ada", "arn:aws:iam::123456789012:user/Ada", False),
        ("arn:aws:iam::123456789012:user/ada", "arn:aws:iam::999999999999:user/ada", False),
        ("arn:aws:iam::123456789012:user/team/ada", "arn:aws:iam::123456789012:user/team/bob", False),
        (f"{ROLE}/ada", f"{ROLE}/bob", True),
        (f"{ROLE}/ada", f"{ROLE}Too/ada", False),
        (f"{ROLE}/ada", ROLE.replace("123456789012", "999999999999") + "/ada", False),
        ("arn:aws-cn:sts::123456789012:assumed-role/A/x", "arn:aws-cn:sts::123456789012:assumed-role/A/y", True),
        ("arn:aws:sts::123456789012:federated-user/ada", "arn:aws:sts::123456789012:federated-user/bob", True),
        ("unsigned caller", "unsigned caller", True),
    ],
)
def test_what_a_caller_can_choose_does_not_make_another(one: str, other: str, *, same: bool) -> None:
    assert (principal_of(one) == principal_of(other)) is same
