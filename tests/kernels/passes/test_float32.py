"""Programs whose floats are float32: a kernel gives what the tape gives, in float32, and as near to the truth.

`every`: under --dtype float32; `some`: float32 inputs beside bare numbers, which are float64. Kernels are compiled without
LLVM's passes, which make no difference to what is computed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from adiff.engine.core.operation import Operation
from adiff.engine.kernels.compilation import native
from adiff.engine.kernels.compilation.llvm_writer import rounded
from agreement import agree, leaves, outcome
from generated import Structured, Writer, program
from row_programs import RowProgram, programs
from test_agreement import point
from test_every_row import NUMERIC
from test_programs import CASES, POINTS

LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
# 85 units in the last place, relative to the largest element of a tensor: most of it is the tape's, which sums in float32.
TOLERANCE = 1e-5
# The derivatives of float32 that a sum of others may be made of.
EPSILON = 2.0**-23
EVERY, SOME = "every", "some"
# What is left to the tape in float64 too, where how long a result is depends on numbers.
LEFT = {"arange", "bincount", "jax.ops.segment_sum"}
BOTH = pytest.mark.parametrize("mode", [EVERY, SOME])
VECTOR = np.array([0.7, -1.3, 2.1, 0.4], np.float32)


@pytest.fixture(autouse=True)
def unoptimised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "optimise", lambda *arguments: None)


def single(at: dict[str, Any], mode: str) -> dict[str, Any]:
    """Inputs as float32: under --dtype float32 numbers are bare, and are rounded where they are bound."""

    def converted(x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            return x.astype(np.float32)
        return (rounded(x) if mode == EVERY else np.float32(x)) if type(x) is float else x

    return {name: converted(x) for name, x in at.items()}


def kinds(result: Any) -> dict[str, str]:
    """The dtype of every part of an outcome."""
    parts = ("value", "gradients", "jacobian", "hessian", "tangent", "cotangents", "product", "derivatives")
    return {
        f"{part}{path}": str(getattr(x, "dtype", type(x).__name__))
        for part in parts
        for path, x in leaves(getattr(result, part)).items()
    }


def check(
    text: str, at: dict[str, Any], mode: str, wrt: Any = None, command: str = "grad", tolerance: float = TOLERANCE,
    also: Any = None, **options: Any,
) -> str:  # fmt: skip
    """Assert that both tiers agree, dtypes included; "" if a kernel gave the answer, else why none did."""
    if mode == EVERY:
        options["dtype"] = "float32"

    def compare(tape: Any, kernel: Any) -> None:
        assert kinds(tape) == kinds(kernel), text
        assert tape.types == kernel.types, text
        if also is not None:
            also(kernel)

    return agree(text, single(at, mode), wrt, command, tolerance, EPSILON, compare, **options)


# --- operations -------------------------------------------------------------------------------------------------------


def samples(row: Operation) -> Iterator[RowProgram]:
    """The first of a row's programs, or all."""
    for number, one in enumerate(programs(row)):
        if number == 0 or LONG:
            yield one


def distance(found: Any, truth: Any) -> float:
    """The largest error of a value and of its gradients, relative to the largest element of each."""
    worst = 0.0
    for part in ("value", "gradients"):
        theirs = leaves(getattr(found, part))
        for path, x in leaves(getattr(truth, part)).items():
            if x is None or isinstance(x, (str, bool)):
                continue
            x, y = np.asarray(x, float), np.asarray(theirs[path], float)
            scale = np.abs(x[np.isfinite(x)]).max(initial=0.0) or 1.0
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            with np.errstate(all="ignore"):
                worst = max(worst, float(np.where(same, 0.0, np.abs(x - y) / scale).max(initial=0.0)))
    return worst


@pytest.mark.parametrize("number", range(len(NUMERIC)), ids=[row.name for row in NUMERIC])
def test_every_row(number: int) -> None:
    """Both tiers agree, and the kernel is as near to the truth as float32 arithmetic is."""
    row = NUMERIC[number]
    for one in samples(row):
        text = one.text.replace("float64", "float32")
        for mode in (EVERY, SOME) if LONG else ((EVERY, SOME)[number % 2],):
            at = {name: x.astype(float) if hasattr(x, "astype") else x for name, x in single(one.at, EVERY).items()}
            truth = outcome(adiff.program(one.text), at, "tape", "grad", one.wrt)

            def compare(kernel: Any, truth: Any = truth) -> None:
                assert distance(kernel, truth) < TOLERANCE

            found = check(text, one.at, mode, one.wrt, also=compare)
            if row.name in LEFT:
                continue
            # What is made with the default float meets no float32, and of complex numbers the tape knows which are of 64 bits.
            made = found == "an error" and mode == SOME and row.name == "polyfit"
            assert not found or made or found == "no kernel for complex numbers in float32", found


@pytest.mark.parametrize("row", NUMERIC if LONG else NUMERIC[::40], ids=lambda row: row.name)
def test_hessian_of_every_row(row: Operation) -> None:
    for one in samples(row):
        check(one.text.replace("float64", "float32"), one.at, EVERY, one.wrt, "hessian", 1e-4)


# --- programs ---------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("part", range(8))
def test_programs(mode: str, part: int) -> None:
    """The programs of programs.txt: in each mode every fourth one, or all."""
    for number, case in enumerate(CASES):
        if number % 8 != part or not (LONG or (number // 8) % 4 == (mode == SOME)):
            continue
        title, text = case.strip().split("\n", 1)
        inputs = adiff.program(text).inputs
        for at in POINTS:
            wrt = [name for name in inputs if name != "n"]
            reason = check(text, {name: at[name] for name in inputs}, mode, wrt)
            allowed = "may" in title or "tape:" in title or mode == SOME
            assert allowed or reason in ("", "an error") or "on some paths of the program only" in reason, (
                title,
                reason,
            )


@BOTH
@pytest.mark.parametrize("kind", [Writer, Structured])
@pytest.mark.parametrize("start", range(0, 320 if LONG else 20, 20))
def test_generated(mode: str, kind: type[Writer], start: int) -> None:
    reasons = []
    for seed in range(start, start + (20 if LONG else 3)):
        text = program(seed, kind)
        inputs = adiff.program(text).inputs
        at = {name: x for name, x in point(seed).items() if name in inputs}
        reasons.append(check(text, at, mode, [name for name in inputs if name != "n"]))
    assert reasons.count("") >= (0.7 if mode == EVERY else 0.4) * len(reasons), reasons


LOOP = "s = x\nfor i in range(n):\n    s = s * y + sin(s) * v[i % 4]\ns"
COMMANDS: list[tuple[str, str, dict[str, Any]]] = [
    ("hessian", LOOP, {}),
    ("jvp", LOOP, {"tangent": {"x": 1.0, "v": [0.1, 0.2, 0.3, 0.4]}}),
    ("vjp", "v * x + y * n", {"cotangent": [1.0, 0.5, 0.25, 2.0]}),
    ("hvp", LOOP, {"vector": {"x": 1.0, "y": 0.5}}),
    ("jacobian", "v * x + cumsum(v) * y * n", {}),
    ("derivative", "s = x\nfor i in range(5):\n    s = sin(s) + x * 0.1\ns", {"order": 3}),
    ("value", "[v * x, (y, 2.0), {'k': y * n}]", {}),
    ("grad", LOOP, {"checkpoint": 4_000}),
]


@BOTH
@pytest.mark.parametrize(("command", "text", "options"), COMMANDS, ids=[command for command, _, _ in COMMANDS])
def test_commands(mode: str, command: str, text: str, options: dict[str, Any]) -> None:
    inputs = adiff.program(text).inputs
    at = {"x": 0.3, "y": 0.7, "n": 9, "v": VECTOR}
    wrt = [name for name in inputs if name != "n"]
    assert check(text, {name: at[name] for name in inputs}, mode, wrt, command, 3e-5, **options) == ""


@pytest.mark.parametrize("command", ["grad", "jvp", "vjp", "hvp"])
@pytest.mark.parametrize("text", ["len(v) * x * x", "x * x if sum(v) > 0 else x"])
def test_derivatives_of_bare_numbers_keep_their_digits(text: str, command: str) -> None:
    """A value of bare numbers alone is float64 beside a float32, and so are its derivatives."""
    options: dict[str, Any] = {"jvp": {"tangent": {"x": 0.1}}, "hvp": {"vector": {"x": 0.1}}}.get(command, {})
    at = {"x": 0.1, "v": VECTOR}
    tape, kernel = (
        outcome(adiff.program(text), at, engine, command, ["x"], **options) for engine in ("tape", "kernel")
    )
    assert kernel.engine == "kernel"
    assert kinds(kernel) == kinds(tape)
    for part in ("value", "gradients", "tangent", "cotangents", "product"):
        for path, x in leaves(getattr(tape, part)).items():
            assert leaves(getattr(kernel, part))[path] == pytest.approx(x, rel=1e-15)


@pytest.mark.parametrize("text", ["a = [x, w]\na[int(y)]", "{0: x, 1: w}[int(y)]", "a = [x, x]\na[int(y)] = w\na[0]"])
def test_a_list_rounds_none_of_its_items(text: str) -> None:
    """A bare number in a list beside a float32 stays the float64 that it is."""
    at = {"x": 0.1, "w": np.float32(0.3), "y": 1.0 if "w\n" in text else 0.0}
    for command in ("value", "grad"):
        assert outcome(adiff.program(text), at, "kernel", command, None).value == 0.1


# --- what is particular to float32 ------------------------------------------------------------------------------------

PARTICULAR: list[tuple[str, dict[str, Any]]] = [
    # The ends of the range, and the gap behind 1.
    ("s = x\nfor i in range(40):\n    s = s * 10.0\ns", {"x": 1.5}),
    ("s = x\nfor i in range(60):\n    s = s * 0.1\ns", {"x": 1.5}),
    ("e = x\nk = 0\nwhile 1.0 + e != 1.0:\n    e = e / 2\n    k = k + 1\ne * k", {"x": 1.0}),
    ("exp(x) + x", {"x": 100.0}),
    ("exp(x) + x", {"x": -104.0}),
    ("x * x * 1e30", {"x": 1e-25}),
    ("x ** 2", {"x": 3e19}),
    ("hypot(x, y)", {"x": 3e30, "y": 4e30}),
    ("arctan2(x, y)", {"x": 1e-40, "y": 1e-41}),
    ("sigmoid(x) + softplus(x)", {"x": -95.0}),
    ("norm(v) + std(v)", {"v": VECTOR * np.float32(1e-30)}),
    ("norm(v) + std(v) + norm(v, 3)", {"v": VECTOR * np.float32(1e30)}),
    ("nextafter(x, 10.0) - x", {"x": 1.0}),
    ("nextafter(x, 0.0) - x", {"x": 1.0}),
    ("nextafter(x, 10.0)", {"x": 0.0}),
    ("nextafter(x, inf)", {"x": 3.4028234e38}),
    ("nan_to_num(x * 1e30)", {"x": 1e30}),
    # 1 / b that overflows, though a / b does not.
    ("x / y", {"x": 1e-42, "y": 1e-42}),
    ("1 / y", {"y": 1e-40}),
    ("x / y", {"x": 1.0, "y": 0.0}),
    # Integers that float32 does not hold, and numbers that it rounds to a tie.
    ("s = 0.0\nfor i in range(16777210, 16777230):\n    s = s + float(i) * x\ns", {"x": 1.0}),
    ("s = x\nfor i in range(16777210, 16777230):\n    s = s + i * x\ns", {"x": 1.0}),
    ("floor(x / 0.1) + x // 0.1 + x % 0.1", {"x": 0.3}),
    ("(0.1 + 0.2 == 0.3) * x + 0.1 * 3 * x", {"x": 1.0}),
    ("full(4, 0.1) * v + linspace(0, 1, 4) + arange(4) + zeros(4)", {"v": VECTOR}),
    ("isclose(x, 1.0) * x", {"x": 1.00001}),
    # What sums are collected in is float64, what is given of them is not.
    ("m @ m", {"m": np.outer(VECTOR, VECTOR)}),
    ("convolve(v, v)", {"v": VECTOR}),
    ("cast(x > 0.2, float32) * x", {"x": 0.3}),
    # Singular points.
    ("log(x)", {"x": 0.0}),
    ("abs(x) + relu(x) + sqrt(abs(x))", {"x": 0.0}),
    ("max(v - v)", {"v": VECTOR}),
    # Errors: which, and where.
    ("s = 0.0\nfor i in range(9):\n    s = s + v[i] * v[i]\ns", {"v": VECTOR}),
    ("v[n]", {"v": VECTOR, "n": 7}),
    ("assert x > 1, 'small'\nx", {"x": 0.5}),
]  # fmt: skip


@BOTH
@pytest.mark.parametrize(("text", "at"), PARTICULAR, ids=[text.replace("\n", "; ") for text, _ in PARTICULAR])
def test_particular(mode: str, text: str, at: dict[str, Any]) -> None:
    assert check(text, at, mode, [name for name in at if name != "n"]) in ("", "an error")


@BOTH
def test_sums_of_many_are_summed_in_float64(mode: str) -> None:
    """One after the other in float32, ten million ones would be 16777216, and a million tenths off in the fourth digit."""
    at = {"v": np.full(20_000_001, 1.0, np.float32), "w": np.full(1_000_001, 0.1, np.float32), "x": 0.5}
    options = {"dtype": "float32"} if mode == EVERY else {}
    found = adiff.program("sum(v * x) * 2.0 + sum(w)").evaluate(
        "grad", single(at, mode), ["x", "w"], engine="kernel", **options
    )
    assert found.engine == "kernel"
    truth = 20_000_001 + 1_000_001 * float(np.float32(0.1))
    assert abs(float(found.value) - truth) <= 2.0
    assert float(found.gradients["x"]) == 40_000_002.0 // 4 * 4
    assert (found.gradients["w"] == 1.0).all()


# Sums that leave the floats on the way, which are rounded once on both tiers.
BEYOND = [
    ("sum(v)", {"v": [3e38, 3e38, -3e38]}, 3e38, {"v": [1, 1, 1]}),
    ("mean(v)", {"v": [3e38, 3e38, -3e38]}, 1e38, {"v": [1 / 3] * 3}),
    ("sum(v * y)", {"v": [2e38, 2e38, -3e38], "y": 1.0}, 1e38, {"v": [1, 1, 1], "y": 1e38}),
]


@pytest.mark.parametrize(("text", "at", "value", "gradients"), BEYOND)
def test_sums_beyond_the_floats(text: str, at: dict[str, Any], value: float, gradients: dict[str, Any]) -> None:
    at = {name: np.float32(x) for name, x in at.items()}

    def compare(kernel: Any) -> None:
        assert kernel.value == pytest.approx(value, rel=1e-6)
        for name, g in gradients.items():
            np.testing.assert_allclose(kernel.gradients[name], g, rtol=1e-6)

    assert check(text, at, SOME, list(at), also=compare) == ""


REFUSED = [
    ("x * cast(ones(3), float64)", {"x": 0.3}),
    ("x * w", {"x": 0.3, "w": np.array([0.5, 1.5])}),
    ("s = x\nfor i in range(3):\n    s = s + float64(i)\ns", {"x": 0.3}),
    ("x * m", {"x": 0.3, "m": np.array([1, 2])}),
    ("sqrt(m) * x", {"x": 0.3, "m": np.array([1, 2])}),
    ("mean(m) + x", {"x": 0.3, "m": np.array([1, 2])}),
    ("m / 2 * x", {"x": 0.3, "m": np.array([1, 2])}),
    ("where(x > 0, sqrt(m), x)", {"x": 0.3, "m": np.array([1, 2])}),
]


@pytest.mark.parametrize(("text", "at"), REFUSED)
def test_float64_and_float32_do_not_mix(text: str, at: dict[str, Any]) -> None:
    at = {**at, "x": np.float32(at["x"])}
    with pytest.raises(AdiffError) as tape:
        adiff.program(text).evaluate("value", at, engine="tape")
    with pytest.raises(AdiffError) as kernel:
        adiff.program(text).evaluate("value", at, engine="kernel")
    assert tape.value.code == "E0301"
    assert tape.value.message == kernel.value.message
    assert tape.value.span.start == kernel.value.span.start


MADE_HERE = [
    "z = zeros(3, dtype=float32)\nfor i in range(3):\n    z[i] = x * i\nz",
    "s = float32(0)\nfor i in range(5):\n    s = s + 0.1 * i\ns * x",
    "c = float32([0.1, 0.2])\nc * x + 0.1",
]


@pytest.mark.parametrize("text", MADE_HERE)
def test_float32_that_the_program_makes(text: str) -> None:
    at = {"x": 0.1}
    assert agree(text, at, None, "grad", TOLERANCE, EPSILON) == ""
    tape, kernel = (outcome(adiff.program(text), at, engine, "grad", None) for engine in ("tape", "kernel"))
    assert kinds(tape) == kinds(kernel)


CAST = [
    "cast(x, float32)",
    "sin(cast(x, float32)) * 2 + 1",
    "cast(x, float32) * x",
    "cast(exp(x), float32) + cast(x**3, float32)",
    "cast(cast(x, float32), float64)",
    "cast(cast(x, float32), float64) ** 2 * y",
    "cast(cast(x, float32) * cast(x, float32), float64) + y",
    "cast(x, float64) * cast(x, float64) + cast(cast(y, float32), float64)",
    "y = cast(x, float64)\ncast(y, float32)",
    "a = x\nfor i in range(5):\n    a = cast(cast(sin(a), float32), float64) * 2\na",
    "a = cast(x, float32)\nfor i in range(5):\n    a = a * a + cast(sin(x * i), float32)\na",
    "if x > 0:\n    a = cast(y, float32)\nelse:\n    a = cast(x, float32) * 2\ncast(a, float64) * x",
    "cast(x, float32) * x * y + cast(cast(x, float64)**3, float32)",
    "a = cast(x, float64)\na * cast(cast(a, float32), float64) + x**2",
    "sum(cast([x, y, x * y], float32) ** 2)",
    # Inside functions that the program differentiates.
    "grad(lambda v: cast(v, float32) * v * y)(x)",
    "grad(lambda v: cast(cast(v, float32), float64) ** 3)(x) * x",
    "def f(v):\n    s = cast(v, float32)\n    for i in range(4):\n        s = s * v + cast(v * i, float32)\n    return s\ngrad(f)(x) * y",
    "with GradientTape() as t:\n    t.watch(x)\n    z = cast(x, float32) ** 2 * x\nt.gradient(z, x) * y",
]
# Of the last derivative, from its formula: the casts are linear.
SECOND = {
    "cast(x, float32) * x": lambda x: 2.0,
    "cast(x, float32) * x + cast(cast(x, float64)**3, float32)": lambda x: 2 + 6 * x,
    "sin(cast(x, float32)) * x": lambda x: 2 * np.cos(x) - x * np.sin(x),
    "grad(lambda v: cast(v, float32) ** 3 * v)(x)": lambda x: 24 * x,
}


@pytest.mark.parametrize(
    "text",
    [
        "grad(lambda u: grad(lambda t: cast(t, float32)**3)(u)*u)(x)*y",
        "hessian(lambda v: cast(v, float32) ** 2 * v)(x) * y",
    ],
)
def test_casts_in_derivatives_inside_others_are_the_tape_s(text: str) -> None:
    at = {"x": 0.7, "y": 1.3}
    found = adiff.program(text).evaluate("grad", at, engine="kernel")
    assert found.engine == "tape"
    assert "a cast in a derivative inside another" in str(found.reason)


@pytest.mark.parametrize("text", SECOND)
def test_second_derivatives_of_bare_numbers_that_are_cast(text: str) -> None:
    """The cotangent of a bare number is bare: it meets what the number itself meets."""
    for engine in ("tape", "kernel"):
        found = adiff.program(text).evaluate("hessian", {"x": 0.7}, engine=engine)
        assert found.engine == engine
        np.testing.assert_allclose(found.hessian["x"]["x"], SECOND[text](0.7), 1e-6)


@pytest.mark.parametrize("text", CAST)
def test_casts_between_float32_and_float64(text: str) -> None:
    """Rounded where the program says so, and nowhere else: float64 digits stay, of values and of derivatives."""
    program = adiff.program(text)
    at = {name: x for name, x in {"x": 0.1, "y": 0.7}.items() if name in program.inputs}
    for command in ("value", "grad", "hessian", "jacobian"):
        wrt = None if command == "value" else list(at)
        tape, kernel = (outcome(adiff.program(text), at, engine, command, wrt) for engine in ("tape", "kernel"))
        exact = str(getattr(getattr(tape, "value", None), "dtype", "")) != "float32"
        tolerance, rounding = (1e-13, 2.0**-52) if exact else (TOLERANCE, EPSILON)
        assert agree(text, at, wrt, command, tolerance, rounding) == "", command
        assert kinds(tape) == kinds(kernel), command


def test_the_cotangent_of_an_argument_is_rounded_once() -> None:
    """It is added up over several turns of the loop that a recursion becomes; whoever takes it gets a float32."""
    text = (
        "def f(a):\n    if a < 0.02:\n        return a * 0.3\n    return f(a * 0.3) * y + f(sin(a) * 0.5) * a\n"
        "cast(f(cast(x, float32)), float64) * y"
    )
    for x in (0.1, 0.3, 0.7):
        at = {"x": x, "y": 0.7}
        assert agree(text, at, None, "grad", 1e-13, 2.0**-52) == ""
        slope = adiff.program(text).evaluate("grad", at, engine="kernel").gradients["x"]
        assert slope == float(np.float32(slope))


def test_a_cast_rounds() -> None:
    found = adiff.program("cast(cast(x, float32), float64) * 3").evaluate("value", {"x": 0.1}, engine="kernel")
    assert found.engine == "kernel"
    assert found.value == float(np.float32(0.1)) * 3 != 0.1 * 3


MIXED = [
    "cast(x, float64) * cast(x, float32)",
    "cast(x, float64) < cast(x, float32)",
    "a = cast(x, float64)\nfor i in range(3):\n    a = a * cast(x, float32)\na",
    "cast(2, float64) * cast(x, float32)",
    "zeros_like(cast(x, float64)) * cast(x, float32)",
]


@pytest.mark.parametrize("text", MIXED)
def test_casts_to_both_do_not_mix(text: str) -> None:
    assert agree(text, {"x": 0.1}, None, "value") == "an error"


OF_THEIR_OWN = [
    ("v = Variable(0.5)\nv.assign_add(y)\nv * x", None),
    ("c = constant(y)\nc * x", None),
    ("c = constant([0.5, 1.5])\nc * x", None),
    ("z = zeros_like(v)\nfor i in range(4):\n    z[i] = i * y\nz", "float32"),
    ("z = ones_like(v)\nz[0] = y\nz", "float32"),
    ("z = zeros(4)\nfor i in range(4):\n    z[i] = i * y\nz", "float64"),
]


@pytest.mark.parametrize(("text", "dtype"), OF_THEIR_OWN)
def test_what_is_made_of_bare_numbers_has_the_dtype_that_the_tape_gives_it(text: str, dtype: str | None) -> None:
    """Variables and constants are float64 then, and meet no float32; what is like a float32 is one."""
    at = {"x": np.float32(0.3), "y": 0.7, "v": VECTOR}
    inputs = adiff.program(text).inputs
    tape, kernel = (
        outcome(adiff.program(text), {name: at[name] for name in inputs}, engine, "value", None)
        for engine in ("tape", "kernel")
    )
    if dtype is None:
        assert (tape.code, tape.message) == (kernel.code, kernel.message)
        assert tape.code == "E0301"
    else:
        assert kernel.engine == "kernel" or "x" not in inputs
        assert tape.value.dtype == kernel.value.dtype == dtype


def test_bare_numbers_keep_their_digits_until_they_meet_a_float32() -> None:
    text = "t = 0.0\nk = 0\nwhile t < 1.0:\n    t = t + 0.1\n    k = k + 1\nx * k + t"
    # In float64 ten tenths are less than 1; in float32 they are more.
    for mode, turns in ((EVERY, 10), (SOME, 11)):
        assert check(text, {"x": 100.0}, mode) == ""
        options = {"dtype": "float32"} if mode == EVERY else {}
        found = adiff.program(text).evaluate("grad", single({"x": 100.0}, mode), engine="kernel", **options)
        assert found.gradients["x"] == turns


def test_print() -> None:
    text = "for i in range(3):\n    print(i + 16777217, x * 0.1, 0.1, f'{x:.3f}', v)\nx"
    at = {"x": 1.0, "v": VECTOR}
    told: dict[str, list[str]] = {}
    for engine in ("tape", "kernel"):
        lines = told[engine] = []
        found = adiff.program(text).evaluate("run", at, engine=engine, dtype="float32", write=lines.append)
        assert found.engine == engine
    assert "".join(told["tape"]) == "".join(told["kernel"])
    assert "16777219 0.1 0.1 1.000" in "".join(told["kernel"])


def test_rows() -> None:
    text = "s = a\nfor i in range(4):\n    s = s * x + sin(s) / y\ns if s > 0 else s * 2"
    draw = np.random.default_rng(3)
    columns = {name: draw.uniform(0.5, 1.5, 50).astype(np.float32) for name in ("x", "y")}
    for order in (0, 1, 2):
        tape, kernel = (
            adiff.program(text).rows(columns, at={"a": 0.1}, order=order, engine=engine)
            for engine in ("tape", "kernel")
        )
        assert kernel.engine == "kernel"
        assert tape.value.dtype == kernel.value.dtype == np.float32
        np.testing.assert_allclose(kernel.value, tape.value, TOLERANCE)
        for name, gradient in tape.gradients.items() if order else ():
            assert gradient.dtype == kernel.gradients[name].dtype
            np.testing.assert_allclose(kernel.gradients[name], gradient, TOLERANCE, 1e-6)
        for a in columns if order == 2 else ():
            np.testing.assert_allclose(kernel.hessian[a]["x"], tape.hessian[a]["x"], TOLERANCE, 1e-5)


def test_kept_kernels_are_apart() -> None:
    """One program at one point, in three widths and again from what was kept: no kernel stands in for another."""
    text = "s = x\nfor i in range(9):\n    s = s * 0.7 + sin(s)\ns"
    for _ in range(2):
        for x, options in ((0.3, {}), (0.3, {"dtype": "float32"}), (np.float32(0.3), {})):
            found = adiff.program(text).evaluate("grad", {"x": x}, engine="kernel", **options)
            tape = adiff.program(text).evaluate("grad", {"x": x}, engine="tape", **options)
            assert found.engine == "kernel"
            assert kinds(found) == kinds(tape)
            np.testing.assert_allclose(found.value, tape.value, 1e-15 if type(found.value) is float else 1e-6)


def test_numba_leaves_float32_to_the_tape(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("ADIFF_COMPILER", "numba")
    found = adiff.program("x * x").evaluate("grad", {"x": 0.3}, engine="kernel", dtype="float32")
    assert found.engine == "tape"
    assert found.reason == "no kernel for float32 where Numba is the compiler"


def test_emitted_source_says_so() -> None:
    found = adiff.program("sum(v * x)").evaluate("tape", {"x": 0.5, "v": VECTOR}, emit=True, dtype="float32")
    assert "# floats are float32; in float64" in found.emitted


LONG_SUMS = [
    "y = x[0]\nfor i in range(5000):\n    y = y + sin(x[1]) * a\ny",
    "y = x[0]\nfor i in range(5000):\n    y = y + sum(sin(x) * a)\ny",
    "y = x[0]\nfor i in range(5000):\n    y = y + x[i % 4] * a\ny",
]


@BOTH
@pytest.mark.parametrize("text", LONG_SUMS)
def test_cotangents_of_a_long_loop_are_rounded_once(text: str, mode: str) -> None:
    """Both tiers give the float32 beside the truth, where sums in float32 lose three digits."""
    at = {"x": VECTOR, "a": 0.1}
    assert check(text, at, mode, tolerance=1.2e-7) == ""
    truth = adiff.program(text).evaluate("grad", {"x": VECTOR.astype(float), "a": float(np.float32(0.1))}).gradients
    found = adiff.program(text).evaluate("grad", single(at, SOME), engine="tape").gradients
    for name, expected in truth.items():
        np.testing.assert_allclose(found[name], expected, rtol=1.5e-7)


BARE_ON_A_PATH = [
    "s = 0.0\nfor i in range(n):\n    s = s + v * 2\ns",
    "s = 0.0\nfor i in range(n):\n    s = s + v * 2\ns * 2 + 1",
    "s = 0.0\nfor i in range(n):\n    s = s + v * 2\ns + v",
    "y = 0.1\nif v > n:\n    y = v * 2\ny",
    "y = 0.0\nwhile y < v - n:\n    y = y + v * 2\ny",
    "v if v < n else 2.0",
    "[2.0 if n < v else v for i in range(2)][0]",
    "t = 0.0\nfor i in range(n + 4):\n    s = 0.0\n    for j in range(i):\n        s += v\n    t += s\nt",
    "w = zeros(4)\nfor i in range(n):\n    w[i % 4] = v * i\nw",
    "w = zeros(4)\nfor i in range(n):\n    w[i % 4] = v * i\nsum(w * w)",
    "w = zeros(4)\nfor i in range(n):\n    w[i % 4] += v\ns = 0.0\nfor i in range(4):\n    s += w[i]\ns",
]


@pytest.mark.parametrize("text", BARE_ON_A_PATH)
def test_a_result_is_a_float32_where_the_tape_has_one(text: str) -> None:
    """Of a loop that does not run, and of the other side of a branch, there is a bare float."""
    made = adiff.program(text)
    reasons = [agree(made, {"v": np.float32(0.7), "n": n}, ["v"], "value") for n in (0, 3)]
    assert reasons.count("") == (2 if text[:1] == "t" or text[-5:] == "s + v" else 1)


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_gradients_of_long_loops_lose_no_digits(engine: Any) -> None:
    """The logistic curve by Euler's steps, with the adjoint of the same recurrence in Python's floats."""
    text = "x = float32(x0)\nfor k in range(n):\n    x = x + 0.0001*a*x*(1-x)\nx"
    n, a = 40_000, 0.5
    xs = [0.1]
    for _ in range(n):
        xs.append(xs[-1] + 1e-4 * a * xs[-1] * (1 - xs[-1]))
    c, by_a = 1.0, 0.0
    for x in xs[-2::-1]:
        by_a += c * 1e-4 * x * (1 - x)
        c *= 1 + 1e-4 * a * (1 - 2 * x)
    for command in ("grad", "jacobian") if engine == "kernel" else ("grad",):
        found = adiff.program(text).evaluate(command, {"x0": 0.1, "a": a, "n": n}, ["x0", "a"], engine=engine)
        assert found.engine == engine
        slopes = found.gradients or found.jacobian
        np.testing.assert_allclose([slopes["x0"], slopes["a"]], [c, by_a], rtol=3e-6)


@BOTH
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_second_derivatives_of_long_sums_lose_no_digits(engine: Any, mode: str) -> None:
    text = "y = v\nfor i in range(1500):\n    y = y + sin(v) * a * a\ny"
    at, options = single({"v": 0.7, "a": 0.1}, EVERY), {"dtype": "float32"} if mode == EVERY else {}
    at = {**at, "v": np.float32(at["v"])} if mode == SOME else at
    found = adiff.program(text).evaluate("hessian", at, engine=engine, **options)
    assert found.engine == engine
    a, v = at["a"], float(at["v"])
    for first, second, truth in (
        ("a", "a", 2 * np.sin(v)),
        ("a", "v", 2 * a * np.cos(v)),
        ("v", "v", -a * a * np.sin(v)),
    ):
        np.testing.assert_allclose(found.hessian[first][second], 1500 * truth, rtol=3e-7)


def test_what_names_float32() -> None:
    """No comment does, and nothing that is printed, beside which numbers are printed by kernels of float64 alone."""
    for text in (
        "print(sum(v))\nsum(v*array([1.0, 2.0]))  # no float32",
        "# float32\nprint(sum(v))\nsum(v)",
        "s = '#'\nprint(sum(v))\nsum(v)  # 'float32' is none",
        "print('float32', sum(v), f'float32 {v[0]}')\nsum(v)",
    ):
        found = adiff.program(text).evaluate("grad", {"v": [1.0, 2.0]}, engine="kernel")
        assert found.engine == "kernel", found.reason
    text = "print('float32', x)\ndef f(y, name='single'):\n    return cast(y, name)*2\nf(x)"
    tape, kernel = (adiff.program(text).evaluate("value", {"x": 0.7}, engine=engine) for engine in ("tape", "kernel"))
    assert kernel.engine == "tape"
    assert "a number that is a float32 on some paths only" in kernel.reason
    for text in ("y = x.astype('single')\ny*y + 0.1", "d = 'float32'\ncast(x, d)*0.1"):
        tape, kernel = (
            adiff.program(text).evaluate("grad", {"x": 0.7}, engine=engine) for engine in ("tape", "kernel")
        )
        assert kernel.engine == "kernel", kernel.reason
        assert (kernel.value, kernel.types, kernel.gradients) == (tape.value, tape.types, tape.gradients)
