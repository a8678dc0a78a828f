"""From the bytes of a file to the text that Python sees."""

from __future__ import annotations

import codecs
import io
import tokenize


class Unreadable(Exception):
    """A file that Python cannot read either; the message is one line, `line` where the trouble is (0: unknown)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def decode(content: bytes) -> str:
    """The text of a Python file: its byte-order mark and its coding comment are honoured, line ends are `\\n`.

    Unreadable where Python would refuse it: null bytes, an unknown encoding, bytes that do not fit the encoding.
    """
    if b"\0" in content:
        raise Unreadable("the file holds null bytes", content[: content.index(b"\0")].count(b"\n") + 1)
    encoding = "utf-8"
    head = content[:400]
    if head.startswith(codecs.BOM_UTF8) or b"coding" in head:
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        except SyntaxError as error:
            raise Unreadable(str(error), 1) from None
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        start = getattr(error, "start", 0)
        raise Unreadable(f"not valid {encoding}: {error}", content[:start].count(b"\n") + 1) from None
    except ValueError as error:
        # Codecs that are no text encodings (`# coding: hex`) raise whatever they like.
        raise Unreadable(f"cannot be decoded as {encoding}: {error}", 1) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
