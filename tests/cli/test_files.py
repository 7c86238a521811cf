"""Values and texts from files: every kind, and every way in which a file can be no good."""

import io
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from adiff import program
from adiff.cli import files
from adiff.parser.errors import AdiffError

from .conftest import Completed


def saved(path: Path, array: object) -> str:
    numpy.save(path, numpy.asarray(array))
    return str(path)


READ_AS = (
    "float64=float64 float32=float32 float16=float32 int8=int64 int32=int64 uint32=int64 int64=int64 uint64=int64 bool=bool "
    "complex64=complex64 complex128=complex128 >f8=float64 >i4=int64"
)


@pytest.mark.parametrize(("given", "dtype"), [pair.split("=") for pair in READ_AS.split()])
def test_npy_dtypes(tmp_path: Path, given: str, dtype: str) -> None:
    array = numpy.array([[0, 1, 2], [3, 4, 5]]).astype(given)
    found = files.read_value(saved(tmp_path / "a.npy", array))
    outcome = program("x").evaluate("value", {"x": found})
    assert (outcome.types or {})["x"] == (dtype, (2, 3))
    assert numpy.array_equal(outcome.value, array)


def test_npz(tmp_path: Path) -> None:
    numpy.savez_compressed(tmp_path / "two.npz", a=numpy.arange(3), b=numpy.eye(2))
    numpy.savez(tmp_path / "one.npz", only=numpy.arange(4.0))
    assert numpy.array_equal(files.read_value(f"{tmp_path}/two.npz:b"), numpy.eye(2))  # type: ignore[arg-type]
    assert numpy.array_equal(files.read_value(f"{tmp_path}/one.npz"), numpy.arange(4.0))  # type: ignore[arg-type]
    with pytest.raises(AdiffError, match="several arrays") as caught:
        files.read_value(f"{tmp_path}/two.npz")
    assert "a, b" in str(caught.value.hint)
    with pytest.raises(AdiffError, match="no array 'c'"):
        files.read_value(f"{tmp_path}/two.npz:c")


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("1,2\n3,4", [[1, 2], [3, 4]]),
        ("x\n1.5\n2\n", [1.5, 2.0]),
        ("\ufeffx,y\r\n1,2\r\n", [[1, 2]]),
        ("x,y\r1,2\r3,4\r", [[1, 2], [3, 4]]),
        ("1e3,-2.5\n\n+4,.5\n", [[1000, -2.5], [4, 0.5]]),
        ('"a, b",c\n"1",2\n', [[1, 2]]),
        ("a,b\nnan,inf\n", [[float("nan"), float("inf")]]),
    ],
)
def test_csv(tmp_path: Path, text: str, table: object) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode())
    found = files.read_value(f"{tmp_path}/t.csv")
    assert isinstance(found, numpy.ndarray)
    numpy.testing.assert_array_equal(found, numpy.array(table))


def test_csv_of_whole_numbers_is_of_whole_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,9007199254740993\n")
    found = files.read_value(f"{tmp_path}/t.csv")
    assert isinstance(found, numpy.ndarray)
    assert found.dtype == numpy.int64
    assert found[0, 1] == 9007199254740993


def test_json(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text('[[1, 2.5], ["nan", "-inf"]]')
    found = files.read_value(f"{tmp_path}/v.json")
    assert repr(found) == "[[1, 2.5], [nan, -inf]]"


def corrupted(tmp_path: Path) -> dict[str, tuple[bytes, str]]:
    """Files that are no good, and words of the message for each."""
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.arange(100.0))
    whole = buffer.getvalue()
    pickled = io.BytesIO()
    numpy.save(pickled, numpy.array([{"a": 1}], dtype=object), allow_pickle=True)
    large = io.BytesIO()
    numpy.save(large, numpy.array([2**63], dtype="uint64"))
    archive = io.BytesIO()
    numpy.savez(archive, a=numpy.arange(100.0))
    nested = b"[" * 200_000
    return {
        "empty.npy": (b"", "is empty"),
        "short.npy": (whole[:4], "not a readable .npy file"),
        "text.npy": (b"hello, world\n", "not a readable .npy file"),
        "pickle.npy": (pickle.dumps([1, 2, 3]), "not a readable .npy file"),
        "object.npy": (pickled.getvalue(), "pickled"),
        "whole.npy": (large.getvalue(), "whole numbers beyond int64"),
        "empty.npz": (b"", "is empty"),
        "text.npz": (b"hello", "not a readable .npz archive"),
        "truncated.npz": (archive.getvalue()[:-30], "not a readable .npz archive"),
        "empty.csv": (b"", "holds no numbers"),
        "header.csv": (b"a,b,c\n", "holds no numbers"),
        "ragged.csv": (b"1,2\n3\n", "1 field, and the table has 2 columns"),
        "words.csv": (b"1,2\n3,four\n", "'four' is not a number"),
        "half.csv": (b"1,two\n3,4\n", "'two' is not a number"),
        "hole.csv": (b"1,2\n3,\n", "'' is not a number"),
        "binary.csv": (bytes(range(256)), "not UTF-8"),
        "nul.csv": (b"1,\x002\n", "not a number"),
        "huge.csv": (b"1,99999999999999999999999\n", "beyond int64"),
        "empty.json": (b"", "is empty"),
        "broken.json": (b'{"x": 1', "not JSON"),
        "nested.json": (nested, "nested too deeply"),
        "binary.json": (b"\xff\xfe1\x00", "not UTF-8"),
        "digits.json": (b"9" * 10_000, "not JSON"),
    }


@pytest.mark.parametrize("name", sorted(corrupted(Path())))
def test_files_that_are_no_good(tmp_path: Path, name: str) -> None:
    content, words = corrupted(tmp_path)[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(AdiffError) as caught:
        files.read_value(f"{tmp_path}/{name}")
    assert caught.value.exit_code == 4
    assert words in caught.value.message
    assert name in caught.value.message


def test_an_archive_member_that_is_damaged(tmp_path: Path) -> None:
    numpy.savez_compressed(tmp_path / "a.npz", a=numpy.arange(1000.0))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[60:120] = b"\x55" * 60
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(AdiffError) as caught:
        files.read_value(f"{tmp_path}/a.npz:a")
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("reference", ["a.pkl", "a", "", "a.npy.txt", "x.parquet"])
def test_kinds_of_file_that_are_not_read(reference: str) -> None:
    with pytest.raises(AdiffError, match=r"does not end in \.npy") as caught:
        files.read_value(reference)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv", "a.json"])
def test_what_is_no_regular_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(AdiffError, match="no such file"):
        files.read_value(f"{tmp_path}/{name}")
    (tmp_path / name).mkdir()
    with pytest.raises(AdiffError, match="is a directory"):
        files.read_value(f"{tmp_path}/{name}")
    (tmp_path / name).rmdir()
    os.mkfifo(tmp_path / name)
    with pytest.raises(AdiffError, match="not a regular file"):
        files.read_value(f"{tmp_path}/{name}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_one_may_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("1")
    (tmp_path / "a.json").chmod(0)
    with pytest.raises(AdiffError, match="permission denied"):
        files.read_value(f"{tmp_path}/a.json")


def test_a_point_must_be_an_object_of_names(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(AdiffError, match="holds no object"):
        files.read_point(f"{tmp_path}/list.json")
    (tmp_path / "names.json").write_text('{"2x": 1}')
    with pytest.raises(AdiffError, match="'2x' is not a name"):
        files.read_point(f"{tmp_path}/names.json")


def test_texts(tmp_path: Path) -> None:
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbfx**2")
    assert files.read_text(f"{tmp_path}/bom") == "x**2"
    (tmp_path / "latin").write_bytes(b"x = 1\n# caf\xe9\n")
    with pytest.raises(AdiffError, match="not UTF-8 text: byte 0xe9 in line 2") as caught:
        files.read_text(f"{tmp_path}/latin")
    assert caught.value.exit_code == 4
    with pytest.raises(AdiffError, match="is a directory"):
        files.read_text(str(tmp_path))
    with pytest.raises(AdiffError, match="larger than 64 MiB"):
        files.read_text("/dev/zero")


def header(descr: str, shape: str, data: bytes = b"", text: str = "") -> bytes:
    text = text or f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


LIES = {
    "negative": header("<f8", "(-3,)", bytes(64)),
    "two negative": header("<f8", "(-3, -2)", bytes(64)),
    "truth": header("<f8", "(True,)", bytes(64)),
    "huge": header("<f8", "(10000000000000000000000,)", bytes(64)),
    "huge and empty": header("<f8", "(0, 10000000000000000000000)", bytes(64)),
    "too big and empty": header("<f8", "(0, 4611686018427387904, 4)", bytes(64)),
    "70 dimensions": header("<f8", str((1,) * 70), bytes(64)),
    "truncated": header("<f8", "(3,)", bytes(20)),
    "no bytes": header("|V0", "(3,)"),
    "broken text": header("", "", text="{'descr': '<f8', 'fort"),
    "deep text": header("", "", text="(" * 5000),
    "an expression": header("<f8", "(2,)*10**9", bytes(64)),
    "no dtype": header("nonsense", "(2,)", bytes(64)),
}


@pytest.mark.parametrize("content", LIES.values(), ids=LIES)
def test_headers_that_lie(adiff: Callable[..., Completed], folder: Path, content: bytes) -> None:
    (folder / "lie.npy").write_bytes(content)
    with zipfile.ZipFile(folder / "lie.npz", "w") as archive:
        archive.writestr("a.npy", content)
    for name in ("lie.npy", "lie.npz"):
        done = adiff("value", "x", "--at", f"x=@{name}")
        assert (done.returncode, done.stdout) == (4, "")
        assert name in done.stderr


def test_an_archive_that_unpacks_to_gigabytes(adiff: Callable[..., Completed], folder: Path) -> None:
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header("<f8", "(1000000000,)", bytes(10_000)))
    content = bytearray((folder / "bomb.npz").read_bytes())
    directory = content.rfind(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 2**32 - 2)  # the size that it says it unpacks to
    (folder / "bomb.npz").write_bytes(content)
    done = adiff("value", "x", "--at", "x=@bomb.npz")
    assert (done.returncode, "bytes unpack to 4294967294" in done.stderr) == (4, True)
    done = adiff("value", "x", "--at", "x=@data.npz:second", "--max-memory", "1M")
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("variables", "arguments", "status"),
    [
        ({"COLUMNS": "²"}, ["value", "[1, 2]", "--format", "table"], 0),
        ({"COLUMNS": "9" * 20}, ["grad", "--help"], 0),
        ({"COLUMNS": "9" * 5000}, ["value", "[1, 2]", "--format", "table"], 0),
        ({"LINES": "²", "TERMINAL_WIDTH": "abc"}, ["grad", "--help"], 0),
        ({"PYTHONIOENCODING": "idna"}, ["value", "1"], 0),
        ({"_ADIFF_COMPLETE": "complete_bash"}, ["value", "1"], 0),
        ({"_ADIFF_COMPLETE": "complete_bash", "COMP_WORDS": "adiff gr", "COMP_CWORD": "x"}, ["value", "1"], 0),
    ],
)
def test_variables_without_sense(
    started: Callable[..., Completed], variables: dict[str, str], arguments: list[str], status: int
) -> None:
    done = started(*arguments, **variables)
    assert done.returncode == status
    assert done.stdout or done.stderr
