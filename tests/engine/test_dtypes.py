"""Dtypes: strict tensors, weak literals and bindings, float32 programs, complex numbers."""

import cmath
from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, constant, program

TENSORS = {
    "bool": "constant(True)", "int32": "cast([3, 4], int32)", "int64": "constant([3, 4])", "float32": "cast([1.5, 2.0], float32)",
    "float64": "cast([1.5, 2.0], float64)", "complex64": "cast([1.0, 2.0], complex64)", "complex128": "cast([1.0, 2.0], complex128)",
    "string": "constant(['a', 'b'])",
}  # fmt: skip
NUMERIC = [name for name in TENSORS if name not in ("string", "bool")]


@pytest.mark.parametrize("first", TENSORS)
@pytest.mark.parametrize("second", TENSORS)
def test_tensors_of_different_dtypes_do_not_mix(first: str, second: str) -> None:
    text = f"a = {TENSORS[first]}\nb = {TENSORS[second]}\na * b"
    numeric = first in NUMERIC and second in NUMERIC
    if (numeric and first == second) or ("bool" in (first, second) and "string" not in (first, second)):
        outcome = program(text).evaluate("value")
        # A bool counts as the integer of whatever it meets.
        expected = {first, second} - {"bool"} or {"int64"}
        assert {outcome.types["value"][0]} == expected
        return
    with pytest.raises(AdiffError) as caught:
        program(text).value()
    error = caught.value
    assert error.code == "E0301"
    assert "multiply" in error.message
    assert error.hint is not None
    assert error.span is not None
    assert (error.span.line, error.span.column) == (3, 1)
    if numeric:
        assert first in error.message
        assert second in error.message
        assert "cast" in error.hint


WEAK = [
    ("{t} * 2", ["int32", "int64", "float32", "float64", "complex64", "complex128"]),
    ("2 + {t}", ["int32", "int64", "float32", "float64", "complex64", "complex128"]),
    ("{t} * 1.5", ["float32", "float64", "complex64", "complex128"]),
    ("{t} ** 2", ["int32", "int64", "float32", "float64", "complex64", "complex128"]),
    ("[1, 1] * {t}", ["int32", "int64", "float32", "float64", "complex64", "complex128"]),
    ("{t} - pi", ["float32", "float64", "complex64", "complex128"]),
]


@pytest.mark.parametrize(("form", "dtypes"), WEAK)
def test_literals_adopt_the_dtype_of_what_they_meet(form: str, dtypes: list[str]) -> None:
    for dtype in NUMERIC:
        text = form.format(t=f"({TENSORS[dtype]})")
        if dtype in dtypes:
            assert program(text).evaluate("value").types["value"][0] == dtype, (text, dtype)
        else:
            with pytest.raises(AdiffError) as caught:
                program(text).value()
            assert caught.value.code == "E0301"


def test_integer_division() -> None:
    assert program("constant(7) / constant(2)").evaluate("value").types["value"] == ("float64", ())
    assert program("7 / 2").value() == 3.5
    assert program("constant(7) // constant(2)").evaluate("value").types["value"] == ("int64", ())
    for text in ("7 // 0", "constant(7) // constant(0)", "7 % 0", "constant([1, 2]) // constant([1, 0])"):
        with pytest.raises(AdiffError) as caught:
            program(text).value()
        assert caught.value.code == "E0402", text
    # A bare integer follows Python, an integer tensor TensorFlow.
    assert program("2 ** -1").value() == 0.5
    assert program("x - 2 * 10**(-6)").value({"x": 1}) == 1 - 2 * 10**-6
    for text in ("constant(2) ** -1", "constant(2) ** constant(-1)", "constant([1, 2]) ** -1"):
        with pytest.raises(AdiffError) as caught:
            program(text).value()
        assert caught.value.code == "E0401", text
        assert caught.value.span is not None


def test_int64_overflow_is_an_error() -> None:
    with pytest.raises(AdiffError) as caught:
        program("constant(2) ** constant(63)").value()
    assert caught.value.code in ("E0403", "E0303")
    assert program("2 ** 63").value() == 2**63


# --- what a bare integer is -----------------------------------------------------------------------------------------


def test_a_bare_integer_is_a_float_where_it_is_differentiated() -> None:
    assert program("x**2").value_and_gradient({"x": 3}) == (9.0, {"x": 6.0})
    assert isinstance(program("x**2").value({"x": 3}), int)
    assert program("x / 2 + y").value_and_gradient({"x": 3, "y": constant("1")}) == (2.5, {"x": 0.5, "y": 1.0})


@pytest.mark.parametrize(
    ("text", "at", "value", "gradient"),
    [
        (
            "total = 0.0\nfor i in range(n):\n    total += x * i\ntotal",
            {"n": 5, "x": 2.0},
            20.0,
            {"n": None, "x": 10.0},
        ),
        ("x[n]", {"x": [1.0, 2.0, 3.0], "n": 1}, 2.0, {"x": [0.0, 1.0, 0.0], "n": None}),
        ("x[:n].sum()", {"x": [1.0, 2.0, 3.0], "n": 2}, 3.0, {"x": [1.0, 1.0, 0.0], "n": None}),
        ("sum(ones((n, 2))) * x", {"n": 3, "x": 2.0}, 12.0, {"n": None, "x": 6.0}),
        (
            "sum(reshape(x, (n, -1))[0])",
            {"x": [1.0, 2.0, 3.0, 4.0], "n": 2},
            3.0,
            {"x": [1.0, 1.0, 0.0, 0.0], "n": None},
        ),
        ("x * n", {"x": 2.0, "n": 3}, 6.0, {"x": 3.0, "n": 2.0}),
        ("sum([x] * n)", {"x": 2.0, "n": 3}, 6.0, {"x": 3.0, "n": None}),
        ("xs = [x, x**2, x**3]\nxs[n]", {"x": 2.0, "n": 2}, 8.0, {"x": 12.0, "n": None}),
        ("'abc'[n] == 'b'\nx", {"x": 2.0, "n": 1}, 2.0, {"x": 1.0, "n": None}),
    ],
)
def test_a_bare_integer_drives_counts_and_indices(
    text: str, at: dict[str, Any], value: float, gradient: dict[str, Any]
) -> None:
    outcome = program(text).evaluate("grad", at)
    assert outcome.value == value
    assert outcome.gradients is not None
    found = {name: g.tolist() if hasattr(g, "tolist") else g for name, g in outcome.gradients.items()}
    assert found == gradient
    for name in gradient:
        if gradient[name] is None:
            assert any(n.code == "N0502" and n.message.startswith(name) for n in outcome.notices)


# --- float32 --------------------------------------------------------------------------------------------------------

SINGLE = [
    "x * x", "x**2 + 1.5", "sin(x) / 3", "exp(x) - 1", "sqrt(x**2 + 1)", "log(1 + exp(x))", "sum([x, x * 2])", "1 / (3 * x)",
    "y = 0.1\nfor _ in range(3):\n    y = y * x + 0.1\ny", "reduce_sum(constant([0.1, 0.2]) * x)", "x @ x if False else x", "tanh(x) + pi",
    "mean(stack([x, 0.1]))", "float(x) * 0.1", "max(x, 0.3)", "abs(x) + e", "abs(x + 1j)",
    "angle(1j - x)", "norm([x * 1j, x])",
]  # fmt: skip


@pytest.mark.parametrize("text", SINGLE)
@pytest.mark.parametrize("command", ["value", "grad", "hessian", "jvp"])
def test_float32_programs_compute_in_float32(text: str, command: str) -> None:
    options = {"tangent": {"x": 1.0}} if command == "jvp" else {}
    outcome = program(text).evaluate(command, {"x": 0.7}, dtype="float32", **options)
    assert outcome.types["value"] == ("float32", ())
    results = [outcome.value, *(outcome.gradients or {}).values()]
    for result in results:
        assert np.asarray(result).dtype == np.float32
    double = program(text).value({"x": 0.7})
    assert float(outcome.value) == pytest.approx(double, rel=3e-6)
    assert float(outcome.value) == float(np.float32(outcome.value))


def test_float32_rounds_as_numpy_does() -> None:
    assert program("x + 1e-9").value({"x": 1.0}, dtype="float32") == np.float32(1.0)
    third = program("1.0 / 3.0").evaluate("value", {}, dtype="float32").value
    assert third == np.float32(1) / np.float32(3)


def test_bound_arrays_keep_their_dtype() -> None:
    outcome = program("x * 2").evaluate("grad", {"x": np.array([1.0, 2.0], dtype=np.float32)})
    assert outcome.types["value"] == ("float32", (2,))
    assert outcome.gradients is not None
    assert outcome.gradients["x"].dtype == np.float32
    with pytest.raises(AdiffError):
        program("x * y").value({"x": np.ones(2, dtype=np.float32), "y": np.ones(2)})


def test_annotations_that_name_a_dtype_cast() -> None:
    assert program("y: float32 = x\ny").evaluate("value", {"x": 0.1}).types["value"][0] == "float32"
    assert program("y: float = x\ny").evaluate("value", {"x": 0.1}).types["value"][0] == "float64"


# --- complex numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "f"),
    [("z**2", lambda z: 2 * z), ("exp(z)", cmath.exp), ("sin(z) * z", lambda z: cmath.sin(z) + z * cmath.cos(z)), ("1 / z", lambda z: -1 / z**2),
     ("log(z)", lambda z: 1 / z), ("sqrt(z)", lambda z: 0.5 / cmath.sqrt(z)), ("log(1 + z)", lambda z: 1 / (1 + z)), ("exp(z) - 1", cmath.exp),
     ("sqrt(z**2 + 1)", lambda z: z / cmath.sqrt(z * z + 1)), ("sin(z) / z", lambda z: cmath.cos(z) / z - cmath.sin(z) / z**2)],
)  # fmt: skip
def test_holomorphic_functions(text: str, f: Any) -> None:
    """The gradient of Re f is the conjugate of f': the direction of steepest ascent. Forward mode pushes f' itself."""
    z = 1.25 + 0.5j
    _, gradients = program(f"real({text})").value_and_gradient({"z": z})
    assert gradients["z"] == pytest.approx(f(z).conjugate(), rel=1e-13)
    _, tangent = program(text).jvp({"z": z}, {"z": 1.0})
    assert tangent == pytest.approx(f(z), rel=1e-13)


def test_steepest_ascent() -> None:
    assert program("real(z**2)").value_and_gradient({"z": 1 + 2j})[1] == {"z": 2 - 4j}
    assert program("abs(z)**2").value_and_gradient({"z": 3 + 4j})[1]["z"] == pytest.approx(6 + 8j)
    assert program("imag(z)").value_and_gradient({"z": 3 + 4j})[1] == {"z": 1j}
    assert program("real(conj(z) * z)").value_and_gradient({"z": 3 + 4j})[1]["z"] == pytest.approx(6 + 8j)


def test_a_real_input_of_a_complex_program_has_a_real_gradient() -> None:
    """|exp(i x) + 1|^2 = 2 + 2 cos x."""
    value, gradients = program("abs(exp(1j * x) + 1)**2").value_and_gradient({"x": 0.8})
    assert value == pytest.approx(2 + 2 * cmath.cos(0.8).real)
    assert gradients["x"] == pytest.approx(-2 * cmath.sin(0.8).real)
    assert isinstance(gradients["x"], float)
    hessian = program("abs(exp(1j * x) + 1)**2").hessian({"x": 0.8})
    assert hessian["x"]["x"] == pytest.approx(-2 * cmath.cos(0.8).real)
