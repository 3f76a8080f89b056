"""Read a page's arguments the way people do: from what is shown, never from the HTML's bytes."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any, Final

from pausepoint.http.parts import shown_arguments
from pausepoint.http.templating import _environment
from pausepoint.http.visible import CHIP_CLOSE, CHIP_OPEN, NEWLINE_MARK, SPACE_MARK, TIMES

_ARGUMENTS: Any = vars(_environment().get_template("parts.html").module)["arguments"]
_PARTS: Final = frozenset({"dt", "dd", "li", "ul", "table", "tr", "td", "th", "summary", "details", "p", "div"})
_SAID: Final = re.compile(
    r"(argument|key|item|column) \d+|text(, [\d,]+ lines)?|number|true/false|no value|not there|look at this first"
    r"|(list|object), [\d,]+ (item|key)s?(, as JSON)?|[\d,]+ lines?, [\d,]+ characters: .*|Not only ASCII: .*",
    re.DOTALL,
)
_NOISE: Final = re.compile(r"[\d,]+ lines?, [\d,]+ characters: .*|Not only ASCII: .*|look at this first", re.DOTALL)


def rendered(canonical: str, *highlight: str) -> str:
    """Return the HTML of the table of arguments."""
    source = str(_ARGUMENTS(shown_arguments("Arguments", canonical, "0" * 64, highlight), "arguments"))
    start = source.find('<dl class="arguments">')
    return source[start : source.index("</dl>", start)] if start >= 0 else ""


class _Reader(HTMLParser):
    """The text of HTML with `|` where one part ends and another begins; blanks as a browser shows them."""

    def __init__(self, source: str, *, unseen: bool) -> None:
        super().__init__()
        self._unseen, self._hidden = unseen, 0
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden or (not self._unseen and dict(attrs).get("class") == "unseen"):
            self._hidden += 1
        if tag in _PARTS and not self._unseen:
            self.text += f"<{tag}>"

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - 1)
        if tag in _PARTS and not self._unseen:
            self.text += f"</{tag}>"

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text += data


def heard(source: str) -> str:
    """Return all that is said, in its order: what a screen reader speaks, or what copying gives."""
    return " ".join(_Reader(source, unseen=True).text.split())


def seen(source: str) -> str:
    """Return what is on the screen: without what is only heard, with the borders of cells and the indentation."""
    return " ".join(_Reader(source, unseen=False).text.split())


def read_back(shown: str) -> str:
    """Read the original text out of what is shown: if this can be done, no two texts look the same."""
    token = f"{CHIP_OPEN}([^{CHIP_CLOSE}]*){CHIP_CLOSE}|(\n)|(.)"
    signs = {NEWLINE_MARK: "\n", SPACE_MARK: " "}
    return "".join(
        _read_chip(chip) if chip else "" if layout else signs.get(char, char)
        for chip, layout, char in re.findall(token, shown, re.DOTALL)
    )


def read_arguments_back(spoken: str) -> dict[str, Any]:
    """Read the arguments out of what is said of them."""
    reader = _Tokens(spoken)
    values: dict[str, Any] = {}
    while reader.tokens:
        reader.expect(f"argument {len(values) + 1}")
        name = reader.text()
        assert name not in values
        values[name] = reader.value()
    return values


class _Tokens:
    def __init__(self, spoken: str) -> None:
        self.tokens: list[tuple[bool, str]] = []
        for chip, text in re.findall(f"{CHIP_OPEN}([^{CHIP_CLOSE}]*){CHIP_CLOSE}|([^{CHIP_OPEN}]+)", spoken):
            if chip and _SAID.fullmatch(chip):
                if not _NOISE.fullmatch(chip):
                    self.tokens.append((True, chip))
                continue
            piece = f"{CHIP_OPEN}{chip}{CHIP_CLOSE}" if chip else text
            if self.tokens and not self.tokens[-1][0]:
                piece = self.tokens.pop()[1] + piece
            self.tokens.append((False, piece))
        self.tokens = [token for token in self.tokens if token[0] or token[1].strip()]

    def expect(self, label: str) -> None:
        assert self.tokens.pop(0) == (True, label)

    def text(self) -> str:
        said, piece = self.tokens.pop(0)
        assert not said, piece
        # Beside a mark or a chip only the page's own white space is left bare.
        signs = f"[{NEWLINE_MARK}{SPACE_MARK}{CHIP_CLOSE}]"
        piece = re.sub(f"(?<={signs}) | (?=[{NEWLINE_MARK}{SPACE_MARK}{CHIP_OPEN}])", "", piece.strip())
        return "" if piece == f"{CHIP_OPEN}empty text{CHIP_CLOSE}" else read_back(piece)

    def value(self) -> Any:
        said, kind = self.tokens.pop(0)
        assert said, kind
        if kind.endswith(", as JSON"):
            return json.loads(self.text())
        count = int(re.sub(r"\D", "", kind) or 0)
        if kind.startswith("text"):
            return self.text()
        if kind.startswith("object"):
            return {self.key(number): self.value() for number in range(1, count + 1)} if count else self.empty({})
        if kind.startswith("list"):
            return (
                (self.grid(count) if self.tokens[0][1] == "column 1" else self.items(count))
                if count
                else self.empty([])
            )
        return json.loads(self.tokens.pop(0)[1])

    def key(self, number: int) -> str:
        self.expect(f"key {number}")
        return self.text()

    def items(self, count: int) -> list[Any]:
        found = []
        for number in range(1, count + 1):
            self.expect(f"item {number}")
            found.append(self.value())
        return found

    def grid(self, count: int) -> list[Any]:
        columns: list[str] = []
        while self.tokens[0] == (True, f"column {len(columns) + 1}"):
            self.tokens.pop(0)
            columns.append(self.text())
        found = []
        for number in range(1, count + 1):
            self.expect(f"item {number}")
            found.append({column: self.value() for column in columns if not self.missing()})
        return found

    def missing(self) -> bool:
        if self.tokens[0] != (True, "not there"):
            return False
        self.tokens.pop(0)
        return True

    def empty(self, value: Any) -> Any:
        assert self.tokens.pop(0)[1].strip() == f"{CHIP_OPEN}empty {'list' if value == [] else 'object'}{CHIP_CLOSE}"
        return value


def _read_chip(label: str) -> str:
    if label == "empty text":
        return ""
    if listed := re.fullmatch(r"\d+ special characters: (.*)", label):
        return "".join(_read_chip(part) for part in listed[1].split(", "))
    match = re.fullmatch(rf"(?:{TIMES}(\d+) )?(?:U\+([0-9A-F]+)(?: .+)?|(.+))", label)
    assert match, label
    blanks = {"tab": "\t", "tabs": "\t", "spaces": " ", "blank lines": "\n", "line breaks": "\n"}
    char = chr(int(match[2], 16)) if match[2] else blanks[match[3]]
    return char * int(match[1] or 1)
