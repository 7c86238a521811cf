"""What a program's text tells of its work, against counts by hand and against what a tape records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.core.limits import enforced
from adiff.engine.kernels import work
from adiff.engine.kernels.outlook import Outlook
from adiff.engine.kernels.survey import Survey
from adiff.engine.plain import bind

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("**/*.adiff"))


def survey(text: str, at: dict[str, Any]) -> Survey:
    return Survey(adiff.program(text).core, {name: bind(x, name) for name, x in at.items()})


@pytest.mark.parametrize(
    ("text", "at", "operations"),
    [
        ("x * 2 + 1", {"x": 0.5}, 2),
        # A turn of a loop counts as one operation, beside those in it.
        ("s = x\nfor i in range(n):\n    s = s * x\ns", {"x": 0.5, "n": 10}, 20),
        (
            "s = x\nfor i in range(n):\n    for j in range(2, n):\n        s += j\ns",
            {"x": 0.5, "n": 10},
            10 * (1 + 8 * 2),
        ),
        # A counter that bounds a loop stands for the middle of its range.
        ("s = x\nfor i in range(n):\n    for j in range(i):\n        s += j\ns", {"x": 0.5, "n": 10}, 10 * (1 + 5 * 2)),
        # Of two branches the dearer one, unless the condition is known.
        ("x * 2 * 3 if x < 1 else x", {"x": 0.5}, 3),
        ("if c:\n    y = x * 2 * 3\nelse:\n    y = x\ny", {"x": 0.5, "c": False}, 0),
        ("s = x\nfor i in range(4):\n    s = s * x * x if i == 0 else s\ns", {"x": 0.5}, 4 * (1 + 1 + 2)),
        ("def f(u):\n    return u * u\nf(x) + f(x)", {"x": 0.5}, 2 * (1 + work.CALL) + 1),
        # A recursion that known numbers end: two multiplications less than calls, and as many tests and subtractions.
        (
            "def f(k):\n    if k == 0:\n        return x\n    return x * f(k - 1)\nf(3)",
            {"x": 0.5},
            4 * (work.CALL + 1) + 6,
        ),
        # A recursion that its depth ends, whatever its other numbers: 2**21 leaves.
        (
            "def a(l, r, d):\n    m = (l + r) / 2\n    if d > n:\n        return (r - l) * sin(m * x)\n"
            "    return a(l, m, d + 1) + a(m, r, d + 1)\na(0.0, 2.0, 0)",
            {"x": 0.5, "n": 20},
            2**21 * (work.CALL + 6 + work.FUNCTION) + (2**21 - 1) * (work.CALL + 6),
        ),
        ("sum([v * x for v in [1, 2, 3]])", {"x": 0.5}, 3 * (2 + work.ITEM)),
        ("sin(x) + max(x, 2)", {"x": 0.5}, work.FUNCTION + work.CHOICE + 1),
        # Equal steps to a bound.
        ("t = 0.0\nwhile t < x:\n    t += 0.25\nt", {"x": 2.0}, 8 * 3),
        ("t = x\nwhile 0 < t:\n    t = t - 0.25\nt", {"x": 2.0}, 8 * 3),
        # ... which a counter may be, or be reckoned from.
        (
            "s = x\ni = 0\nwhile i < n:\n    j = 0\n    while j < i:\n        s *= x\n        j += 1\n    i += 1\ns",
            {"x": 0.5, "n": 10},
            10 * (3 + 5 * 4),
        ),
        (
            "s = x\nfor i in range(n):\n    j = i - 9\n    while j > i:\n        s *= x\n        j -= 1\ns",
            {"x": 0.5, "n": 10},
            10 * 2,
        ),
        ("fori_loop(0, 5, lambda i, v: v * x, x)", {"x": 0.5}, 5 * (2 + 1 + work.CALL)),
    ],
)
def test_operations_on_numbers(text: str, at: dict[str, Any], operations: float) -> None:
    found = survey(text, at)
    assert found.bounded
    assert not found.tensors
    assert found.work.operations == pytest.approx(operations)


GROWING = "s = []\nfor i in range(5):\n    r = []\n    for j in range(4):\n        r.append(x)\n    s.append(r)\n"


@pytest.mark.parametrize(
    ("text", "trips"),
    [
        ("for r in s:\n    for v in r:\n        x = x * v\nx", 20),
        ("for r in s:\n    r.append(x)\nx = x * len(s)\nfor i in range(len(s)):\n    x = x * i\nx", 5),
        # Nobody knows how long a list is while it grows, nor what a condition has appended.
        ("for r in s:\n    for v in s:\n        x = x * v[0]\n    s.append(r)\nx", None),
        ("while x < 1e9:\n    s.append(s[0])\n    x = x * 2\nfor r in s:\n    x = x * r[0]\nx", None),
        (
            "for i in range(3):\n    if len(s) == 5:\n        s.append(s[0])\n    while x < len(s):\n        x += 1\nx",
            None,
        ),
    ],
)
def test_lists_that_loops_of_known_length_append_to(text: str, trips: int | None) -> None:
    alone, found = survey(GROWING + "x", {"x": 0.5}), survey(GROWING + text, {"x": 0.5})
    assert found.bounded == (trips is not None)
    if trips is not None:
        assert found.work.operations - alone.work.operations >= trips * 2
        assert found.work.operations - alone.work.operations <= trips * 2 + 20


@pytest.mark.parametrize(
    ("text", "at", "count"),
    [
        ("z = x + 0j\nfor i in range(10):\n    z = z * z + 0.1j\nreal(z) * x", {"x": 0.5}, 1 + 20 + 1),
        ("abs(exp(z) - 1) + abs(x)", {"x": 0.5, "z": 0.5j}, 3),
        ("def f(u):\n    return u * u\nf(x) + imag(f(complex(x, 1.0)))", {"x": 0.5}, 3),
    ],
)
def test_operations_on_complex_numbers(text: str, at: dict[str, Any], count: float) -> None:
    """On the tape they are operations on arrays."""
    found = survey(text, at)
    assert found.work.arrays == pytest.approx(work.OF_COMPLEX * count)
    assert found.tensors


@pytest.mark.parametrize(
    "text",
    ["sum([x * i for i in range(1000)])", "sum(map(sin, range(1000)))", "sum(map(lambda i: x * i, range(1000)))"],
)
def test_what_goes_over_items_is_no_formula(text: str) -> None:
    program = adiff.program(text)
    found = Outlook(program.core, {"x": 0.5} if program.inputs else {}, program.has_loops)
    assert found.work.operations >= 1000
    assert found.bounded


def test_a_hessian_inside_takes_a_sweep_for_each_row() -> None:
    text = "def f(u):\n    s = 0.0\n    for i in range(3):\n        s += u[i]**2\n    return s\nsum(hessian(f)(v))"
    few, many = (survey(text, {"v": np.ones(n)}).work.tape_seconds(1.0) for n in (3, 40))
    assert many > 5 * few
    assert survey("hessian(lambda u: sum(u**3))(v)[0, 1]", {"v": np.ones(5)}).bounded


@pytest.mark.parametrize("size", ["nan", "inf", "-inf", "1e300 * 1e300"])
@pytest.mark.parametrize(
    "call", ["arange({})", "zeros({})", "eye({})", "linspace(0, 1, {})", "x * ones([2, {}])", "reshape(x, {})"]
)
def test_sizes_that_are_no_numbers_are_the_tapes_errors(call: str, size: str) -> None:
    program = adiff.program(call.format(size))
    with pytest.raises(adiff.AdiffError) as caught:
        program.evaluate("value", dict.fromkeys(program.inputs, 0.5))
    assert caught.value.code in ("E0302", "E0304", "E0305")


@pytest.mark.parametrize(
    ("text", "n", "steps", "operations"),
    [
        ("s = x\nfor i in range(n):\n    s = s * x\ns", 90, 90, 180),
        ("s = x\nfor i in range(n):\n    s = s * x\ns", 1_000, 100, 200),
        # However deep loops are, and whatever comes before and after them.
        ("s = x * x\nfor i in range(n):\n    for j in range(n):\n        s = s * x\ns * s", 1_000, 100, 200 + 2),
        ("s = x\nfor i in range(n):\n    s = s * x\nfor i in range(n):\n    s = s * x\ns", 60, 120, 240),
        ("sum([[v * x for v in range(n)][0] for k in range(n)])", 1_000, 100, None),
        ("def f(u):\n    return u * u\ns = x\nfor i in range(n):\n    s = f(s)\ns", 1_000, 100, 50 * (2 + work.CALL)),
        ("fori_loop(0, n, lambda i, v: v * x, x)", 1_000, 100, 100 * (2 + 1 + work.CALL)),
    ],
)
def test_a_limit_of_steps_bounds_each_loop(text: str, n: int, steps: float, operations: float | None) -> None:
    with enforced(100, None, None):
        found = survey(text, {"x": 0.5, "n": n})
    assert found.bounded
    assert found.work.steps == pytest.approx(steps, rel=0.03)
    assert operations is None or found.work.operations == pytest.approx(operations, rel=0.03)
    assert survey(text, {"x": 0.5, "n": 1_000}).work.steps >= 1_000


@pytest.mark.parametrize(
    ("text", "elements", "products"),
    [
        ("sin(v)", 3, 0),
        ("sum(v * v)", 6, 0),
        ("A @ A", 9, 27),
        ("v[1:] * 2", 4, 0),
        ("sum(A, axis=0) * v", 9 + 3, 0),
        ("A * v", 9, 0),
        ("reshape(A, (9,)) + 1", 18, 0),
        ("concat([v, v], axis=0) * 2", 12, 0),
    ],
)
def test_elements_of_tensors(text: str, elements: float, products: float) -> None:
    found = survey(text, {"v": np.ones(3), "A": np.ones((3, 3))})
    assert found.tensors
    assert (found.work.elements, found.work.products) == (elements, products)
    assert found.work.operations == 0


@pytest.mark.parametrize(
    ("text", "curved", "functions", "curves"),
    [
        ("x*2 + y/3 - x", 0, 0, 0),
        ("x*y", 1, 0, 1),
        ("2/x + sin(3*y)", 2, 1, 2),
        ("z = x\nfor i in range(10):\n    z *= y\n    z += i*x\nz**2", 11, 0, 2),
        ("z = x\nfor i in range(10):\n    z = exp(z)*x\nz", 20, 10, 2),
        ("sum(v*v)", 0, 0, 0),
    ],
)
def test_operations_that_are_not_linear(text: str, curved: float, functions: float, curves: int) -> None:
    """In a run, with the functions among them, and in the text."""
    found = survey(text, {"x": 0.5, "y": 0.25, "v": np.ones(3)})
    assert (found.work.curved, found.work.functions, found.curves) == (curved, functions, curves)


def test_numbers_of_a_list_are_gathered_into_a_tensor() -> None:
    found = survey("mean([x * k for k in range(n)])", {"x": 0.5, "n": 1_000})
    # Of each number the product, the turn, and its place in the tensor.
    assert found.work.operations == 1_000 * (2 + work.GATHERED)
    assert found.work.elements == 1_000


def test_elements_that_are_read_cost_more_than_numbers() -> None:
    found = survey("s = 0.0\nfor i in range(4):\n    s += v[i] * x\ns", {"x": 0.5, "v": np.ones(4)})
    # The element, its product and the sum; and the turn.
    assert (found.work.items, found.work.operations) == (12, 4)


@pytest.mark.parametrize(
    "text",
    [
        "y = x\nwhile y < 100:\n    y = y * 1.5\ny",
        "y = x\nwhile True:\n    y = y * 1.5\n    if y > 100:\n        break\ny",
        "def f(u):\n    return u if u > 1 else f(u * 2)\nf(sin(x))",
        "while_loop(lambda y: y < 100, lambda y: y * 2, x)",
        "s = 0.0\nfor i in range(int(sin(x) * 10)):\n    s += x\ns",
    ],
)
def test_what_data_decide_is_not_bounded(text: str) -> None:
    assert not survey(text, {"x": 0.5}).bounded


def test_a_survey_is_done_at_once_whatever_the_program_does() -> None:
    """Loops in loops, functions that call functions twice, and a long text: the nodes that are looked at are few."""
    twice = "".join(f"def f{k}(u):\n    return f{k - 1}(u) * f{k - 1}(u + {k})\n" for k in range(1, 60))
    for text in (
        "s = x\n" + "".join("    " * k + f"for i{k} in range(10**6):\n" for k in range(8)) + "    " * 8 + "s += x\ns",
        f"def f0(u):\n    return u * x\n{twice}f59(x)",
        "s = x\nfor i in range(10):\n" + "    s = s * x + 1\n" * 5_000 + "s",
        "def f(k):\n    return f(k + 1) + f(k + 2)\nf(x)",
    ):
        assert survey(text, {"x": 0.5}).nodes < 20_000


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_are_surveyed(path: Path) -> None:
    """Whatever the inputs are: numbers, vectors, matrices or ragged lists."""
    program = adiff.program(path.read_text(encoding="utf-8"))
    for value in (1.5, 3, np.ones(4), np.ones((3, 3)), [[1.0], [2.0, 3.0]]):
        found = Survey(program.core, {name: bind(value, name) for name in program.inputs})
        assert all(part >= 0.0 for part in found.work.parts())
