"""R25: two different sets of arguments never look the same, to the eye or to the ear."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pausepoint.domain.canonical import canonical_json
from pausepoint.http.visible import CHIP_CLOSE, CHIP_OPEN, NEWLINE_MARK, SPACE_MARK
from tests.unit.http.reading import heard, read_arguments_back, rendered, seen
from tests.unit.http.test_visible import TRICKY, texts

scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(texts, inner, max_size=3),
        st.lists(st.dictionaries(st.sampled_from("abc"), scalars, max_size=3), min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@given(st.dictionaries(texts, values, max_size=4))
@example({"a": [{"b": 1, "c": ""}, {"b": None}]})
@example({"long": "line \n" * 40, "list": list(range(40))})
@example({"many": list(range(2001)), "texts": ["a\u200b\n", {"k\u05d0 ": "  "}], "empty": [], "one": "x"})
@example({"deep": [[[[[[{"x": [1, "1", [], {}, ""]}]]]]]]})
def test_r25_the_arguments_can_be_read_back_from_what_is_said(arguments: dict[str, Any]) -> None:
    again = read_arguments_back(heard(rendered(canonical_json(arguments))))
    assert canonical_json(again) == canonical_json(arguments)  # the types of numbers included


INVISIBLE = "\u200b\u200d\u2060\u202e\u2066\xad\ufeff\u3164\u2800\U000e0041\x00\x1b\r\t\xa0\u0301\ufe0f\ue000\U0010ffff"
IMITATIONS = (
    f"a{CHIP_OPEN}U+200B ZERO WIDTH SPACE{CHIP_CLOSE}b",
    f"{CHIP_OPEN}empty text{CHIP_CLOSE}",
    "empty text",
    f"x{NEWLINE_MARK}y",
    f"x{SPACE_MARK}{SPACE_MARK}y",
    f"x {CHIP_OPEN}argument 2{CHIP_CLOSE} path {CHIP_OPEN}text{CHIP_CLOSE} y",
    f"{CHIP_OPEN}number{CHIP_CLOSE} 1",
    f"{CHIP_OPEN}not there{CHIP_CLOSE}",
    "‹list, 1 item› ‹item 1› ‹text› a",
    "<bdi class=chip>‹tab›</bdi>",
    "Not only ASCII: Latin. Look-alikes are possible; the exact text tells.",
    "40 lines, 400 characters: all of it is shown",
    "null",
    "true",
    "1",
    "1.0",
    "[]",
    "{}",
    '{"a": 1}',
)
LETTERS = "ab1. \n-é\u0430\u05d0\u05d1\u0661\u0627" + INVISIBLE


def a_text(chance: random.Random) -> str:
    if chance.random() < 0.2:
        return chance.choice(IMITATIONS)
    return "".join(chance.choice(LETTERS if chance.random() < 0.6 else TRICKY) for _ in range(chance.randint(0, 6)))


def a_value(chance: random.Random, depth: int = 0) -> Any:
    match chance.randrange(9 if depth < 3 else 6):
        case 0:
            return chance.choice([None, True, False])
        case 1:
            return chance.choice([0, 1, 10, -1, 1.0, 0.1, -0.0, 10**20])
        case 6:
            return [a_value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
        case 7:
            return {a_text(chance): a_value(chance, depth + 1) for _ in range(chance.randint(0, 3))}
        case 8:
            return [{key: a_value(chance, 9) for key in "abc" if chance.random() < 0.7} for _ in range(2)]
        case _:
            return a_text(chance)


def another_value(value: Any, chance: random.Random) -> Any:
    """Return something that is easily taken for this value."""
    match value:
        case str():
            at = chance.randint(0, len(value))
            return chance.choice(
                [
                    value[:at] + chance.choice(INVISIBLE) + value[at:],
                    value[:at] + chance.choice(" \n") + value[at:],
                    value[:at] + value[at + 1 :],
                    value[::-1],
                    value + " ",
                    value.replace(" ", "\n"),
                    value.swapcase(),
                    json.dumps(value, ensure_ascii=False),
                    [value],
                    {value: ""},
                    value.replace(NEWLINE_MARK, "\n").replace(SPACE_MARK, " "),
                ]
            )
        case bool() | None:
            return chance.choice([json.dumps(value), None, True, False, 0, ""])
        case int() | float():
            return chance.choice([json.dumps(value), float(value), int(value), -value, [value]])
        case list():
            nearer = (
                [*value, *value[-1:]],
                value[::-1],
                [value],
                value[:-1],
                json.dumps(value),
                dict.fromkeys("a", value),
            )
            return chance.choice(nearer)
        case dict():
            items = list(value.items())
            return chance.choice(
                [
                    items,
                    [value],
                    {key: another_value(item, chance) for key, item in items},
                    {".".join(value): items[0][1]} if items else [],
                    dict(zip(value, reversed(list(value.values())), strict=True)),
                    dict(items[:-1]),
                    json.dumps(value, ensure_ascii=False),
                ]
            )
        case _:
            raise AssertionError(value)


def near(arguments: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return arguments that differ from these in one place, as little as an attacker could want."""
    other = copy.deepcopy(arguments)
    name = chance.choice(list(other))
    match chance.randrange(4):
        case 0:
            value = other.pop(name)
            return {str(another_value(name, chance)): value} | other
        case 1 if isinstance(other[name], dict):
            return {f"{name}.{key}": item for key, item in other.pop(name).items()} | other
        case 2:
            return {name: [*other.values()]}
        case _:
            return other | {name: another_value(other[name], chance)}


def far(_: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    return some_arguments(chance)


def some_arguments(chance: random.Random) -> dict[str, Any]:
    return {a_text(chance): a_value(chance) for _ in range(chance.randint(1, 3))}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("count", "other_of"), [(900, near), (100, far)], ids=["near", "far"])
def test_r25_ten_thousand_pairs_of_different_arguments_never_look_or_sound_the_same(
    seed: int, count: int, other_of: Callable[[dict[str, Any], random.Random], dict[str, Any]]
) -> None:
    chance = random.Random(f"{seed} {other_of.__name__}")
    pairs = 0
    while pairs < count:
        one = some_arguments(chance)
        other = other_of(one, chance)
        if (first := canonical_json(one)) == (second := canonical_json(other)):
            continue
        pairs += 1
        shown = rendered(first), rendered(second)
        assert heard(shown[0]) != heard(shown[1]), (one, other)
        assert seen(shown[0]) != seen(shown[1]), (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a.b": 1}, {"a": {"b": 1}}),
        ({"a": "1"}, {"a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 0.0}, {"a": -0.0}),
        ({"a": "null"}, {"a": None}),
        ({"a": "true"}, {"a": True}),
        ({"a": ""}, {"a": []}),
        ({"a": []}, {"a": {}}),
        ({"a": []}, {"a": [[]]}),
        ({"a": "[]"}, {"a": []}),
        ({"a": ["b"]}, {"a": {"b": ""}}),
        ({"a": ["b", "c"]}, {"a": ["b c"]}),
        ({"a": [["b"], "c"]}, {"a": [["b", "c"]]}),
        ({"a": {"b": {"c": 1}, "d": 2}}, {"a": {"b": {"c": 1, "d": 2}}}),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1, "c": 2}, {}]}),
        ({"a": [{"b": ""}]}, {"a": [{"b": None}]}),
        ({"a": [{"b": 1}, {}]}, {"a": [{"b": 1}, {"b": "not there"}]}),
        ({"a": {"1": "x"}}, {"a": ["x"]}),
        ({"a": "x", "b": "y"}, {"a": "x b text y"}),
        ({"a": "x b", "c": "y"}, {"a": "x", "b c": "y"}),
        ({"a": "x"}, {"a": "x\u200b"}),
        ({"a": "x"}, {"a": "x "}),
        ({"a": "x\ny"}, {"a": "x y"}),
        ({"a": "x\n\ny"}, {"a": "x\n \ny"}),
        ({"a": "\u05d01"}, {"a": "1\u05d0"}),
        ({"a": "é"}, {"a": "e\u0301"}),
        ({"a": "x" * 2000}, {"a": "x" * 2001}),
    ],
)
def test_r25_what_is_easily_mistaken_differs(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = rendered(canonical_json(one)), rendered(canonical_json(other))
    assert heard(first) != heard(second)
    assert seen(first) != seen(second)
