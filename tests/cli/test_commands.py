"""Each command's answer in each format. The numbers come from calculus by hand, not from adiff."""

import csv
import io
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Completed

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


def test_run(answer: Answer, document: Document, adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "p.adiff").write_text("print('hello', x)\nprint(1, 2, sep='-', end='')\nx**2\n")
    assert answer("run", "p.adiff", "--at", "x=3") == "hello 3\n1-2\n9\n"
    found = document("run", "p.adiff", "--at", "x=3")
    assert (found["printed"], found["value"]) == (["hello 3", "1-2"], 9)
    assert document("grad", "-f", "p.adiff", "--at", "x=3")["printed"] == ["hello 3", "1-2"]
    done = adiff("grad", "-f", "p.adiff", "--at", "x=3")
    assert (done.stdout, done.stderr) == ("6.0\n", "hello 3\n1-2\n")
    done = adiff("value", "-f", "p.adiff", "--rows", "-", "-q", stdin="x\n3\n")
    assert (done.stdout, done.stderr) == ("x,value,error\n3,9,\n", "")
    (folder / "q.adiff").write_text("print(1)\n")
    assert answer("run", "q.adiff") == "1\n"
    assert answer("run", "-", stdin="print(2)\n3") == "2\n3\n"


def test_run_leaves_whole_lines_when_it_fails(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "p.adiff").write_text("print('first')\nprint('second', end='')\nassert False\n")
    done = adiff("run", "p.adiff")
    assert (done.returncode, done.stdout) == (1, "first\n")


def test_a_program_from_a_pipe(folder: Path) -> None:
    code = "from adiff.cli.main import main; main()"
    script = f"{sys.executable} -c '{code}' value -f <(echo '1 + 1')"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


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


def test_an_expression_that_is_the_name_of_a_file(adiff: Callable[..., Completed]) -> None:
    done = adiff("grad", "rosenbrock.adiff", "--at", "x=1")
    assert done.returncode in (2, 3)
    assert "-f rosenbrock.adiff" in done.stderr


def test_a_drawn_graph_has_its_nodes_apart(answer: Answer) -> None:
    from xml.etree import ElementTree

    root = ElementTree.fromstring(
        answer("tape", "sin(x)*y + exp(x*y)/(x + 1) - x", "--at", "x=1,y=2", "--graph", "svg")
    )
    boxes = [(int(box.get("x", "")), int(box.get("y", ""))) for box in root if box.get("rx") is not None]
    assert len(boxes) == len(set(boxes)) == 11  # two inputs, the number 1 and eight steps
    assert all(x + 130 <= int(root.get("width", "")) and y + 44 <= int(root.get("height", "")) for x, y in boxes)
    assert sum(path.tag.endswith("path") for path in root) == 14  # sin and exp have one input, six steps two
