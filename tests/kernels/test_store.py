"""Kept kernels: found again without Numba, made again where an entry is damaged or foreign, safe among processes."""

from __future__ import annotations

import json
import marshal
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import adiff
import pytest
from adiff.engine import tier
from adiff.engine.kernels import collection, outline, runtime, store
from adiff.engine.kernels.construction import construct
from adiff.engine.kernels.ir import Unsupported
from adiff.engine.kernels.machine import code, externals
from adiff.engine.kernels.symbols import blocks

# A kink at x = 0, a count that is an input, and one that the result loses: everything that is kept beside code.
PROGRAM = """
y = abs(x) + a
for i in range(n):
    y = y * 0.5 + a if y > 1.0 else y + x * 0.1
y
"""
POINT = {"x": 0.0, "a": 0.3, "n": 1000}
SCRIPT = f"""
import json, sys
import adiff
found = adiff.program({PROGRAM!r}).evaluate("grad", {POINT!r}, engine="kernel")
moved = adiff.program({PROGRAM!r}).evaluate("hvp", {POINT!r}, ["a"], vector={{"a": 1.0}}, engine="kernel")
print(json.dumps([found.engine, found.value, found.gradients, [[n.code, n.message, n.span and n.span.start] for n in
found.notices], [found.emitted, moved.engine, moved.product], sorted(sys.modules)]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collects every kernel that is compiled, and not loaded."""
    made: list[Any] = []
    original = collection.compile_kernel

    def compile_kernel(built: Any, keep: Any = None) -> Any:
        made.append(built)
        return original(built, keep)

    monkeypatch.setattr(collection, "compile_kernel", compile_kernel)
    return made


def gradients(text: str = PROGRAM, **point: Any) -> Any:
    """Value and gradient by a kernel, as a process finds it that has not seen the program."""
    outcome = adiff.program(text).evaluate("grad", {**POINT, **point}, engine="kernel")
    assert outcome.engine == "kernel", outcome.reason
    return outcome.value, outcome.gradients, [(n.code, n.message, n.span and n.span.start) for n in outcome.notices]


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.startswith(store.PREFIX))


def test_second_process_builds_nothing(folder: Path) -> None:
    environment = {**os.environ, "ADIFF_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", SCRIPT]
    first, second = (
        json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout) for _ in range(2)
    )
    assert first[:5] == second[:5]
    assert first[0] == first[4][1] == "kernel"
    assert [n[0] for n in first[3]] == ["N0501", "N0502"]
    assert "numba" not in first[5]
    loaded = set(second[5])
    assert not loaded & {"numba", "scipy", "numpy", "lark"}
    mine = {name.removeprefix("adiff.engine.kernels.") for name in loaded if name.startswith("adiff.engine.kernels.")}
    runs = {"machine", *(f"machine.{name}" for name in ("code", "frames", "record", "spare"))}
    runs |= {"runtime", "learning", "collection", "running", "answers"}
    assert mine == runs | {"built", "emitted", "inputs", "ir", "readings", "store", "work"}


def test_a_kernel_is_found_again(folder: Path, compiled: list[Any]) -> None:
    once = gradients()
    assert len(compiled) == 1
    assert gradients() == once
    assert len(compiled) == 1
    assert len(entries(folder)) == 1


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (PROGRAM.replace("0.1", "0.2"), {}),
        (PROGRAM, {"wrt": ["x"]}),
        (PROGRAM, {"kinks": "jax"}),
    ],
)
def test_what_a_kernel_depends_on_is_part_of_its_key(
    folder: Path, compiled: list[Any], text: str, options: Any
) -> None:
    gradients()
    found = adiff.program(text).evaluate("grad", POINT, engine="kernel", **options)
    tape = adiff.program(text).evaluate("grad", POINT, engine="tape", **options)
    assert str(found.gradients) == str(tape.gradients)
    assert len(compiled) == 2


def test_a_name_of_the_file_and_values_are_no_part_of_it(folder: Path, compiled: list[Any]) -> None:
    gradients(x=0.25)
    found = adiff.program(PROGRAM, "another.adiff").evaluate("grad", {**POINT, "n": 12}, engine="kernel")
    assert found.notices[0].span is not None
    assert found.notices[0].span.source.name == "another.adiff"
    assert len(compiled) == 1


def resealed(change: Callable[[dict[str, Any]], Any]) -> Callable[[bytes], bytes]:
    """Damage that the digest does not show."""

    def damage(content: bytes) -> bytes:
        entry = marshal.loads(content[len(store.MAGIC) + store.DIGEST_BYTES :])
        changed = marshal.dumps(change(entry))
        return store.MAGIC + store.digest(changed) + changed

    return damage


def with_kept(**changes: Any) -> Callable[[bytes], bytes]:
    return resealed(lambda entry: {**entry, "kept": {**entry["kept"], **changes}})


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:10],
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: bytes(len(content)),
        lambda content: content[:4000] + bytes([content[4000] ^ 1]) + content[4001:],
        lambda content: content.replace(b"adiff kernel", b"other kernel"),
        resealed(lambda entry: {**entry, "key": entry["key"].replace("x", "z")}),
        resealed(lambda entry: [1, 2, 3]),
        resealed(lambda entry: {"key": entry["key"]}),
        resealed(lambda entry: {**entry, "kept": {}}),
        with_kept(processor="6502"),
        with_kept(object=b"no object code"),
        with_kept(symbol="no_such_function"),
        with_kept(emitted={}),
        with_kept(built={"shape": ()}),
    ],
)  # fmt: skip
def test_damaged_entry_is_made_anew(folder: Path, compiled: list[Any], damage: Any) -> None:
    once = gradients()
    (entry,) = entries(folder)
    content = entry.read_bytes()
    entry.write_bytes(damage(content))
    assert gradients() == once
    assert len(compiled) == 2
    assert marshal.loads(entry.read_bytes()[len(store.MAGIC) + store.DIGEST_BYTES :])["kept"]["symbol"]
    assert gradients() == once
    assert len(compiled) == 2


def test_entry_of_other_sources_is_stale(folder: Path, compiled: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    once = gradients()
    monkeypatch.setattr(store, "ENVIRONMENT", ["the digest of another version of LLVM"])
    assert gradients() == once
    assert len(compiled) == 2


def test_environment_names_versions_sources_and_processor() -> None:
    import llvmlite

    environment = store.environment()
    assert llvmlite.__version__ in environment
    assert "special_scalar.py" in environment
    assert "grammar.lark" in environment
    assert str(sys.hexversion) in environment


def test_kernels_of_the_other_compiler_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    own = store.environment()
    assert numba.__version__ not in own
    monkeypatch.setenv("ADIFF_COMPILER", "native")
    assert store.environment() == own
    monkeypatch.setenv("ADIFF_COMPILER", "numba")
    assert numba.__version__ in store.environment() != own


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("y = x\nfor i in range(n):\n    y = y * 0.5\nz = reshape([y, x], 2)\nz[0] * len(str(y))", "len of a text"),
        ("y = x\n" + "y = y * 0.5 + sin(y)\n" * 30 + "y", "a program of this size"),
    ],
)
def test_a_refusal_is_kept_too(text: str, reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "WORTH_KEEPING", 0.0)
    monkeypatch.setattr(blocks, "MAX_STATEMENTS", 50)
    tried: list[Any] = []
    attempt = runtime.Kernels.attempt
    monkeypatch.setattr(runtime.Kernels, "attempt", lambda self, make: tried.append(make) or attempt(self, make))

    def asked() -> Any:
        return adiff.program(text).evaluate("grad", {"x": 2.0, "n": 3}, ["x"], engine="kernel")

    once = asked()
    assert once.engine == "tape"
    assert reason in once.reason
    assert len(tried) == 1
    assert asked().reason == once.reason
    assert len(tried) == 1
    # Another version of adiff may know better.
    monkeypatch.setattr(store, "ENVIRONMENT", ["the digest of other sources"])
    assert asked().reason == once.reason
    assert len(tried) == 2


def test_how_long_a_kernel_takes_to_compile_is_kept_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found out once that the tape is the sooner way, and forgotten where there is more to do."""
    monkeypatch.setattr(collection, "WORTH_KEEPING", 0.0)
    monkeypatch.setattr(outline, "LOOP_STATEMENT_SECONDS", 0.02)
    monkeypatch.setattr(tier.Tiers, "hurry", lambda self, patience, ahead=None: None)  # whatever else the machine does
    monkeypatch.setattr(tier, "WORTH_COUNTING", inf)
    text = "y = x\nfor i in range(n):\n    y = y * 0.5 + sin(y)\ny"
    tried: list[Any] = []
    attempt = runtime.Kernels.attempt
    monkeypatch.setattr(runtime.Kernels, "attempt", lambda self, make: tried.append(make) or attempt(self, make))
    found = []
    for n in (40_000, 40_000, 400_000):
        found.append(adiff.program(text).evaluate("grad", {"x": 2.0, "n": n}, ["x"]).engine)
        found.append(str(len(tried)))
    assert found == ["tape", "1", "tape", "1", "kernel", "3"]


def test_unwritable_folder_costs_only_time(
    tmp_path: Path, compiled: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path / "file"))
    assert gradients() == gradients()
    assert len(compiled) == 2


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_entry_is_its_owner_s_alone(folder: Path, compiled: list[Any]) -> None:
    gradients()
    (entry,) = entries(folder)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # What others may have written is not run.
    entry.chmod(0o620)
    gradients()
    assert len(compiled) == 2


HAMMER = """
import sys
from adiff.engine.kernels import store
payload = {"number": int(sys.argv[1]), "object": bytes([int(sys.argv[1])]) * 50_000}
for _ in range(40):
    assert store.save("one key", payload)
    found = store.load("one key")
    if found is not None:
        assert found["object"] == bytes([found["number"]]) * 50_000
"""


def test_sixteen_processes_write_and_read_one_entry(folder: Path) -> None:
    environment = {**os.environ, "ADIFF_CACHE_DIR": str(folder)}
    processes = [
        subprocess.Popen([sys.executable, "-c", HAMMER, str(k)], env=environment, stderr=subprocess.PIPE, text=True)
        for k in range(16)
    ]
    for process in processes:
        _, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
    assert [path.name for path in folder.iterdir()] == [store.file_of("one key")]


def test_oldest_entries_make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_BYTES", 250_000)
    for k in range(12):
        assert store.save(f"key {k}", {"object": bytes(30_000)})
        os.utime(folder / store.file_of(f"key {k}"), (1_000_000 + k, 1_000_000 + k))
    assert [k for k in range(12) if store.load(f"key {k}") is not None] == list(range(4, 12))


@pytest.mark.parametrize("size", [40_000, 260_000])
def test_an_entry_that_would_take_the_place_of_many_is_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(store, "MOST_BYTES", 250_000)
    for k in range(8):
        assert store.save(f"key {k}", {"object": bytes(30_000)})
    assert not store.save("large", {"object": bytes(size)})
    assert store.load("large") is None
    assert all(store.load(f"key {k}") is not None for k in range(8))


def test_code_that_calls_what_is_not_here_is_refused() -> None:
    """The linker says so; it does not end the process."""
    from llvmlite import binding

    code.Loader()  # which makes the target known
    module = binding.parse_assembly("declare double @no_such_symbol()\n"
                                    "define double @f() {\n %x = call double @no_such_symbol()\n ret double %x\n}")  # fmt: skip
    target = binding.Target.from_default_triple().create_target_machine(jit=True)
    with pytest.raises(Unsupported):
        code.Loader().load(code.Code(target.emit_object(module), "f"))


def test_functions_of_libraries(folder: Path, compiled: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A kept kernel that calls SciPy finds it again; where the installed one has no such function, the tape answers."""
    text, point = "jv(1.5, x) * gammainc(2.0, x)", {"x": 2.0}
    first, second = (adiff.program(text).evaluate("grad", point, engine="kernel") for _ in range(2))
    assert (first.engine, second.engine, len(compiled)) == ("kernel", "kernel", 1)
    assert first.gradients == second.gradients
    monkeypatch.setitem(externals.EXTERNALS, "scipy_jv", externals.External(externals.SPECIAL, "no_such_function", 2))
    lost = adiff.program(text).evaluate("grad", point, engine="kernel")
    assert lost.engine == "tape"
    assert lost.gradients["x"] == pytest.approx(first.gradients["x"], rel=1e-13)


def test_a_lack_of_memory_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one of the moment, or of a limit that another evaluation does not have."""
    monkeypatch.setattr(collection, "WORTH_KEEPING", -1.0)

    def outcome(fault: Exception, module: Any, name: str) -> Any:
        def fail(*given: Any) -> Any:
            raise fault

        with monkeypatch.context() as patch:
            patch.setattr(module, name, fail)
            return adiff.program(PROGRAM).evaluate("grad", POINT, engine="kernel")

    not_loaded = ImportError("failed to map segment", name="numpy")
    assert "more memory than there is" in outcome(MemoryError(), construct, "build").reason
    assert "a library cannot be loaded" in outcome(not_loaded, construct, "build").reason
    gradients()
    assert "a library cannot be loaded" in outcome(not_loaded, collection, "load_kernel").reason
    gradients()
    text = "a = ones((1000, 1000))\ns = x\nfor i in range(10):\n    s = s * a[0, 0]\ns"
    program = adiff.program(text)
    with pytest.raises(adiff.AdiffError, match="would need"):
        program.evaluate("grad", {"x": 2.0}, engine="kernel", max_memory=1 << 20)
    for found in (
        program.evaluate("grad", {"x": 2.0}, engine="kernel"),
        adiff.program(text).evaluate("grad", {"x": 2.0}, engine="kernel"),
    ):
        assert found.engine == "kernel", found.reason
