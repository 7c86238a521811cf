"""GradientTape blocks and Variables in kernels: the same as on the tape, or the tape with a reason."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree
from generated import Recording, program
from test_agreement import point

V = np.array([0.3, -1.1, 0.9, 2.0])
POINT: dict[str, Any] = {"x": 0.7, "v": V}
ALL = ("value", "grad", "hessian")
WATCHED = "y = x*1\nwith GradientTape() as t:\n    t.watch(y)\n"

# What is derived, and by which commands; the reason of the tape in the place of the commands where it answers.
PROGRAMS: dict[str, tuple[str, Any]] = {
    "number": ("with GradientTape() as t:\n    t.watch(x)\n    y = x**3\nt.gradient(y, x)", ("value", "grad")),
    "intermediate": ("y = x*2\nwith GradientTape() as t:\n    t.watch(y)\n    z = y**3*x\nt.gradient(z, y)*x", ALL),
    "tensor": ("y = v*1\nwith GradientTape() as t:\n    t.watch(y)\n    z = sum(y**3)\nsum(t.gradient(z, y))", ALL),
    "summed target": ("y = v*1\nwith GradientTape() as t:\n    t.watch(y)\n    z = y**3\nsum(t.gradient(z, y))", ALL),
    "weights": (
        "y = v*1\nwith GradientTape() as t:\n    t.watch(y)\n    z = y[0]*y\n"
        "t.gradient(z, y, output_gradients=[1.0, v[0], 2.0, 0.5])",
        ("value", "grad"),
    ),
    "jacobian": (
        "y = v*1\nwith GradientTape() as t:\n    t.watch(y)\n    z = y**3*y[0]\nt.jacobian(z, y)",
        ("value", "grad", "jacobian"),
    ),
    "jacobian of few rows by many": (
        "y = concat([v, 2*v, 3*v, 4*v, 5*v], axis=0)\nwith GradientTape() as t:\n    t.watch(y)\n"
        "    z = stack([sum(y*y), y[0]*y[7]])\nt.jacobian(z, y)",
        ("value",),
    ),
    "persistent": (
        "y = v*1\nwith GradientTape(persistent=True) as t:\n    t.watch(y)\n    z = y**3\n    w = sum(z*y)\n"
        "a = t.gradient(w, y)\nb = t.gradient(w, z)\nsum(a*b)",
        ALL,
    ),
    "asked while it records": (
        "y = x*1\nwith GradientTape(persistent=True) as t:\n    t.watch(y)\n    z = y**2\n    g = t.gradient(z, y)\n"
        "    w = g*z\nt.gradient(w, y)",
        ALL,
    ),
    "nested": (
        "y = v*1\nwith GradientTape() as o:\n    o.watch(y)\n    with GradientTape() as t:\n        t.watch(y)\n"
        "        z = sum(y**3*y[0])\n    g = t.gradient(z, y)\no.jacobian(g, y)",
        ("value", "grad", "jacobian"),
    ),
    "in a loop": (
        "s = 0.0\nfor i in range(5):\n    y = x*i\n    with GradientTape() as t:\n        t.watch(y)\n"
        "        z = sin(y)*y\n    s += t.gradient(z, y)\ns",
        ALL,
    ),
    "around a loop": (
        WATCHED + "    s = 0.0\n    for k in range(10):\n        if s > 1:\n            s = s*0.5 + y\n"
        "        else:\n            s = s + y*y\nt.gradient(s, y)",
        ALL,
    ),
    "element writes": (
        "y = v*1\nwith GradientTape() as t:\n    t.watch(y)\n    a = zeros(4)\n    for i in range(4):\n"
        "        a[i] = y[i]**2*y[0]\n    z = sum(a*a)\ng = t.gradient(z, y)\nsum(g*a)",
        ("value", "grad"),
    ),
    "element writes and many sources": (
        "y = concat([v, 2*v, 3*v], axis=0)\nwith GradientTape() as t:\n    t.watch(y)\n    a = zeros(12)\n"
        "    for i in range(12):\n        a[i] = y[i]**2*y[0]\n    z = sum(a*a)\ng = t.gradient(z, y)\nsum(g*a)",
        ("value",),
    ),
    "carried by a loop": (
        "y = v*1\nfor i in range(70):\n    with GradientTape() as t:\n        t.watch(y)\n        z = sum(cos(y))\n"
        "    y = y - 0.01*t.gradient(z, y)\nsum(y)",
        ALL,
    ),
    "structures": (
        "a = x*1\nb = x*2\nwith GradientTape() as t:\n    t.watch([a, b])\n    z = a*b**2\n"
        "g = t.gradient(z, {'a': a, 'b': b})\ng['a']*g['b']",
        ALL,
    ),
    "branch": (
        WATCHED + "    if y > 0.5:\n        z = y**2\n    else:\n        z = 2*y\nt.gradient(z, y)",
        ("value", "grad"),
    ),
    "swept": (
        "y = concat([v, 2*v, 3*v], axis=0)\nwith GradientTape() as t:\n    t.watch(y)\n    z = sum(exp(y)*y)\n"
        "g = t.gradient(z, y)\nsum(g)+z",
        ("value",),
    ),
    "function": (
        "def f(w):\n    with GradientTape() as t:\n        t.watch(w)\n        l = sum((w*v-1)**2)\n"
        "    return l, t.gradient(l, w)\nw = v*0+1\nfor i in range(30):\n    l, g = f(w)\n    w = w - 0.01*g\nl",
        ("value", "grad"),
    ),
    "variable": ("w = Variable(2.0)\nwith GradientTape() as t:\n    z = w**2*x\nt.gradient(z, w)", ALL),
    "descent": (
        "w = Variable([2.0,1.0,0.0,1.0])\nfor i in range(70):\n    with GradientTape() as t:\n        z = sum((w-v)**2)\n"
        "    w.assign_sub(0.1*t.gradient(z, w))\nsum(w)*v[0]",
        ALL,
    ),
    "descent by a number": (
        "w = Variable(1.0)\nfor i in range(70):\n    with GradientTape() as t:\n        z = (w-x)**2\n"
        "    w.assign_sub(0.1*t.gradient(z, w))\nw*x",
        ALL,
    ),
    "model": (
        "a = Variable([0.5, -0.5, 0.1, 0.3])\nb = Variable(0.1)\nmodel = [a, b]\nfor i in range(3):\n"
        "    with GradientTape() as t:\n        z = mean((a*v + b - 1)**2)\n"
        "    for w, g in zip(model, t.gradient(z, model)):\n        w.assign_sub(0.1*g)\nz",
        ("value",),
    ),
    "assignment stops": ("w = Variable(1.0)\nw.assign(x)\nw*x", ALL),
    "counted in a loop": ("w = Variable(0.0)\nfor i in range(9):\n    w.assign_add(x)\nw*x", ALL),
    "assigned in a branch": ("w = Variable(2.0)\nif x > 0.5:\n    w.assign(x*x)\nw*x", ALL),
    "not trainable": (
        "w = Variable(2.0, trainable=False)\nwith GradientTape() as t:\n    t.watch(w)\n    z = w**2*x\nt.gradient(z, w)",
        ALL,
    ),
    "a copy": ("w = Variable(x)\nu = Variable(w)\nw.assign(3.0)\nu*w*x", ALL),
    "numpy stops": ("y = x*3\ny.numpy()*x", ALL),
    "numpy of a tensor stops": ("sum((v*3).numpy()*v)", ("value", "grad")),
    "constant": (WATCHED + "    z = 3.0\nt.gradient(z, y)", "target that the GradientTape does not follow"),
    "outside": (WATCHED + "    z = y**2\nw = y**2*3\nt.gradient(w, y)", "may not depend"),
    "the same outside": (WATCHED + "    z = y**2\nw = y**2\nt.gradient(w, y)", "may not depend"),
    "the same before": (
        "y = x*1\nz = y**2\nwith GradientTape() as t:\n    t.watch(y)\n    u = y*2\nt.gradient(z, y)",
        "may not depend",
    ),
    "on one side alone": (
        WATCHED + "    if y > 0.5:\n        z = y**2\n    else:\n        z = x\nt.gradient(z, y)",
        "may not depend",
    ),
    "asked twice": (WATCHED + "    z = y**2\nt.gradient(z, y)\nt.gradient(z, y)", "an error"),
    "not watched": (
        "w = Variable(2.0, trainable=False)\nwith GradientTape() as t:\n    z = w**2*x\nt.gradient(z, w)",
        "did not watch",
    ),
    "assigned while recorded": (
        "w = Variable(2.0)\nwith GradientTape() as t:\n    z = w**2*x\n    w.assign(3.0)\n    z = z + w\nt.gradient(z, w)",
        ALL,
    ),
    "another block": (WATCHED + "    z = y**2\ns = 0.0\nif x > 0:\n    s = t.gradient(z, y)\ns*x", "another loop"),
}


def cases() -> list[Any]:
    found = []
    for name, (text, commands) in PROGRAMS.items():
        for command in ("value",) if isinstance(commands, str) else commands:
            found.append(pytest.param(text, command, commands, id=f"{name} {command}"))
    return found


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "command", "expected"), cases())
def test_program(text: str, command: str, expected: Any) -> None:
    inputs = adiff.program(text).inputs
    tolerance = 1e-11 if command == "hessian" else 1e-13
    reason = agree(text, {name: POINT[name] for name in inputs}, command=command, tolerance=tolerance)
    if isinstance(expected, str):
        assert expected in reason
    else:
        assert reason == ""


def test_compiled() -> None:
    """The loop of a model's training, compiled, against the same steps by hand."""
    text = (
        "w = Variable([0.5, -0.2, 0.1])\nb = Variable(0.3)\nfor i in range(200):\n    with GradientTape() as t:\n"
        "        p = sigmoid(a @ w + b)\n        z = -mean(y*log(p) + (1-y)*log(1-p))\n"
        "    for u, g in zip([w, b], t.gradient(z, [w, b])):\n        u.assign_sub(0.5*g)\nw"
    )
    a = np.array([[0.2, 1.0, -0.3], [1.1, -0.4, 0.6], [0.3, 0.3, 0.9], [-0.7, 0.5, 0.1]])
    y = np.array([1.0, 0.0, 1.0, 0.0])
    found = adiff.program(text).evaluate("value", {"a": a, "y": y}, engine="kernel")
    assert found.engine == "kernel"
    w, b = np.array([0.5, -0.2, 0.1]), 0.3
    for _ in range(200):
        p = 1 / (1 + np.exp(-(a @ w + b)))
        w, b = w - 0.5 * a.T @ (p - y) / 4, b - 0.5 * np.mean(p - y)
    assert np.allclose(found.value, w, rtol=1e-12)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text",
    [
        "with GradientTape() as t:\n    t.watch(w)\n    y = sum(w**3*cos(w))\ng = t.gradient(y, w)\nsum(g*g)",
        (
            "u = w\nfor k in range(3):\n    with GradientTape() as t:\n        t.watch(u)\n        y = sum(u**4) + u[0]*u[1]\n"
            "    u = u - 0.1*t.gradient(y, u)\nsum(u*u)"
        ),
        (
            "with GradientTape() as t:\n    t.watch(w)\n    z = w**2\n    y = sum(z*sin(w))\n"
            "gw, gz = t.gradient(y, [w, z])\nsum(gw*gz)"
        ),
        "a = sum(w)\nwith GradientTape() as t:\n    t.watch(w)\n    y = sum(w**3)*a\nsum(t.gradient(y, w)**2)*a",
    ],
)
def test_gradients_by_many_elements_have_derivatives(text: str) -> None:
    """What a tape sweeps for, in a program that is differentiated too."""
    at = {"w": np.linspace(-1.0, 1.2, 12)}
    for command in ("value", "grad", "hessian"):
        assert agree(text, at, None, command, 1e-12) == "", command


# What is watched by one name and read by another: a tensor is one thing by all its names, a bare number is itself in each.
TWO_NAMES = {
    "an input": ("u = x", "u", "u * u + x * 0.1", 2 * 0.7),
    "the other way": ("u = x", "x", "u * u + x * 0.1", 0.1),
    "a computed number": ("w = x * 2.0\nu = w", "u", "u * u + w * 0.1", 2 * 1.4),
    "a tensor": ("u = v", "u", "sum(u * u) + sum(v) * 0.1", 2 * V + 0.1),
    "a tensor, the other way": ("u = v", "v", "sum(u * u) + sum(v) * 0.1", 2 * V + 0.1),
    "a computed tensor": ("w = v * 2.0\nu = w", "u", "sum(u * u) + sum(w) * 0.1", 4 * V + 0.1),
    "an element": ("w = v[3]\nu = w", "u", "u * u + w * 0.1", 4.1),
    "a constant": ("w = constant(2.0)\nu = w", "u", "u * u * x + w * 0.1", 4.0 * 0.7 + 0.1),
    "a constant of a list": ("w = constant(2.0)\nu = [w]", "w", "u[0] * w * x", 4.0 * 0.7),
    "a constant of a closure": ("w = constant(2.0)\ndef f(q, r=w):\n    return q * r\nu = w", "w", "f(x)", 0.7),
    "a constant tensor": ("w = ones(4)\nu = w", "u", "sum(u * w * v)", 2 * V),
    "a slice": ("w = v[1:3]\nu = w", "u", "sum(u * w)", 2 * V[1:3]),
    "a transposed tensor": ("w = v.T\nu = w", "w", "sum(u * w)", 2 * V),
    "a reversed tensor": ("w = v[::-1]\nu = w", "w", "sum(u * w)", 2 * V[::-1]),
    "a number that is no tensor": ("w = 2.0\nu = w", "u", "u * w * x", 2.0 * 0.7),
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", TWO_NAMES)
def test_what_has_two_names(name: str) -> None:
    before, watched, body, wanted = TWO_NAMES[name]
    text = f"{before}\nwith GradientTape() as t:\n    t.watch({watched})\n    z = {body}\nt.gradient(z, {watched})"
    at = {key: POINT[key] for key in adiff.program(text).inputs}
    for command in ("value", "grad"):
        for engine in ("tape", "kernel"):
            found = adiff.program(text).evaluate(command, at, engine=engine)
            assert np.allclose(found.value, wanted, rtol=1e-15, atol=0.0), (command, engine)
    agree(text, at, None, "grad")


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_a_constant_that_a_function_watches_by_a_name_of_its_own(engine: str) -> None:
    text = "def f(q):\n    with GradientTape() as t:\n        t.watch(q)\n        z = q * w * x\n    return t.gradient(z, q)\n"
    for made in ("constant(2.0)", "ones(2)"):
        found = adiff.program(f"{text}w = {made}\nf(w)").evaluate("value", {"x": 0.7}, engine=engine).value
        assert np.allclose(found, 2 * 0.7 * np.array(2.0 if "constant" in made else [1.0, 1.0]), rtol=1e-15)


@pytest.mark.usefixtures("interpret")
def test_a_constant_with_one_name_is_watched_in_a_kernel() -> None:
    text = "w = constant(2.0)\nwith GradientTape() as t:\n    t.watch(w)\n    z = w * w * x\nt.gradient(z, w)"
    assert agree(text, {"x": 0.7}) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian"])
def test_a_sweep_in_a_loop_that_is_swept(command: str) -> None:
    """The heads that a sweep inside a program restores are kept where the loops around it are swept in their turn."""
    text, at = program(10049, Recording), point(10049)
    wrt = [name for name in adiff.program(text).inputs if name != "n"]
    agree(text, {name: at[name] for name in [*wrt, "n"]}, wrt, command, 1e-11)
