"""Codes, prefixes and what they choose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcaliper.errors import UsageError
from torchcaliper.selection import check_codes, is_selected, near_misses, parse_codes

KNOWN = ["A101", "A103", "A104", "O101", "P101"]
codes = st.from_regex(r"[A-Z][0-9]{3}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("A103", ("A103",)), (" a103 , O1,P", ("A103", "O1", "P")), ("A103 O1", ("A103", "O1")), ("", ()), (",,", ())],
)
def test_comma_lists_are_read(text: str, expected: tuple[str, ...]) -> None:
    assert parse_codes(text) == expected


@given(st.text())
def test_any_text_gives_codes_without_separators(text: str) -> None:
    parsed = parse_codes(text)
    assert all(code and "," not in code and not any(c.isspace() for c in code) for code in parsed)
    assert parse_codes(",".join(parsed)) == parsed


@pytest.mark.parametrize("code", ["A103", "A1", "A", "E", "X"])
def test_codes_prefixes_and_stage_letters_are_known(code: str) -> None:
    check_codes([code], "--select", KNOWN)


@pytest.mark.parametrize("code", ["A109", "A1033", "Z", "AO", "103"])
def test_other_codes_are_errors(code: str) -> None:
    with pytest.raises(UsageError, match=r"--select.*'" + code):
        check_codes([code], "--select", KNOWN)


def test_an_error_names_near_codes() -> None:
    with pytest.raises(UsageError, match="near: A10"):
        check_codes(["A109"], "--select", KNOWN)
    assert near_misses("Q", KNOWN) == ""


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ((), (), True),
        (("A",), (), True),
        (("O",), (), False),
        ((), ("A",), False),
        (("A103",), ("A1",), True),
        (("A",), ("A103",), False),
        (("A103",), ("A103",), False),
    ],
)
def test_the_longer_prefix_wins(select: tuple[str, ...], ignore: tuple[str, ...], expected: bool) -> None:
    assert is_selected("A103", select, ignore) is expected


@given(codes, st.lists(codes.flatmap(lambda c: st.sampled_from([c[:1], c[:2], c]))), st.lists(codes))
def test_selection_properties(code: str, select: list[str], ignore: list[str]) -> None:
    assert not is_selected(code, select, [*ignore, code])
    assert is_selected(code, [*select, code], [other for other in ignore if other != code])
    if is_selected(code, select, ignore):
        assert is_selected(code, select, [])
