"""A look as a table: the user's lines, and under each the operators that it called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from torchcaliper.looking.record import Look, Row, Value
from torchcaliper.report.bytes import size
from torchcaliper.report.layout import Style, columns, cut, printable, styled
from torchcaliper.report.terminal import clamped
from torchcaliper.report.wording import number, shown_path
from torchcaliper.source_text import source_line


def render(look: Look, width: int, colour: bool) -> str:
    """The table, with a line end."""
    width = clamped(width)
    lines = []
    for (path, line), rows in groupby(look.rows, key=lambda row: (row.path, row.line)):
        place = f"{printable(shown_path(path, look.cwd))}:{line}" if path else "(no line of yours)"
        code = cut(printable(source_line(path, line).strip()), max(width - columns(place) - 3, 20)) if path else ""
        lines.append(f"{styled(place, Style.BOLD, colour)}   {code}".rstrip())
        lines += _operators(list(rows), width)
    if look.rows:
        backward = sum(row.backward_seconds or 0.0 for row in look.rows)
        total = [
            number(len(look.rows), "operator"),
            f"{size(look.allocated)} allocated",
            f"{sum(row.seconds for row in look.rows) * 1e3:.2f} ms in them",
        ]
        if backward:
            total.append(f"{backward * 1e3:.2f} ms in their backward")
        lines.append(f"{look.what}: {', '.join(total)}")
    else:
        lines.append(f"{look.what}: {look.note or 'no operator was called'}")
    return "\n".join(lines) + "\n"


def _operators(rows: Sequence[Row], width: int) -> Iterator[str]:
    """Operators of one line; those that repeat are counted."""
    for cells, same in groupby(rows, key=_cells):
        several = list(same)
        times = f" x{len(several)}" if len(several) > 1 else ""
        milliseconds = sum(row.seconds for row in several) * 1e3
        backward = [row.backward_seconds for row in several if row.backward_seconds is not None]
        time = f"{milliseconds:.2f} ms" + (f", back {sum(backward) * 1e3:.2f} ms" if backward else "")
        operator, flow, memory, node = cells
        text = f"    {operator + times:<14} {flow}"
        tail = "  ".join(part for part in (memory, node, time) if part)
        if columns(text) + 2 + columns(tail) <= width:
            yield f"{text}  {tail}"
        else:
            yield cut(text, width)
            yield cut(f"      {tail}", width)


def _cells(row: Row) -> tuple[str, str, str, str]:
    outputs = ", ".join(_value(v, row) for v in row.outputs[:3]) or "a value"
    if len(row.outputs) > 3:
        outputs += f" and {len(row.outputs) - 3} more"
    inputs = " ".join(str(v.shape) for v in row.inputs[:4])
    memory = size(row.bytes) if row.memory == "new" else row.memory
    return row.operator, f"{inputs} -> {outputs}".strip(), memory, row.grad_fn


def _value(value: Value, row: Row) -> str:
    known = row.inputs[0] if row.inputs else None
    text = str(value.shape)
    if known is None or known.dtype != value.dtype:
        text += f" {value.dtype}"
    if known is None or known.device != value.device:
        text += f" {value.device}"
    if not value.contiguous:
        text += f" strides {value.strides}"
    return text
