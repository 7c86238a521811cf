"""`--at` and its like: how the text divides, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from adiff.cli.bindings import split_at_commas

from .conftest import Completed


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("x=2", ["x=2"]),
        ("x=2,y=3", ["x=2", "y=3"]),
        (" x = 2 , y = 3 ", ["x = 2", "y = 3"]),
        ("A=[[1,2],[3,4]],b=(1,2)", ["A=[[1,2],[3,4]]", "b=(1,2)"]),
        ("A=ones((2,3)),b=1", ["A=ones((2,3))", "b=1"]),
        ("s='a,b',t=\"c,d\"", ["s='a,b'", 't="c,d"']),
        (r"s='it\'s, ok',t=1", [r"s='it\'s, ok'", "t=1"]),
        ("s='[',t=1", ["s='['", "t=1"]),
        ("d={'a':1,'b':2},x=1", ["d={'a':1,'b':2}", "x=1"]),
        ("x=1,", ["x=1"]),
        ("x=[1,2", ["x=[1,2"]),
        ("x=1],y=2", ["x=1]", "y=2"]),
        ('A=@"a,b.npy",x=1', ['A=@"a,b.npy"', "x=1"]),
        ("@point.json,x=1", ["@point.json", "x=1"]),
    ],
)
def test_commas_divide_outside_brackets_and_strings(text: str, parts: list[str]) -> None:
    assert split_at_commas(text) == parts


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x", "--at", "3"], "is not a binding"),
        (["x", "--at", ""], "is not a binding"),
        (["x", "--at", "x"], "is not a binding"),
        (["x", "--at", "x==3"], "is not a binding"),
        (["x", "--at", "=3"], "is not a name"),
        (["x", "--at", "2x=3"], "is not a name"),
        (["x", "--at", "x="], "is given no value"),
        (["x", "--at", "x=1,2"], "is not a binding"),
        (["x", "--at", "x=1", "--at", "x=2"], "is bound twice"),
        (["x", "--at", "x=1,x=2"], "is bound twice"),
        (["alpha", "--at", "alpa=1"], "'alpa' is bound and not used"),
        (["x", "--at", "@table.csv"], "write name=@table.csv"),
        (["x", "--at", "x=1", "--wrt", "y"], "'y' is not an input of the program"),
    ],
)
def test_wrong_bindings(adiff: Callable[..., Completed], arguments: list[str], words: str) -> None:
    done = adiff("grad", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize(
    ("binding", "value"),
    [
        ("x=2", 4.0),
        ("x=-1e-3", 1e-6),
        ("x = 1 + 1", 4.0),
        ("x=pi/pi*3", 9.0),
        ("x=float32(2)", 4.0),
        ("x=sqrt(4)", 4.0),
        ("x=2_0", 400.0),
    ],
)
def test_the_right_side_is_a_constant_expression(
    document: Callable[..., dict[str, object]], binding: str, value: float
) -> None:
    assert document("grad", "x**2", "--at", binding)["value"] == value


def test_a_point_file_binds_every_key_and_a_binding_overrides_it(
    document: Callable[..., dict[str, object]], folder: Path
) -> None:
    (folder / "point.json").write_text(json.dumps({"x": 2, "v": [1, 2.5], "unused": 0, "h": "inf"}))
    assert document("value", "sum(v) * x", "--at", "@point.json")["value"] == 7.0
    assert document("value", "sum(v) * x", "--at", "@point.json", "--at", "x=3")["value"] == 10.5
    assert document("value", "sum(v) * x", "--at", "x=3,@point.json")["value"] == 10.5
    assert document("value", "1 / h", "--at", "@point.json")["value"] == 0.0


def test_whole_numbers_of_a_file_are_differentiated_as_floats(tmp_path: Path) -> None:
    import numpy
    from adiff import program
    from adiff.cli.bindings import value_of

    (tmp_path / "n.csv").write_text("3\n4\n")
    numpy.save(tmp_path / "n.npy", numpy.array([3, 4], numpy.int32))
    for name in ("n.csv", "n.npy"):
        bound = value_of("--at x", f"@{tmp_path}/{name}")
        assert program("sum(x**2)").value_and_gradient({"x": bound})[1]["x"].tolist() == [6.0, 8.0]
        assert program("x[0] // 2, [10, 20, 30, 40][x[0]]").value({"x": bound}) == (1, 40)


@pytest.mark.parametrize(
    ("option", "stdin", "expected"),
    [
        ("x=@-", "3\n", "6.0\n"),
        ("x=@-", "1\n2\n3\n", "[2.0, 4.0, 6.0]\n"),
        ("x=@-", "1,2\n3,4\n", "[[2.0, 4.0], [6.0, 8.0]]\n"),
        ("x=@-", "  1   2\n3 4\n", "[[2.0, 4.0], [6.0, 8.0]]\n"),
        ("x=@-", "[1, [2]", "<stdin>:1:8: not JSON"),
        ("x=@-", "", "<stdin>: is empty"),
        ("@-", '{"x": [1, 2], "unread": 1}', "[2.0, 4.0]\n"),
        ("@-", "[1]", "<stdin>: holds no object"),
        ("x=@-,y=@-", "1", "<stdin>: is empty"),
    ],
)
def test_standard_input(adiff: Callable[..., Completed], option: str, stdin: str, expected: str) -> None:
    done = adiff("grad", "x**2", "--at", option, "-q", stdin=stdin)
    assert expected in (done.stderr if done.returncode else done.stdout)


@pytest.mark.parametrize(
    "line", ["grad x --at x=@-", "grad x --at @-", '{"command": "grad", "expr": "x", "at": {"x": "@-"}}']
)
def test_a_line_of_a_batch_reads_no_standard_input(adiff: Callable[..., Completed], line: str) -> None:
    assert "cannot read standard input" in adiff("batch", "-", stdin=line + "\n1\n").stdout


def test_errors_as_json(adiff: Callable[..., Completed]) -> None:
    found = [json.loads(adiff(*line, "--json").stderr) for line in (("eval", "1 +"), ("evil", "1"))]
    assert [(error["schema"], error["command"], error["error"]["kind"]) for error in found] == [
        (1, "value", "syntax"),
        (1, None, "usage"),
    ]
