"""Values as text in each format, held against Python's own readers."""

import csv
import io
import json
import math
from typing import Any

import numpy
import pytest
from adiff.cli.formats import delimited
from adiff.cli.formats.json import dumps
from adiff.cli.formats.numbers import is_float32, scalar_text, shortest, value_text
from adiff.cli.result import Result
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays


def strict(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float32_text_is_the_shortest_that_reads_back(number: float) -> None:
    text = shortest(number)
    assert numpy.float32(text) == numpy.float32(number)
    digits = len(text.partition("e")[0].replace("-", "").replace(".", "").strip("0"))
    assert digits <= 9
    for fewer in range(1, digits):
        assert numpy.float32(f"{number:.{fewer}g}") != numpy.float32(number)


@given(st.floats(allow_nan=False))
def test_floats_read_back(number: float) -> None:
    assert float(value_text(number)) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4, "4"),
        (4.0, "4.0"),
        (True, "True"),
        (None, "None"),
        (1e300, "1e+300"),
        (1e16, "1e+16"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (1 + 2j, "(1+2j)"),
        ("hello", "hello"),
        (["hello"], "['hello']"),
        ([1, 2.5], "[1, 2.5]"),
        ((1.0,), "(1.0,)"),
        ({"a": [1.0]}, "{'a': [1.0]}"),
        (numpy.array([[1.0, 0.1]]), "[[1.0, 0.1]]"),
        (numpy.array([0.1], numpy.float32), "[0.1]"),
        (numpy.array(0.1, numpy.float32), "0.1"),
        (numpy.array([[]]), "[[]]"),
        (numpy.array([math.nan, math.inf]), "[nan, inf]"),
        (numpy.array([True]), "[True]"),
        (numpy.array([1 + 2j]), "[(1+2j)]"),
        (numpy.array([0.1 + 0.2j], numpy.complex64), "[(0.1+0.2j)]"),
        (numpy.array(["a", "b"]), "['a', 'b']"),
        ([numpy.array([0.1], numpy.float32), 0.5], "[[0.1], 0.5]"),
        (numpy.float64(0.5), "0.5"),
    ],
)
def test_plain_values(value: object, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.pi, "3.14"),
        (1234567.0, "1.23e+06"),
        (1e-9, "1e-09"),
        (12, "12"),
        (numpy.array([math.pi, 1.0]), "[3.14, 1]"),
        (complex(math.pi, -1), "(3.14-1j)"),
        (math.nan, "nan"),
    ],
)
def test_precision(value: object, text: str) -> None:
    assert value_text(value, 3) == text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def expected(value: Any) -> Any:
    """What JSON holds for a value, by the words of the contract."""
    if isinstance(value, complex):
        return [expected(value.real), expected(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, list | tuple):
        return [expected(item) for item in value]
    if isinstance(value, dict):
        return {key: expected(item) for key, item in value.items()}
    return value


@given(VALUES, st.booleans())
def test_json_is_strict_and_reads_back(value: Any, ascii: bool) -> None:
    text = dumps(value, ascii)
    assert "\n" not in text
    assert strict(text) == expected(value)
    assert text.isascii() or not ascii


@given(arrays.arrays(st.sampled_from([numpy.float64, numpy.int64, numpy.bool_, numpy.complex128]), (2, 3)))
def test_json_of_arrays(array: Any) -> None:
    assert strict(dumps(array)) == expected(array.tolist())


def test_json_of_float32_is_short() -> None:
    assert dumps(numpy.array([0.1, 1e10], numpy.float32)) == "[0.1, 10000000000.0]"


def read(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def test_csv_gives_a_tensor_a_column_an_entry() -> None:
    result = Result({})
    result.columns = [
        ("value", 1.5),
        ("d_x", numpy.array([1.0, 2.0])),
        ("d_A", [[1, 2], [3]]),
        ("d_u", None),
        ("s", 'a "quoted", text\nof two lines'),
    ]
    for delimiter in (",", "\t"):
        header, record = read("".join(delimited.pieces(result, delimiter)), delimiter)
        assert header == ["value", "d_x.0", "d_x.1", "d_A.0.0", "d_A.0.1", "d_A.1.0", "d_u", "s"]
        assert record == ["1.5", "1.0", "2.0", "1", "2", "3", "", 'a "quoted", text\nof two lines']


@given(st.lists(st.floats() | st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_csv_reads_back(values: list[object]) -> None:
    result = Result({})
    result.columns = [(f"c{index}", value) for index, value in enumerate(values)]
    _, record = read("".join(delimited.pieces(result, ",")))
    assert record == [value if isinstance(value, str) else repr(value) for value in values]


@pytest.mark.parametrize("shape", [(0,), (3, 0), (3,), (2, 3, 4), (700,), (700, 3), (3, 700), (2, 3, 350)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "bool", "complex128"])
@pytest.mark.parametrize("name", ["x", "a,b"])
def test_csv_of_arrays(shape: tuple[int, ...], dtype: str, name: str) -> None:
    array = (numpy.sin(numpy.arange(float(math.prod(shape)))).reshape(shape) * 99).astype(dtype)
    result = Result({})
    result.columns = [("value", 1.5), (name, array)]
    header, record = read("".join(delimited.pieces(result, ",")))
    assert header == ["value", *(".".join([name, *map(str, path)]) for path in numpy.ndindex(shape))]
    assert record == ["1.5", *(scalar_text(item, single=is_float32(array)) for item in array.ravel().tolist())]


@pytest.mark.parametrize("text", ["A[0,1]", 'a "b"', "two\nlines", "a\rb", "a\tb", ""])
def test_csv_of_columns_of_text(text: str) -> None:
    """However many records there are, and wherever in a column the text is that a reader would take apart."""
    result = Result({})
    result.header = ("name", "value")
    for place in (0, 1, 1_500, 2_999):
        result.rows = [("x", float(k)) for k in range(3_000)]
        result.rows[place] = (text, math.inf)
        for delimiter in (",", "\t"):
            _, *records = read("".join(delimited.pieces(result, delimiter)), delimiter)
            assert records == [[name, repr(value)] for name, value in result.rows]
