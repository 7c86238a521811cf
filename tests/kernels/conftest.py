from __future__ import annotations

import functools
import marshal
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from adiff.engine.core.state import STATE
from adiff.engine.kernels import collection, ir, runtime
from adiff.engine.kernels.construction import construct, derivatives, directions, series
from adiff.parser import table

# pytest's importlib mode adds no path: the helpers beside the tests are found from here.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "ops")]


@pytest.fixture(autouse=True)
def fresh_state() -> Iterator[None]:
    from agreement import program_of

    STATE.reset()
    yield
    STATE.reset()
    program_of.cache_clear()


@pytest.fixture(scope="session")
def grammar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the grammar's table, which takes a process that has none most of a second."""
    text = (Path(table.__file__).parent / "grammar.lark").read_bytes()
    made = tmp_path_factory.mktemp("grammar") / table.entry_name(text)
    made.write_bytes(marshal.dumps(table.make(text.decode())))
    made.chmod(0o600)
    return made


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grammar: Path) -> None:
    """Kernels are made here, and not found in a folder that another test, or a user, has filled."""
    folder = tmp_path / "cache"
    folder.mkdir(0o700)
    os.link(grammar, folder / grammar.name)
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(folder))


@pytest.fixture(autouse=True, scope="module")
def legal_programs() -> Iterator[None]:
    """Every intermediate program of every test is checked, before and after each pass; no fault is passed over."""
    from interpreted import checked

    @functools.wraps(runtime.Kernels.attempt)
    def attempt(self: runtime.Kernels, make: Any) -> Any:
        found = original(self, make)
        if isinstance(found, ir.Fault):
            raise found.fault
        return found

    original = runtime.Kernels.attempt
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime.Kernels, "attempt", attempt)
        # Tangents, and the loops over directions around them, are what the next pass is given.
        for module in (construct, derivatives, directions, series):
            patch.setattr(module, "without_dead_code", checked(module.without_dead_code))
        for name in ("aligned", "fuse", "keeping"):
            patch.setattr(construct, name, checked(getattr(construct, name)))
        for name in (
            "tidy", "snapshots", "loops_forwards", "sums_promoted", "stored_first", "settled", "scalar_replaced",
            "sums_apart", "fuse_shifted",
        ):  # fmt: skip
            patch.setattr(construct, name, checked(getattr(construct, name), regions=False))
        patch.setattr(construct, "adjoint", adjoint_of_legal(construct.adjoint))
        yield


def adjoint_of_legal(transform: Any) -> Any:
    from legality import check

    def checked_adjoint(kernel: ir.Kernel, *others: Any, **options: Any) -> Any:
        check(kernel)
        return transform(kernel, *others, **options)

    return checked_adjoint


@pytest.fixture
def interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run as the Python that they are, in float64 arithmetic, without Numba."""
    from interpreted import interpreted

    monkeypatch.setattr(collection, "compile_kernel", interpreted)
