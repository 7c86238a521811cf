"""Kinds of option values."""

import pytest
from adiff.cli import values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1", 1),
        ("1000", 1000),
        ("10k", 10 * 1024),
        ("500M", 500 * 2**20),
        ("500m", 500 * 2**20),
        ("500MB", 500 * 10**6),
        ("500MiB", 500 * 2**20),
        ("2 GiB", 2**31),
        ("1.5G", 3 * 2**29),
        ("3TB", 3 * 10**12),
        ("64b", 64),
        ("1_000", 1000),
    ],
)
def test_sizes(text: str, found: int) -> None:
    assert values.size(text) == found


@pytest.mark.parametrize("text", ["", "M", "-1", "0", "1X", "1e", "nan", "inf", "1 2", "ten", "9e99", "1MMM"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        values.size(text)


@pytest.mark.parametrize(("text", "found"), [("0", 0), ("12", 12), ("1e6", 10**6), ("10_000", 10_000), (" 7 ", 7)])
def test_counts(text: str, found: int) -> None:
    assert values.count(text) == found


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "nan", "inf", "1e400", "0x10", "²", "1e19"])
def test_what_is_no_count(text: str) -> None:
    with pytest.raises(ValueError, match="is not a whole number"):
        values.count(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "soon", "1s"])
def test_what_is_no_number_of_seconds(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number of seconds"):
        values.seconds(text)


def test_names() -> None:
    assert values.names("x, y,z") == ["x", "y", "z"]
    for wrong in ("", "x,", "2x", "x y", "x=1"):
        with pytest.raises(ValueError, match="is not a name"):
            values.names(wrong)
