"""Numbers and strings beyond what the comparison with Python covers."""

import ast
from typing import Any

import pytest
from adiff.parser.errors import AdiffError
from adiff.parser.parse import parse
from adiff.parser.source import Source
from hypothesis import given, settings
from hypothesis import strategies as st


def value(text: str) -> Any:
    return parse(Source(text)).body[0].value.value  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    ["0", "00", "1_000", "0x_1F", "0o17", "0b1", "1.", ".5", "1e300", "1E-3", "2j", "1_0.5e1_0J", "012.5", "0_0"],
)
def test_number(text: str) -> None:
    expected = ast.literal_eval(text)
    assert type(value(text)) is type(expected)
    assert value(text) == expected


def test_whole_number_at_the_limit_of_conversion() -> None:
    assert value("9" * 4300) == 10**4300 - 1
    assert value("0x" + "f" * 100_000) == 16**100_000 - 1
    with pytest.raises(AdiffError) as caught:
        parse(Source("9" * 4301))
    assert caught.value.code == "E0124"


@settings(max_examples=500, deadline=None)
@given(
    st.text("\\'\"nxuUN01789abcdefrt{}é\r\n ", max_size=20),
    st.sampled_from(["'", '"', "'''", '"""']),
    st.sampled_from(["", "r", "u", "b", "Rb"]),
)
def test_string_is_read_as_in_python(body: str, quote: str, prefix: str) -> None:
    import warnings

    text = prefix + quote + body + quote
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = ast.parse(text).body
        except (SyntaxError, ValueError):
            expected = None
    if expected is None:
        with pytest.raises(AdiffError):
            parse(Source(text))
    elif len(expected) == 1 and isinstance(expected[0], ast.Expr) and isinstance(expected[0].value, ast.Constant):
        constant = expected[0].value.value
        assert value(text) == (constant.decode("latin-1") if isinstance(constant, bytes) else constant)
