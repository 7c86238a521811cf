"""Rows whose results are lists, tuples and dicts: a compiled loop gives what the tape does, and so do the two together."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels.lowering.structures import unpacked
from adiff.engine.plain import to_plain
from adiff.engine.rows import run, structured

X = np.linspace(0.5, 2.0, 7)
N = np.arange(7)
SQUARED = "s = x\nfor i in range(3):\n    s = sin(s) * x\n"
# Programs whose results have parts, and whether a compiled loop answers for values and for gradients.
PARTS = {
    "dict": (SQUARED + "{'a': s, 'b': x}", True, True),
    "dict of one": (SQUARED + "{'a': s}", True, True),
    "dict of integers": (SQUARED + "{'a': s, 'n': n, 'b': n > 2}", True, True),
    "dict of vectors": (SQUARED + "{'a': stack([s, x]), 'c': 2.0}", True, True),
    "numbers that may be integers": (SQUARED + "{'a': s, 'b': n if n > 3 else s}", None, None),
    "tuple with a list": (SQUARED + "(s, [x, x])", True, True),
    "list of lists": (SQUARED + "[[s, x], [x, x]]", True, True),
    "list of lists of one": (SQUARED + "[[s], [x]]", True, True),
    "tuple of tuples of one": ("((x,), (n,))", True, True),
    "list of vectors": (SQUARED + "[stack([x, s]), stack([s, s])]", True, True),
    "list with a constant": (SQUARED + "[s, 1.0]", True, True),
    "list with a constant integer": (SQUARED + "[s, 1]", True, True),
    "integers": ("[n, n * 2]", True, True),
    "truth values": ("[x > 1, x > 1.5]", True, True),
    "truth value and integer": ("[x > 1, 1]", True, True),
    "truth value and float": ("[x > 1, x]", True, True),
    "integer and float": ("[n, x]", True, True),
    "complex": (SQUARED + "complex(s, x)", True, True),
    "complex and float": (SQUARED + "[complex(s, x), s]", True, False),
    "complex vector": (SQUARED + "stack([complex(s, x), complex(x, 1)])", True, True),
    "tensors of truth values": (SQUARED + "{'a': stack([x > 1, x > 1.5]), 'b': s}", True, True),
    "tensors of truth values and of floats": (SQUARED + "[stack([x > 1, x > 1.5]), stack([x, s])]", True, True),
    "a tensor of an integer": (SQUARED + "(argmax(stack([s, x])), s)", True, True),
    "dict of everything": (
        SQUARED
        + "{'n': n, 'l': [s, x], 'v': stack([s, x]), 'm': [stack([s, x]), stack([x, x])], 'g': [[s, x], [x, x]],"
        " 't': (x > 1, 2.0), 'e': {}, 'i': [n, n + 1], 'none': [[], ()]}",
        None,
        None,
    ),
    "dict of complex numbers": (SQUARED + "{'c': complex(s, x), 'd': [x * 1j, s]}", None, None),
    "dict of a part by data": (SQUARED + "v = stack([x, s, 1.0])\n{'p': v[v > 1], 's': s}", None, None),
    "part by data": (SQUARED + "v = stack([x, s, 1.0])\nv[v > 1]", False, False),
    "nothing": (SQUARED + "[]", True, True),
}


def typed(x: Any) -> Any:
    """A value with the types of its parts."""
    if isinstance(x, dict):
        return {key: typed(part) for key, part in x.items()}
    if isinstance(x, list | tuple):
        return type(x).__name__, [typed(part) for part in x]
    if isinstance(x, np.ndarray | np.generic) and not isinstance(x, float):
        return "array", x.shape, x.dtype.name, (x if x.dtype == bool else np.round(x, 12)).tolist()
    return type(x).__name__, round(x, 12) if isinstance(x, float) else x


def same(one: Any, other: Any) -> None:
    if one.value.dtype == object or other.value.dtype == object:
        assert list(map(typed, one.value)) == list(map(typed, other.value))
    else:
        assert (one.value.dtype, one.value.shape) == (other.value.dtype, other.value.shape)
        assert np.allclose(one.value, other.value, rtol=1e-13)
    assert [(n.code, n.message, n.rows) for n in one.notices] == [(n.code, n.message, n.rows) for n in other.notices]
    for name, g in (one.gradients or {}).items():
        assert (g is None) == (other.gradients[name] is None)
        assert g is None or np.allclose(g, other.gradients[name], rtol=1e-12)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("name", PARTS)
def test_parts(name: str, order: int) -> None:
    text, *compiled = PARTS[name]
    program = adiff.program(text)
    columns = {"x": X, "n": N}
    wrt = ["x"] if "x" in program.inputs else None
    kernel = program.rows(columns, wrt, order, engine="kernel")
    if compiled[order] is not None:
        assert (kernel.engine == "kernel") == compiled[order], kernel.reason
    same(kernel, program.rows(columns, wrt, order, engine="tape"))


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", ["dict", "list of lists"])
def test_hessians_of_parts_are_of_their_sum(name: str) -> None:
    program = adiff.program(PARTS[name][0])
    kernel, tape = (program.rows({"x": X}, order=2, engine=engine) for engine in ("kernel", "tape"))
    assert (kernel.engine, tape.engine) == ("kernel", "tape")
    same(kernel, tape)
    kind = name.split()[0]
    told = f"the result is a {kind} and no tensor: its elements are summed for the Hessian"
    assert [(n.code, n.message, n.rows) for n in kernel.notices] == [("N0503", told, len(X))]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", ["dict", "tuple with a list", "list of lists", "list with a constant", "integers"])
def test_the_first_rows_are_as_the_others(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows on the tape, and the rest in a loop."""
    monkeypatch.setattr(run, "WARMING", 1)
    monkeypatch.setattr(run, "FEW", 2)
    monkeypatch.setattr(run.Run, "repaid", lambda self, left: True)
    text = PARTS[name][0]
    program = adiff.program(text)
    both = program.rows({"x": X, "n": N}, ["x"] if "x" in text else ["n"])
    assert both.engine == "kernel"
    same(both, program.rows({"x": X, "n": N}, ["x"] if "x" in text else ["n"], engine="tape"))


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("wrt", [["x"], ["x", "n"]])
def test_floats_count_nothing(wrt: list[str]) -> None:
    """A range to a float is an error in every row, whichever engine is asked."""
    program = adiff.program("s = x\nfor i in range(n):\n    s = sin(s) * x\ns")
    for columns, at in (({"x": X, "n": np.full(7, 3.0)}, {}), ({"x": X}, {"n": 3.0})):
        found = program.rows(columns, wrt, engine="kernel", at=at)
        assert {error.code for error in found.errors.values()} == {"E0304"}
        assert len(found.errors) == 7
    assert program.rows({"x": X, "n": np.full(7, 3)}, wrt, engine="kernel").engine == "kernel"
    assert program.rows({"x": X}, wrt, engine="kernel", at={"n": 3}).engine == "kernel"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["sum(v * abs(v))", "print(v[0])\nsum(v * v)"])
def test_long_vectors_in_rows(text: str) -> None:
    v = np.linspace(-1.0, 1.0, 3 * 1500).reshape(3, 1500)
    v[1, 7] = 0.0
    program = adiff.program(text)
    loop, tape = (program.rows({"v": v}, engine=engine) for engine in ("kernel", "tape"))
    assert loop.engine == "kernel"
    assert np.allclose(loop.value, tape.value, rtol=1e-13)
    assert np.allclose(loop.gradients["v"], tape.gradients["v"], rtol=1e-13)
    assert [(n.code, n.rows) for n in loop.notices] == [(n.code, n.rows) for n in tape.notices]


@pytest.mark.usefixtures("interpret")
def test_complex_constants_beside_columns() -> None:
    program = adiff.program("x * real(c) + y * imag(c)")
    columns, at = {"x": X, "y": X**2}, {"c": 2.0 + 3.0j}
    loop, tape = (program.rows(columns, engine=engine, at=at) for engine in ("kernel", "tape"))
    assert np.allclose(loop.value, tape.value, rtol=1e-14)
    assert np.allclose(loop.value, 2 * X + 3 * X**2, rtol=1e-14)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("engine", ["kernel", "tape"])
def test_an_imaginary_part_is_a_part_of_what_has_a_real_one(engine: str) -> None:
    found = adiff.program("real(complex(x, y))").rows({"x": X, "y": X}, engine=engine)
    assert found.gradients["x"].tolist() == [1.0] * len(X)
    assert found.gradients["y"].tolist() == [0.0] * len(X)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_at_once_are_rows_one_by_one(dtype: str) -> None:
    """Of every kind of leaf: what is made of all rows is what is made of each."""
    values = np.arange(60.0).reshape(3, 20).astype(dtype)
    values[:, 4] = [0, 1, 0]
    values[:, 6] = [2, 0, 1]
    structure = ("dict", ["a", 1, True], [
        ("tuple", [("number", 0), ("integer", 1), ("truth", 2), ("known", None), ("either", 4)]),
        ("list", [("selected", 6, 2, (), dtype), ("array", 9, (2, 2)), ("array", 9, ()), ("rows", 9, 3, ())]),
        ("list", [("rows", 9, 2, (2,)), ("integers", 13, (2,)), ("integers", 13, ()), ("counts", 13, 3),
                  ("grid", 14, (2, 2), True), ("grid", 14, (2, 2), False), ("complex", 16, ()), ("complex", 16, (2,)),
                  ("truths", 2, ()), ("truths", 2, (2,)),
                  ("list", []), ("tuple", []), ("dict", [], [])]),
    ])  # fmt: skip
    assert not structured.is_array(structure, 20)
    made = structured.restructured(values, structure)
    for row, leaves in zip(made, values):
        assert typed(row) == typed(to_plain(unpacked(leaves, structure)))
