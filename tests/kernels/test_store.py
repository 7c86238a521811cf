"""Kernels that are kept on disk: they load without Numba, and what is not whole is not loaded."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adiff.engine.kernels.compile import store
from adiff.engine.kernels.compile.load import Code
from adiff.engine.kernels.compile.run import Entry
from adiff.engine.kernels.ir import Unsupported
from adiff.parser import cache

from .test_compile import FLOAT, INT, LOOP, compiled, loop, written

EMITTED = written(LOOP, [FLOAT, INT], [FLOAT, FLOAT], slots=1)
KEY = "a key"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def code() -> Code:
    return compiled(EMITTED)


def test_a_kept_kernel_runs_in_a_process_without_numba(folder: Path, code: Code) -> None:
    assert store.save(KEY, EMITTED, code, {"more": [1, 2.5]})
    script = """
import sys
from adiff.engine.kernels.compile import store
from adiff.engine.kernels.compile.run import Entry
interface, code, more = store.load("a key")
(value, slope), flags = Entry(interface, code)(0.3, 50)
print(value, slope, flags, more, sorted({"numba", "numpy", "scipy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    value, slope, rest = done.stdout.split(" ", 2)
    assert (float(value), float(slope)) == pytest.approx(loop(0.3, 50), rel=1e-12)
    assert rest == "() {'more': [1, 2.5]} []\n"


def test_constants_and_functions_of_scipy_are_found_again(folder: Path) -> None:
    text = "def kernel(run, x, c, r):\n    for i in range(4):\n        r[i] = scipy_jv(1.0, x * c[i])\n    return 0\n"
    constants = [np.arange(4.0).reshape(2, 2)]
    emitted = written(text, [FLOAT], [("f", (2, 2))], constants=constants)
    assert store.save(KEY, emitted, compiled(emitted))
    found: Any = store.load(KEY)
    (array,), _ = Entry(*found[:2])(0.5)
    from scipy.special import jv

    assert array == pytest.approx(jv(1.0, 0.5 * constants[0]), rel=1e-12)


def damaged(content: bytes) -> list[bytes]:
    middle = len(content) // 2
    flipped = bytes([content[middle] ^ 1])
    return [b"", content[:-1], content[:20], content[:middle] + flipped + content[middle + 1 :], b"other" + content]


@pytest.mark.parametrize("number", range(5))
def test_a_damaged_entry_is_ignored_and_replaced(folder: Path, code: Code, number: int) -> None:
    assert store.save(KEY, EMITTED, code)
    (file,) = folder.iterdir()
    file.write_bytes(damaged(file.read_bytes())[number])
    assert store.load(KEY) is None
    assert not file.exists()
    assert store.save(KEY, EMITTED, code)
    assert store.load(KEY) is not None


def test_an_entry_of_another_key_is_ignored(folder: Path, code: Code) -> None:
    assert store.save(KEY, EMITTED, code)
    (file,) = folder.iterdir()
    file.rename(folder / store.file_of("another key"))
    assert store.load("another key") is None


def test_a_file_that_others_may_write_is_ignored(folder: Path, code: Code) -> None:
    assert store.save(KEY, EMITTED, code)
    (file,) = folder.iterdir()
    file.chmod(0o666)
    assert store.load(KEY) is None


def test_code_that_does_not_load_is_unsupported(code: Code) -> None:
    for broken in (code.object[:200], b"no object", b""):
        with pytest.raises(Unsupported):
            Entry(EMITTED, Code(broken, ()))


def test_the_oldest_entries_make_room(folder: Path, code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.save("0", EMITTED, code)
    (file,) = folder.iterdir()
    monkeypatch.setattr(store, "MOST_BYTES", 10 * file.stat().st_size)
    for k in range(1, 20):
        assert store.save(str(k), EMITTED, code)
    assert len(cache.files(store.FORM)) <= 10
    assert store.load("19") is not None
