"""GradientTape as programs use it: TensorFlow's contract, row by row of design/semantics.md, and what goes beyond it."""

import math

import pytest

from .conftest import Runner

# --- watching -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [("constant([1, 2])", "int64"), ("constant('a')", "string"), ("True", "bool"), ("cast(3, int32)", "int32")],
)
def test_watching_what_has_no_derivative(run: Runner, value: str, dtype: str) -> None:
    text = f"x = {value}\nwith GradientTape() as t:\n    t.watch(x)\n    y = 2.0\nprint(t.gradient(y, x))"
    run(text)
    assert run.printed == "None\n"
    [(message, place)] = run.notices("N0504")
    assert dtype in message
    assert "cast" in message
    assert place == "t.watch(x)"


# --- the life of a tape ---------------------------------------------------------------------------------------------

TAPE = "x = constant(3.0)\nwith GradientTape({options}) as t:\n    t.watch(x)\n    y = x * x\n    z = y * y\n"


def test_a_second_gradient_needs_a_persistent_tape(run: Runner) -> None:
    error = run.refused(TAPE.format(options="") + "t.gradient(z, x)\nt.gradient(y, x)")
    assert error.code == "E0505"
    assert "non-persistent GradientTape can only be used to compute one set of gradients" in error.message
    assert error.hint is not None
    assert "persistent=True" in error.hint
    assert error.span is not None
    assert error.span.line == 7


def test_entering_a_recording_tape_is_refused(run: Runner) -> None:
    error = run.refused("t = GradientTape()\nwith t:\n    with t:\n        pass")
    assert error.code == "E0504"
    assert "already recording" in error.message


def test_reset_forgets_watches(run: Runner) -> None:
    text = "x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    t.reset()\n    y = x * x\nprint(t.gradient(y, x))"
    run(text)
    assert run.printed == "None\n"
    assert "not watched" in run.notices("N0502")[0][0]


# --- sources and targets --------------------------------------------------------------------------------------------


def test_a_target_that_is_no_scalar_is_summed(run: Runner) -> None:
    text = "x = constant([1.0, 2.0])\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)"
    assert run(text) == [2.0, 4.0]
    [(message, place)] = run.notices("N0503")
    assert "[2]" in message
    assert place == "t.gradient(y, x)"


def test_output_gradients(run: Runner) -> None:
    text = "x = constant([1.0, 2.0])\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x, output_gradients=constant([3.0, -1.0]))"
    assert run(text) == [6.0, -4.0]
    assert run.notices("N0503") == []


def test_too_few_output_gradients(run: Runner) -> None:
    text = TAPE.format(options="") + "t.gradient([y, z], x, output_gradients=[1.0])"
    error = run.refused(text)
    assert error.code == "E0506"
    assert error.span is not None
    assert error.span.line == 6


def test_output_gradients_of_the_wrong_shape(run: Runner) -> None:
    text = "x = constant([1.0, 2.0])\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x, output_gradients=constant([1.0, 1.0, 1.0]))"
    error = run.refused(text)
    assert error.code == "E0302"
    assert "[3]" in error.message
    assert "[2]" in error.message


# --- jacobians ------------------------------------------------------------------------------------------------------


def test_jacobian_unconnected(run: Runner) -> None:
    text = "x = constant([1.0, 2.0])\nz = constant(3.0)\nwith GradientTape() as t:\n    t.watch([x, z])\n    y = x * x\nprint(t.jacobian(y, z))"
    run(text)
    assert run.printed == "None\n"
    assert len(run.notices("N0502")) == 1


BATCH = "x = constant([[1.0, 2.0], [3.0, 4.0]])\nw = constant([[3.0, 4.0], [5.0, 6.0]])\nwith GradientTape() as t:\n    t.watch(x)\n"


# --- higher orders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_nested_tapes(run: Runner, order: int) -> None:
    """d^n/dx^n exp(2x) = 2^n exp(2x), and of x**6: 6!/(6-n)! x**(6-n)."""
    lines = [f"{'    ' * k}with GradientTape() as t{k}:\n{'    ' * (k + 1)}t{k}.watch(x)" for k in range(order)]
    lines.append("    " * order + "g = exp(2 * x) + x ** 6")
    lines += ["    " * k + f"g = t{k}.gradient(g, x)" for k in reversed(range(order))]
    expected = 2**order * math.exp(2 * 0.7) + math.perm(6, order) * 0.7 ** (6 - order)
    assert run("x = constant(0.7)\n" + "\n".join(lines) + "\ng") == pytest.approx(expected, rel=1e-14)
