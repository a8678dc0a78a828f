"""A rule's page (Markdown from its docstring) on a terminal."""

from __future__ import annotations

import re

from torchcaliper.report.layout import Style, printable, styled, wrapped

_ITEM = re.compile(r"(\s*(?:[*-]|\d+\.)\s+)(.*)")


def render_page(title: str, markdown: str, width: int, colour: bool) -> str:
    """The page with a line end: headings bold, paragraphs and list items wrapped, code as it is, indented."""
    lines = [styled(printable(title), Style.BOLD, colour), ""]
    prose: list[str] = []  # source lines of the paragraph or list item being read
    fenced = False

    def close() -> None:
        if prose:
            item = _ITEM.match(prose[0])
            mark = item[1] if item else ""
            words = " ".join([item[2] if item else prose[0], *prose[1:]])
            lines.extend(wrapped(words, width, mark, " " * len(mark)))
            prose.clear()

    for line in markdown.splitlines():
        if line.lstrip().startswith("```"):
            close()
            fenced = not fenced
        elif fenced or (line.startswith("    ") and not prose):
            lines.append(printable(f"    {line}" if fenced else line).rstrip())
        elif line.startswith("#"):
            close()
            lines.append(styled(printable(line.lstrip("#").strip()), Style.BOLD, colour))
        elif not line.strip():
            close()
            lines.append("")
        else:
            if _ITEM.match(line):
                close()
            prose.append(line if not prose else line.strip())
    close()
    return "\n".join(lines).rstrip() + "\n"
