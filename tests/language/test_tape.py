"""GradientTape as programs use it: TensorFlow's contract, row by row of design/semantics.md, and what goes beyond it."""

import math

import pytest

from .conftest import Runner

# --- watching -------------------------------------------------------------------------------------------------------

WATCHED = {
    "a name": ("x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)", 6.0),
    "a literal that has a name": ("x = 3.0\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)", 6.0),
    "an integer literal counts as a float": ("x = 3\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)", 6.0),
    "a list of names": ("x = 2.0\ny = 3.0\nwith GradientTape() as t:\n    t.watch([x, y])\n    z = x * y\nt.gradient(z, [x, y])", [3.0, 2.0]),
    "a tuple of names": ("x = 2.0\ny = 3.0\nwith GradientTape() as t:\n    t.watch((x, y))\n    z = x * y\nt.gradient(z, (x, y))", (3.0, 2.0)),
    "a list": ("xs = [2.0, 3.0]\nwith GradientTape() as t:\n    t.watch(xs)\n    z = xs[0] * xs[1]\nt.gradient(z, xs)", [3.0, 2.0]),
    "a dict": (
        "d = {'a': 2.0, 'b': constant([1.0, 2.0])}\nwith GradientTape() as t:\n    t.watch(d)\n"
        "    z = d['a'] * reduce_sum(d['b'])\nt.gradient(z, d)",
        {"a": 3.0, "b": [2.0, 2.0]},
    ),
    "an item of a list": ("xs = [2.0, 3.0]\nwith GradientTape() as t:\n    t.watch(xs[1])\n    z = xs[1] ** 2\nt.gradient(z, xs[1])", 6.0),
    "an item of a dict": ("d = {'a': 2.0}\nwith GradientTape() as t:\n    t.watch(d['a'])\n    z = d['a'] ** 3\nt.gradient(z, d['a'])", 12.0),
    "a second name of a tensor": ("x = constant(3.0)\nalias = x\nwith GradientTape() as t:\n    t.watch(x)\n    y = alias * alias\nt.gradient(y, alias)", 6.0),
    "watched twice": ("x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)", 6.0),
    "watched before the block": ("x = constant(3.0)\nt = GradientTape()\nt.watch(x)\nwith t:\n    y = x * x\nt.gradient(y, x)", 6.0),
    "in a function": ("def slope(x):\n    with GradientTape() as t:\n        t.watch(x)\n        y = x ** 3\n    return t.gradient(y, x)\nslope(2.0)", 12.0),
    "an input": ("with GradientTape() as t:\n    t.watch(x)\n    y = x ** 2\nt.gradient(y, x)", 10.0),
    "a tensor": (
        "x = ones((2, 2))\nwith GradientTape() as t:\n    t.watch(x)\n    y = reduce_sum(x)\n    z = multiply(y, y)\nt.gradient(z, x)",
        [[8.0, 8.0], [8.0, 8.0]],
    ),
    "equal values are two sources": (
        "a = constant(3.0)\nb = constant(3.0)\nwith GradientTape() as t:\n    t.watch([a, b])\n    y = a * 2 + b\nt.gradient(y, [a, b])",
        [2.0, 1.0],
    ),
    "one tensor as two arguments": ("def f(a, b): return a * b\nx = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = f(x, x)\nt.gradient(y, x)", 6.0),
    "inside the loop that it is used in": (
        "total = 0.0\nfor x in [1.0, 2.0]:\n    with GradientTape() as t:\n        t.watch(x)\n        y = x ** 2\n"
        "    total += t.gradient(y, x)\ntotal",
        6.0,
    ),
}  # fmt: skip


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


# A program, and its value.
GIVEN = {
    "persistent tape": (TAPE.format(options="persistent=True") + "[t.gradient(z, x), t.gradient(y, x), t.gradient(z, y)]", [108.0, 6.0, 18.0]),
    "gradient inside its own context": ("x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    g = t.gradient(x * x, x)\ng", 6.0),
    "reentry continues the tape": ("x = constant(3.0)\nwith GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = x * x\noutside = y * 10.0\nwith t:\n    z = y * x\n[t.gradient(z, x), t.gradient(y, x)]", [27.0, 6.0]),
    "a cotangent of none is ones": (TAPE.format(options="") + "t.gradient([y, z], x, output_gradients=[None, 2.0])", 6.0 + 216.0),
    "jacobian": ("x = constant([1.0, 2.0])\nwith GradientTape() as t:\n    t.watch(x)\n    y = stack([x[0] * x[1], x[0] ** 2, x[1]])\nt.jacobian(y, x)", [[2.0, 1.0], [2.0, 0.0], [0.0, 1.0]]),
    "jacobian of structures": ("x = constant([1.0, 2.0])\nz = constant(3.0)\nwith GradientTape() as t:\n    t.watch([x, z])\n    y = {'square': x * x, 'product': z * reduce_sum(x)}\nt.jacobian(y, {'x': x, 'z': z}, unconnected_gradients='zero')", {'square': {'x': [[2.0, 0.0], [0.0, 4.0]], 'z': [0.0, 0.0]}, 'product': {'x': [3.0, 3.0], 'z': 3.0}}),
    "batch jacobian unconnected 2": (BATCH + "    y = w * w\nt.batch_jacobian(y, x, unconnected_gradients='zero')", [[[0.0, 0.0]] * 2] * 2),
    "second derivatives from one persistent tape inside its context": ("x = constant(3.0)\nwith GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = x ** 4\n    g = t.gradient(y, x)\n    h = t.gradient(g, x)\n    k = t.gradient(h, x)\n[g, h, k, t.gradient(k, x)]", [108.0, 108.0, 72.0, 24.0]),
    "hessian by jacobian of gradient": ("x = constant([1.0, 2.0])\nwith GradientTape() as outer:\n    outer.watch(x)\n    with GradientTape() as inner:\n        inner.watch(x)\n        y = x[0] ** 2 * x[1] ** 3\n    g = inner.gradient(y, x)\nouter.jacobian(g, x)", [[16.0, 24.0], [24.0, 12.0]]),
    "several tapes in one with": ("x = constant(3.0)\nwith GradientTape() as a, GradientTape() as b:\n    a.watch(x)\n    b.watch(x)\n    y = x * x\n    g = b.gradient(y, x)\n[a.gradient(g, x), g]", [2.0, 6.0]),
    "an inner gradient as part of the outer function": ("x = constant(3.0)\nwith GradientTape() as outer:\n    outer.watch(x)\n    with GradientTape() as inner:\n        inner.watch(x)\n        y = sin(x)\n    z = y * inner.gradient(y, x)\nouter.gradient(z, x)", pytest.approx(math.cos(6.0), rel=1e-15)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), GIVEN.values(), ids=GIVEN)
def test_what_a_program_gives(run: Runner, text: str, expected: object) -> None:
    assert run(text) == expected


# A program, and what it prints.
SHOWN = {
    "what is computed outside is not recorded": ("x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\nz = y * x\nprint(t.gradient(z, x))", "None\n"),
    "stop recording": ("x = constant(3.0)\nwith GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = x * x\n    with t.stop_recording():\n        z = y * x\n    w = y + stop_gradient(z)\nprint(t.gradient(z, x), t.gradient(w, x))", "None 6.0\n"),
    "stop recording stops one tape only": ("x = constant(3.0)\nwith GradientTape() as outer:\n    outer.watch(x)\n    with GradientTape() as inner:\n        inner.watch(x)\n        with inner.stop_recording():\n            y = x * x\nprint(outer.gradient(y, x), inner.gradient(y, x))", "6.0 None\n"),
    "source after target": (TAPE.format(options="") + "print(t.gradient(y, z))", "None\n"),
    "batch jacobian unconnected 1": (BATCH + "    y = w * w\nprint(t.batch_jacobian(y, x))", "None\n"),
    "watching is of one tape": ("a = constant(2.0)\nb = constant(5.0)\nwith GradientTape() as t1:\n    with GradientTape() as t2:\n        t1.watch(a)\n        t2.watch(b)\n        y = a ** 3 * b\nprint(t1.gradient(y, [a, b]), t2.gradient(y, [a, b]))", "[60.0, None] [None, 8.0]\n"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SHOWN.values(), ids=SHOWN)
def test_what_a_program_prints(run: Runner, text: str, expected: object) -> None:
    run(text)
    assert run.printed == expected


# A program, and the code of its error.
FAILING = {
    "a jacobian counts as the one use": (TAPE.format(options="") + "t.jacobian(z, x)\nt.gradient(y, x)", "E0505"),
    "a deleted tape is gone": (TAPE.format(options="persistent=True") + "del t\nt.gradient(z, x)", "E0408"),
    "stop recording needs a recording tape": ("t = GradientTape()\nwith t.stop_recording():\n    pass", "E0504"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FAILING.values(), ids=FAILING)
def test_what_a_program_ends_with(run: Runner, text: str, expected: object) -> None:
    assert run.refused(text).code == expected
