"""Each command's answer in each format. The numbers come from calculus by hand, not from adiff."""

import csv
import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Completed = subprocess.CompletedProcess[str]
Answer = Callable[..., str]
Document = Callable[..., dict[str, Any]]


def table(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["value", "2+2"], "4\n"),
        (["eval", "2+2"], "4\n"),
        (["value", "7/2"], "3.5\n"),
        (["value", "1 < 2"], "True\n"),
        (["value", "'a' + 'b'"], "ab\n"),
        (["value", "(1+2j)**2"], "(-3+4j)\n"),
        (["value", "x**2", "--at", "x=[1,2,3]"], "[1, 4, 9]\n"),
        (["value", "-3"], "-3\n"),
        (["value", "-x", "--at", "x=-1"], "1\n"),
        (["value", "inf - inf", "-q"], "nan\n"),
        (["value", "sum(A)", "--at", "A=@matrix.npy"], "10.0\n"),
        (["value", "sum(t)", "--at", "t=@table.csv"], "10.5\n"),
        (["value", "a + sum(b)", "--at", "a=@data.npz:first", "--at", "b=@data.npz:second"], "[4.0, 5.0, 6.0]\n"),
        (["value", "1/3", "--precision", "4"], "0.3333\n"),
        (["grad", "x**2", "--at", "x=2"], "4.0\n"),
        (["grad", "-x**2", "--at", "x=3"], "-6.0\n"),
        (["grad", "x**2*y", "--at", "x=2,y=3"], "x\t12.0\ny\t4.0\n"),
        (["grad", "x**2*y", "--at", "x=2,y=3", "--wrt", "y"], "4.0\n"),
        (["grad", "x**2*y", "--at", "x=2,y=3", "--wrt", "y,x"], "y\t4.0\nx\t12.0\n"),
        (["grad", "sum(v**2)", "--at", "v=[1,2,3]"], "[2.0, 4.0, 6.0]\n"),
        (["grad", "x**2", "--at", "x=2", "--dtype", "float32"], "4.0\n"),
        (["grad", "x*0.1", "--at", "x=1", "--dtype", "float32"], "0.1\n"),
        (["grad", "-f", "rosenbrock.adiff", "--at", "@start.json"], "x\t6004.0\ny\t-1000.0\n"),
        (["jacobian", "v**2", "--at", "v=[1,2]"], "[[2.0, 0.0], [0.0, 4.0]]\n"),
        (["jacobian", "x*v", "--at", "x=3,v=[1,2]"], "x\t[1.0, 2.0]\nv\t[[3.0, 0.0], [0.0, 3.0]]\n"),
        (["hessian", "x**3", "--at", "x=2"], "12.0\n"),
        (["hessian", "x**2*y", "--at", "x=2,y=3"], "H.x.x\t6.0\nH.x.y\t4.0\nH.y.x\t4.0\nH.y.y\t0.0\n"),
        (["jvp", "x*y", "--at", "x=2,y=3", "--tangent", "x=1,y=10"], "23.0\n"),
        (["vjp", "v**2", "--at", "v=[1,2,3]", "--cotangent", "[1,0,-1]"], "[2.0, 0.0, -6.0]\n"),
        (["vjp", "v**2", "--at", "v=[1,2]"], "[2.0, 4.0]\n"),
        (["hvp", "x**2*y", "--at", "x=2,y=3", "--vector", "x=1,y=1"], "x\t10.0\ny\t4.0\n"),
        (["derivative", "x**3", "--at", "x=2", "--order", "4"], "0\t8.0\n1\t12.0\n2\t12.0\n3\t6.0\n4\t0.0\n"),
        (["derivative", "x**3", "--at", "x=2"], "0\t8.0\n1\t12.0\n"),
        (["partition", "[10,20,30]", "[0,1,0]", "2"], "0\t[10, 30]\n1\t[20]\n"),
        (["stitch", "[[0,2],[1]]", "[[10,30],[20]]"], "[10, 20, 30]\n"),
        (["stitch", "[[0,1],[1]]", "[[1,2],[3]]", "--grad"], "result\t[1, 3]\nd_data\t[[2.0, 0.0], [6.0]]\n"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else None,
)
def test_plain(answer: Answer, arguments: list[str], printed: str) -> None:
    assert answer(*arguments) == printed


def test_columns_do_not_matter_to_plain(answer: Answer) -> None:
    long = answer("value", "zeros(500)")
    assert long == "[" + ", ".join(["0.0"] * 500) + "]\n"
    assert answer("value", "zeros(500)", COLUMNS="20") == long


def test_grad_as_json(document: Document) -> None:
    assert document("grad", "x**2*y", "--at", "x=2", "--at", "y=3") == {
        "schema": 1,
        "command": "grad",
        "value": 12.0,
        "gradients": {"x": 12.0, "y": 4.0},
        "types": {
            "x": {"dtype": "float64", "shape": []},
            "y": {"dtype": "float64", "shape": []},
            "value": {"dtype": "float64", "shape": []},
        },
        "notices": [],
    }


@pytest.mark.parametrize(
    ("arguments", "keys", "found"),
    [
        (["value", "2.5"], ["value"], 2.5),
        (["value", "1 + 2j"], ["value"], [1, 2]),
        (["value", "[nan, inf, -inf]"], ["value"], ["nan", "inf", "-inf"]),
        (["value", "1 < 2"], ["value"], True),
        (["jacobian", "v**2", "--at", "v=[1,2]"], ["jacobian", "v"], [[2, 0], [0, 4]]),
        (["jacobian", "v**2", "--at", "v=[1,2]", "--mode", "forward"], ["jacobian", "v"], [[2, 0], [0, 4]]),
        (["hessian", "x**2*y", "--at", "x=2,y=3"], ["hessian"], {"x": {"x": 6, "y": 4}, "y": {"x": 4, "y": 0}}),
        (["hessian", "x**2*y", "--at", "x=2,y=3"], ["gradients"], {"x": 12, "y": 4}),
        (["jvp", "x*y", "--at", "x=2,y=3", "--tangent", "x=1,y=10"], ["tangent"], 23),
        (["vjp", "v**2", "--at", "v=[1,2]", "--cotangent", "[1,3]"], ["cotangents"], {"v": [2, 12]}),
        (["hvp", "x**2*y", "--at", "x=2,y=3", "--vector", "x=1,y=0"], ["product"], {"x": 6, "y": 4}),
        (["derivative", "x**3", "--at", "x=2", "--order", "3"], ["derivatives"], [12, 12, 6]),
        (["check", "x**2*y", "--at", "x=2,y=3"], ["check", "ok"], True),
        (["partition", "[10,20,30]", "[0,1,0]", "3"], ["partitions"], [[10, 30], [20], []]),
        (["partition", "[1.,2.]", "[1,0]", "2", "--grad"], ["gradients"], {"data": [2, 4]}),
        (["stitch", "[[0,3],[1]]", "[[10,30],[20]]", "-q"], ["result"], [10, 20, 0, 30]),
        (["stitch", "[[0,1],[1]]", "[[1,2],[3]]", "--grad"], ["gradients"], {"data": [[2, 0], [6]]}),
    ],
    ids=lambda value: " ".join(map(str, value))[:50] if isinstance(value, list) else None,
)
def test_json(document: Document, arguments: list[str], keys: list[str], found: Any) -> None:
    whole = document(*arguments)
    assert list(whole)[:2] == ["schema", "command"]
    assert (whole["schema"], whole["command"]) == (1, arguments[0])
    for key in keys:
        whole = whole[key]
    assert whole == found


def test_an_unconnected_gradient_is_null_and_noticed(adiff: Callable[..., Completed]) -> None:
    done = adiff("grad", "x**2 + 0*stop_gradient(y)", "--at", "x=2,y=3", "--json")
    found = json.loads(done.stdout)
    assert found["gradients"] == {"x": 4.0, "y": None}
    assert found["notices"]
    for notice in found["notices"]:
        assert set(notice) == {"code", "message", "span"}
    assert done.stderr == ""


def test_notices_go_to_standard_error(adiff: Callable[..., Completed]) -> None:
    done = adiff("grad", "abs(x)", "--at", "x=0")
    assert (done.returncode, done.stdout) == (0, "0.0\n")
    first, line, caret = done.stderr.splitlines()[:3]
    assert first.startswith("<expr>:1:1: notice[N")
    assert "abs is not differentiable at 0" in first
    assert line.strip() == "abs(x)"
    assert set(caret.strip()) == {"^"}
    assert adiff("grad", "abs(x)", "--at", "x=0", "-q").stderr == ""
    assert adiff("grad", "abs(x)", "--at", "x=0", "--kinks", "error").returncode == 1
    assert adiff("grad", "abs(x)", "--at", "x=0", "--kinks", "jax", "-q").stdout == "1.0\n"


def test_a_result_that_is_no_scalar_is_summed_with_a_notice(adiff: Callable[..., Completed]) -> None:
    done = adiff("grad", "x**2", "--at", "x=[1,2]")
    assert (done.returncode, done.stdout) == (0, "[2.0, 4.0]\n")
    assert "notice[" in done.stderr


@pytest.mark.parametrize(("option", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_delimited(answer: Answer, option: str, delimiter: str) -> None:
    def rows(*arguments: str) -> list[list[str]]:
        return table(answer(*arguments, "--format", option), delimiter)

    assert rows("value", "2+2") == [["value"], ["4"]]
    assert rows("grad", "x**2*y", "--at", "x=2,y=3") == [["value", "d_x", "d_y"], ["12.0", "12.0", "4.0"]]
    assert rows("grad", "sum(A**2)", "--at", "A=[[1,2]]") == [["value", "d_A.0.0", "d_A.0.1"], ["5.0", "2.0", "4.0"]]
    assert rows("hessian", "x*y", "--at", "x=2,y=3") == [
        ["value", "d_x", "d_y", "H.x.x", "H.x.y", "H.y.x", "H.y.y"],
        ["6.0", "3.0", "2.0", "0.0", "1.0", "1.0", "0.0"],
    ]
    assert rows("derivative", "x**2", "--at", "x=3", "--order", "2") == [
        ["order", "value"],
        ["0", "9.0"],
        ["1", "6.0"],
        ["2", "2.0"],
    ]
    assert rows("tape", "x*y", "--at", "x=2,y=3")[0] == [
        "step", "operation", "inputs", "name", "value", "partials", "adjoint", "line", "column", "source",
    ]  # fmt: skip


def test_the_tape_can_be_followed_by_hand(document: Document) -> None:
    steps = document("tape", "sin(x) * y", "--at", "x=1,y=2")["tape"]
    recorded = {step["operation"]: step for step in steps}
    sine, product = recorded["sin"], recorded["multiply"]
    assert sine["inputs"] == ["x"]
    assert sine["value"] == pytest.approx(math.sin(1))
    assert sine["partials"] == [pytest.approx(math.cos(1))]
    assert sine["adjoint"] == 2.0
    assert sine["source"] == "sin(x)"
    assert sine["span"] == {"file": "<expr>", "line": 1, "column": 1, "end_line": 1, "end_column": 7}
    assert product["inputs"] == [sine["name"], "y"]
    assert product["partials"] == [2.0, pytest.approx(math.sin(1))]
    assert product["adjoint"] == 1.0


@pytest.mark.parametrize(("language", "first"), [("dot", "digraph"), ("mermaid", "flowchart"), ("svg", "<svg")])
def test_graphs(answer: Answer, language: str, first: str) -> None:
    graph = answer("tape", "sin(x) * y", "--at", "x=1,y=2", "--graph", language)
    assert graph.startswith(first)
    for word in ("sin", "multiply", "0.540302"):
        assert word in graph


def test_check(answer: Answer) -> None:
    lines = dict(line.split("\t") for line in answer("check", "exp(-x**2)*y", "--at", "x=0.5,y=2").splitlines())
    assert lines["ok"] == "True"
    assert float(lines["max_error"]) < 1e-9
    assert {"method", "error.x", "error.y"} <= set(lines)


def test_a_check_that_disagrees(adiff: Callable[..., Completed], folder: Path) -> None:
    wrong = "@custom_gradient\ndef f(x):\n    return x**2, lambda g: 3*g\n\nf(x)\n"
    (folder / "wrong.adiff").write_text(wrong)
    done = adiff("check", "-f", "wrong.adiff", "--at", "x=2", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["check"]["ok"] is False


def test_a_check_without_a_verdict(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "chaos.adiff").write_text("y = x\nfor i in range(200):\n    y = 3.9 * y * (1 - y)\ny\n")
    done = adiff("check", "-f", "chaos.adiff", "--at", "x=0.3", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["check"]["ok"] is None
    assert [notice["code"] for notice in found["notices"]] == ["N0605"]
    done = adiff("check", "-f", "chaos.adiff", "--at", "x=0.3", "--format", "table")
    assert done.returncode == 1
    assert "NO VERDICT" in done.stdout
    assert "disagrees" not in done.stdout.lower()
    done = adiff("check", "-f", "chaos.adiff", "--at", "x=0.3")
    assert done.returncode == 1
    assert done.stdout.startswith("ok\tNone\n")
    assert "notice[N0605]" in done.stderr


def test_run(answer: Answer, document: Document, folder: Path) -> None:
    (folder / "p.adiff").write_text("print('hello', x)\nprint(1, 2, sep='-', end='')\nx**2\n")
    assert answer("run", "p.adiff", "--at", "x=3") == "hello 3\n1-2\n9\n"
    found = document("run", "p.adiff", "--at", "x=3")
    assert (found["printed"], found["value"]) == (["hello 3", "1-2"], 9)
    lines = [json.loads(line) for line in answer("run", "p.adiff", "--at", "x=3", "--format", "ndjson").splitlines()]
    assert lines[:2] == [{"printed": "hello 3"}, {"printed": "1-2"}]
    assert lines[2]["value"] == 9
    (folder / "q.adiff").write_text("print(1)\n")
    assert answer("run", "q.adiff") == "1\n"
    assert answer("run", "-", stdin="print(2)\n3") == "2\n3\n"


def test_run_leaves_whole_lines_when_it_fails(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "p.adiff").write_text("print('first')\nprint('second', end='')\nassert False\n")
    done = adiff("run", "p.adiff")
    assert (done.returncode, done.stdout) == (1, "first\n")


def test_programs_from_files_and_standard_input(answer: Answer) -> None:
    assert answer("grad", "-", "--at", "x=2", stdin="x**2") == "4.0\n"
    assert answer("grad", "-f", "-", "--at", "x=2", stdin="x**2\n") == "4.0\n"
    assert answer("value", "-f", "rosenbrock.adiff", "--at", "@start.json") == "2504\n"
    assert answer("value", "-", stdin=b"\xef\xbb\xbf1 + 1\r\n") == "2\n"


def test_a_program_from_a_pipe(folder: Path) -> None:
    code = "from adiff.cli.main import main; main()"
    script = f"{sys.executable} -c '{code}' value -f <(echo '1 + 1')"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_verbose(adiff: Callable[..., Completed]) -> None:
    done = adiff("grad", "x**2", "--at", "x=2", "-v")
    assert done.stdout == "4.0\n"
    assert "engine: tape" in done.stderr
    assert re.search(r"^timings: parse [\d.]+ ms, .*, output [\d.]+ ms$", done.stderr, re.M)


def test_ops(answer: Answer, document: Document) -> None:
    rows = [line.split("\t") for line in answer("ops").splitlines()]
    assert rows[0] == ["name", "family", "signature", "doc"]
    names = [row[0] for row in rows[1:]]
    assert {"sin", "exp", "matmul", "dynamic_partition"} <= set(names)
    assert all(all(row) for row in rows)
    operations = document("ops")["operations"]
    assert [operation["name"] for operation in operations] == names
    for operation in operations:
        assert operation["doc"]
        assert operation["derivative"]
    assert document("ops", "sin")["operation"]["name"] == "sin"
    assert document("ops", "tf.reduce_sum")["operation"]["name"] == "sum"
    assert table(answer("ops", "--csv"))[0] == ["name", "family", "signature", "doc"]


def test_ops_says_what_is_chosen_where_there_is_no_derivative(answer: Answer) -> None:
    text = answer("ops", "abs")
    assert "tensorflow" in text
    assert "0" in text


def test_an_expression_that_is_the_name_of_a_file(adiff: Callable[..., Completed]) -> None:
    done = adiff("grad", "rosenbrock.adiff", "--at", "x=1")
    assert done.returncode in (2, 3)
    assert "-f rosenbrock.adiff" in done.stderr


def test_output_to_standard_output(adiff: Callable[..., Completed], folder: Path) -> None:
    assert adiff("grad", "x**2", "--at", "x=2", "-o", "-").stdout == "4.0\n"
    assert not (folder / "-").exists()


def test_a_notebook_is_no_program(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "a.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    done = adiff("run", "a.ipynb")
    assert done.returncode == 4
    assert "is a Jupyter notebook" in done.stderr
    assert "jupyter nbconvert --to script a.ipynb" in done.stderr


@pytest.mark.parametrize("command", ["grad", "jacobian", "hessian", "tape"])
def test_nothing_to_differentiate_by(adiff: Callable[..., Completed], command: str) -> None:
    done = adiff(command, "2 + 2")
    assert done.returncode == 0
    assert "notice[N0802]: the program reads no input" in done.stderr


def test_help_as_a_command(adiff: Callable[..., Completed]) -> None:
    assert adiff("help", "grad").stdout == adiff("grad", "--help").stdout
    assert adiff("help").stdout == adiff("--help").stdout


def test_a_drawn_graph_has_its_nodes_apart(answer: Answer) -> None:
    from xml.etree import ElementTree

    root = ElementTree.fromstring(
        answer("tape", "sin(x)*y + exp(x*y)/(x + 1) - x", "--at", "x=1,y=2", "--graph", "svg")
    )
    boxes = [(int(box.get("x", "")), int(box.get("y", ""))) for box in root if box.get("rx") is not None]
    assert len(boxes) == len(set(boxes)) == 11  # two inputs, the number 1 and eight steps
    assert all(x + 130 <= int(root.get("width", "")) and y + 44 <= int(root.get("height", "")) for x, y in boxes)
    assert sum(path.tag.endswith("path") for path in root) == 14  # sin and exp have one input, six steps two
