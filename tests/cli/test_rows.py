"""Tables as input and output: every form, against calculus by hand; and what is wrong with tables."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from adiff.cli.tables import columns, read
from pyarrow import parquet

from .conftest import Completed

TABLE = 'x,name,y\n1,"a, b",2\n3,"say ""hi""",4\n-2,"two\nlines",0.5\n'
# Of x**2*y: 2*x*y and x**2.
GRADIENTS = [(2.0, 4.0, 1.0), (36.0, 24.0, 9.0), (2.0, -2.0, 4.0)]


@pytest.fixture(autouse=True)
def _table(folder: Path) -> None:
    (folder / "d.csv").write_text(TABLE)


def test_columns_are_kept_and_results_follow(answer: Callable[..., str]) -> None:
    rows = list(csv.reader(io.StringIO(answer("grad", "x**2*y", "--rows", "d.csv"), newline="")))
    given = list(csv.reader(io.StringIO(TABLE, newline="")))
    assert rows[0] == [*given[0], "value", "d_x", "d_y", "error"]
    assert [row[:3] for row in rows[1:]] == given[1:]
    assert [tuple(map(float, row[3:6])) for row in rows[1:]] == GRADIENTS
    assert answer("grad", "x**2*y", "--rows", "-", stdin=TABLE) == answer("grad", "x**2*y", "--rows", "d.csv")


FORMS = [
    "csv", "tsv", "ndjson", "jsonl", "npz", "parquet", "arrow", "feather", "csv.gz", "tsv.zst", "ndjson.zst", "jsonl.gz",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_in_and_out(answer: Callable[..., str], folder: Path, form: str) -> None:
    assert answer("grad", "x**2*y", "--rows", "d.csv", "--strict", "-o", f"o.{form}") == ""
    found = json.loads(answer("value", "x + y + d_x", "--rows", f"o.{form}", "--rename", "value=v", "--json"))["rows"]
    assert [row["value"] for row in found] == [7.0, 31.0, -3.5]
    assert [(row["v"], row["d_x"], row["d_y"]) for row in found] == GRADIENTS
    assert [row["name"] for row in found] == ["a, b", 'say "hi"', "two\nlines"]
    assert list(found[0]) == ["x", "name", "y", "v", "d_x", "d_y", "value"]


def test_npy_holds_the_numbers(answer: Callable[..., str], folder: Path) -> None:
    answer("grad", "x**2*y", "--rows", "d.csv", "-o", "o.npy")
    table = np.load(folder / "o.npy")
    assert table.tolist() == [[x, y, *g] for (x, y), g in zip([(1, 2), (3, 4), (-2, 0.5)], GRADIENTS, strict=True)]
    assert answer("value", "c1*c2", "--rows", "o.npy", "--strict").splitlines()[1].endswith(",2.0")
    records = np.array([(1.5, 2), (2.5, 3)], dtype=[("x", "f8"), ("k", "i4")])
    np.save(folder / "r.npy", records)
    assert answer("value", "[10, 20, 30, 40][k] + x", "--rows", "r.npy").splitlines()[1:] == [
        "1.5,2,31.5,",
        "2.5,3,42.5,",
    ]


def test_parquet_types_stay(answer: Callable[..., str], folder: Path) -> None:
    table = pyarrow.table({"k": [2, None, 5], "v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "day": ["mo", "tu", "we"]})
    parquet.write_table(table, folder / "t.parquet")
    answer("grad", "k * sum(v**2)", "--rows", "t.parquet", "-o", "g.parquet")
    found = parquet.read_table(folder / "g.parquet")
    assert found.select(["k", "v", "day"]) == table
    assert found["value"].to_pylist() == [10.0, None, 305.0]
    assert found["d_v.1"].to_pylist() == [8.0, None, 60.0]
    assert found["error"].to_pylist() == [None, None, None]


def test_lists_in_objects(answer: Callable[..., str], folder: Path) -> None:
    (folder / "l.ndjson").write_text('{"v": [3, 4], "id": 7}\n{"v": null}\n{"v": [0, 2.0], "id": "a"}\n')
    rows = json.loads(answer("grad", "norm(v)", "--rows", "l.ndjson", "--json"))["rows"]
    assert [row["value"] for row in rows] == [5.0, None, 2.0]
    assert [(row["v"], row["id"], row["d_v.0"], row["d_v.1"]) for row in rows[::2]] == [
        ([3, 4], 7, 0.6, 0.8),
        ([0, 2.0], "a", 0.0, 1.0),
    ]


COMMANDS: list[tuple[list[str], str, list[list[float]]]] = [
    (["value", "x*y"], "value", [[2.0], [12.0]]),
    (["jacobian", "x*y"], "value d_x d_y", [[2.0, 2.0, 1.0], [12.0, 4.0, 3.0]]),
    (["jacobian", "[x, x*y]", "--wrt", "x"], "value.0 value.1 d_x.0 d_x.1", [[1, 2, 1, 2], [3, 12, 1, 4]]),
    (["hessian", "x**2*y", "--wrt", "x"], "value d_x H.x.x", [[2, 4, 4], [36, 24, 8]]),
    (["laplacian", "x**2*y**2"], "value laplacian", [[4, 2 * 4 + 2 * 1], [144, 2 * 16 + 2 * 9]]),
    (["jvp", "x**2*y", "--tangent", "x=1,y=10"], "value tangent", [[2, 14], [36, 114]]),
    (["jvp", "[x*y, x]", "--tangent", "y=1"], "value.0 value.1 tangent.0 tangent.1", [[2, 1, 1, 0], [12, 3, 3, 0]]),
    (["derivative", "x**3", "--order", "2"], "value d1 d2", [[1, 3, 6], [27, 27, 18]]),
    (["derivative", "x**3", "--order", "4"], "value d1 d2 d3 d4", [[1, 3, 6, 6, 0], [27, 27, 18, 6, 0]]),
    (["grad", "x*a", "--at", "a=5"], "value d_x", [[5, 5], [15, 5]]),
    (["grad", "x*sum(t)", "--at", "t=@d.csv:y"], "value d_x", [[6.5, 6.5], [19.5, 6.5]]),
    (["grad", "x*y if x > 2 else y", "--engine", "kernel"], "value d_x d_y", [[2, 0, 1], [12, 4, 3]]),
]


@pytest.mark.parametrize(("arguments", "header", "expected"), COMMANDS, ids=[" ".join(c[0])[:40] for c in COMMANDS])
def test_commands(
    answer: Callable[..., str], folder: Path, arguments: list[str], header: str, expected: list[Any]
) -> None:
    (folder / "e.csv").write_text("x,y\n1,2\n3,4\n")
    lines = answer(*arguments, "--rows", "e.csv", "--strict", "-q").splitlines()
    assert lines[0] == "x,y," + ",".join(header.split())
    assert [[float(cell) for cell in line.split(",")[2:]] for line in lines[1:]] == expected


def test_check(adiff: Callable[..., Completed], folder: Path) -> None:
    rule = "@custom_gradient\ndef f(v):\n    return v**2, lambda g: g * (2*v + (v > 2))\nf(x)"
    done = adiff("check", rule, "--rows", "d.csv")
    assert done.returncode == 1
    rows = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
    assert [row["ok"] for row in rows] == ["True", "False", "True"]
    assert done.stderr == "1 of 3 rows failed; the first: d.csv:3: the check disagrees\n"


@pytest.mark.parametrize(
    ("ranges", "points"),
    [
        (["x=0:2:0.5"], [[0.0], [0.5], [1.0], [1.5], [2.0]]),
        (["x=0:1/5"], [[0.0], [0.25], [0.5], [0.75], [1.0]]),
        (["x=0:0.3:0.1"], [[0.0], [0.1], [0.2], [0.3]]),
        (["x=1:0:-0.5"], [[1.0], [0.5], [0.0]]),
        (["x=0:1:0.4"], [[0.0], [0.4], [0.8]]),
        (["x=[3,1,2]"], [[3], [1], [2]]),
        (["x=-1:1/2", "y=0:2:1"], [[-1.0, 0.0], [-1.0, 1.0], [-1.0, 2.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]),
    ],
)
def test_over(answer: Callable[..., str], ranges: list[str], points: list[list[float]]) -> None:
    text = "x" if len(ranges) == 1 else "x + y"
    over = [word for text in ranges for word in ("--over", text)]
    rows = json.loads(answer("value", text, *over, "--json"))["rows"]
    assert [[x for name, x in row.items() if name != "value"] for row in rows] == points
    assert [row["value"] for row in rows] == [sum(point) for point in points]
    assert len(answer("value", text, *over, "--format", "plain", "--strict").splitlines()) == len(points) + 1


@pytest.mark.parametrize("form", ["csv", "json", "ndjson"])
def test_notices_of_every_form(adiff: Callable[..., Completed], form: str) -> None:
    line = "grad", "1/x", "--over", "x=-1:1:1", "--format", form
    done = adiff(*line)
    if form == "json":
        assert [notice["code"] for notice in json.loads(done.stdout)["notices"]] == ["N0501", "N0601"]
    assert ("notice[N0501]" in done.stderr) == (form != "json")
    assert adiff(*line, "-q").stderr == ""


def test_cells_that_miss_and_fail(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "m.csv").write_text("n,x\n8,2\n,1\n8,0\n9,abc\n")
    done = adiff("value", "n // x", "--rows", "m.csv")
    assert done.stdout == (
        "n,x,value,error\n8,2,4,\n,1,,\n8,0,,E0402: integer division by zero\n9,abc,,E0712: column 'x': 'abc' is not a number\n"
    )
    assert (done.returncode, done.stderr) == (
        1,
        "2 of 4 rows failed; the first: m.csv:4: E0402: integer division by zero\n",
    )
    done = adiff("value", "n // x", "--rows", "m.csv", "--na", "7", "--format", "ndjson", "-q")
    assert [json.loads(line).get("value") for line in done.stdout.splitlines()] == [4.0, 7.0, None, None]
    done = adiff("value", "n // x", "--rows", "m.csv", "--strict")
    assert (done.returncode, done.stdout) == (1, "n,x,value\n8,2,4\n,1,\n")
    assert "m.csv:4: integer division by zero" in done.stderr


def test_without_a_header(answer: Callable[..., str], folder: Path) -> None:
    (folder / "n.tsv").write_text("1\t2\n3\t4\n")
    assert (
        answer("value", "c1*b", "--rows", "n.tsv", "--no-header", "--rename", "c2=b", "--strict")
        == "c1,b,value\n1,2,2\n3,4,12\n"
    )
    (folder / "h.csv").write_text("x\n")
    assert answer("grad", "x**2", "--rows", "h.csv") == "x,value,d_x,error\n"


OBJECTS = io.BytesIO()
np.save(OBJECTS, np.array([{"a": 1}], dtype=object), allow_pickle=True)
WRONG: list[tuple[str, bytes, list[str], int, str]] = [
    ("r.csv", b"x,y\n1,2\n3,4\n5\n6,7\n", ["grad", "x"], 4, "r.csv:4:2: 1 field, and the table has 2 columns"),
    ("r.csv", b"x\n1\n\"2\n", ["grad", "x"], 4, "r.csv:3: not a readable table"),
    ("b.csv", b"PAR1\0\1\2", ["grad", "x"], 4, "b.csv: not text but a binary file"),
    ("l.csv", b"x\n1\n\xff\n", ["grad", "x"], 4, "l.csv:3: not UTF-8 text: byte 0xff"),
    ("e.csv", b"", ["grad", "x"], 4, "e.csv: is empty"),
    ("c.csv", b"x,y,x\n1,2,3\n", ["grad", "x"], 4, "two columns are named 'x'"),
    ("c.csv", b"a,b\n1,2\n", ["grad", "x"], 4, "c.csv: no column 'x'"),
    ("c.csv", b"1.5,2\n3,4\n", ["grad", "x"], 4, "--no-header names the columns c1, c2"),
    ("c.csv", b"x,value\n1,2\n", ["value", "x"], 2, "--rename value=value_1"),
    ("c.csv", b"x\n1\n", ["value", "x", "--at", "x=2"], 2, "'x' is a column, and bound by --at"),
    ("c.csv", b"x\n1\n", ["value", "x", "--rename", "q=x"], 4, "no column 'q'"),
    ("c.csv", b"x,y\n1,2\n", ["value", "y", "--rename", "x=y"], 2, "two columns are then named 'y'"),
    ("o.npy", OBJECTS.getvalue(), ["value", "x"], 4, "save it with a numeric dtype"),
    ("c.csv", b"x\n1\n", ["value", "x", "-o", "out.xls"], 4, "out.xls: its name does not end in .csv"),
    ("c.csv", b"x\n1\n", ["value", "x", "-o", "none/out.csv"], 4, "no such file or directory"),
    ("c.csv", b"x\n1\n", ["value", "x", "-o", "/dev/full", "--csv"], 4, "/dev/full: no space left on device"),
    ("c.csv", b"x\n1\n", ["value", "x", "--over", "x=0:1/3"], 2, "--rows and --over are two tables"),
    ("c.xls", b"x\n1\n", ["value", "x"], 4, "c.xls: its name does not end in .csv"),
    ("c.parquet", b"PAR1 cut", ["value", "x"], 4, "c.parquet: not a readable parquet table"),
    ("c.csv.gz", b"\x1f\x8b\x08\0cut", ["value", "x"], 4, "c.csv.gz: not a readable csv table"),
    ("c.csv.zst", b"no", ["value", "x"], 4, "c.csv.zst: not a readable csv table"),
    ("c.npy", b"\x93NUMPY\1\0", ["value", "x"], 4, "c.npy: not a readable .npy file"),
    ("c.npz", b"PK\3\4", ["value", "x"], 4, "c.npz: not a readable npz table"),
    ("c.ndjson", b'{"x": 1}\n{"x": 2}\n[1]\n', ["value", "x"], 4, "c.ndjson:3: not a row of the table"),
    ("c.ndjson", b'{"x": 1}\n{"x"\n', ["value", "x"], 4, "c.ndjson:2: not a row of the table"),
    ("c.csv", b"x,y\n1,2\n", ["derivative", "x*y"], 2, "derivative needs one input"),
    ("c.npy.gz", b"", ["value", "x"], 2, "c.npy.gz: .csv, .tsv, .ndjson and .json may be compressed, not npy"),
    ("c.csv", b"x\n1\n", ["value", "x", "-o", "o.parquet.gz"], 2, "may be compressed, not parquet"),
    ("c.csv", b"x\n1\n", ["value", "x", "-o", "o.npz.zst"], 2, "may be compressed, not npz"),
    ("c.ndjson", b'{"x": 1, "i": 7}\n{"x": 2, "i": "a"}\n', ["value", "x", "-o", "o.parquet"], 4, "column 'i' has values of two kinds (Could not convert 'a'"),
    ("c.csv", b"x;y\n1;2\n", ["value", "x"], 4, "its fields stand between semicolons: tr ';' , < c.csv"),
    ("c.csv", b"x\ty\n1\t2\n", ["value", "x"], 4, "--rows-format tsv"),
    ("c.csv", b"x\n1\n", ["value", "x", "--rename", "my col"], 2, "'my col' is not OLD=NEW"),
    ("c.csv", b"x\n1\n", ["value", "x", "-o", "./c.csv"], 2, "./c.csv is read, and -o would write over it"),
    ("v.ndjson", b'{"v": [1, 2]}\n{"v": [1]}\n', ["value", "sum(v)"], 1, "v.ndjson:2: E0712: column 'v' holds a tensor of shape [1], where a tensor of shape [2] is"),
    ("w.ndjson", b'{"v": 1}\n\n{"v": "a"}\n', ["value", "v"], 1, "w.ndjson:3: E0712: column 'v' holds a text, where a number is"),
    ("u.ndjson", b'{"v": [[1], [1, 2]]}\n', ["value", "v"], 1, "u.ndjson:1: E0712: column 'v' holds a list whose rows differ"),
    ("c.csv", b"x\n0\n1\n", ["check", "x**2 + log(x)"], 1, "1 of 2 rows failed; the first: c.csv:2: N0605: no verdict by 'x'"),
    ("c.csv", b"x\n0x10\n5\n", ["value", "x"], 1, "c.csv:2: E0712: column 'x': '0x10' is not a number"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "arguments", "code", "said"), WRONG, ids=[f"{w[0]}-{w[4][:30]}" for w in WRONG]
)
def test_wrong_tables(
    adiff: Callable[..., Completed], folder: Path, name: str, content: bytes, arguments: list[str], code: int, said: str
) -> None:
    (folder / name).write_bytes(content)
    done = adiff(*arguments, "--rows", name)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    if name != "c.csv" and code == 4:  # what stands before the mistake is there, and whole
        before = [line.split(",")[0] for line in done.stdout.splitlines()[1:]]
        assert before == {
            "r.csv:4": ["1", "3"],
            "r.csv:3": ["1"],
            "l.csv:3": ["1"],
            "c.ndjso": ["1", "2"][: int("3" in said) + 1],
        }.get(said[:7], [])


@pytest.mark.parametrize(
    "text",
    [
        "x=0:1",
        "x=0:1:0",
        "x=0:1:-1",
        "x=0:1/0",
        "x=3",
        "y=0:1/3",
        "x=0:1/2.5",
        "x=a:1/3",
        "x=[]",
        "x=0:1/1000000001",
        "x=0:1:1e-10",
        f"x=0:1/{'9' * 5000}",
    ],
)
def test_wrong_ranges(adiff: Callable[..., Completed], text: str) -> None:
    assert adiff("value", "x", "--over", text).returncode in (1, 2)


def test_columns_with_spaces_and_standard_input_that_is_packed(adiff: Callable[..., Completed]) -> None:
    packed = gzip.compress(b"my col,y\n3,2\n")
    done = adiff("value", "c**y", "--rows", "-", "--rename", "my col=c", "--strict", stdin=packed)
    assert (done.returncode, done.stdout) == (0, "c,y,value\n3,2,9\n")
    assert "<stdin>: no column 'c'" in adiff("value", "c", "--rows", "-", stdin=packed).stderr


def test_a_reader_that_leaves_ends_a_table(folder: Path) -> None:
    command = "value x --over x=0:1:1.1e-6 --csv --max-memory 1G | head -3"
    script = f"{sys.executable} -c 'from adiff.cli.main import main; main()' {command}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, cwd=folder, timeout=60)
    assert (done.stdout, done.stderr) == ("x,value,error\n0.0,0.0,\n1.1e-06,1.1e-06,\n", "")


def test_names_may_swap(answer: Callable[..., str], folder: Path) -> None:
    (folder / "s.csv").write_text("a,b\n1,5\n")
    found = answer("value", "a - b", "--rows", "s.csv", "--rename", "a=b", "--rename", "b=a", "--strict")
    assert found == "b,a,value\n1,5,4\n"


@pytest.mark.parametrize("form", ["npy", "parquet", "feather"])
def test_named_pipes(answer: Callable[..., str], folder: Path, form: str) -> None:
    answer("value", "x", "--over", "x=0:1:1", "-o", f"a.{form}")
    os.mkfifo(folder / f"p.{form}")
    feed = subprocess.Popen(["cp", f"a.{form}", f"p.{form}"], cwd=folder)
    name = "c1" if form == "npy" else "x"
    found = answer(
        "value", f"2*{name}", "--rows", f"p.{form}", "--rename", f"{'c2' if form == 'npy' else 'value'}=v", "--strict"
    )
    feed.wait()
    assert [line.split(",")[-1] for line in found.splitlines()] == ["value", "0.0", "2.0"]


def test_typed_output_of_whole_numbers_and_others(answer: Callable[..., str], folder: Path) -> None:
    """Columns of whole numbers in the first chunk may have others in the next."""
    (folder / "w.ndjson").write_text('{"x": 1}\n' * (read.ROWS // 4) + '{"x": 0.25}\n')
    (folder / "w.csv").write_text("x\n" + "1\n" * (read.ROWS // 4) + "0.25\n")
    for name in ("w.ndjson", "w.csv"):
        answer("value", "x + 1", "--rows", name, "-o", "w.parquet")
        found = parquet.read_table(folder / "w.parquet")
        assert [found[n].to_pylist()[-2:] for n in ("x", "value")] == [[1.0, 0.25], [2.0, 1.25]]


def without_arrow(folder: Path, *arguments: str) -> Completed:
    code = "import sys; sys.modules['pyarrow'] = None; from adiff.cli.main import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True)


def test_without_pyarrow(answer: Callable[..., str], folder: Path) -> None:
    content = "x,name,y\n" + "".join(f'{i / 7!r},"a{i}, ""b""", {i}e-{i % 30}\n' for i in range(-1500, 1500))
    (folder / "long.csv").write_text(content)
    done = without_arrow(folder, "grad", "x*y", "--rows", "long.csv")
    assert done.stderr == ""
    assert done.stdout == answer("grad", "x*y", "--rows", "long.csv")
    for path in ("a.parquet", "a.csv.zst"):
        (folder / path).write_bytes(b"")
        done = without_arrow(folder, "grad", "x", "--rows", path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 2)
        assert 'pip install "adiff[tables]"' in done.stderr


def test_ctrl_c_leaves_no_file(folder: Path) -> None:
    import signal

    source = "import sys\nprint('x')\nwhile True:\n    print('0.5')\n"
    feed = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    command = [sys.executable, "-c", "from adiff.cli.main import main; main()", *"grad x**2 --rows - -o o.csv".split()]
    process = subprocess.Popen(command, stdin=feed.stdout, cwd=folder, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not list(folder.glob(".adiff-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    feed.kill()
    feed.wait()
    assert not list(folder.glob("*o.csv"))
    assert not list(folder.glob(".adiff-*"))


def test_a_column_of_truths_may_miss_some(adiff: Callable[..., Completed], folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    parquet.write_table(pa.table({"x": [1.0, 2.0, 3.0], "b": [True, None, False]}), folder / "d.parquet")
    done = adiff("value", "x if b else 2*x", "--rows", "d.parquet", "--format", "csv")
    assert [line.split(",")[2] for line in done.stdout.splitlines()] == ["value", "1.0", "", "6.0"]


def test_the_error_column_is_of_the_results(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "d.csv").write_text("x,error\n1,2\n")
    done = adiff("value", "x", "--rows", "d.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--rename error=error_1" in done.stderr


@pytest.mark.parametrize(
    ("axis", "points"),
    [("0:pi/3", ["0.0", "1.5707963267948966", "3.141592653589793"]), ("0:1:0.3", ["0.0", "0.3", "0.6", "0.9"])],
)
def test_points_keep_their_digits(adiff: Callable[..., Completed], axis: str, points: list[str]) -> None:
    lines = adiff("value", "x", "--over", f"x={axis}", "--format", "csv").stdout.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == points


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Small chunks give what one of all gives; a column of whole numbers may become one of floats."""
    text = "x,s\n" + "".join(f'{i},"line\n{i}"\n' for i in range(200)) + '0.5,"q"\n'
    path = folder / "c.csv"
    path.write_text(text)
    whole = list(read.chunks(str(path), "", True, None))
    monkeypatch.setattr(read, "ROWS", 200)
    parts = list(read.chunks(str(path), "", True, None))
    assert len(whole) == 1 < len(parts)
    assert [cell for part in parts for cell in list(map(str, part.columns[1]))] == list(map(str, whole[0].columns[1]))
    assert parts[-1].place(parts[-1].count - 1) == f"{path}:402"
    inputs = columns.Inputs(None)
    kinds = [inputs.read("x", part.columns[0], True)[0].dtype.kind for part in parts]
    assert (kinds[0], kinds[-1]) == ("i", "f")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say")
def test_memory_does_not_grow(folder: Path) -> None:
    """A table of twice the rows takes no more memory."""
    line = "0.123456,0.654321,some text that stays\n"
    peaks = []
    for count in (400_000, 1_200_000):
        (folder / "big.csv").write_text("x,y,s\n" + line * count)
        code = (
            "import sys; from adiff.cli.main import run; from adiff.cli.environment import Environment;"
            "assert run(sys.argv[1:], Environment.system()) == 0;"
            "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"  # not that of the parent
        )
        done = subprocess.run(
            [sys.executable, "-c", code, "grad", "x*y", "--rows", "big.csv", "-o", "big.parquet", "--engine", "tape"],
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] * 1.25
    assert parquet.ParquetFile(folder / "big.parquet").metadata.num_rows == 1_200_000
