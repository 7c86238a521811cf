"""Integers of 32 and 64 bits that wrap around are told."""

import pytest
from adiff import program

WRAPPED = [
    ("array([2**63-1]) + 1", True),
    ("array([-2**63]) - 1", True),
    ("array([2**63-1]) - 1", False),
    ("array([2**62]) * 2", True),
    ("array([-2**62]) * 2", False),
    ("array([2]) ** 64", True),
    ("array([2, -3]) ** 39", False),
    ("sum(array([2**62, 2**62]))", True),
    ("sum(array([2**62, -2**62]))", False),
    ("array([3, 5]).prod()", False),
    ("prod(range(1, 30))", True),
    ("int32([2**30]) + int32([2**30])", True),
    ("int32([2**30]) + int32([2**29])", False),
    ("cumprod(array([10] * 19))", True),
    ("cumprod(array([10] * 18))", False),
    ("cumsum(array([2**62, 2**62]))", True),
    ("arange(10) * 3", False),
]


@pytest.mark.parametrize(("text", "wraps"), WRAPPED, ids=[text for text, _ in WRAPPED])
def test_integers_that_wrap_around_are_told(text: str, wraps: bool) -> None:
    notices = program(text).evaluate("value").notices
    assert [notice.code for notice in notices] == (["N0302"] if wraps else [])
