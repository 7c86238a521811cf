"""How much work a program is taken for: of which the numbers are measured in bench/choosing.py."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine import commands
from adiff.engine.kernels import ir, outline, runtime, work
from adiff.engine.kernels.built import Built
from adiff.engine.kernels.construction import construct
from adiff.engine.kernels.construction.construct import build
from adiff.engine.kernels.outlook import Outlook
from adiff.engine.kernels.passes.tidy import tidy
from adiff.engine.kernels.survey import Survey

LOOP = "y = x\nfor i in range(n):\n    y = y * 0.5 + x if y > 1.0 else y + x * 0.1\ny"
STEPS = "v = w * x\nfor i in range(n):\n    v = v + 0.01 * sin(v)\nsum(v)"
ELEMENTS = "s = 0.0\nfor i in range(n):\n    s = s + v[i % 3] * x\ns"


def choice(text: str, at: dict[str, Any]) -> str:
    return adiff.program(text).evaluate("grad", at, wrt=["x"]).engine


@pytest.mark.parametrize(
    ("text", "at", "engine"),
    [
        (LOOP, {"x": 0.7, "n": 1_000}, "tape"),
        (LOOP, {"x": 0.7, "n": 300_000}, "kernel"),
        (ELEMENTS, {"x": 0.7, "v": np.ones(3), "n": 300}, "tape"),
        # Numbers that are elements of tensors cost the tape more.
        (ELEMENTS, {"x": 0.7, "v": np.ones(3), "n": 20_000}, "kernel"),
        # So do loops of operations on tensors, however few elements these have.
        (STEPS, {"x": 0.7, "w": np.ones(10), "n": 30}, "tape"),
        (STEPS, {"x": 0.7, "w": np.ones(10), "n": 4_000}, "kernel"),
        # Without a loop, many elements repay a kernel, and a few do not.
        ("sum(exp(-(x * w) ** 2) * sin(w))", {"x": 0.7, "w": np.ones(1_000)}, "tape"),
        ("sum(exp(-(x * w) ** 2) * sin(w))", {"x": 0.7, "w": np.ones(3_000_000)}, "kernel"),
        # Libraries multiply matrices sooner than a kernel does.
        ("sum((x * w) @ w)", {"x": 0.7, "w": np.ones((1_000, 1_000))}, "tape"),
    ],
)
def test_the_sooner_tier_is_chosen(text: str, at: dict[str, Any], engine: str) -> None:
    assert choice(text, at) == engine


def test_what_takes_too_long_to_be_made_is_left_to_the_tape(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is lowered gives way before it is compiled, for this run and for others of as much work."""
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path))
    made: list[str] = []
    monkeypatch.setattr(construct, "tidy", lambda kernel: made.append("tidied") or tidy(kernel))
    at = {"x": 0.7, "w": np.ones(10), "n": 2_500}
    with monkeypatch.context() as patch:
        patch.setattr(work, "budget_seconds", lambda seconds: 0.0)
        outcome = adiff.program(STEPS).evaluate("grad", at, ["x"])
        assert (outcome.engine, outcome.reason) == ("tape", "the tape is done before a kernel would be compiled")
        assert not made
        assert adiff.program(STEPS).evaluate("jacobian", at, ["x"]).engine == "tape"
        assert adiff.program(STEPS).evaluate("grad", at, ["x"], engine="kernel").engine == "kernel"
    assert made


def test_no_kernel_is_looked_for_that_would_run_longer_than_the_tape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "PRODUCT_SECONDS", 1e-6)
    monkeypatch.setattr(work, "KERNEL_PRODUCT_SECONDS", 2e-6)
    program = adiff.program("sum((x * w) @ w)")
    assert program.evaluate("grad", {"x": 0.7, "w": np.ones((100, 100))}, ["x"]).engine == "tape"
    assert program.kernels is None


def test_a_kernel_of_a_high_derivative_takes_long_to_compile() -> None:
    """The tape finds the sixth before it, and either in a longer loop after it."""
    for order, n, engine in ((6, 200, "tape"), (1, 100_000, "kernel"), (6, 100_000, "kernel")):
        program = adiff.program("y = x\nfor i in range(n):\n    y = y + 0.001 * sin(y)\ny")
        assert program.evaluate("derivative", {"x": 1.0, "n": n}, ["x"], order=order).engine == engine
        assert (engine == "kernel") == (program.kernels is not None and bool(program.kernels.built))


def test_what_the_tape_takes_for_derivatives_up_to_an_order() -> None:
    """By series, each order takes little more than the one before, and most where functions are; by nested tangents, many
    times as much."""
    loop = "y = x\nfor i in range(1_000):\n    y = {}\ny"

    def seconds(body: str, order: int) -> float:
        return Outlook(adiff.program(loop.format(body)).core, {"x": 1.0}, True, order).seconds(1.0)

    def ready(body: str, order: int) -> float:
        return Outlook(adiff.program(loop.format(body)).core, {"x": 1.0}, True, order).ready

    linear, curved, function, nested = "y*0.5 + x", "y*y*0.5 + x", "y + 0.5*sin(x)", "y*0.5 + [x, x][1]"
    for order in (2, 6):
        assert 1.0 < seconds(linear, order) / seconds(linear, 1) < 1.5
        assert seconds(linear, order) < seconds(curved, order) < seconds(function, order) < seconds(nested, order)
    assert seconds(nested, 6) > 50 * seconds(nested, 2)
    assert seconds(nested, 99) < seconds(nested, 9_999) < math.inf
    # And a kernel has the more to compile the more of its operations are not linear.
    assert ready(linear, 8) < 1.2 * ready(linear, 1)
    assert ready(curved, 8) - ready(curved, 1) > 2 * (ready(linear, 8) - ready(linear, 1))


def test_a_limit_of_steps_ends_the_tape_before_a_kernel_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many loops a program has inside each other."""
    depth = 14
    loops = "".join("    " * k + f"for i{k} in range(n):\n" for k in range(depth))
    program = adiff.program(f"s = x\n{loops}{'    ' * depth}s = s * 0.5 + sin(x)\ns")
    made: list[Any] = []
    attempt = runtime.Kernels.attempt
    monkeypatch.setattr(runtime.Kernels, "attempt", lambda self, make: made.append(make) or attempt(self, make))
    with pytest.raises(adiff.AdiffError, match="more than 10000 steps"):
        program.evaluate("grad", {"x": 0.7, "n": 10}, max_steps=10_000)
    assert not made
    # One that leaves the work as it is changes nothing.
    assert adiff.program(LOOP).evaluate("grad", {"x": 0.7, "n": 300_000}, max_steps=300_000).engine == "kernel"
    assert made


@pytest.mark.parametrize(
    ("command", "options", "few", "many"),
    [
        ("jvp", {"tangent": {"x": 1.0}}, 1_000, 30_000),
        ("vjp", {}, 1_000, 300_000),
        ("hvp", {"vector": {"x": 1.0}}, 300, 20_000),
        ("hessian", {}, 300, 20_000),
    ],
)
def test_what_a_command_costs_the_tape_counts(command: str, options: dict[str, Any], few: int, many: int) -> None:
    """Not that of a gradient for all, nor so much that a kernel is compiled for what the tape does in milliseconds."""
    for n, engine in ((few, "tape"), (many, "kernel")):
        assert adiff.program(LOOP).evaluate(command, {"x": 0.7, "n": n}, ["x"], **options).engine == engine


def test_second_derivatives_of_what_is_not_linear_cost_more_in_every_operation() -> None:
    """Where one operation is not linear, the cotangents of all before it have tangents."""

    def seconds(body: str, second: bool) -> float:
        loop = f"y = x\nz = x\nfor i in range(1000):\n    y = y * 0.5 + z\n    z = {body}\ny + z"
        return Outlook(adiff.program(loop).core, {"x": 1.0}, True).seconds(6.0, second)

    linear, curved = "z * 0.5 + y", "z * 0.5 + y * y"
    assert seconds(linear, True) == seconds(linear, False)
    assert seconds(curved, True) > 1.8 * seconds(curved, False) + 1_000 * work.CURVED_SECONDS * 0.99


def test_a_hessian_whose_pattern_is_looked_for_takes_the_tape_few_sweeps() -> None:
    assert commands.SOME == work.SOME_ROWS
    assert work.hessian_work(work.SOME_ROWS) < work.hessian_work(work.SOME_ROWS - 1)
    chain = adiff.program("sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)")
    assert chain.evaluate("hessian", {"x": np.linspace(-1.2, 1.0, 100)}).engine == "tape"


def test_tangents_of_tensors_cost_less_than_those_of_numbers() -> None:
    assert work.passes_of_tensors(0.25) == 0.25
    assert work.passes_of_tensors(1.0) == work.passes_of_tensors(2.0) == 1.0
    numbers, tensors = work.Work(operations=1e4), work.Work(arrays=1e4 * work.TAPE_SECONDS / work.ARRAY_SECONDS)
    assert numbers.tape_seconds(1.0) == pytest.approx(tensors.tape_seconds(1.0))
    assert tensors.tape_seconds(12.0) == pytest.approx(work.OF_TENSORS * numbers.tape_seconds(12.0))


def test_statements_in_loops_take_longer_to_compile() -> None:
    x = ir.Var(ir.FLOAT)
    straight: list[ir.Stmt] = [ir.Set(ir.Var(ir.FLOAT), "negative", (x,), None, None) for _ in range(10)]
    alone = outline.compile_seconds(straight)
    assert alone == pytest.approx(10 * work.STATEMENT_SECONDS)
    assert outline.compile_seconds([ir.If(x, straight, [], [])]) == pytest.approx(11 * work.STATEMENT_SECONDS)
    sides = ir.ReverseLoop(ir.Var(ir.INT), ir.Var(ir.INT), None, 0, 1, [], straight)
    expected = work.STATEMENT_SECONDS + 10 * work.LOOP_STATEMENT_SECONDS
    assert outline.compile_seconds([sides]) == pytest.approx(expected)


def test_the_tapes_import_of_numpy_counts() -> None:
    program = adiff.program("sum(linspace(0, x, 5) ** 2)")
    numpy = sys.modules.pop("numpy")
    try:
        assert work.import_seconds(Outlook(program.core, {"x": 0.7}, False).loads) == work.NUMPY_SECONDS
        assert work.import_seconds(Outlook(adiff.program("sin(x) ** 2").core, {"x": 0.7}, False).loads) == 0.0
    finally:
        sys.modules["numpy"] = numpy
    assert work.import_seconds(Outlook(program.core, {"x": 0.7}, False).loads) == 0.0


def built(text: str, spec: dict[str, Any]) -> Built:
    return build(adiff.program(text).core, spec, ["x"])


def test_work_of_operations_on_tensors() -> None:
    product = work.work_of(built("sum(x @ x)", {"x": (30, 30)}), [])
    assert product is not None
    assert product.products == 30**3
    chain = work.work_of(built("sum(sin(x) * x)", {"x": (1_000,)}), [])
    assert chain is not None
    assert chain.products == 0.0
    # The sine, the product and the sum.
    assert (chain.arrays, chain.elements) == (3.0, 3_000.0)


@pytest.mark.parametrize(
    ("text", "by_kernel", "by_tape"),
    [
        ("sin(x) ** 2", "", ""),
        ("sum(linspace(0, x, 5) ** 2)", "", "numpy"),
        ("linspace(0, x, 5) ** 2", "numpy", "numpy"),
        # Special functions of which the kernel has its own, and those that it calls in SciPy.
        ("erfinv(x)", "", "scipy"),
        ("j0(x)", "scipy", "scipy"),
        ("erf(x)", "", ""),
        ("sum(erf(linspace(0, x, 5)))", "", "scipy"),
        ("sum(logm(eye(2) * x))", "scipy", "scipy"),
        ("gelu(x)", "", ""),
    ],
)
def test_what_either_tier_imports(text: str, by_kernel: str, by_tape: str) -> None:
    assert built(text, {"x": ir.FLOAT}).loads == by_kernel
    assert Survey(adiff.program(text).core, {"x": 0.7}).loads == by_tape


def test_imports_decide_where_the_work_is_small() -> None:
    """SciPy's import takes the tape longer than a kernel that has no need of it takes to compile."""
    code = """
import sys
import adiff
for text in ("erfinv(x) * 2", "sin(x) * 2", "j0(x) * 2"):
    print(adiff.program(text).evaluate("grad", {"x": 0.3}, ["x"]).engine, "scipy" in sys.modules)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split("\n")[:3] == ["kernel False", "tape False", "tape True"]


def test_rows_say_what_they_import() -> None:
    """Rows that name no library import none, on numbers and on arrays."""
    code = """
import sys
import numpy as np
from adiff.engine.core.operation import Operation
from adiff.engine.ops.registry import ROWS
import adiff
for row in ROWS.values():
    if row.example is not None and not row.library:
        adiff.program(row.example[0]).value({}, engine="tape")
        assert "scipy" not in sys.modules, row.name
    if row.derivative == "partials" and not row.library and row.array is not None:
        try:
            row.array(np, *[np.array([0.5, 0.7])] * row.nin)
        except Exception:
            pass
        assert "scipy" not in sys.modules, row.name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_products_with_vectors_take_as_long_as_the_matrix_is_read() -> None:
    a = np.ones((600, 600))
    assert adiff.program("a @ x").evaluate("jacobian", {"a": a, "x": np.ones(600)}, ["x"]).engine == "kernel"
    assert adiff.program("a @ x").evaluate("grad", {"a": a[:1] * 1.0, "x": np.ones(600)}, ["x"]).engine == "tape"


def test_a_kept_kernel_is_soon_loaded_where_others_have_been(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path))
    program = adiff.program(LOOP)
    assert program.evaluate("grad", {"x": 0.7, "n": 8_000}, ["x"], engine="kernel").engine == "kernel"
    assert adiff.program(LOOP).evaluate("grad", {"x": 0.7, "n": 8_000}, ["x"]).engine == "kernel"
    assert adiff.program(LOOP).evaluate("grad", {"x": 0.7, "n": 30}, ["x"]).engine == "tape"
    monkeypatch.setattr(work, "LOADED_SECONDS", work.LOAD_SECONDS)
    assert adiff.program(LOOP).evaluate("grad", {"x": 0.7, "n": 8_000}, ["x"]).engine == "tape"
