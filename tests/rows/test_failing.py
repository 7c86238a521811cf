"""Tables of which many rows fail: each with the error of the row alone, and none evaluated alone for it."""

from __future__ import annotations

import time

import adiff
import numpy as np
import pytest
from one_by_one import same_as_rows

COUNT = 150
RANDOM = np.random.default_rng(11)
COLUMNS = {
    "x": np.where(np.arange(COUNT) % 3 == 0, -1.0, 1.0) * RANDOM.uniform(1, 2, COUNT),
    "y": RANDOM.uniform(1, 2, COUNT),
    "k": RANDOM.integers(-4, 5, COUNT),
    "v": RANDOM.uniform(1, 2, (COUNT, 3)),
    "w": RANDOM.uniform(1, 2, (COUNT, 2)),
}
SOME = {
    "an assertion": "assert x > 0\nx**2*y",
    "an assertion with a text": "assert x > 0, 'x is below 0'\nx**2*y",
    "an assertion with numbers in its text": "assert x > 0, f'{x} of {y:.3f} and {k}'\nx**2*y",
    "an assertion on a side": "if y > 1.5:\n    assert x > 0\n    y = y*x\nx*y",
    "an assertion in a loop": "s = y\nfor i in range(3):\n    s = s*1.1\n    assert x*s > -1.5, f'at {i}: {s}'\ns*x",
    "an index of a list": "[1.0, 2.0][k]*x",
    "an index of a list of columns": "[x, y][k]*x",
    "an index of a vector": "v[k]*x",
    "an index of a tensor": "array([1.0, 2.0, 5.0])[k]*x",
    "a quotient of integers": "(7 // k)*x",
    "a remainder of integers": "(7 % k)*x",
    "an integer of inf": "z = 1/x if x > 0 else x/0\nint(z)*x",
    "an integer cast of nan": "z = 1/x if x > 0 else 0*x/0\ncast(cast(z, int64), float64)*x",
    "a floor of inf": "import math\nz = 1/x if x > 0 else x/0\nmath.floor(z)*x",
    "a range without steps": "s = x\nfor i in range(0, 5, min(abs(k), 1)):\n    s = s*1.5\ns",
    "a name without a value": "if x > 0:\n    q = 2\nq*x",
    "shapes on a side": "if x > 0:\n    z = sum(v)\nelse:\n    z = sum(v + w)\nz*x",
    "a dtype on a side": "if x > 0:\n    z = y\nelse:\n    z = y + 'a'\nz*x",
    "one after the other": "assert k > -3\n[1.0, 2.0, 3.0][k]*x/(4 // k)",
}
ALL = {
    "an assertion": "assert x > 3\nx**2*y",
    "an index": "[1.0][k + 10]*x",
    "an index of a vector": "v[5]*x",
    "shapes": "sum(v + w)*x",
    "a product of vectors": "v @ w*x",
    "a name": "if x > 9:\n    q = 2\nq*x",
}


def columns_of(text: str) -> dict[str, np.ndarray]:
    program = adiff.program(text)
    return {name: column for name, column in COLUMNS.items() if name in program.inputs}


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("text", [*SOME.values(), *ALL.values()], ids=[*SOME, *(f"all: {name}" for name in ALL)])
def test_failing_rows_leave_together(text, order):
    columns = columns_of(text)
    found = same_as_rows(text, columns, order, wrt=[name for name in columns if name in "xyvw"])
    assert found.errors
    assert not found.one_by_one


@pytest.mark.parametrize("text", [*SOME.values(), *ALL.values()], ids=[*SOME, *(f"all: {name}" for name in ALL)])
def test_rows_that_a_loop_leaves_are_the_same(text):
    columns = columns_of(text)
    found = same_as_rows(text, columns, 1, engine="kernel", wrt=[name for name in columns if name in "xyvw"])
    assert found.errors
    assert not found.one_by_one


@pytest.mark.parametrize("text", ["assert x > 3, f'{x}'\nx**2*y", "[1.0][k + 10]*x*y", "sum(v + w)*x"])
def test_a_table_that_fails_takes_no_longer_than_some_chunks(text):
    count = 200_000
    columns = {
        name: np.concatenate([column] * (count // COUNT + 1))[:count] for name, column in columns_of(text).items()
    }
    start = time.thread_time()
    found = adiff.program(text).rows(columns, ["x"], engine="tape")
    assert len(found.errors) == count
    assert time.thread_time() - start < 10  # one by one they take a minute


STEPS = {
    "a loop": "s = x\nfor i in range(abs(k)):\n    s = s*1.1\ns",
    "a loop on data": "s = y\nwhile s < 30:\n    s = s*2\ns*x",
    "calls": "def f(t):\n    return t*2\ns = x\nfor i in range(abs(k)):\n    s = f(s)\ns",
    "one side": "s = x\nif x > 0:\n    for i in range(5):\n        s = s*y\nfor i in range(2):\n    s = s + 1\ns",
}


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("most", [2, 4, 6])
@pytest.mark.parametrize("text", STEPS.values(), ids=list(STEPS))
def test_steps_are_those_of_a_row(text, most, engine):
    columns = columns_of(text)
    found = same_as_rows(text, columns, 1, engine=engine, wrt=["x"] if "x" in columns else ["y"], max_steps=most)
    assert found.engine == engine
    assert not found.one_by_one


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(("options", "code"), [({"timeout": 0.3}, "E0603"), ({"max_memory": 30 << 20}, "E0602")])
def test_limits_of_a_table_are_those_of_both_tiers(engine, options, code):
    """Rows that take a state of 80 MB each, or for ever."""
    text = "s = x\nfor i in range(n):\n    s = sin(s)\ns"
    columns = {"x": np.ones(20_000), "n": np.full(20_000, 10**7 if "max_memory" in options else 10**9)}
    program = adiff.program(text)
    program.rows({"x": [1.0], "n": [1]}, ["x"], engine=engine)  # the time is that of the rows, and not of the compiler
    start = time.monotonic()
    with pytest.raises(adiff.AdiffError) as caught:
        program.rows(columns, ["x"], engine=engine, **options)
    assert caught.value.code == code
    assert caught.value.span is not None
    assert time.monotonic() - start < 10
