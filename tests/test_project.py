"""The project's own promises: what is installed, what is imported, what the README says."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HEAVY = ("numpy", "numba", "scipy", "lark", "typer", "rich", "llvmlite")


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running `code`."""
    script = f"{code}\nimport sys\nprint('\\n' + ' '.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_packages_are_the_folders() -> None:
    folders = {
        "adiff." + ".".join(path.parent.relative_to(ROOT).parts)
        for top in ("cli", "engine", "parser")
        for path in (ROOT / top).rglob("__init__.py")
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == {"adiff", *folders}


def test_the_page_on_the_architecture_names_every_folder_of_kernels() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    folders = {p.parent.name for p in (ROOT / "engine/kernels").glob("*/__init__.py")}
    assert {name for name in folders if f"{name}/" not in page} == set()


def imported(path: Path) -> set[str]:
    """The files of its own folder that a module imports, wherever it does, but for types."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {alias.name for alias in node.names}
        pending += ast.iter_child_nodes(node)
    return found


def test_no_circle_of_imports_in_a_folder_has_more_than_two_files() -> None:
    for folder in {path.parent for top in ("cli", "engine", "parser") for path in (ROOT / top).rglob("*.py")}:
        reached = {path.stem: imported(path) for path in folder.glob("*.py") if path.stem != "__init__"}
        for _ in reached:
            reached = {name: far.union(*(reached.get(other, ()) for other in far)) for name, far in reached.items()}
        circles = {name: {other for other in far if name in reached.get(other, ())} for name, far in reached.items()}
        assert {name: circle for name, circle in circles.items() if len(circle) > 2} == {}


def test_one_version() -> None:
    from adiff.engine.version import VERSION

    assert PROJECT["project"]["version"] == VERSION
    assert VERSION in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_importing_adiff_loads_nothing() -> None:
    assert loaded("import adiff").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "code",
    [
        "import adiff; adiff.program('x**2 + sin(x)').value_and_gradient({'x': 2.0})",
        "import adiff; adiff.program('x**2*y').hessian({'x': 2, 'y': 3.0})",
        "import adiff; adiff.program('y = x\\nfor i in range(3):\\n    y = y*x if y > 1 else y + x\\ny').value({'x': 2.0})",
        "import adiff; adiff.program('with GradientTape() as t:\\n    t.watch(x)\\n    y = x*x\\nt.gradient(y, x)').value({'x': 2})",
        "import adiff; adiff.program('log(1 + exp(x)) + math.floor(x)').gradient({'x': 2.0})",
        "import adiff; adiff.program('jvp(lambda t: t**2, (x,), (1.0,))[1]').gradient({'x': 2.0})",
    ],
)
def test_a_scalar_program_needs_no_library(code: str) -> None:
    # The table of the parser is built with lark once and kept; this process may be the first.
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert loaded(code).isdisjoint(HEAVY)
