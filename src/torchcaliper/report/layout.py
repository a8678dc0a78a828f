"""Text on a terminal: display width, wrapping, colour."""

from __future__ import annotations

import enum
import unicodedata


class Style(enum.Enum):
    """A look, as the parameters of an ANSI escape sequence."""

    BOLD = "1"
    DIM = "2"
    RED = "1;31"
    YELLOW = "1;33"
    GREEN = "32"
    CYAN = "36"


def styled(text: str, style: Style, colour: bool) -> str:
    """`text` in a style, or as it is without colour."""
    return f"\x1b[{style.value}m{text}\x1b[0m" if colour and text else text


def printable(text: str) -> str:
    """`text` with tabs as four spaces, and whatever could steer a terminal as a question mark."""
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character == "\t":
        return "    "
    if character.isprintable():
        return character
    return " " if character.isspace() else "?"


def columns(text: str) -> int:
    """How many columns printable text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """The lines of `text`, broken between words only; `first` begins the first line and `rest` every other one."""
    lines, line, empty = [], first, True
    for word in printable(text).split():
        joined = line + word if empty else f"{line} {word}"
        if not empty and columns(joined) > width:
            lines.append(line)
            joined = rest + word
        line, empty = joined, False
    return [*lines, line]


def cut(text: str, width: int) -> str:
    """`text`, ended with `...` where it is wider than `width`."""
    if columns(text) <= width:
        return text
    while text and columns(text) > width - 3:
        text = text[:-1]
    return text + "..."
