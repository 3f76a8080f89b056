"""Untrusted text made visible: what would not show, or would change how the rest reads, is named.

Nothing is stripped and nothing is cut (R25, R26). The text becomes segments from which it can be
read back exactly: the brackets of the chips and the two marks never stand for themselves, so no text can
imitate them, and two different texts never look the same. Look-alike letters are beyond this;
`beyond_ascii` tells of them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

NEWLINE_MARK: Final = "⏎"
SPACE_MARK: Final = "␣"
CHIP_OPEN: Final = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
CHIP_CLOSE: Final = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
TIMES: Final = "\N{MULTIPLICATION SIGN}"

MAX_MARKS: Final = 4
"""Combining marks on one letter that still read as writing; Burmese has four, a pile has dozens."""
MAX_SPACES: Final = 8
"""Spaces in a row that are marked one by one (an indentation); longer runs are counted."""
MAX_LINE_BREAKS: Final = 2
"""Line breaks in a row that stay as they are (one blank line); longer runs are counted."""
MAX_NAMED: Final = 4
"""Different hidden characters in a row that are named one by one; more are listed in one chip."""

_RESERVED: Final = frozenset({NEWLINE_MARK, SPACE_MARK, CHIP_OPEN, CHIP_CLOSE})
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
# Characters whose category says "letter", "mark" or "symbol" although nothing shows: the rest of
# Unicode's Default_Ignorable_Code_Point, blank glyphs, and stand-ins. Single jamo are here since
# they join to the very syllables that have code points of their own.
_HIDDEN_RANGES: Final = (
    (0x0334, 0x0338),  # strokes through a letter: what they strike out looks taken back
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x1100, 0x11FF),  # jamo, with two fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x20D0, 0x20FF),  # strokes and rings for symbols
    (0x2800, 0x2800),  # Braille blank
    (0x3164, 0x3164),  # Hangul filler
    (0xA960, 0xA97F),  # jamo
    (0xD7B0, 0xD7FF),  # jamo
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xFFFC, 0xFFFD),  # object replacement, replacement
    (0x1107F, 0x1107F),  # Brahmi number joiner
    (0x16FE4, 0x16FE4),  # Khitan filler
    (0x1D159, 0x1D159),  # musical null notehead
    (0x1F1E6, 0x1F1FF),  # letters that make flags, of which several look the same
    (0xE0100, 0xE01EF),  # variation selectors
)
_C0_NAMES: Final = (
    *("NULL", "START OF HEADING", "START OF TEXT", "END OF TEXT", "END OF TRANSMISSION", "ENQUIRY"),
    *("ACKNOWLEDGE", "BELL", "BACKSPACE", "TAB", "LINE FEED", "LINE TABULATION", "FORM FEED"),
    *("CARRIAGE RETURN", "SHIFT OUT", "SHIFT IN", "DATA LINK ESCAPE", "DEVICE CONTROL ONE"),
    *("DEVICE CONTROL TWO", "DEVICE CONTROL THREE", "DEVICE CONTROL FOUR", "NEGATIVE ACKNOWLEDGE"),
    *("SYNCHRONOUS IDLE", "END OF TRANSMISSION BLOCK", "CANCEL", "END OF MEDIUM", "SUBSTITUTE"),
    *("ESCAPE", "FILE SEPARATOR", "GROUP SEPARATOR", "RECORD SEPARATOR", "UNIT SEPARATOR"),
)
_CATEGORY_NAMES: Final = {"Cs": "SURROGATE", "Co": "PRIVATE USE", "Cn": "UNASSIGNED"}

Kind = Literal["plain", "rtl", "chip", "mark", "layout"]


class Segment(NamedTuple):
    """A piece of shown text.

    `plain` stands for itself; `rtl` too, and is written from right to left; `chip` is a name in a box; `mark`
    is a sign for one blank or line break each; `layout` is white space of the page's own, which says nothing
    about the text.
    """

    kind: Kind
    text: str


def visible(text: str) -> list[Segment]:
    """Return the text as segments in which every character can be seen; empty text is a chip."""
    if not text:
        return [Segment("chip", "empty text")]
    return list(_segments(text, _kinds(text)))


def flat(segments: list[Segment]) -> str:
    """Return segments as one line without markup, for a title."""
    return "".join(
        f"{CHIP_OPEN}{text}{CHIP_CLOSE}" if kind == "chip" else text for kind, text in segments if kind != "layout"
    )


def ascii_escaped(text: str) -> str:
    r"""Return the text with everything outside printable ASCII as `\uXXXX`, as JSON writes it.

    Spaces in a row are escaped too: at the end of a line they would not show. A canonical JSON text stays
    the same JSON value: outside its strings it has no blanks and only ASCII.
    """
    return re.sub(r" {2,}|[^ -~]", _escape, text)


def beyond_ascii(text: str) -> list[str]:
    """Return the scripts, and "symbols", of what is not ASCII and yet shown as it is."""
    shown = {char for char, kind in zip(text, _kinds(text), strict=True) if kind == "plain"}
    return sorted({_script(char) for char in shown if not char.isascii()})


def right_to_left(text: str) -> bool:
    """Say whether the text has letters that are written from right to left."""
    return any(unicodedata.bidirectional(char) in {"R", "AL", "AN"} for char in text)


def _kinds(text: str) -> list[str]:
    """Say of each character how it is shown: `plain`, `blank` (space, line break) or `hidden`."""
    kinds = ["blank" if char in " \n" else "hidden" if _hidden(char) else "plain" for char in text]
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and kinds[end] == "plain" and _combines(text[end]):
            end += 1
        if not _reads_well(text[start:end], kinds[start]):
            first = start if _combines(text[start]) else start + 1
            kinds[first:end] = ["hidden"] * (end - first)
        start = end
    return kinds


def _hidden(char: str) -> bool:
    if " " <= char <= "~":
        return False
    code = ord(char)
    return (
        char in _RESERVED
        or unicodedata.category(char) in _HIDDEN_CATEGORIES
        or any(first <= code <= last for first, last in _HIDDEN_RANGES)
        or unicodedata.normalize("NFC", char) != char  # a second code point for the same letter
    )


def _combines(char: str) -> bool:
    return char > "~" and unicodedata.category(char).startswith("M")


def _reads_well(cluster: str, kind: str) -> bool:
    """Say whether the marks on a character may stay: few, on a letter, and not hidden in it.

    A letter with a mark that also exists as one character would look just like that one.
    """
    if len(cluster) == 1 and not _combines(cluster):
        return True
    return (
        kind == "plain"
        and unicodedata.category(cluster[0]).startswith("L")
        and len(cluster) <= 1 + MAX_MARKS
        and unicodedata.is_normalized("NFC", cluster)
    )


def _segments(text: str, kinds: list[str]) -> Iterator[Segment]:
    # One space between two characters that show is plain: it is the only blank nobody can miss.
    shown = ["plain", "blank", "plain"]
    for index in range(1, len(text) - 1):
        if text[index] == " " and kinds[index - 1 : index + 2] == shown:
            kinds[index] = "gap"
    position = 0
    for kind, run in groupby(kinds, lambda kind: "plain" if kind == "gap" else kind):
        end = position + len(list(run))
        piece = text[position:end]
        match kind:
            case "plain":
                yield from _directed(piece)
            case "blank":
                yield from _blanks(piece)
            case _:
                yield from _chips(piece)
        position = end


def _directed(piece: str) -> Iterator[Segment]:
    """Set apart what is written from right to left.

    The page isolates each such piece in a line that goes from left to right. Left to themselves, numbers and
    punctuation would change places with the words beside them, and two different texts could look the same.
    A piece holds letters of one direction only, so on the screen it is its letters in reverse, and nothing else.
    """
    directions = ["ltr"] * len(piece)
    if not piece.isascii():
        for index, char in enumerate(piece):
            match unicodedata.bidirectional(char):
                case "R" | "AL":
                    directions[index] = "rtl"
                case "AN":
                    directions[index] = "digits"
                case "NSM" if index:
                    directions[index] = directions[index - 1]
                case _:
                    pass
    for index in range(1, len(piece) - 1):
        if piece[index] == " " and directions[index - 1] == directions[index + 1] == "rtl":
            directions[index] = "rtl"
    position = 0
    for direction, run in groupby(directions):
        end = position + len(list(run))
        yield Segment("plain" if direction == "ltr" else "rtl", piece[position:end])
        position = end


def _blanks(piece: str) -> Iterator[Segment]:
    breaks = piece.count("\n")
    if breaks > MAX_LINE_BREAKS and breaks == len(piece):
        yield from _line_break()
        yield Segment("chip", f"{TIMES}{breaks - 1} blank lines")
        yield Segment("layout", "\n")
        return
    # Many lines of spaces are written in a row, so that they cannot push the rest out of sight.
    crowded = breaks > MAX_LINE_BREAKS
    for char, run in groupby(piece):
        count = len(list(run))
        if char == " ":
            many = count > MAX_SPACES
            yield (Segment("chip", f"{TIMES}{count} spaces") if many else Segment("mark", SPACE_MARK * count))
        elif crowded:
            many = count > MAX_LINE_BREAKS
            yield (Segment("chip", f"{TIMES}{count} line breaks") if many else Segment("mark", NEWLINE_MARK * count))
        else:
            for _ in range(count):
                yield from _line_break()
    if crowded:
        yield Segment("layout", "\n")


def _line_break() -> Iterator[Segment]:
    yield Segment("mark", NEWLINE_MARK)
    yield Segment("layout", "\n")


def _chips(piece: str) -> Iterator[Segment]:
    runs = [(char, len(list(run))) for char, run in groupby(piece)]
    if len(runs) > MAX_NAMED:
        listed = ", ".join(_counted(f"U+{ord(char):04X}", count) for char, count in runs)
        yield Segment("chip", f"{len(piece)} special characters: {listed}")
        return
    for char, count in runs:
        if char == "\t":
            yield Segment("chip", f"{TIMES}{count} tabs" if count > 1 else "tab")
        else:
            yield Segment("chip", _counted(f"U+{ord(char):04X} {_name(char)}", count))


def _counted(label: str, count: int) -> str:
    return f"{TIMES}{count} {label}" if count > 1 else label


def _name(char: str) -> str:
    code = ord(char)
    if code < len(_C0_NAMES):
        return _C0_NAMES[code]
    fallback = _CATEGORY_NAMES.get(unicodedata.category(char), "CONTROL")
    return unicodedata.name(char, {0x7F: "DELETE", 0x85: "NEXT LINE"}.get(code, fallback))


def _script(char: str) -> str:
    if unicodedata.category(char)[0] not in "LMN":
        return "symbols"
    word = unicodedata.name(char, "symbols").split()[0]
    return word if word == "CJK" else word.capitalize()


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
