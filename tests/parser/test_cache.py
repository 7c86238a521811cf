"""The cached table: found again without Lark, made again where it is damaged, safe among many processes."""

import marshal
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from adiff.parser import cache, table

GRAMMAR = (Path(table.__file__).parent / "grammar.lark").read_bytes()
SCRIPT = """
import sys
before = set(sys.modules)
from adiff.parser.parse import parse
from adiff.parser.source import Source
print(parse(Source("x**2 + f(y)")))
print(*sorted(set(sys.modules) - before))
"""


def run(folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "ADIFF_CACHE_DIR": str(folder)}
    return subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, text=True)


def imported(folder: Path) -> set[str]:
    process = run(folder)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    tree, modules = output.splitlines()
    assert tree.startswith("Module([ExprStmt(Binary('+', Binary('**',")
    return set(modules.split())


def test_second_process_imports_no_lark_and_nothing_slow(tmp_path: Path) -> None:
    assert "lark" in imported(tmp_path)
    modules = imported(tmp_path)
    heavy = "lark typing dataclasses inspect logging json pathlib difflib unicodedata"
    only_of_mistakes = "adiff.parser.diagnose adiff.parser.render adiff.parser.strings adiff.parser.suggest"
    assert not modules & {*heavy.split(), *only_of_mistakes.split()}


def test_several_processes_at_once(tmp_path: Path) -> None:
    processes = [run(tmp_path) for _ in range(5)]
    outputs = {process.communicate(timeout=300)[0].splitlines()[0] for process in processes}
    assert len(outputs) == 1
    assert all(process.returncode == 0 for process in processes)
    assert [path.name for path in tmp_path.iterdir()] == [table.entry_name(GRAMMAR)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path / "made" / "on demand"))
    return tmp_path / "made" / "on demand"


@pytest.fixture(scope="module")
def made() -> bytes:
    """An entry that Lark has made: a second's work."""
    return marshal.dumps(table.make(GRAMMAR.decode()))


@pytest.fixture
def made_before(made: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever makes an entry is given that one."""
    monkeypatch.setattr(table, "make", lambda grammar: marshal.loads(made))


def test_kept_table_is_the_one_that_is_made(folder: Path, made: bytes) -> None:
    """If this fails, raise table.FORMAT: an entry of an earlier adiff would pass for one of this."""
    table._load()
    entry = marshal.loads((folder / table.entry_name(GRAMMAR)).read_bytes())
    assert entry == marshal.loads(made)
    standing = cache.read(table.entry_name(GRAMMAR))
    assert standing is not None
    assert marshal.loads(standing) == entry


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.usefixtures("made_before")
def test_entry_is_its_owner_s_alone(folder: Path) -> None:
    table._load()
    entry = folder / table.entry_name(GRAMMAR)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: bytes(len(content)),
        lambda content: b"not an entry",
        lambda content: table.sealed(marshal.dumps([1, 2, 3])),
        lambda content: table.sealed(marshal.dumps({"rows": None})),
        lambda content: table.sealed(marshal.dumps({**marshal.loads(content), "rules": [(1, 2, "no_such_action")]})),
        # A table by its form, in which a number is another.
        lambda content: marshal.dumps({**marshal.loads(content), "starts": {"program": 2, "replacement": 1}}),
    ],
)
@pytest.mark.usefixtures("made_before")
def test_damaged_entry_is_made_anew(folder: Path, damage: Any) -> None:
    good = table._load()
    entry = folder / table.entry_name(GRAMMAR)
    content = entry.read_bytes()
    entry.write_bytes(damage(content))
    assert table._load().rows == good.rows
    assert marshal.loads(entry.read_bytes()) == marshal.loads(content)


@pytest.mark.usefixtures("made_before")
def test_folder_that_cannot_be_written_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path / "file"))
    assert table._load().rows
    assert not cache.write("name", b"content")
    assert cache.read("name") is None


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
def test_another_user_s_entry_is_not_trusted(folder: Path) -> None:
    cache.write("name", b"content")
    assert cache.read("name") == b"content"
    os.chown(folder / "name", 12345, 12345)
    assert cache.read("name") is None


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"HOME": "/home/a"}, "/home/a/.cache/adiff"),
        ("linux", {"HOME": "/home/a", "XDG_CACHE_HOME": "/tmp/cache"}, "/tmp/cache/adiff"),
        ("linux", {"HOME": "/home/a", "XDG_CACHE_HOME": "relative"}, "/home/a/.cache/adiff"),
        ("darwin", {"HOME": "/Users/a"}, "/Users/a/Library/Caches/adiff"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/adiff/Cache"),
        ("win32", {"LOCALAPPDATA": "/local", "ADIFF_CACHE_DIR": "/mine"}, "/mine"),
    ],
)
def test_folder_follows_the_platform(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("ADIFF_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache.folder() == expected


def test_a_failed_write_leaves_nothing_behind(folder: Path) -> None:
    (folder / "name").mkdir(parents=True)
    assert not cache.write("name", b"content")
    assert [path.name for path in folder.iterdir()] == ["name"]
