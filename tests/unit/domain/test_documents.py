"""Documents: what they hold survives being stored, and what they do not know is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any, Literal

import pytest

from pausepoint.domain.documents import Document
from pausepoint.domain.fields import Malformed, moment_text

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


class Colour(StrEnum):
    RED = "red"


class Leaf(Document):
    type: Literal["leaf"] = "leaf"
    colour: Colour = Colour.RED


class Bud(Document):
    type: Literal["bud"] = "bud"
    opens: datetime | None = None


class Tree(Document):
    name: str
    age: int
    evergreen: bool = False
    planted: datetime
    kind: Literal["oak", "fir"] = "oak"
    leaves: tuple[Leaf, ...] = ()
    parts: tuple[Leaf | Bud, ...] = ()
    notes: dict[str, Any]
    anything: Any = None


STORED: dict[str, Any] = {
    "name": "Old oak",
    "age": 120,
    "evergreen": False,
    "planted": "1906-11-29T12:00:00.000000Z",
    "kind": "oak",
    "leaves": [{"type": "leaf", "colour": "red"}],
    "parts": [{"type": "bud", "opens": "2026-11-29T12:00:00.000000Z"}, {"type": "leaf", "colour": "red"}],
    "notes": {"height": 21.5, "where": None},
    "anything": [1, "two"],
}


def test_what_is_dumped_is_loaded_again() -> None:
    tree = Tree.load(STORED)

    assert tree.parts == (Bud(opens=NOON), Leaf())
    assert tree.leaves[0].colour is Colour.RED
    assert tree.dump() == STORED
    assert Tree.load(tree.dump()) == tree


def test_what_is_none_stays_away() -> None:
    assert Bud().dump() == {"type": "bud"}
    assert Bud.load({"type": "bud", "opens": None}) == Bud()


def test_parts_can_be_left_out() -> None:
    assert "notes" not in Tree.load(STORED).dump(without={"notes"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"height": 3}, "Tree: 'height' is not known"),
        ({"name": 3}, "Tree.name: int is not str"),
        ({"name": None}, "Tree.name: NoneType is not str"),
        ({"age": "120"}, "Tree.age: str is not int"),
        ({"age": True}, "Tree.age: bool is not int"),
        ({"age": 1.0}, "Tree.age: float is not int"),
        ({"evergreen": 1}, "Tree.evergreen: int is not bool"),
        ({"planted": "yesterday"}, "Tree.planted: Invalid isoformat string: 'yesterday'"),
        ({"planted": "1906-11-29T12:00:00"}, "Tree.planted: '1906-11-29T12:00:00' has no time zone"),
        ({"kind": "elm"}, "Tree.kind: 'elm' is not one of fir, oak"),
        ({"kind": ["oak"]}, "Tree.kind: ['oak'] is not one of fir, oak"),
        ({"leaves": {}}, "Tree.leaves: dict is not list"),
        ({"leaves": ["leaf"]}, "Tree.leaves: Leaf: str is not an object"),
        ({"leaves": [{"colour": "blue"}]}, "Tree.leaves: Leaf.colour: 'blue' is not a valid Colour"),
        ({"parts": [{"type": "root"}]}, "Tree.parts: the type 'root' is not known"),
        ({"parts": [{"type": []}]}, "Tree.parts: the type [] is not known"),
        ({"notes": []}, "Tree.notes: list is not dict"),
    ],
)
def test_case_47_what_does_not_fit_is_refused_by_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(Malformed) as refused:
        Tree.load({**STORED, **change})

    assert str(refused.value) == said


def test_case_47_what_is_missing_is_refused_by_its_name() -> None:
    with pytest.raises(Malformed, match="Tree: 'age' is missing"):
        Tree.load({name: value for name, value in STORED.items() if name != "age"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": None}, "Tree.name: NoneType is not str"),
        ({"name": b"oak"}, "Tree.name: bytes is not str"),
        ({"age": "120"}, "Tree.age: str is not int"),
        ({"age": True}, "Tree.age: bool is not int"),
        ({"planted": "1906"}, "Tree.planted: '1906' is not a moment with a time zone"),
        ({"planted": datetime(1906, 1, 1)}, "Tree.planted: datetime.datetime(1906, 1, 1, 0, 0) is not a moment"),  # noqa: DTZ001
        ({"kind": "elm"}, "Tree.kind: 'elm' is not one of fir, oak"),
        ({"leaves": [Leaf()]}, "Tree.leaves: list is not tuple"),
        ({"leaves": (Bud(),)}, "Tree.leaves: Bud is not Leaf"),
        ({"leaves": (Leaf(colour="blue"),)}, "Tree.leaves: Leaf.colour: 'blue' is not a valid Colour"),  # type: ignore[arg-type]
        ({"parts": ("leaf",)}, "Tree.parts: str is not Leaf or Bud"),
        ({"notes": None}, "Tree.notes: NoneType is not dict"),
    ],
)
def test_what_could_not_be_loaded_is_not_dumped(change: dict[str, Any], said: str) -> None:
    with pytest.raises(Malformed) as refused:
        replace(Tree.load(STORED), **change).dump()

    assert str(refused.value).startswith(said)


def test_a_document_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Leaf().colour = Colour.RED  # type: ignore[misc]


def test_documents_are_equal_by_what_they_say_and_by_their_kind() -> None:
    class Needle(Leaf):
        pass

    assert Leaf() == Leaf()
    assert hash(Leaf()) == hash(Leaf())
    assert Leaf() != Bud()
    assert Leaf() != Needle()
    assert repr(Leaf()) == "Leaf(type='leaf', colour=<Colour.RED: 'red'>)"


@pytest.mark.parametrize("year", [1, 999, 2026, 9999])
def test_the_order_of_texts_is_the_order_of_moments(year: int) -> None:
    moment = datetime(year, 6, 1, 12, tzinfo=UTC)
    texts = [moment_text(moment + timedelta(microseconds=step)) for step in (-1, 0, 1)]

    assert texts == sorted(texts)
    assert len({len(text) for text in texts}) == 1
    assert moment_text(moment.astimezone(timezone(timedelta(hours=5)))) == texts[1]
