"""Rule pages on a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from torchcaliper.report.page import render_page

PAGE = """\
Gradients are never cleared.

## What it finds
A step whose gradients hold those of the
step before.

* first item that is long enough to be wrapped onto a second line of the page
* second

## Faulty

```python
for x in loader:
    loss.backward()
```
"""


def test_a_page() -> None:
    assert (
        render_page("A103 name (error)", PAGE, 60, False)
        == """\
A103 name (error)

Gradients are never cleared.

What it finds
A step whose gradients hold those of the step before.

* first item that is long enough to be wrapped onto a second
  line of the page
* second

Faulty

    for x in loader:
        loss.backward()
"""
    )


def test_headings_are_bold_on_a_terminal() -> None:
    assert "\x1b[1mFaulty\x1b[0m" in render_page("title", PAGE, 60, True)


@given(st.text(), st.text())
def test_any_page_is_shown(title: str, page: str) -> None:
    text = render_page(title, page, 80, False)
    assert text.endswith("\n")
    assert "\x1b" not in text
