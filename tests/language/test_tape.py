"""GradientTape as programs use it: TensorFlow's contract, row by row of design/semantics.md, and what goes beyond it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Runner

# --- watching -------------------------------------------------------------------------------------------------------

WATCHED = {
    "a name": ("x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)", 6.0),
    "a literal that has a name": (
        "x = 3.0\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)",
        6.0,
    ),
    "an integer literal counts as a float": (
        "x = 3\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)",
        6.0,
    ),
    "a list of names": (
        "x = 2.0\ny = 3.0\nwith GradientTape() as t:\n    t.watch([x, y])\n    z = x * y\nt.gradient(z, [x, y])",
        [3.0, 2.0],
    ),
    "a tuple of names": (
        "x = 2.0\ny = 3.0\nwith GradientTape() as t:\n    t.watch((x, y))\n    z = x * y\nt.gradient(z, (x, y))",
        (3.0, 2.0),
    ),
    "a list": (
        "xs = [2.0, 3.0]\nwith GradientTape() as t:\n    t.watch(xs)\n    z = xs[0] * xs[1]\nt.gradient(z, xs)",
        [3.0, 2.0],
    ),
    "a dict": (
        "d = {'a': 2.0, 'b': constant([1.0, 2.0])}\nwith GradientTape() as t:\n    t.watch(d)\n"
        "    z = d['a'] * reduce_sum(d['b'])\nt.gradient(z, d)",
        {"a": 3.0, "b": [2.0, 2.0]},
    ),
    "an item of a list": (
        "xs = [2.0, 3.0]\nwith GradientTape() as t:\n    t.watch(xs[1])\n    z = xs[1] ** 2\nt.gradient(z, xs[1])",
        6.0,
    ),
    "an item of a dict": (
        "d = {'a': 2.0}\nwith GradientTape() as t:\n    t.watch(d['a'])\n    z = d['a'] ** 3\nt.gradient(z, d['a'])",
        12.0,
    ),
    "a second name of a tensor": (
        "x = constant(3.0)\nalias = x\nwith GradientTape() as t:\n    t.watch(x)\n    y = alias * alias\nt.gradient(y, alias)",
        6.0,
    ),
    "watched twice": (
        "x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)",
        6.0,
    ),
    "watched before the block": (
        "x = constant(3.0)\nt = GradientTape()\nt.watch(x)\nwith t:\n    y = x * x\nt.gradient(y, x)",
        6.0,
    ),
    "in a function": (
        "def slope(x):\n    with GradientTape() as t:\n        t.watch(x)\n        y = x ** 3\n    return t.gradient(y, x)\nslope(2.0)",
        12.0,
    ),
    "an input": ("with GradientTape() as t:\n    t.watch(x)\n    y = x ** 2\nt.gradient(y, x)", 10.0),
    "a tensor": (
        "x = ones((2, 2))\nwith GradientTape() as t:\n    t.watch(x)\n    y = reduce_sum(x)\n    z = multiply(y, y)\nt.gradient(z, x)",
        [[8.0, 8.0], [8.0, 8.0]],
    ),
    "equal values are two sources": (
        "a = constant(3.0)\nb = constant(3.0)\nwith GradientTape() as t:\n    t.watch([a, b])\n    y = a * 2 + b\nt.gradient(y, [a, b])",
        [2.0, 1.0],
    ),
    "one tensor as two arguments": (
        "def f(a, b): return a * b\nx = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = f(x, x)\nt.gradient(y, x)",
        6.0,
    ),
    "inside the loop that it is used in": (
        "total = 0.0\nfor x in [1.0, 2.0]:\n    with GradientTape() as t:\n        t.watch(x)\n        y = x ** 2\n"
        "    total += t.gradient(y, x)\ntotal",
        6.0,
    ),
}


@pytest.mark.parametrize("name", WATCHED)
def test_watch(run: Runner, name: str) -> None:
    text, expected = WATCHED[name]
    assert run(text, {"x": 5.0} if name == "an input" else {}) == expected


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


def test_a_jacobian_counts_as_the_one_use(run: Runner) -> None:
    assert run.refused(TAPE.format(options="") + "t.jacobian(z, x)\nt.gradient(y, x)").code == "E0505"


def test_persistent_tape(run: Runner) -> None:
    assert run(TAPE.format(options="persistent=True") + "[t.gradient(z, x), t.gradient(y, x), t.gradient(z, y)]") == [
        108.0,
        6.0,
        18.0,
    ]


def test_a_deleted_tape_is_gone(run: Runner) -> None:
    assert run.refused(TAPE.format(options="persistent=True") + "del t\nt.gradient(z, x)").code == "E0408"


def test_gradient_inside_its_own_context(run: Runner) -> None:
    assert run("x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    g = t.gradient(x * x, x)\ng") == 6.0


def test_entering_a_recording_tape_is_refused(run: Runner) -> None:
    error = run.refused("t = GradientTape()\nwith t:\n    with t:\n        pass")
    assert error.code == "E0504"
    assert "already recording" in error.message


def test_reentry_continues_the_tape(run: Runner) -> None:
    text = (
        "x = constant(3.0)\nwith GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = x * x\n"
        "outside = y * 10.0\nwith t:\n    z = y * x\n[t.gradient(z, x), t.gradient(y, x)]"
    )
    assert run(text) == [27.0, 6.0]


def test_reentry_of_a_tape_that_was_not_asked_yet(run: Runner) -> None:
    text = "x = constant(3.0)\nt = GradientTape()\nwith t:\n    t.watch(x)\n    y = x * x\nwith t:\n    z = y * x\nt.gradient(z, x)"
    assert run(text) == 27.0


def test_what_is_computed_outside_is_not_recorded(run: Runner) -> None:
    text = "x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nz = y * x\nprint(t.gradient(z, x))"
    run(text)
    assert run.printed == "None\n"


def test_reset(run: Runner) -> None:
    text = "v = Variable(1.0)\nwith GradientTape() as t:\n    loss = v * v\n    t.reset()\n    loss += v * v\nt.gradient(loss, v)"
    assert run(text) == 2.0


def test_reset_forgets_watches(run: Runner) -> None:
    text = "x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    t.reset()\n    y = x * x\nprint(t.gradient(y, x))"
    run(text)
    assert run.printed == "None\n"
    assert "not watched" in run.notices("N0502")[0][0]


def test_stop_recording(run: Runner) -> None:
    text = (
        "x = constant(3.0)\nwith GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = x * x\n"
        "    with t.stop_recording():\n        z = y * x\n    w = y + stop_gradient(z)\n"
        "print(t.gradient(z, x), t.gradient(w, x))"
    )
    run(text)
    assert run.printed == "None 6.0\n"


def test_stop_recording_needs_a_recording_tape(run: Runner) -> None:
    assert run.refused("t = GradientTape()\nwith t.stop_recording():\n    pass").code == "E0504"


def test_stop_recording_stops_one_tape_only(run: Runner) -> None:
    text = (
        "x = constant(3.0)\nwith GradientTape() as outer:\n    outer.watch(x)\n    with GradientTape() as inner:\n"
        "        inner.watch(x)\n        with inner.stop_recording():\n            y = x * x\n"
        "print(outer.gradient(y, x), inner.gradient(y, x))"
    )
    run(text)
    assert run.printed == "6.0 None\n"


def test_a_tape_that_ends_with_an_error_stops_recording(run: Runner) -> None:
    assert run.refused("x = constant(1.0)\nwith GradientTape() as t:\n    t.watch(x)\n    1 // 0").code == "E0402"
    assert run("2.0 * 3") == 6.0


# --- sources and targets --------------------------------------------------------------------------------------------


def test_gradient_of_an_intermediate(run: Runner) -> None:
    assert run(TAPE.format(options="") + "t.gradient(z, y)") == 18.0


def test_target_is_source(run: Runner) -> None:
    assert run(TAPE.format(options="") + "t.gradient(x, x)") == 1.0


def test_source_after_target(run: Runner) -> None:
    run(TAPE.format(options="") + "print(t.gradient(y, z))")
    assert run.printed == "None\n"


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ("a", 12.0), ("[a, b]", [12.0, 4.0]), ("(b, a)", (4.0, 12.0)), ("{'one': a, 'two': b}", {"one": 12.0, "two": 4.0}),
        ("{'w': [a, {'deep': b}], 'v': (a,)}", {"w": [12.0, {"deep": 4.0}], "v": (12.0,)}), ("[]", []), ("[a, a]", [12.0, 12.0]),
    ],
)  # fmt: skip
def test_structures_of_sources(run: Runner, sources: str, expected: object) -> None:
    text = f"a = constant(2.0)\nb = constant(3.0)\nwith GradientTape() as t:\n    t.watch([a, b])\n    y = a ** 2 * b\nt.gradient(y, {sources})"
    assert run(text) == expected


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ("[y, z]", 6.0 + 27.0),
        ("(y, z)", 33.0),
        ("{'y': y, 'z': z}", 33.0),
        ("[y, y]", 12.0),
        ("[y, [z, {'k': y}]]", 39.0),
    ],
)
def test_structures_of_targets_add_up(run: Runner, targets: str, expected: float) -> None:
    text = f"x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = x ** 2\n    z = x ** 3\nt.gradient({targets}, x)"
    assert run(text) == expected


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


def test_output_gradients_of_several_targets(run: Runner) -> None:
    text = (
        "x = constant(3.0)\ny = constant(2.0)\nwith GradientTape() as t:\n    t.watch([x, y])\n    z = x * y\n"
        "t.gradient([z, x], [x, y], output_gradients=[1.0, 2.0])"
    )
    assert run(text) == [4.0, 3.0]


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


def test_a_cotangent_of_none_is_ones(run: Runner) -> None:
    assert run(TAPE.format(options="") + "t.gradient([y, z], x, output_gradients=[None, 2.0])") == 6.0 + 216.0


# --- unconnected gradients ------------------------------------------------------------------------------------------

BREAKS = {
    "integer cast": ("y = cast(x, int64) * 2", "the cast to int64", "cast(x, int64)"),
    "int()": ("y = float(int(x))", "int()", "int(x)"),
    "stop_gradient": ("y = stop_gradient(x * 2) + 1", "stop_gradient", "stop_gradient(x * 2)"),
    "argmax": ("y = cast(argmax(stack([x, 2.0])), float64)", "argmax", "argmax(stack([x, 2.0]))"),
    "comparison": ("y = cast(x > 2, float64)", "greater", "x > 2"),
    "assigned Variable": ("v.assign(x * 2)\n    y = v * 1.0", "the assignment to a Variable", "v.assign(x * 2)"),
    "a new Variable": ("w = Variable(x)\n    y = w * 1.0", "the assignment to a Variable", "Variable(x)"),
    "item": ("y = x.numpy() * 2.0", "numpy()", "x.numpy()"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_the_notice_says_where_the_path_broke(run: Runner, name: str) -> None:
    body, reason, place = BREAKS[name]
    text = f"x = constant(3.0)\nv = Variable(1.0)\nwith GradientTape() as t:\n    t.watch(x)\n    {body}\nprint(t.gradient(y, x))"
    run(text)
    assert run.printed == "None\n"
    [(message, shown)] = run.notices("N0502")
    assert reason in message
    assert shown == place


REASONS = {
    "never used": (
        "x = constant(3.0)\nz = constant(1.0)\nwith GradientTape() as t:\n    t.watch([x, z])\n    y = z * 2",
        "never used",
    ),
    "used for something else": (
        "x = constant(3.0)\nz = constant(1.0)\nwith GradientTape() as t:\n    t.watch([x, z])\n    w = x * x\n    y = z * 2",
        "does not depend on the source",
    ),
    "not watched": ("x = constant(3.0)\nwith GradientTape() as t:\n    y = x * x", "not watched"),
    "a number that was never watched": ("x = 3.0\nwith GradientTape() as t:\n    y = x * x", "never watched"),
    "not trainable": ("x = Variable(3.0, trainable=False)\nwith GradientTape() as t:\n    y = x * x", "not trainable"),
    "integers": ("x = Variable(3)\nwith GradientTape() as t:\n    y = x * x", "int64"),
    "read outside the tape": (
        "x = Variable(3.0)\nz = x * 1.0\nwith GradientTape() as t:\n    y = z * z",
        "not read while the tape recorded",
    ),
    "strings": ("x = constant('a')\nwith GradientTape() as t:\n    y = constant(2.0)", "string"),
    "watching switched off": (
        "x = Variable(3.0)\nwith GradientTape(watch_accessed_variables=False) as t:\n    y = x * x",
        "watch_accessed_variables=False",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_the_notice_says_why(run: Runner, name: str) -> None:
    text, reason = REASONS[name]
    run(text + "\nprint(t.gradient(y, x))")
    assert run.printed == "None\n"
    [(message, place)] = run.notices("N0502")
    assert reason in message
    assert place == "t.gradient(y, x)"


@pytest.mark.parametrize("spelling", ["'zero'", "tf.UnconnectedGradients.ZERO", "'ZERO'"])
def test_unconnected_zero(run: Runner, spelling: str) -> None:
    text = (
        "x = constant([[1.0, 1.0], [1.0, 1.0]])\ny = constant(3.0)\nwith GradientTape() as t:\n    t.watch([x, y])\n    z = y * 2\n"
        f"t.gradient(z, [x, y], unconnected_gradients={spelling})"
    )
    assert run(text) == [[[0.0, 0.0], [0.0, 0.0]], 2.0]
    assert len(run.notices("N0502")) == 1


def test_unconnected_zero_keeps_the_dtype(run: Runner) -> None:
    text = "x = constant([1.0], dtype=float32)\nwith GradientTape() as t:\n    t.watch(x)\n    y = constant(1.0)\nt.gradient(y, x, unconnected_gradients='zero').dtype"
    assert run(text) == "float32"


def test_unconnected_none_is_the_default_and_anything_else_is_refused(run: Runner) -> None:
    error = run.refused(TAPE.format(options="") + "t.gradient(y, x, unconnected_gradients='nothing')")
    assert error.code == "E0305"


# --- jacobians ------------------------------------------------------------------------------------------------------


def test_jacobian(run: Runner) -> None:
    text = "x = constant([1.0, 2.0])\nwith GradientTape() as t:\n    t.watch(x)\n    y = stack([x[0] * x[1], x[0] ** 2, x[1]])\nt.jacobian(y, x)"
    assert run(text) == [[2.0, 1.0], [2.0, 0.0], [0.0, 1.0]]


def test_jacobian_shapes(run: Runner) -> None:
    text = (
        "x = ones((2, 3))\nw = ones((3, 4))\nwith GradientTape() as t:\n    t.watch([x, w])\n    y = x @ w\n"
        "a, b = t.jacobian(y, [x, w])\n[a.shape, b.shape]"
    )
    assert run(text) == [(2, 4, 2, 3), (2, 4, 3, 4)]


def test_jacobian_of_structures(run: Runner) -> None:
    text = (
        "x = constant([1.0, 2.0])\nz = constant(3.0)\nwith GradientTape() as t:\n    t.watch([x, z])\n"
        "    y = {'square': x * x, 'product': z * reduce_sum(x)}\nt.jacobian(y, {'x': x, 'z': z}, unconnected_gradients='zero')"
    )
    assert run(text) == {
        "square": {"x": [[2.0, 0.0], [0.0, 4.0]], "z": [0.0, 0.0]},
        "product": {"x": [3.0, 3.0], "z": 3.0},
    }


def test_jacobian_unconnected(run: Runner) -> None:
    text = "x = constant([1.0, 2.0])\nz = constant(3.0)\nwith GradientTape() as t:\n    t.watch([x, z])\n    y = x * x\nprint(t.jacobian(y, z))"
    run(text)
    assert run.printed == "None\n"
    assert len(run.notices("N0502")) == 1


BATCH = "x = constant([[1.0, 2.0], [3.0, 4.0]])\nw = constant([[3.0, 4.0], [5.0, 6.0]])\nwith GradientTape() as t:\n    t.watch(x)\n"


def test_batch_jacobian(run: Runner) -> None:
    text = BATCH + "    y = x * x * w\nt.batch_jacobian(y, x)"
    assert run(text) == [[[6.0, 0.0], [0.0, 16.0]], [[30.0, 0.0], [0.0, 48.0]]]


def test_batch_jacobian_unconnected(run: Runner) -> None:
    run(BATCH + "    y = w * w\nprint(t.batch_jacobian(y, x))")
    assert run.printed == "None\n"
    assert run(BATCH + "    y = w * w\nt.batch_jacobian(y, x, unconnected_gradients='zero')") == [[[0.0, 0.0]] * 2] * 2


def test_batch_jacobian_needs_a_common_first_dimension(run: Runner) -> None:
    error = run.refused(BATCH + "    y = concat([x, x], axis=0)\nt.batch_jacobian(y, x)")
    assert error.code == "E0302"
    assert "Need first dimension" in error.message


# --- higher orders --------------------------------------------------------------------------------------------------


def test_second_derivative(run: Runner) -> None:
    text = (
        "x = Variable(1.0)\nwith GradientTape() as t:\n    with GradientTape() as t2:\n        y = x * x * x\n"
        "    dy = t2.gradient(y, x)\nd2y = t.gradient(dy, x)\n[dy, d2y]"
    )
    assert run(text) == [3.0, 6.0]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_nested_tapes(run: Runner, order: int) -> None:
    """d^n/dx^n exp(2x) = 2^n exp(2x), and of x**6: 6!/(6-n)! x**(6-n)."""
    lines = [f"{'    ' * k}with GradientTape() as t{k}:\n{'    ' * (k + 1)}t{k}.watch(x)" for k in range(order)]
    lines.append("    " * order + "g = exp(2 * x) + x ** 6")
    lines += ["    " * k + f"g = t{k}.gradient(g, x)" for k in reversed(range(order))]
    expected = 2**order * math.exp(2 * 0.7) + math.perm(6, order) * 0.7 ** (6 - order)
    assert run("x = constant(0.7)\n" + "\n".join(lines) + "\ng") == pytest.approx(expected, rel=1e-14)


def test_second_derivatives_from_one_persistent_tape_inside_its_context(run: Runner) -> None:
    text = (
        "x = constant(3.0)\nwith GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = x ** 4\n    g = t.gradient(y, x)\n"
        "    h = t.gradient(g, x)\n    k = t.gradient(h, x)\n[g, h, k, t.gradient(k, x)]"
    )
    assert run(text) == [108.0, 108.0, 72.0, 24.0]


def test_hessian_by_jacobian_of_gradient(run: Runner) -> None:
    text = (
        "x = constant([1.0, 2.0])\nwith GradientTape() as outer:\n    outer.watch(x)\n    with GradientTape() as inner:\n"
        "        inner.watch(x)\n        y = x[0] ** 2 * x[1] ** 3\n    g = inner.gradient(y, x)\nouter.jacobian(g, x)"
    )
    assert run(text) == [[16.0, 24.0], [24.0, 12.0]]


def test_several_tapes_in_one_with(run: Runner) -> None:
    text = (
        "x = constant(3.0)\nwith GradientTape() as a, GradientTape() as b:\n    a.watch(x)\n    b.watch(x)\n    y = x * x\n"
        "    g = b.gradient(y, x)\n[a.gradient(g, x), g]"
    )
    assert run(text) == [2.0, 6.0]


def test_watching_is_of_one_tape(run: Runner) -> None:
    text = (
        "a = constant(2.0)\nb = constant(5.0)\nwith GradientTape() as t1:\n    with GradientTape() as t2:\n        t1.watch(a)\n"
        "        t2.watch(b)\n        y = a ** 3 * b\nprint(t1.gradient(y, [a, b]), t2.gradient(y, [a, b]))"
    )
    run(text)
    assert run.printed == "[60.0, None] [None, 8.0]\n"


def test_an_inner_gradient_as_part_of_the_outer_function(run: Runner) -> None:
    text = (
        "x = constant(3.0)\nwith GradientTape() as outer:\n    outer.watch(x)\n    with GradientTape() as inner:\n"
        "        inner.watch(x)\n        y = sin(x)\n    z = y * inner.gradient(y, x)\nouter.gradient(z, x)"
    )
    assert run(text) == pytest.approx(math.cos(6.0), rel=1e-15)


def test_gradient_penalty(run: Runner) -> None:
    """d/dw of (d/dx (w x^2))^2 at x = 2, w = 3: (2wx)^2 = 4 w^2 x^2, so 8 w x^2 = 96."""
    text = (
        "w = Variable(3.0)\nx = constant(2.0)\nwith GradientTape() as outer:\n    with GradientTape() as inner:\n        inner.watch(x)\n"
        "        y = w * x ** 2\n    penalty = inner.gradient(y, x) ** 2\nouter.gradient(penalty, w)"
    )
    assert run(text) == 96.0


# --- Variables ------------------------------------------------------------------------------------------------------


def test_a_variable_is_watched_when_it_is_read(run: Runner) -> None:
    assert run("v = Variable(3.0)\nwith GradientTape() as t:\n    y = v * v\nt.gradient(y, v)") == 6.0


def test_watch_accessed_variables_false(run: Runner) -> None:
    text = (
        "a = Variable(2.0)\nb = Variable(3.0)\nwith GradientTape(watch_accessed_variables=False) as t:\n    t.watch(a)\n"
        "    y = a * b\nprint(t.gradient(y, [a, b]), len(t.watched_variables()))"
    )
    run(text)
    assert run.printed == "[3.0, None] 1\n"


def test_watched_variables(run: Runner) -> None:
    text = (
        "a = Variable(2.0, name='a')\nb = Variable(3.0)\nc = Variable(1.0, trainable=False)\nwith GradientTape() as t:\n"
        "    y = a * b * c\n[v.numpy() for v in t.watched_variables()]"
    )
    assert run(text) == [2.0, 3.0]


def test_a_variable_that_is_not_trainable_can_be_watched(run: Runner) -> None:
    assert (
        run(
            "v = Variable(3.0, trainable=False)\nwith GradientTape() as t:\n    t.watch(v)\n    y = v * v\nt.gradient(y, v)"
        )
        == 6.0
    )


def test_an_assignment_inside_a_tape(run: Runner) -> None:
    """The value before and the value after are one source; the assigned value itself is cut off."""
    text = (
        "x = constant(5.0)\nv = Variable(3.0)\nwith GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = v * 2.0\n"
        "    v.assign(x * 4.0)\n    z = y + v * v\nprint(t.gradient(z, v), t.gradient(z, x))"
    )
    run(text)
    assert run.printed == "42.0 None\n"
    assert any("assignment to a Variable" in message for message, _ in run.notices("N0502"))


ASSIGNMENTS = {
    "assign": ("v = Variable([1.0, 2.0])\nv.assign([3.0, 4.0])\nv", [3.0, 4.0]),
    "assign_add": ("v = Variable([1.0, 2.0])\nv.assign_add([3.0, 4.0])\nv", [4.0, 6.0]),
    "assign_sub": ("v = Variable([1.0, 2.0])\nv.assign_sub([3.0, 4.0])\nv", [-2.0, -2.0]),
    "assign broadcasts in assign_add": ("v = Variable([1.0, 2.0])\nv.assign_add(1.0)\nv", [2.0, 3.0]),
    "an element": ("v = Variable([[1.0, 2.0], [3.0, 4.0]])\nv[0, 1].assign(42.0)\nv", [[1.0, 42.0], [3.0, 4.0]]),
    "a row": ("v = Variable([[1.0, 2.0], [3.0, 4.0]])\nv[1].assign([7.0, 8.0])\nv", [[1.0, 2.0], [7.0, 8.0]]),
    "a column": ("v = Variable([[1.0, 2.0], [3.0, 4.0]])\nv[:, 1].assign([0.0, 1.0])\nv", [[1.0, 0.0], [3.0, 1.0]]),
    "an element added": ("v = Variable([1.0, 2.0])\nv[0].assign_add(5.0)\nv", [6.0, 2.0]),
    "a slice subtracted": ("v = Variable([1.0, 2.0, 3.0])\nv[1:].assign_sub([1.0, 1.0])\nv", [1.0, 1.0, 2.0]),
    "scatter_update": (
        "v = Variable([[1.0, 2.0], [3.0, 4.0]])\nv.scatter_update([1], [[9.0, 9.0]])\nv",
        [[1.0, 2.0], [9.0, 9.0]],
    ),
    "scatter_nd_update": (
        "v = Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])\nv.scatter_nd_update(indices=[[0, 0], [1, 2]], updates=[100.0, 200.0])\nv",
        [[100.0, 2.0, 3.0], [4.0, 5.0, 200.0]],
    ),
    "scatter_nd_add, a place twice": (
        "v = Variable([1.0, 2.0])\nv.scatter_nd_add([[0], [0], [1]], [1.0, 2.0, 3.0])\nv",
        [4.0, 5.0],
    ),
    "scatter_nd_sub": ("v = Variable([1.0, 2.0])\nv.scatter_nd_sub([[1]], [5.0])\nv", [1.0, -3.0]),
    "a function as initial value": ("v = Variable(lambda: 3.0)\nv", 3.0),
    "an integer": ("v = Variable(3)\nv.assign_add(2)\nv", 5),
    "the result is the Variable": ("v = Variable(1.0)\nv.assign(2.0).numpy()", 2.0),
    "attributes": (
        "v = Variable([[1.0, 2.0]], name='w')\n[v.shape, v.dtype, v.trainable, v.name[0]]",
        [(1, 2), "float64", True, "w"],
    ),
    "read_value and value()": ("v = Variable(2.0)\n[v.read_value(), v.value(), v.numpy()]", [2.0, 2.0, 2.0]),
    "methods of tensors": ("v = Variable([1.0, 2.0])\nv.sum()", 3.0),
    "a copy does not follow": ("v = Variable(1.0)\nold = v.read_value()\nv.assign(5.0)\nold", 1.0),
    "augmented assignment rebinds the name": ("v = Variable(1.0)\nw = v\nv += 1.0\n[v, w.numpy()]", [2.0, 1.0]),
}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_assignments(run: Runner, name: str) -> None:
    text, expected = ASSIGNMENTS[name]
    assert run(text) == expected


def test_item_assignment_of_a_variable_is_refused_with_the_way_to_write_it(run: Runner) -> None:
    error = run.refused("v = Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])\nv[1] = [7.0, 8.0, 9.0]")
    assert error.code == "E0503"
    assert "does not support item assignment" in error.message
    assert error.hint is not None
    assert "assign" in error.hint


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("v = Variable([1.0, 2.0])\nv.assign([1.0, 2.0, 3.0])", "E0302"),
        ("v = Variable([1.0, 2.0])\nv.assign(constant([1, 2]))", "E0301"),
        ("v = Variable(1.0, dtype=float32)\nv.assign_add(constant(1.0, dtype=float64))", "E0301"),
        ("v = Variable([1.0, 2.0])\nv[5].assign(1.0)", "E0405"),
        ("v = Variable([1.0])\nv.missing(2)", "E0304"),
        ("v = Variable([1.0])\nv.scatter_nd_update([[0, 0]], [1.0])", "E0302"),
    ],
)
def test_assignments_that_do_not_fit(run: Runner, text: str, code: str) -> None:
    assert run.refused(text).code == code


def test_reads_of_a_slice_are_recorded(run: Runner) -> None:
    assert run(
        "v = Variable([1.0, 2.0, 3.0])\nwith GradientTape() as t:\n    y = v[1] ** 2 + v[0]\nt.gradient(y, v)"
    ) == [1.0, 4.0, 0.0]


def test_gradient_descent(run: Runner) -> None:
    """loss = 2x: five steps of 0.25 * 2 down from 2."""
    text = (
        "x = Variable(2.0)\nlosses = []\nfor step in range(5):\n    with GradientTape() as t:\n        loss = 2 * x\n"
        "    losses.append(loss.numpy())\n    x.assign_sub(0.25 * t.gradient(loss, x))\nlosses"
    )
    assert run(text) == [4.0, 3.0, 2.0, 1.0, 0.0]


def test_a_dict_of_variables(run: Runner) -> None:
    text = (
        "w = Variable([[1.0, 2.0], [3.0, 4.0]], name='w')\nb = Variable([0.5, -0.5], name='b')\nx = [[1.0, 2.0]]\n"
        "with GradientTape() as tape:\n    y = x @ w + b\n    loss = reduce_mean(y ** 2)\n"
        "tape.gradient(loss, {'w': w, 'b': b})"
    )
    # y = [7.5, 9.5], dloss/dy = y, dw = x^T y, db = y
    assert run(text) == {"w": [[7.5, 9.5], [15.0, 19.0]], "b": [7.5, 9.5]}


# --- custom gradients -----------------------------------------------------------------------------------------------

CUSTOM = "@custom_gradient\ndef twice(x):\n    def rule(upstream):\n        return 2.0 * upstream\n    return x, rule\n"


def test_custom_gradient_in_reverse(run: Runner) -> None:
    assert (
        run(
            CUSTOM
            + "x = constant(1.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = twice(x) * 3.0\nt.gradient(y, x)"
        )
        == 6.0
    )


def test_custom_gradient_in_forward_mode(run: Runner) -> None:
    assert run(CUSTOM + "twice(x) * 3.0", {"x": 1.0}, "jvp", tangent={"x": 1.0}) == 3.0
    assert run.outcome.tangent == 6.0
    assert run(CUSTOM + "jvp(lambda v: twice(v) ** 2, (3.0,), (1.0,))") == (9.0, 12.0)


def test_custom_gradient_of_second_order(run: Runner) -> None:
    """The rule d/dx = cos(x) is differentiated again: -sin(x)."""
    text = "@custom_gradient\ndef f(x):\n    return sin(x), lambda g: g * cos(x)\ngrad(grad(f))(0.5)"
    assert run(text) == pytest.approx(-math.sin(0.5), rel=1e-15)
    assert run(
        "@custom_gradient\ndef f(x):\n    return sin(x), lambda g: g * cos(x)\nf(x)", {"x": 0.5}, "hessian"
    ) == math.sin(0.5)
    assert run.outcome.hessian is not None
    assert run.outcome.hessian["x"]["x"] == pytest.approx(-math.sin(0.5), rel=1e-15)


def test_custom_gradient_stable_log1pexp(run: Runner) -> None:
    text = (
        "@tf.custom_gradient\ndef log1pexp(x):\n    e = tf.exp(x)\n    def grad(upstream):\n"
        "        return upstream * (1 - 1 / (1 + e))\n    return tf.math.log(1 + e), grad\n"
        "x = tf.constant(100.0)\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n    y = log1pexp(x)\ntape.gradient(y, x).numpy()"
    )
    assert run(text) == 1.0


def test_custom_gradient_of_several_arguments(run: Runner) -> None:
    text = "@custom_gradient\ndef f(a, b):\n    def rule(g):\n        return g * b, g * 100.0\n    return a * b, rule\ngrad(f, argnums=(0, 1))(2.0, 3.0)"
    assert run(text) == (3.0, 100.0)


@pytest.mark.parametrize(
    "text",
    [
        "@custom_gradient\ndef f(x):\n    return x\nf(1.0)",
        "@custom_gradient\ndef f(a, b):\n    return a * b, lambda g: g\ngrad(f)(1.0, 2.0)",
        "custom_gradient(3.0)",
    ],
)
def test_custom_gradient_that_is_wrong(run: Runner, text: str) -> None:
    assert run.refused(text).code in ("E0509", "E0304")


# --- functional forms -----------------------------------------------------------------------------------------------

FUNCTIONAL = {
    "grad": ("grad(lambda x: x ** 3)(2.0)", 12.0),
    "grad of an integer": ("grad(lambda x: x ** 3)(2)", 12.0),
    "grad in two arguments": ("grad(lambda x, y: x * y ** 2, argnums=(0, 1))(2.0, 3.0)", (9.0, 12.0)),
    "grad in the second": ("grad(lambda x, y: x * y ** 2, argnums=1)(2.0, 3.0)", 12.0),
    "grad of a dict": ("grad(lambda p: p['w'] * p['b'] ** 2)({'w': 2.0, 'b': 3.0})", {"w": 9.0, "b": 12.0}),
    "grad of a list": ("grad(lambda p: p[0] * p[1])([2.0, 3.0])", [3.0, 2.0]),
    "has_aux": ("grad(lambda x: (x ** 2, 7.0), has_aux=True)(3.0)", (6.0, 7.0)),
    "value_and_grad": ("value_and_grad(lambda x: x ** 3)(2.0)", (8.0, 12.0)),
    "grad of grad": ("grad(grad(lambda x: x ** 4))(2.0)", 48.0),
    "grad five times": ("f = lambda x: x ** 6\nfor _ in range(5):\n    f = grad(f)\nf(2.0)", 1440.0),
    "jacobian": ("jacobian(lambda x: stack([x[0] * x[1], x[1] ** 2]))(constant([2.0, 3.0]))", [[3.0, 2.0], [0.0, 6.0]]),
    "jacfwd": ("jacfwd(lambda x: stack([x[0] * x[1], x[1] ** 2]))(constant([2.0, 3.0]))", [[3.0, 2.0], [0.0, 6.0]]),
    "jacrev": ("jacrev(lambda x: stack([x[0] * x[1], x[1] ** 2]))(constant([2.0, 3.0]))", [[3.0, 2.0], [0.0, 6.0]]),
    "hessian": ("hessian(lambda x: x[0] ** 2 * x[1])(constant([2.0, 3.0]))", [[6.0, 4.0], [4.0, 0.0]]),
    "jacfwd of jacrev": ("jacfwd(jacrev(lambda x: x[0] ** 2 * x[1]))(constant([2.0, 3.0]))", [[6.0, 4.0], [4.0, 0.0]]),
    "jacrev of jacfwd": ("jacrev(jacfwd(lambda x: x[0] ** 2 * x[1]))(constant([2.0, 3.0]))", [[6.0, 4.0], [4.0, 0.0]]),
    "jvp": ("jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))", (6.0, 23.0)),
    "vjp": ("y, pull = vjp(lambda x, y: x * y, 2.0, 3.0)\n[y, pull(10.0)]", [6.0, (30.0, 20.0)]),
    "hvp": ("hvp(lambda x: x[0] ** 2 * x[1], constant([2.0, 3.0]), constant([1.0, 1.0]))", [10.0, 4.0]),
    "jvp of grad": ("jvp(grad(lambda x: x ** 3), (2.0,), (1.0,))", (12.0, 12.0)),
    "grad of jvp": ("grad(lambda x: jvp(lambda v: v ** 3, (x,), (1.0,))[1])(2.0)", 12.0),
    "perturbation confusion": ("grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0)", 1.0),
    "a tape in a grad": (
        "def f(x):\n    with GradientTape() as t:\n        t.watch(x)\n        y = x ** 3\n    return t.gradient(y, x)\ngrad(f)(2.0)",
        12.0,
    ),
    "a grad in a tape": (
        "x = constant(2.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = grad(lambda v: v ** 3)(x)\nt.gradient(y, x)",
        12.0,
    ),
    "a tape in a jvp": (
        "def f(x):\n    with GradientTape() as t:\n        t.watch(x)\n        y = x ** 3\n    return t.gradient(y, x)\njvp(f, (2.0,), (1.0,))",
        (12.0, 12.0),
    ),
    "a hessian in a tape": (
        "x = constant([2.0, 3.0])\nwith GradientTape() as t:\n    t.watch(x)\n"
        "    y = reduce_sum(hessian(lambda v: v[0] ** 3 * v[1])(x))\nt.gradient(y, x)",
        [6 * 3.0 + 12 * 2.0, 6 * 2.0],
    ),
    "a closure over an outer variable": ("grad(lambda a: grad(lambda b: a ** 2 * b ** 2)(3.0))(2.0)", 24.0),
    "an unused argument": ("grad(lambda x, y: x * 1.0, argnums=1)(1.0, 2.0)", 0.0),
    "keyword argument": ("def f(x, scale=2.0): return x ** 2 * scale\ngrad(f)(3.0, scale=10.0)", 60.0),
    "of a function with control flow": (
        "def f(x):\n    y = x\n    while y < 100.0:\n        y = y * x\n    return y\ngrad(f)(3.0)",
        5 * 3.0**4,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_functional_forms(run: Runner, name: str) -> None:
    text, expected = FUNCTIONAL[name]
    assert run(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("grad(3.0)", "E0304"), ("grad(lambda x: x)(constant([1.0, 2.0]))", "E0507"), ("grad(lambda x: x, argnums=3)(1.0)", "E0508"),
        ("hvp(lambda x: x, (1.0, 2.0), (1.0,))", "E0508"), ("hessian(lambda x: x)(constant([1.0, 2.0]))", "E0507"),
        ("jvp(lambda x: x, (1.0,), (constant([1.0, 2.0]),))", "E0302"), ("grad(lambda x: 'a')(1.0)", "E0304"),
        ("grad(lambda x: None)(1.0)", "E0304"), ("jacobian(5)", "E0304"), ("vjp(lambda x: x, 1.0)[1](constant([1.0, 2.0]))", "E0302"),
    ],
)  # fmt: skip
def test_functional_forms_refuse(run: Runner, text: str, code: str) -> None:
    error = run.refused(text)
    assert error.code == code
    assert error.span is not None


CONTROL = {
    "cond": (
        "x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = cond(x < x, lambda: x, lambda: x * x)\nt.gradient(y, x)",
        6.0,
    ),
    "cond with operands": ("grad(lambda x: cond(x > 1, lambda v: v ** 2, lambda v: v, x))(3.0)", 6.0),
    "while_loop": (
        "grad(lambda x: while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), (0, 1.0))[1])(2.0)",
        32.0,
    ),
    "while_loop with one value": ("grad(lambda x: while_loop(lambda y: y < 50, lambda y: y * x, x))(3.0)", 4 * 27.0),
    "fori_loop": ("grad(lambda x: fori_loop(0, 4, lambda i, y: y * x + i, 1.0))(2.0)", 4 * 8.0 + 2.0 * 2.0 + 2.0),
    "scan of JAX": (
        "def step(carry, x): return carry * x, carry\ngrad(lambda v: scan(step, 1.0, v)[0])(constant([2.0, 3.0, 4.0]))",
        [12.0, 8.0, 6.0],
    ),
    "scan of TensorFlow": ("scan(lambda a, x: a + x, constant([1.0, 2.0, 3.0]))", [1.0, 3.0, 6.0]),
    "map_fn": ("grad(lambda v: reduce_sum(map_fn(lambda x: x ** 2, v)))(constant([1.0, 2.0]))", [2.0, 4.0]),
    "vectorized_map": ("vectorized_map(lambda x: reduce_sum(x) ** 2, constant([[1.0, 2.0], [3.0, 4.0]]))", [9.0, 49.0]),
    "vmap": ("vmap(lambda x, y: x * y)(constant([1.0, 2.0]), constant([3.0, 4.0]))", [3.0, 8.0]),
    "vmap of grad": ("vmap(grad(lambda x: x ** 3))(constant([1.0, 2.0]))", [3.0, 12.0]),
    "vmap with in_axes": ("vmap(lambda x, y: x * y, in_axes=(0, None))(constant([1.0, 2.0]), 10.0)", [10.0, 20.0]),
    "foldl": ("grad(lambda v: foldl(lambda a, x: a * x, v))(constant([2.0, 3.0, 4.0]))", [12.0, 8.0, 6.0]),
    "foldr": ("foldr(lambda a, x: a - x, constant([1.0, 2.0, 10.0]))", 7.0),
    "switch_case": ("switch_case(1, [lambda: 1.0, lambda: 2.0, lambda: 3.0])", 2.0),
    "checkpoint": ("grad(lambda x: checkpoint(lambda v: sin(v) * v)(x))(2.0)", math.cos(2.0) * 2.0 + math.sin(2.0)),
    "checkpoint as a decorator": (
        "@checkpoint\ndef f(x):\n    y = x * x\n    return y * x\n[f(2.0), grad(f)(2.0), grad(grad(f))(2.0)]",
        [8.0, 12.0, 12.0],
    ),
    "recompute_grad": ("f = tf.recompute_grad(lambda x: x ** 3)\ngrad(f)(2.0)", 12.0),
    "stop_gradient": ("grad(lambda x: x * stop_gradient(x))(3.0)", 3.0),
    "tf.function": ("@tf.function\ndef f(x):\n    return x * x\ngrad(f)(3.0)", 6.0),
    "jit": ("jit(lambda x: x * x)(3.0)", 9.0),
    "recursion": (
        "def power(x, n):\n    return 1.0 if n == 0 else x * power(x, n - 1)\ngrad(lambda x: power(x, 5))(2.0)",
        80.0,
    ),
    "a comprehension": ("grad(lambda x: sum([x ** k for k in range(4)]))(2.0)", 1.0 + 4.0 + 12.0),
    "break and continue": (
        "def f(x):\n    total = 0.0\n    for k in range(100):\n        if k == 2: continue\n        if k > 4: break\n"
        "        total += k * x ** k\n    return total\ngrad(f)(1.0)",
        1.0 + 9.0 + 16.0,
    ),
    "item assignment": (
        "def f(x):\n    v = zeros(3)\n    v[1] = x ** 2\n    v[2] += x\n    return reduce_sum(v * v)\ngrad(f)(2.0)",
        4 * 8.0 + 4.0,
    ),
    "item assignment replaces": (
        "def f(x):\n    v = stack([x, x])\n    v[0] = 5.0\n    return reduce_sum(v)\ngrad(f)(2.0)",
        1.0,
    ),
}


@pytest.mark.parametrize("name", CONTROL)
def test_control_flow(run: Runner, name: str) -> None:
    text, expected = CONTROL[name]
    assert run(text) == pytest.approx(expected, rel=1e-14)
