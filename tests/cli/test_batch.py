"""`batch`: both forms of line, in order, whatever the lines hold."""

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import COMMAND, Completed


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_both_forms_in_order(adiff: Callable[..., Completed]) -> None:
    done = adiff("batch", "lines.txt")
    assert done.returncode == 0
    first, second, third, fourth = records(done.stdout)
    assert (first["line"], first["command"], first["gradients"]) == (3, "grad", {"x": 4.0})
    assert (second["line"], second["hessian"]["x"]["y"]) == (4, 2.0)
    assert (third["line"], third["value"]) == (5, 2504)
    assert (fourth["line"], fourth["id"], fourth["gradients"]) == (6, 7, {"x": 12.0})
    assert done.stderr == "4 lines: 4 answered, 0 failed\n"


HOSTILE = r"""
gard x
grad
grad "x**2
grad "x**2" --at x=2 --help
--help
--version
grad x --att x=1
value 1//0
value sine(1)
value x
{"command": "grad"
{"command": "grad"}
{"command": 3}
{"command": "grad", "expr": "x", "at": {"x": 1}, "oops": 1}
{"command": "grad", "expr": "x", "at": {"2x": 1}}
{"command": "grad", "expr": {"a": 1}}
{"command": "grad", "expr": "x", "at": [1]}
{"command": "batch", "file": "lines.txt"}
{}
[]
batch lines.txt
run rosenbrock.adiff
value -
value -f -
value 1 -o out.txt
adiff value 1
value 10**10**10
value "while True: pass"
value @
value "__import__('os')"
value -f nope.adiff
value x --at x=@nope.npy
--
-
''
grad "x" --format xml
assert 1 == 2
""".strip().splitlines()


def test_hostile_lines_are_error_records_and_end_nothing(adiff: Callable[..., Completed], folder: Path) -> None:
    content = "\n".join(HOSTILE).encode() + b"\nvalue '\xff'\n" + b"{" * 100_000 + b"\nvalue \0\nvalue 1+1\n"
    (folder / "hostile.txt").write_bytes(content)
    done = adiff("batch", "hostile.txt", "--timeout", "1")
    assert done.returncode == 1
    found = records(done.stdout)
    assert [record["line"] for record in found] == list(range(1, len(HOSTILE) + 5))
    for record in found[:-1]:
        assert set(record["error"]) == {"code", "kind", "message", "span", "hint"}, record
    assert found[-1]["value"] == 2
    assert done.stderr == f"{len(found)} lines: 1 answered, {len(found) - 1} failed\n"
    assert not (folder / "out.txt").exists()


def test_fail_fast(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "b.txt").write_text("value 1\nvalue (\nvalue 3\n")
    done = adiff("batch", "b.txt", "--fail-fast")
    assert done.returncode == 1
    assert [record["line"] for record in records(done.stdout)] == [1, 2]
    assert done.stderr == "2 lines: 1 answered, 1 failed\n"


def test_options_are_spelt_as_in_the_manual(adiff: Callable[..., Completed]) -> None:
    for key in ("maxsteps", "max_step"):
        done = adiff("batch", "-", stdin=json.dumps({"command": "value", "expr": "x", "at": {"x": 1}, key: 3}) + "\n")
        error = records(done.stdout)[0]["error"]
        assert error["message"] == f"'value' has no option '{key.replace('_', '-')}'"
        assert error["hint"] == "did you mean 'max-steps'?"
    done = adiff("batch", "-", stdin='{"command": "value", "exp": "1"}\n{"command": "value", "exprs": "1"}\n')
    assert [record["error"]["hint"] for record in records(done.stdout)] == ["did you mean 'expr'?"] * 2
    done = adiff("batch", "-", stdin='{"command": ["grad"]}\n{"command": "value", "expr": "x", "quiet": "yes"}\n')
    said = [record["error"]["message"] for record in records(done.stdout)]
    assert said == ["no such command: ['grad']", "--quiet: 'yes' is not true or false"]


# A line as an object, a key of its record, and what that holds.
LINES: list[tuple[dict[str, Any], str, Any]] = [
    ({"command": "grad", "expr": "x*y", "at": {"x": 2, "y": [1, 2]}, "wrt": ["y"], "id": "a"}, "gradients", {"y": [2, 2]}),
    ({"command": "grad", "expr": "x*y", "at": "x=2,y=3", "wrt": "x", "id": None}, "gradients", {"x": 3}),
    ({"command": "value", "expr": "x+1", "at": {"x": "pi/pi"}, "max-steps": 100, "max_memory": "1G", "timeout": 5}, "value", 2),
    ({"command": "value", "expr": "sum(A)", "at": {"A": "@matrix.npy"}, "dtype": "float64", "kinks": "jax"}, "value", 10),
    ({"command": "jvp", "expr": "x*y", "at": {"x": 2, "y": 3}, "tangent": {"x": 1, "y": 10}}, "tangent", 23),
    ({"command": "vjp", "expr": "v**2", "at": {"v": [1, 2]}, "cotangent": [1, 3]}, "cotangents", {"v": [2, 12]}),
    ({"command": "hvp", "expr": "x**3", "at": {"x": 2}, "vector": {"x": 2}}, "product", {"x": 24}),
    ({"command": "derivative", "expr": "x**3", "at": {"x": 2}, "order": 2}, "derivatives", [12, 12]),
    ({"command": "jacobian", "expr": "v**2", "at": {"v": [1, 2]}, "mode": "reverse"}, "jacobian", {"v": [[2, 0], [0, 4]]}),
    ({"command": "value", "file": "rosenbrock.adiff", "at": "@start.json"}, "value", 2504),
    ({"command": "partition", "data": [10, 20, 30], "partitions": [0, 1, 0], "n": 2, "grad": True}, "partitions", [[10, 30], [20]]),
    ({"command": "stitch", "indices": [[0, 2], [1]], "data": [[10, 30], [20]]}, "result", [10, 20, 30]),
    ({"command": "eval", "expr": "1 + 1", "quiet": True, "json": True}, "value", 2),
    ({"command": "eval", "expression": "1 + 1"}, "value", 2),
    ({"command": "value", "expr": "x", "at": {"x": "inf"}}, "value", "inf"),
]  # fmt: skip


def test_json_lines_take_every_option(adiff: Callable[..., Completed]) -> None:
    done = adiff("batch", "-", stdin="".join(json.dumps(line) + "\n" for line, _, _ in LINES))
    found = records(done.stdout)
    assert done.returncode == 0, [record.get("error") for record in found]
    assert [record[key] for record, (_, key, _) in zip(found, LINES)] == [expected for _, _, expected in LINES]
    assert [record.get("id", "none") for record in found[:3]] == ["a", None, "none"]


def test_options_of_the_batch_hold_for_its_lines(adiff: Callable[..., Completed]) -> None:
    lines = "grad abs(x) --at x=0\ngrad abs(x) --at x=0 --kinks tensorflow\n"
    first, second = records(adiff("batch", "-", "--kinks", "jax", stdin=lines).stdout)
    assert (first["gradients"], second["gradients"]) == ({"x": 1.0}, {"x": 0.0})


def test_a_coprocess_is_answered_line_by_line(folder: Path) -> None:
    process = subprocess.Popen([*COMMAND, "batch", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(1, 6):
        process.stdin.write(f"grad x**2 --at x={number}\n".encode())
        process.stdin.flush()
        record = json.loads(process.stdout.readline())
        assert (record["line"], record["gradients"]) == (number, {"x": 2.0 * number})
    process.stdin.close()
    assert process.wait(30) == 0


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_endings_and_marks(adiff: Callable[..., Completed], ending: str) -> None:
    text = "\ufeffvalue 1" + ending + ending + "  # note" + ending + "value 2  # trailing" + ending + "value 3"
    found = records(adiff("batch", "-", stdin=text).stdout)
    assert [(record["line"], record["value"]) for record in found] == [(1, 1), (4, 2), (5, 3)]


ROWS = "hessian --sparse sum(x**3) --at x=[1,2]\ntape x**2 --at x=3\n"
MIXED = "grad x**2*y --at x=2,y=3\nvalue (\nvalue 'a,b'\n"


def test_formats(adiff: Callable[..., Completed]) -> None:
    plain = adiff("batch", "-", "--format", "plain", stdin=MIXED).stdout.splitlines()
    assert plain[0] == "1\tx=12.0\ty=4.0"
    assert plain[1].startswith("2\terror[E01")
    assert adiff("batch", "-", "--format", "plain", stdin=ROWS).stdout.splitlines() == [
        "1\trow=x[0] column=x[0] value=6.0\trow=x[1] column=x[1] value=12.0",
        "2\tstep=0 operation=input inputs='' name=x value=3.0 partials=[] adjoint=6.0 line=None column=None source=None"
        "\tstep=1 operation=power inputs='x 2' name=%1 value=9.0 partials=[6.0, None] adjoint=1.0 line=1 column=1 source=x**2",
    ]
    assert "row=x[0] column=x[0] value=6.0" in adiff("batch", "-", "--format", "table", stdin=ROWS).stdout
    rows = list(csv.reader(io.StringIO(adiff("batch", "-", "--csv", stdin=MIXED).stdout), strict=True))
    assert rows[:2] == [
        ["line", "id", "command", "value", "d_x", "d_y", "error"],
        ["1", "", "grad", "12.0", "12.0", "4.0", ""],
    ]
    assert rows[2][:6] == ["2", "", "value", "", "", ""]
    assert rows[2][6].startswith("error[E01")
    whole = json.loads(adiff("batch", "-", "--json", stdin=MIXED).stdout)
    assert (whole["schema"], whole["command"], len(whole["records"])) == (1, "batch", 3)


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_csv_is_wide_where_all_lines_are_of_one_command_and_shape(
    adiff: Callable[..., Completed], folder: Path, options: tuple[str, ...]
) -> None:
    def rows(text: str) -> list[list[str]]:
        (folder / "b.txt").write_text(text)
        return list(csv.reader(io.StringIO(adiff("batch", "b.txt", "--csv", *options).stdout), strict=True))

    points = "value (\n" + "".join(f"grad sum(x**2)*y --at x=[1,{k}],y=3\n" for k in (2, 5))
    header, failed, *found = rows(points)
    assert header == ["line", "id", "command", "value", "d_x.0", "d_x.1", "d_y", "error"]
    assert failed[:7] == ["1", "", "value", "", "", "", ""]
    assert failed[7].startswith("error[E01")
    assert found == [
        ["2", "", "grad", "15.0", "6.0", "12.0", "5.0", ""],
        ["3", "", "grad", "78.0", "6.0", "30.0", "26.0", ""],
    ]
    for other in ("grad sum(x**2)*y --at x=[1],y=3\n", "value x --at x=3\n"):
        assert rows(points + other)[0] == ["line", "id", "command", "name", "value", "error"]
    assert len(rows(points + other)) == 1 + 1 + 4 + 4 + 1


def test_a_line_over_the_rows_of_a_table(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "b.txt").write_text(
        "grad x**2*a --rows table.csv --wrt a --at x=2\nvalue 1//k --over k=[0,1]\nvalue x --rows -\n"
    )
    whole = adiff("batch", "b.txt", "-o", "out.ndjson")
    assert whole.returncode == 1
    first, second, third = map(json.loads, (folder / "out.ndjson").read_text().splitlines())
    assert first["rows"] == [{"a": 1, "b": 2, "value": 4.0, "d_a": 4.0}, {"a": 3, "b": 4.5, "value": 12.0, "d_a": 4.0}]
    assert [row["value"] for row in second["rows"]] == [None, 1]
    assert "standard input" in third["error"]["message"]
    assert adiff("batch", "b.txt", "--resume", "out.ndjson").stderr == "3 lines: 1 answered, 2 failed\n"
    assert adiff("batch", "b.txt", "-q", "--jobs", "2", "--csv").stdout.splitlines()[1:5] == [
        "1,,grad,0.a,1,", "1,,grad,0.b,2,", "1,,grad,0.value,4.0,", "1,,grad,0.d_a,4.0,",
    ]  # fmt: skip


def test_objects_that_ask_for_nothing(adiff: Callable[..., Completed]) -> None:
    lines = '{"expr": "x**2"}\n{"command": "grad", "expr": "x**2", "at": {"x": null}}\n'
    lines += '{"command": "grad", "expr": "x**2", "at": {"x": {"a": 1}}}\ngrad "x**2" --at x=None\n'
    done = adiff("batch", "-", stdin=lines)
    first, second, third, fourth = (json.loads(line)["error"] for line in done.stdout.splitlines())
    assert first["message"] == 'the object has no "command"'
    assert second["message"] == "--at: 'x' is null"
    assert third["message"] == "--at: 'x' is an object"
    assert fourth["message"] == "--at: 'x' is None"
    assert done.stderr == "4 lines: 0 answered, 4 failed\n"
    assert adiff("batch", "-", stdin="value 1\n").stderr == "1 line: 1 answered, 0 failed\n"


@pytest.mark.parametrize("options", [[], ["--jobs", "2"], ["--timeout", "50"]], ids=str)
def test_a_line_without_an_end(adiff: Callable[..., Completed], options: list[str]) -> None:
    done = adiff("batch", "/dev/zero", *options)
    assert (done.returncode, json.loads(done.stdout)["error"]["message"]) == (1, "the line is too long")
