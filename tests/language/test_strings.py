"""String tensors, against what TensorFlow 2.21 gives (its documentation's examples and its kernel tests)."""

import re
from typing import Any

import pytest

from .conftest import Runner

VALUES = {
    "strings.length(['abc', 'héé'])": [3, 5],
    "strings.length(['abc', 'héé'], unit='UTF8_CHAR')": [3, 3],
    "strings.length('abc').dtype": "int32",
    "strings.join(['a', ['b', 'c']], separator='-')": ["a-b", "a-c"],
    "strings.split('hello  world')": ["hello", "world"],
    "strings.split('a,b,,c', sep=',', maxsplit=2)": ["a", "b", ",c"],
    "strings.bytes_split('ab')": ["a", "b"],
    "strings.substr(['Hello', 'World'], 1, 3)": ["ell", "orl"],
    "strings.substr([['ten', 'eleven'], ['twelve', 'thirteen']], [[1, 2], [-3, 4]], [[2, 3], [9, 0]])": [["en", "eve"], ["lve", ""]],
    "strings.substr('héllo', 1, 2)": "é",
    "strings.substr('héllo', 1, 2, unit='UTF8_CHAR')": "él",
    "strings.lower('CamelCase String and ALL CAPS É')": "camelcase string and all caps É",
    "strings.upper('é', encoding='utf-8')": "É",
    "strings.strip(['\\nTensorFlow', '     The python library    '])": ["TensorFlow", "The python library"],
    "strings.regex_replace('Text with tags.<br /><b>contains html</b>', '<[^>]+>', ' ')": "Text with tags.  contains html ",
    "strings.regex_replace('aab', 'a', 'x', replace_global=False)": "xab",
    "strings.regex_replace('key: value', '(\\\\w+): (\\\\w+)', '\\\\2=\\\\1 \\\\0')": "value=key key: value",
    "strings.regex_full_match(['TF lib', 'lib TF'], '.*lib$')": [True, False],
    "strings.to_number(['3.5', '-1e3'])": [3.5, -1000.0],
    "strings.to_number('42', int32)": 42,
    "as_string([3, 2])": ["3", "2"],
    "as_string([3.1415926, 2.71828], precision=2)": ["3.14", "2.72"],
    "strings.as_string([1.5, -2.0])": ["1.500000", "-2.000000"],
    "strings.as_string(1234.5, scientific=True, precision=1)": "1.2e+03",
    "strings.as_string(0.25, shortest=True)": "0.25",
    "strings.as_string(42, width=6, fill='0')": "000042",
    "as_string([True, False])": ["true", "false"],
    "as_string(1 + 2j)": "(1.000000,2.000000)",
    "strings.reduce_join([['abc', '123'], ['def', '456']])": "abc123def456",
    "strings.reduce_join([['abc', '123'], ['def', '456']], axis=0)": ["abcdef", "123456"],
    "strings.reduce_join([['abc', '123'], ['def', '456']], axis=-1, keepdims=True, separator=' ')": [["abc 123"], ["def 456"]],
    "strings.format('tensor: {}, suffix', range(10))": "tensor: [0 1 2 ... 7 8 9], suffix",
    "strings.format('{} {}', ('a', [[1.0, 2.5]]))": '"a" [[1 2.5]]',
    "strings.unicode_decode('G\\u00f6\\u00f6dnight', 'UTF-8')": [71, 246, 246, 100, 110, 105, 103, 104, 116],
    "strings.unicode_encode([[71, 246], [128522, 33]], 'UTF-8')": ["Gö", "😊!"],
    "strings.unicode_split('G\\u00f6😊', 'UTF-8')": ["G", "ö", "😊"],
    "strings.unicode_transcode(strings.unicode_transcode('hé', 'UTF-8', 'UTF-16-BE'), 'UTF-16-BE', 'UTF-8')": "hé",
    "strings.length(strings.unicode_transcode('hé', 'UTF-8', 'UTF-32-BE'))": 8,
    "strings.unicode_decode_with_offsets('aé😊', 'UTF-8')": ([97, 233, 128522], [0, 1, 3]),
    "strings.unicode_transcode('語言'.encode('UTF-16-BE'), 'UTF-16-BE', 'UTF8')": "語言",
    "'é'.encode('UTF-16-BE').decode('UTF-16-BE')": "é",
    "strings.length('\\ud800')": 1,
    "strings.unicode_encode([65, 55296], 'UTF-8')": "A\ufffd",
    "strings.ngrams(['A', 'B', 'C', 'D'], 2, separator='|')": ["A|B", "B|C", "C|D"],
    "tf.io.encode_base64(['hi?>', 'a'])": ["aGk_Pg", "YQ"],
    "tf.io.encode_base64('a', pad=True)": "YQ==",
    "tf.io.decode_base64('aGk_Pg')": "hi?>",
    "tf.io.decode_raw(['abcd', 'efgh'], int32)": [[1684234849], [1751606885]],
    # operations of the table
    "tf.constant(['a', 'b']) + 'c'": ["ac", "bc"],
    "tf.where([True, False], tf.constant(['a', 'b']), 'z')": ["a", "z"],
    "tf.constant(['b', 'a', 'b']) == 'b'": [True, False, True],
    "tf.constant(['b', 'a']) < 'b'": [False, True],
    "tf.unique(tf.constant(['b', 'a', 'b']))": (["b", "a"], [0, 1, 0]),
    "tf.concat([['a'], ['b', 'c']], 0)": ["a", "b", "c"],
    "tf.gather(['a', 'b'], [1, 0, 1])": ["b", "a", "b"],
    "tf.dynamic_partition(['a', 'b', 'c'], [1, 0, 1], 2)": [["b"], ["a", "c"]],
    "tf.constant([['a', 'b']])[0, 1].numpy().decode()": "b",
    "(tf.constant('abc').shape, tf.constant('abc').dtype)": ((), "string"),
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_value(run: Runner, text: str) -> None:
    assert run(text) == VALUES[text]


REFUSED = [
    ("strings.length(3)", "strings.length needs strings, and got an integer"),
    ("strings.length('a', unit='CHAR')", "unit must be 'BYTE' or 'UTF8_CHAR', not 'CHAR'"),
    ("strings.substr('hello', 6, 1)", "pos 6 is out of range for 'hello' of length 5"),
    ("strings.to_number('1_0')", "could not convert '1_0' to float32"),
    ("strings.to_number('3000000000', int32)", "could not convert '3000000000' to int32"),
    ("strings.join([['a', 'b'], ['c', 'd', 'e']])", r"shapes \[2\] and \[3\] do not fit"),
    ("strings.regex_full_match('a', '(a')", "is no regular expression"),
    ("strings.regex_replace('a', 'a', '\\\\1')", "does not fit the pattern"),
    ("strings.as_string(3, precision=2)", "precision, scientific and shortest are for floats, not int64"),
    ("strings.as_string(1.5, width=100000)", "a width or precision above 10000 is refused"),
    ("strings.format('{} {}', 1)", "the template has 2 placeholders, and there are 1 value"),
    ("tf.io.decode_base64('a+b')", "is no base64"),
    ("strings.unicode_decode('a', 'LATIN1')", "input_encoding must be 'UTF-8' or"),
    ("tf.io.decode_raw('abc', int32)", r"the strings have \[3\] bytes"),
    ("'a'.encode('foo')", "unknown encoding"),
    ("strings.lenght('a')", "'strings.lenght' is not part of the language"),
    ("tf.constant('a') * 2.0", "cannot combine"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused(run: Runner, text: str, message: str) -> None:
    assert re.search(message, run.refused(text).message)


@pytest.mark.parametrize("text", ["strings.format('{}', x)", "as_string(x)"])
def test_a_path_through_a_string_is_named(run: Runner, text: str) -> None:
    run(f"strings.to_number(strings.regex_replace({text}, 'a', ''), float64)", {"x": 2.5}, "grad")
    assert run.outcome.gradients == {"x": None}
    ((message, place),) = run.notices("N0502")
    assert "the path from the source ends at strings." in message
    assert place == text


def test_names_of_modules_may_be_names_of_inputs(run: Runner) -> None:
    at: dict[str, Any] = {"data": [1.0, 2.0], "io": 3.0, "queue": [4.0]}
    assert run("data.sum() + io + queue.sum()", at) == 10.0
