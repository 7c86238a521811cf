"""Every row of the operation table, because it is a row: documented, exact, differentiable in every way."""

import itertools
import math
import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import adiff
import mpmath as mp
import numpy as np
import pytest
from adiff.engine.autodiff.tape import Tape, gradient
from adiff.engine.core.dtypes import COMPLEX128, FLOAT32, FLOAT64, INT64
from adiff.engine.core.operands import plain
from adiff.engine.core.state import RECORDERS, STATE
from adiff.engine.core.tensor import Tensor
from adiff.engine.ops import registry
from adiff.engine.ops.operation import Operation, Singular
from adiff.engine.ops.registry import NAMES, ROWS
from adiff.parser.errors import AdiffError
from adiff.parser.source import Source
from harness import (
    ELEMENTWISE,
    SAMPLES,
    Case,
    along,
    differentiable_cases,
    fresh,
    generator,
    inner,
    jvp,
    nested_derivative,
    random_like,
    richardson,
    scalar_points,
    second_forward_over_reverse,
    second_reverse_over_reverse,
    value_of,
    vjp,
)
from reference import FUNCTIONS, derivative

EVERY_ROW = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
EVERY_CASE = pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in differentiable_cases()])


def elementwise(chosen: Callable[[Operation], Any]) -> pytest.MarkDecorator:
    """The element-wise rows that a test is about."""
    return pytest.mark.parametrize("row", [row for row in ELEMENTWISE if chosen(row)], ids=lambda row: row.name)


def has_partials(row: Operation) -> bool:
    """Whether the row is no composite, whose parts are tested as rows of their own."""
    return row.derivative in ("partials", "zero")


# Derivatives by parameters, which are there up to the order 2.
BY_PARAMETERS = {"gammainc_derivative", "betainc_derivative", "zeta_derivative"}
# Rows whose inputs cannot be written in the language: they serve the engine, on indices and shapes.
INTERNAL = {"index_scatter", "index_update", "index_add", "sum_to"}


# --- what a row says about itself -----------------------------------------------------------------------------------


@EVERY_ROW
def test_row_is_documented(row: Operation) -> None:
    assert row.doc.endswith("."), "the doc is a sentence"
    assert row.family
    assert row.derivative not in ("missing",) or row.reason
    parameters = row.parameters
    assert len({p.name for p in parameters}) == len(parameters)
    assert row.usage().startswith(row.name + "(")
    if row.derivative == "partials":
        assert len(row.partials) == sum(p.kind == "input" for p in parameters)
    if row.domain.__class__ is list:
        assert len(row.domain) == sum(p.kind == "input" for p in parameters)
    else:
        assert row.name in SAMPLES or row.example, "a row without samples has at least an example"


def test_samples_are_of_rows() -> None:
    assert set(SAMPLES) <= set(ROWS)


@EVERY_ROW
def test_names_lead_to_the_row(row: Operation) -> None:
    for name in (row.name, *row.aliases):
        assert NAMES.get(name) is (None if row.internal else row)


def test_import_after_one_that_was_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    import adiff.engine.ops as package

    monkeypatch.setattr(package, "registry", registry)  # put back afterwards
    monkeypatch.delitem(sys.modules, registry.__name__)
    again = import_module(registry.__name__)
    assert (again.NAMES, again.OPERATOR_ROWS) == (registry.NAMES, registry.OPERATOR_ROWS)


@EVERY_ROW
def test_example_is_true(row: Operation, monkeypatch: pytest.MonkeyPatch) -> None:
    if row.example is None:
        assert row.name in INTERNAL
        return
    text, expected = row.example
    if row.internal:
        monkeypatch.setattr(Source, "library", True)
        text = re.sub(rf"\b{row.name}\(", f"internal.{row.name}(", text)
    found = adiff.program(text).evaluate("value").value
    assert_same(found, expected)


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert_same(a, b)
    else:
        assert np.asarray(found).shape == np.asarray(expected).shape
        assert np.allclose(np.asarray(found), np.asarray(expected), rtol=4e-15, atol=1e-15, equal_nan=True), (
            found,
            expected,
        )


# --- values and derivatives against mpmath --------------------------------------------------------------------------


def assert_close(found: float, expected: Any, tolerance: float, what: str) -> None:
    expected = mp.re(expected)
    if abs(expected) < mp.mpf(10) ** -40:
        expected = mp.mpf(0)
    scale = max(abs(expected), mp.mpf(10) ** -3)
    assert abs(mp.mpf(found) - expected) <= tolerance * scale, f"{what}: {found!r}, and not {mp.nstr(expected, 20)}"


@elementwise(lambda row: row.derivative in ("partials", "zero", "composite"))
@pytest.mark.parametrize("order", [0, 1, 2])
def test_elementwise_row_against_mpmath(row: Operation, order: int) -> None:
    assert row.name in FUNCTIONS, "an element-wise row needs a reference in tests/ops/reference.py"
    if order == 2 and row.name in BY_PARAMETERS:
        return
    f = FUNCTIONS[row.name]
    tolerance = (2e-14, 2e-13, 5e-12)[order]
    for point in scalar_points(row, 2):
        exact = tuple(mp.mpf(x) for x in point)
        free = [i for i, interval in enumerate(row.domain) if interval]
        for path in sorted(set(map(tuple, map(sorted, itertools.product(free, repeat=order))))):
            orders = tuple(path.count(i) for i in range(len(point)))
            call = partly(row, point, free)
            found = nested_derivative(call, [point[i] for i in free], [free.index(i) for i in path])
            assert_close(found, derivative(f, exact, orders), tolerance, f"{row.name}{point} by {path}")


def partly(row: Operation, point: Any, free: list[int]) -> Any:
    """The row as a function of its free inputs; the others (the order of a Bessel function) stay constants."""

    def call(*leaves: Any) -> Any:
        given = list(point)
        for i, leaf in zip(free, leaves):
            given[i] = leaf
        return row(*given)

    return call


# --- every way to a derivative --------------------------------------------------------------------------------------


def draws(case: Case) -> tuple[list[Any], list[Any]]:
    rng = generator(case.row)
    outputs = value_of(case, case.values)
    return random_like(rng, outputs), random_like(rng, case.values)


def size_of(parts: list[Any]) -> float:
    return math.sqrt(inner(parts, parts))


@EVERY_CASE
def test_vjp_and_jvp_are_transposes(case: Case) -> None:
    g, t = draws(case)
    pulled, pushed = vjp(case, case.values, g), jvp(case, case.values, t)
    scale = size_of(pulled) * size_of(t) + size_of(pushed) * size_of(g)
    assert abs(inner(pulled, t) - inner(g, pushed)) <= 1e-13 * scale + 1e-300


@EVERY_CASE
def test_jvp_against_differences(case: Case) -> None:
    _, t = draws(case)
    pushed = jvp(case, case.values, t)
    differences = richardson(lambda h: value_of(case, along(case.values, t, h)))
    error = size_of([a - b for a, b in zip(pushed, differences)])
    assert error <= 1e-8 * (1.0 + size_of(pushed))


@EVERY_CASE
def test_second_order(case: Case) -> None:
    if case.row.name in BY_PARAMETERS:
        return
    g, t = draws(case)
    forward = second_forward_over_reverse(case, case.values, g, t)
    differences = richardson(lambda h: vjp(case, along(case.values, t, h), g))
    scale = 1.0 + size_of(differences)
    assert size_of([a - b for a, b in zip(forward, differences)]) <= 1e-7 * scale
    reverse = second_reverse_over_reverse(case, case.values, g, t)
    if all(v.dtype.kind == "f" for v in case.values):  # a holomorphic Hessian is symmetric, not Hermitian
        assert size_of([a - b for a, b in zip(forward, reverse)]) <= 1e-11 * scale


# --- the two tiers --------------------------------------------------------------------------------------------------


def ulps(a: float, b: float) -> float:
    return 0.0 if a == b or (a != a and b != b) else abs(a - b) / math.ulp(max(abs(a), abs(b)))


@elementwise(lambda row: row.scalar is not None)
def test_scalar_and_array_tiers_agree(row: Operation) -> None:
    """A float, a recorded float64 scalar and an element of an array give the same number, and so do their gradients.

    NumPy's vectorised exponentials differ from the C library's in the last digit: 8 units leave room for that.
    """
    static = {p.name: p.default for p in row.parameters if p.kind == "static"}
    for point in scalar_points(row, 3):
        alone = plain(row(*point, **static))
        arrays = [Tensor(np.array([x]), FLOAT64) for x in point]
        element = np.asarray(plain(row(*arrays, **static)))[0]
        assert ulps(float(alone), float(element)) <= 8
        if row.derivative != "partials":
            continue
        for index, interval in enumerate(row.domain):
            if interval is None or row.partials[index] is None:
                continue
            scalars: list[Any] = [Tensor(x, FLOAT64) if i == index else x for i, x in enumerate(point)]
            single = float(plain(reverse(row, scalars, index, static)))
            several = float(np.asarray(plain(reverse(row, arrays, index, static)))[0])
            assert ulps(single, several) <= 32
            fresh()


def reverse(row: Any, inputs: list[Any], index: int, static: dict[str, Any], g: Any = None) -> Any:
    """The cotangent of one input for the cotangent `g` of the result, ones by default."""
    tape = Tape()
    tape.watch(inputs[index])
    RECORDERS.append(tape)
    try:
        y = row(*inputs, **static)
    finally:
        RECORDERS.remove(tape)
    seed = (
        g if g is not None else 1.0 if plain(y).__class__ is float else Tensor(np.ones(y.shape, y.dtype.name), y.dtype)
    )
    return gradient(tape, [y], [seed], [[inputs[index]]], True)[0]


# --- dtypes ---------------------------------------------------------------------------------------------------------


@elementwise(lambda row: "f" in row.accepts and row.dtype != "bool")
def test_float32_stays_float32(row: Operation) -> None:
    point = scalar_points(row, 1)[0]
    static = {p.name: p.default for p in row.parameters if p.kind == "static"}
    for shape in ((), (1,)):
        inputs: list[Any] = [
            Tensor(np.full(shape, x, np.float32), FLOAT32) if interval else int(x)
            for x, interval in zip(point, row.domain)
        ]
        y = row.call(inputs, dict(static))
        if y.__class__ is bool:
            continue
        assert y.dtype.kind != "f" or y.dtype is FLOAT32
        wide = np.asarray(plain(row.call([float(x) for x in point], dict(static))))
        assert np.allclose(np.asarray(y.value, np.complex128), wide, rtol=2e-3, atol=1e-5)
        if has_partials(row) and y.dtype is FLOAT32 and row.domain[0]:
            c = reverse(row, inputs, 0, static, g=Tensor(np.ones(shape, np.float32), FLOAT32))
            assert c.__class__ is float or c.dtype is FLOAT32 or c.dtype.weak


@elementwise(lambda row: len(row.domain) > 1 and row.derivative != "composite" and "f" in row.accepts)
def test_strong_dtypes_do_not_mix(row: Operation) -> None:
    point = scalar_points(row, 1)[0]
    inputs = [
        Tensor(np.array([x], np.float32 if i else np.float64), FLOAT32 if i else FLOAT64) for i, x in enumerate(point)
    ]
    with pytest.raises(AdiffError) as caught:
        row.call(inputs, {})
    assert caught.value.code == "E0301"
    assert row.name in caught.value.message
    assert "float32" in caught.value.message
    assert "float64" in caught.value.message
    assert "cast" in (caught.value.hint or "")


@elementwise(lambda row: row.derivative != "composite")
def test_operands_that_are_refused(row: Operation) -> None:
    refused: list[Any] = [] if "s" in row.accepts else ["text"]
    if "c" not in row.accepts:
        refused.append(Tensor(np.array([1 + 1j]), COMPLEX128))
    for operand in refused:
        with pytest.raises(AdiffError) as caught:
            row.call([operand] * len(row.domain), {})
        assert caught.value.code == "E0301"


@elementwise(lambda row: row.dtype == "float" and "i" in row.accepts)
def test_integers_become_floats_where_the_row_says_so(row: Operation) -> None:
    y = row.call([Tensor(np.array([1, 1]), INT64)] * len(row.domain), {})
    assert y.dtype is FLOAT64


# --- complex numbers ------------------------------------------------------------------------------------------------


def takes_complex(row: Operation) -> bool:
    return "c" in row.accepts and row.derivative == "partials"


@elementwise(takes_complex)
def test_complex_derivatives(row: Operation) -> None:
    """d/dRe + i d/dIm of Re(conj(g)*f) by reverse mode, and the change along a complex tangent by forward mode."""
    rng = generator(row)
    inputs = [np.array(point) + 1j * rng.uniform(-0.4, 0.4, 2) for point in zip(*scalar_points(row, 2))]
    static = {p.name: p.default for p in row.parameters if p.kind == "static"}
    case = Case(row, inputs, static)
    g, t = draws(case)
    pushed = jvp(case, case.values, t)
    differences = richardson(lambda h: value_of(case, along(case.values, t, h)))
    assert size_of([a - b for a, b in zip(pushed, differences)]) <= 1e-8 * (1.0 + size_of(pushed))
    pulled = vjp(case, case.values, g)
    assert all(c.dtype == v.dtype for c, v in zip(pulled, case.values))
    assert math.isclose(inner(pulled, t), inner(g, pushed), rel_tol=1e-12, abs_tol=1e-12)


# --- singular points ------------------------------------------------------------------------------------------------

CANDIDATES = (0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, -3.0, 4.0, 6.0, math.inf, -math.inf)
POLICIES = ("adiff", "tensorflow", "jax", "torch")
SPOTS = [
    pytest.param(row, spot, id=f"{row.name}-{number}")
    for row in ELEMENTWISE
    if has_partials(row)
    for number, spot in enumerate(row.singular)
]


def singular_point(row: Operation, spot: Singular) -> tuple[float, ...]:
    for point in itertools.product(CANDIDATES, repeat=len(row.domain)):
        if spot.where(*point):
            # Where several spots meet, the later ones decide: prefer a point where this one stands alone.
            later = row.singular[row.singular.index(spot) + 1 :] if isinstance(row.singular, list) else []
            if not any(s.where(*point) and s.input == spot.input for s in later):
                return point
    raise AssertionError(f"no candidate is a singular point: {spot.message}")


@pytest.mark.parametrize(("row", "spot"), SPOTS)
def test_singular_point_is_noticed_and_chosen(row: Operation, spot: Singular) -> None:
    point = singular_point(row, spot)
    static = {p.name: p.default for p in row.parameters if p.kind == "static"}
    for policy in POLICIES:
        choice = spot.choice(policy)
        expected = choice(*point) if callable(choice) else choice
        for wrap in (float, lambda x: np.array([x])):
            fresh()
            STATE.kinks = policy
            inputs: list[Any] = [Tensor(wrap(x), FLOAT64) for x in point]
            found = reverse(row, inputs, spot.input, static)
            assert any(notice.code == "N0501" and notice.message.startswith(spot.message) for notice in STATE.notices)
            if expected is not None:
                number = float(np.asarray(plain(found)).reshape(()) if np.ndim(plain(found)) == 0 else plain(found)[0])
                assert number == plain(expected) or (math.isnan(number) and math.isnan(plain(expected)))
    fresh()
    STATE.kinks = "error"
    with pytest.raises(AdiffError) as caught:
        reverse(row, [Tensor(x, FLOAT64) for x in point], spot.input, static)
    assert caught.value.code == "E0501"


@elementwise(has_partials)
def test_no_notice_at_regular_points(row: Operation) -> None:
    static = {p.name: p.default for p in row.parameters if p.kind == "static"}
    for point in scalar_points(row, 2):
        for index, interval in enumerate(row.domain):
            if interval:
                reverse(row, [Tensor(x, FLOAT64) if i == index else x for i, x in enumerate(point)], index, static)
    assert not STATE.notices


@elementwise(lambda row: has_partials(row) and row.singular)
def test_zero_cotangent_stays_zero(row: Operation) -> None:
    """Nothing leaks from a branch that was not taken: a zero cotangent stays zero at a singular point, unnoticed."""
    static = {p.name: p.default for p in row.parameters if p.kind == "static"}
    for spot in row.singular:
        point = singular_point(row, spot)
        fresh()
        inputs: list[Any] = [Tensor(np.array([x]), FLOAT64) for x in point]
        found = reverse(row, inputs, spot.input, static, g=Tensor(np.array([0.0]), FLOAT64))
        assert np.asarray(plain(found)).reshape(-1)[0] == 0.0
        assert not STATE.notices


# The table of design/semantics.md: row, point, and the partials of each policy.
NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("std([1e308, 1e308])", 0.0),
        ("var([1.0, 2.0], ddof=3)", math.inf),
        ("var([1.0, 2.0, 4.0], ddof=tf.constant(1))", 7 / 3),
        ("nan_to_num(True).dtype.is_bool", False),
        ("nan_to_num([nan], nan=tf.constant(1.0)).dtype.name", "float64"),
        ("signbit(tf.constant([-1]))", [True]),
        ("irfft(complex([1, 2, 3], [inf, 2, 3]))", [2, -1.5, 0, 0.5]),
        ("'aab'.replace('a', 'b', count=1)", "bab"),
        ("dict(None)", {}),
    ],
)
def test_corners(text: str, expected: Any) -> None:
    found = adiff.program(text).evaluate("value").value
    if isinstance(expected, (str, dict, bool)):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-15)
