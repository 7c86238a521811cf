"""Steps are counted in kernels as on the tape: a limit ends a program at the same step, with the same words and place."""

from __future__ import annotations

from typing import Any

import adiff
import pytest
from adiff.engine.core.limits import LIMITS

PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "for": ("s = x\nfor i in range(n):\n    s = s * 0.5 + sin(x)\ns", {"n": 7}),
    "while": ("s = x\nwhile s < 20:\n    s = s * 1.5\ns", {}),
    "a function in a loop": ("def f(u):\n    return u * 0.9\ns = x\nfor i in range(n):\n    s = f(s) + x\ns", {"n": 5}),
    "loops in loops": (
        "s = 0.0\nfor i in range(n):\n    for j in range(i):\n        if j % 2 == 0:\n            continue\n"
        "        s += x * j\ns",
        {"n": 5},
    ),
    "a loop that is left": (
        "s = x\nfor i in range(n):\n    s = s * 1.5\n    if s > 3:\n        break\nfor k in [1, 2]:\n    s += k * x\ns",
        {"n": 50},
    ),
    "a loop on one side": (
        "s = x\nif x > 0:\n    for i in range(3):\n        s = s * x\nelse:\n    s = 2 * x\n"
        "for j in range(n):\n    s = s + x\ns",
        {"n": 3},
    ),
    "a return in a loop": (
        "def f(u):\n    for i in range(10):\n        u = u * 2\n        if u > 4:\n            return u\n    return u\n"
        "f(x) + f(2 * x)",
        {},
    ),
    "items of a list": ("s = [i * x for i in range(4) if i > 1]\nsum(s)", {}),
    "items of lists of lists": ("s = [[i * x + j for i in range(3)] for j in range(2)]\ns[1][2]", {}),
    "functional loops": (
        "fori_loop(0, 3, lambda i, v: v * x, 1.0) + while_loop(lambda v: v < 4, lambda v: v * 2, x)",
        {},
    ),
    "a scan": ("scan(lambda c, v: (c * 0.5 + v, c), 0.0, ones(3) * x)[0]", {}),
    "a map": ("sum(map_fn(lambda v: v * 2, ones(3) * x))", {}),
    "map": ("sum(map(lambda a: a * x * x, range(n)))", {"n": 7}),
    "filter": ("y = sin(x)\nsum(filter(lambda a: a * sin(y) < 9, range(n))) * x", {"n": 7}),
    "a key": ("max([1, 2, 3, 4, 5], key=lambda a: -a * cos(x)) * x", {}),
    "elements": ("y = zeros(n)\nfor i in range(n):\n    y[i] = x * i\nsum(y)", {"n": 6}),
    "a tape": (
        "u = x * 1.0\nfor k in range(3):\n    with GradientTape() as t:\n        t.watch(u)\n        y = u**2\n"
        "    u = u - 0.1 * t.gradient(y, u)\nu",
        {},
    ),
}

FUNCTION = "def f(u):\n    s = u\n    for i in range(3):\n        s = s * 0.5 + sin(u) * i\n    return s\n"
OF_VECTORS = "def f(u):\n    s = zeros(2)\n    for i in range(2):\n        s[i] = u[0]**i * u[1]\n    return s\nv = stack([x, x + 1])\n"
INSIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "a recursion": ("def f(k):\n    if k < 1:\n        return x\n    return x * f(k - 1)\nf(n)", {"n": 6}),
    "a recursion that calls itself twice": (
        "def f(k):\n    s = x\n    for i in range(k):\n        s = s * 0.9 + i\n    if k < 1:\n        return s\n"
        "    for j in range(2):\n        s = s + f(k - 1) * x\n    return s\nf(n) + f(n - 1)",
        {"n": 3},
    ),
    "recursions of other functions": (
        "def g(u):\n    return u * x\ndef even(k):\n    return g(x) if k == 0 else odd(k - 1) * g(x)\n"
        "def odd(k):\n    return 1.0 if k == 0 else even(k - 1) + x\neven(n)",
        {"n": 6},
    ),
    "recursions that share a loop": (
        "def a(k, u):\n    return u if k <= 0 else b(k - 1, u * x) + 0.5 * a(k - 2, u)\n"
        "def b(k, u):\n    return u * u if k <= 0 else a(k - 1, u * 0.9) - b(k - 3, u)\na(n, x) + b(n, x)",
        {"n": 6},
    ),
    "a derivative before the call of a recursion": (
        "def f(k, u):\n    if k <= 0:\n        return u\n    return u * grad(lambda t: t * t * k)(u) + f(k - 1, u)\nf(n, x)",
        {"n": 3},
    ),
    "items and a choice before the call of a recursion": (
        "def g(u):\n    return u * u\n"
        "def f(k, u):\n    if k <= 0:\n        return u\n"
        "    return sum([u * i for i in range(2)]) + (grad(g)(u) if k > 1 else 0.0) + f(k - 1, u)\nf(n, x)",
        {"n": 3},
    ),
    "a derivative": (FUNCTION + "grad(f)(x) + f(x)", {}),
    "a derivative of a derivative": (FUNCTION + "grad(grad(f))(x) + f(x)", {}),
    "a derivative in a loop": (FUNCTION + "s = x\nfor k in range(n):\n    s = s - 0.1 * grad(f)(s)\ns", {"n": 3}),
    "a derivative of a recursion": (
        "def f(u, k):\n    if k < 1:\n        return u\n    return u * f(u, k - 1) + x\ngrad(f)(x, n) + f(x, n)",
        {"n": 4},
    ),
    "a gradient in reverse": (
        "def f(u):\n    s = 0.0\n    for i in range(12):\n        s += u[i]**2 * u[0]\n    return s\n"
        "v = ones(12) * x\nsum(grad(f)(v)) + f(v)",
        {},
    ),
    "a Jacobian": (OF_VECTORS + "sum(jacobian(f)(v)) + sum(f(v))", {}),
    "a Jacobian in forward mode": (OF_VECTORS + "sum(jacfwd(f)(v)) + sum(f(v))", {}),
    "a Hessian": (OF_VECTORS + "sum(hessian(lambda u: sum(f(u)**2))(v)) + sum(f(v))", {}),
    "tangents and cotangents": (
        FUNCTION + "a, b = jvp(f, (x,), (1.0,))\nc, pull = vjp(f, x)\na * b + c * pull(2.0)[0] + hvp(f, x, 1.0)", {},
    ),
}  # fmt: skip


def answer(text: str, at: dict[str, Any], command: str, engine: str, most: int) -> Any:
    """The value and the gradient, or the error."""
    try:
        outcome = adiff.program(text).evaluate(
            command, at, ["x"] if command == "grad" else None, engine=engine, max_steps=most
        )
    except adiff.AdiffError as error:
        span = error.span
        return error.code, error.message, error.hint, span and (span.start, span.end)
    assert outcome.engine == engine, outcome.reason
    return outcome.value, outcome.gradients


def steps(text: str, at: dict[str, Any]) -> int:
    adiff.program(text).evaluate("value", at, engine="tape", max_steps=10**6)
    return LIMITS.steps


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", INSIDE)
def test_steps_of_recursions_and_of_what_is_differentiated(name: str) -> None:
    test_a_limit_ends_a_kernel_where_it_ends_the_tape(name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_limit_ends_a_kernel_where_it_ends_the_tape(name: str) -> None:
    text, more = {**PROGRAMS, **INSIDE}[name]
    at = {"x": 0.5, **more}
    count = steps(text, at)
    for most in sorted({1, count // 2, count - 1}):
        found = [answer(text, at, "value", engine, most) for engine in ("tape", "kernel")]
        assert found[0][:2] == ("E0601", f"the program took more than {most} steps")
        assert found[0] == found[1]
    by_tape, by_kernel = (answer(text, at, "grad", engine, count) for engine in ("tape", "kernel"))
    assert by_kernel[0] == pytest.approx(by_tape[0], rel=1e-14)
    assert by_kernel[1]["x"] == pytest.approx(by_tape[1]["x"], rel=1e-14)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("grad", {}),
        ("jvp", {"tangent": {"x": 1.0}}),
        ("vjp", {}),
        ("hvp", {"vector": {"x": 1.0}}),
        ("hessian", {}),
        ("jacobian", {}),
        ("derivative", {"order": 2}),
    ],
)
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_a_limit_is_one_of_each_run(command: str, options: dict[str, Any], engine: str) -> None:
    """However often a command runs the program."""
    program = adiff.program(PROGRAMS["for"][0].replace("range(n)", "range(7)"))
    at = {"x": 0.5}
    assert program.evaluate(command, at, engine=engine, max_steps=7, **options).engine == engine
    with pytest.raises(adiff.AdiffError) as caught:
        program.evaluate(command, at, engine=engine, max_steps=6, **options)
    assert caught.value.code == "E0601"


def test_what_the_tape_counts() -> None:
    text = "def f(u):\n    return u**2, lambda c: c * 3 * u\ng = custom_gradient(f)\ng(x)"
    outcome = adiff.program(text).evaluate("value", {"x": 0.5}, engine="kernel", max_steps=100)
    reason = "no kernel for a limit of steps beside a custom_gradient function"
    assert (outcome.engine, outcome.reason) == ("tape", reason)


def test_nothing_is_counted_without_a_limit() -> None:
    """The limit is a part of what is compiled, and of what is kept."""
    program = adiff.program(PROGRAMS["for"][0])
    at = {"x": 0.5, "n": 7}
    sources = [program.evaluate("value", at, engine="kernel", max_steps=most).emitted for most in (None, 1000)]
    assert "1001" not in sources[0]
    assert "1001" in sources[1]
