"""Inputs that a run does not lead to the result from: None, and why, as the tape says it, without a tape."""

from __future__ import annotations

import random
import re
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from adiff.engine.autodiff import drivers
from agreement import agree, spans
from generated import Structured, Writer, program
from test_agreement import LONG, point

LOOP = "s = x\nfor i in range(n):\n    if s > limit:\n        s = s + y\n    s = 0.5 * s + x\ns"
NEWTON = "t = x\nwhile abs(t * t - a) > tol:\n    t = 0.5 * (t + a / t)\nt"
NUMBERS = np.array([1.0, 2.0, 0.5])
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "a branch that is never taken": (LOOP, {"x": 1.0, "y": 2.0, "n": 9, "limit": 1e6}),
    "a branch that is taken": (LOOP, {"x": 1.0, "y": 0.0, "n": 9, "limit": 1.2}),
    "a tolerance": (NEWTON, {"x": 1.0, "a": 2.0, "tol": 0.05}),
    "computed before the loop, and used in no iteration": (
        "w = y * y\ns = x\nfor i in range(5):\n    if i > 7:\n        s = s + w\n    s = s * x\ns", {"x": 1.1, "y": 2.0},
    ),
    "the other side of a choice": ("s = 0.0\nfor i in range(4):\n    s = s + (x if i < 9 else y)\ns", {"x": 1.5, "y": 2.0}),
    "a zero derivative of what is connected": (
        "s = x\nfor i in range(3):\n    if s > 0:\n        s = s + 0.0 * y\ns", {"x": 1.0, "y": 2.0},
    ),
    "a part of a tensor that another part of is used": (
        "w = stack([x, y])\ns = 0.0\nfor i in range(3):\n    s = s + w[0] * i\ns", {"x": 1.0, "y": 2.0},
    ),
    "an item of a list that another item of is used": (
        "w = [x, y]\ns = 0.0\nfor i in range(3):\n    s = s + w[0] * i\ns", {"x": 1.0, "y": 2.0},
    ),
    "an item of a long list": (
        "w = [x for i in range(80)]\nw[70] = y\ns = 0.0\nfor i in range(60):\n    s = s + w[i] * i\ns", {"x": 1.0, "y": 2.0},
    ),
    "a list that is sorted in place": (
        "w = [x, y, a, b]\nfor i in range(4):\n    for j in range(3 - i):\n        if w[j] > w[j + 1]:\n"
        "            w[j], w[j + 1] = w[j + 1], w[j]\nw[0] + 2 * w[1] + 3 * w[2]", {"x": 0.7, "y": 1.3, "a": 2.0, "b": 5.0},
    ),
    "an element of a tensor that is overwritten": (
        "w = zeros(3)\nfor i in range(3):\n    w[i] = x * i\nif x > 5:\n    w[1] = y\nsum(w)", {"x": 1.0, "y": 2.0},
    ),
    "a tensor that is replaced": (
        "w = v * y\nfor i in range(3):\n    w = v * x if i > 0 else w\nsum(w)", {"x": 1.0, "y": 2.0, "v": np.array([1.0, 2.0])},
    ),
    "a tensor that is used in no iteration": (
        "s = x\nfor i in range(4):\n    if s > 1e9:\n        s = s + sum(v)\n    s = s * x\ns", {"x": 1.1, "v": np.array([1.0, 2.0])},
    ),
    "a step": ("s = x\nfor i in range(4):\n    s = s + int(y) * x\ns", {"x": 1.1, "y": 2.5}),
    "a stopped factor": ("s = x\nfor i in range(4):\n    s = s + stop_gradient(y) * x\ns", {"x": 1.1, "y": 2.5}),
    "a recursion": (
        "def f(k, t):\n    if t > 100 * y:\n        return t\n    return f(k + 1, t * 2 + x)\nf(0, x)", {"x": 1.1, "y": 2.5},
    ),
    "a product of matrices": (
        "q = y\nb = m @ m\nif norm(b) > 99:\n    q = x\nq * y", {"x": 1.1, "y": 1.5, "m": np.array([[1.0, 2.0], [0.5, 1.0]])},
    ),
    "a norm and a sum of complex numbers": (
        "q = y\nif norm(z) > 99 or real(cumsum(z)[1]) > 99:\n    q = x\nq * y", {"x": 1.1, "y": 1.5, "z": np.array([1j, 2.0])},
    ),
    "a comparison of tensors": (
        "s = x\nfor i in range(4):\n    s = s + sum(where(v > y, v * x, 0.0))\ns", {"x": 1.1, "y": 1.5, "v": np.array([1.0, 2.0])},
    ),
    "elements that a mask selects, all of them": (
        "w = x * stack([1.0, 2.0])\nw[w > 0.2] = y\nsum(w) * p", {"x": 0.7, "y": 2.0, "p": 0.5},
    ),
    "elements that a mask selects, none of them": (
        "w = x * stack([1.0, 2.0])\nw[w > 100] = y\nsum(w) * p", {"x": 0.7, "y": 2.0, "p": 0.5},
    ),
    "no elements of a tensor": ("w = x * stack([1.0, 2.0])\nw[0:0] = y\nsum(w) * p", {"x": 0.7, "y": 2.0, "p": 0.5}),
    "integers of 32 bits": ("cast(cast(x * 2.0, int32), float64) * y", {"x": 1.3, "y": 2.0}),
    "integers of a dtype that is spelt": ("cast(cast(x * 2.0, 'int32'), float64) * y", {"x": 1.3, "y": 2.0}),
    "integers of a tensor": ("sum(cast(cast(x * stack([1.0, 2.0]), int64), float64)) * y", {"x": 1.3, "y": 2.0}),
    "what is compared in a later iteration": (
        "t = x\nq = [1.0, x, y]\nfor j in [1, 2]:\n    if q[j] > 0.0:\n        t = t + 1.0\nt", {"x": 1.0, "y": 0.9},
    ),
    "what is compared with a number of a list in a later iteration": (
        "t = x\nw = [0.0] * 3\nq = [1.0, x, y]\nfor j in range(1, 3):\n    if q[j] > w[j]:\n        t = t + 1.0\nt",
        {"x": 1.0, "y": 0.9},
    ),
    "what is compared with a tensor in a later iteration": (
        "t = x\nw = zeros(3)\nq = [1.0, x, y]\nfor j in range(1, 3):\n    if q[j] > w[j]:\n        t = t + 1.0\nt",
        {"x": 1.0, "y": 0.9},
    ),
    "a way that ends after many comparisons": (
        "t = x\nfor j in range(1500):\n    if y > j:\n        t = 0.5 * t + 1.0\nt + stop_gradient(y)", {"x": 1.0, "y": 0.9},
    ),
    "what a recursion passes and never reads": (
        "def f(s, y):\n    if s > 1:\n        return s\n    return f(s * 2.0, y * 2) * y\nf(x, y)", {"x": 2.0, "y": 3.0},
    ),
    "what it reads for calls whose results it leaves": (
        "def f(s, y):\n    if s > 9:\n        return s\n    return f(s * 2.0, y * 2) + s\nf(x, y)", {"x": 2.0, "y": 3.0},
    ),
    "what it keeps and replaces": (
        "def f(k, s):\n    if k < 1:\n        return s * x\n    return f(k - 1, y if k > 1 else 1.0)\nf(n, y)",
        {"x": 2.0, "y": 3.0, "n": 3},
    ),
    "what a row has moved, unused": (
        "a = roll(v, n)\nx * x", {"x": 2.0, "v": np.array([1.0, 2.0]), "n": 1},
    ),
    "a vector transposed, which is itself": ("a = v.T\nx * x", {"x": 2.0, "v": np.array([1.0, 2.0])}),
    "points that interpolation looks for": (
        "s = x\nif interp(y, [-1.0, 0.0, 2.0], [1.0, 2.0, a]) > 0.5:\n    s = s * 2.0\ns", {"x": 1.1, "y": 0.5, "a": 4.0},
    ),
    "what is compared behind a link that fails": (
        "t = x + (1.0 if 0.5 > x > y else 0.0)\nt + (y == 3.0)", {"x": 1.49, "y": 1.0},
    ),
    "a size that is compared as well": ("t = x\nif k > 1:\n    t = t * 2.0\nsum(v[k:]) * t", {"x": 1.1, "k": 1, "v": NUMBERS}),
    "a size that is compared in a loop": (
        "t = x\nfor i in range(3):\n    if k > i:\n        t = t * sum(v[k:])\nt", {"x": 1.1, "k": 1, "v": NUMBERS},
    ),
    "a size in a branch that is not taken": (
        "t = x\nif x > 5.0:\n    t = t * sum(v[k:]) * sum(ones(j))\nif k > 0:\n    t = 2.0 * t\nt",
        {"x": 1.1, "k": 1, "j": 2, "v": NUMBERS},
    ),
    "a size in a loop that does not run, and in one that does": (
        "t = x\nfor i in range(n):\n    t = t * sum(v[:k])\nfor i in range(2):\n    t = t * sum(v[k:])\nt",
        {"x": 1.1, "k": 1, "n": 0, "v": NUMBERS},
    ),
    "a shape in a loop that does not run": (
        "t = x\nfor i in range(n):\n    t = t + sum(ones_like(v)) + sum(zeros_like(y))\nt", {"x": 1.1, "y": 2.0, "n": 0, "v": NUMBERS},
    ),
    "a whole number before it counts": (
        "t = x\nif k > 1:\n    t = int(k) * t\nfor i in range(k):\n    t = 0.5 * t + zeros_like(j)\nt + sum(v[:j])",
        {"x": 1.1, "k": 2, "j": 1, "v": NUMBERS},
    ),
    "a whole number of 32 bits before it counts": (
        "t = x + cast(cast(k, int32), float64)\nt * sum(v[:k])", {"x": 1.1, "k": 2, "v": NUMBERS},
    ),
    "a length in a recursion": (
        "def f(m, i):\n    if i <= 0:\n        return sum(m)\n    return f(m[..., :k], i - 1) * x\nf(m, 2) if k > 1 else 2.0",
        {"x": 1.1, "k": 2, "m": np.array([[1.0, 2.0, 0.5], [0.2, 1.0, 1.5]])},
    ),
    "no elements of a part in a branch": ("t = x\nif x > 0.0:\n    t = t * sum(v[: int(k > 1)])\nt", {"x": 1.1, "k": 0, "v": NUMBERS}),
    "the length of a part": (
        "t = x\nfor i in range(2):\n    t = 0.5 * t + len(v[:(2 if x > 0.0 else 0)]) + len(v[v > y])\nt", {"x": 1.1, "y": 0.9, "v": NUMBERS},
    ),
    "parts that a mask selects": (
        "t = x\nif x > 0.0:\n    t = t + sum(cumsum(2.0 * v[v > 9.0])) + sum(stop_gradient(w[w > y]))\nt",
        {"x": 1.1, "y": 0.9, "v": NUMBERS, "w": NUMBERS},
    ),
    "a number that is a condition": ("1.0 if x else y", {"x": 0.0, "y": 2.0}),
    "numbers that are conditions together": ("1.0 if not (x and y and x) else p", {"x": 1.0, "y": 2.0, "p": 3.0}),
    "a number whose truth is computed with": ("float(bool(x)) * y + len([k for k in range(3) if p])", {"x": 1.1, "y": 2.0, "p": 0.0}),
    "a number that ends a loop": (
        "s = y\nk = x\nwhile k:\n    s = s * y\n    k = k - 1\ns", {"x": 3.0, "y": 1.1},
    ),
    "nothing at all": ("s = 0.0\nfor i in range(3):\n    if i > 5:\n        s = s + x\ns", {"x": 1.0}),
    "nothing at all, of a tensor": ("s = zeros(3)\nfor i in range(3):\n    if i > 5:\n        s = s + x\ns", {"x": 1.0}),
}  # fmt: skip
COMPILED = ("a branch that is never taken", "a tolerance", "an item of a long list")


def none_told(notices: Any) -> Any:
    return spans(notices, frozenset(("N0502",)))


def both(text: str, at: dict[str, Any], monkeypatch: pytest.MonkeyPatch, command: str = "grad", **options: Any) -> None:
    """Both tiers agree, and the kernel's answer takes no tape."""
    assert agree(text, at, [name for name in at if name != "n"], command, **{"tolerance": 1e-12, **options}) == ""
    options.pop("tolerance", None)

    def never(*arguments: Any) -> None:
        raise AssertionError("the tape ran")

    with monkeypatch.context() as patch:
        patch.setattr(drivers, "recorded", never)
        adiff.program(text).evaluate(command, at, [name for name in at if name != "n"], engine="kernel", **options)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("case", CASES)
def test_gradient(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both(*CASES[case], monkeypatch)


def test_a_number_of_float32_that_depends_on_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    both(*CASES["nothing at all"], monkeypatch, tolerance=1e-6, dtype="float32")


@pytest.mark.parametrize("case", COMPILED)
def test_compiled(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both(*CASES[case], monkeypatch)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["hessian", "vjp", "hvp", "jvp", "jacobian"])
@pytest.mark.parametrize("case", ["a branch that is never taken", "a tolerance", "the other side of a choice"])
def test_other_commands(case: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, at = CASES[case]
    options: dict[str, Any] = {}
    if command in ("hvp", "jvp"):
        options["vector" if command == "hvp" else "tangent"] = {name: 1.0 for name in at if name != "n"}
    if command == "jacobian":
        head, _, result = text.rpartition("\n")
        text = f"{head}\nstack([{result}, 2 * {result}])"
    both(text, at, monkeypatch, command, **options)


def test_a_kept_kernel_says_it_too() -> None:
    text, at = CASES["a tolerance"]
    first, second = (adiff.program(text).evaluate("grad", at, engine="kernel") for _ in range(2))
    assert none_told(first.notices) == none_told(second.notices) != set()
    assert second.gradients["tol"] is None


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_what_is_compared_in_later_iterations_alone_is_not_said_to_be_unused(engine: str, dtype: str) -> None:
    text = "t = x\nq = [1.0, x, y]\nfor j in [1, 2]:\n    if q[j] > 0.0:\n        t = t + 1.0\nt"
    found = adiff.program(text).evaluate("grad", {"x": 1.0, "y": 0.9}, engine=engine, dtype=dtype)
    (notice,) = [n for n in found.notices if n.code == "N0502"]
    assert notice.message.endswith("ends at greater, which carries no derivative")
    assert text[notice.span.start : notice.span.end] == "q[j] > 0.0"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1.0 if x else y", "x"),
        ("1.0 if x > 0 else y", "x > 0"),
        ("y if not x else 2 * y", "not x"),
        ("if x:\n    r = y\nelse:\n    r = 2 * y\nr", "x"),
        ("y * (x and 3)", "x and 3"),
        ("cond(x, lambda: y, lambda: 2 * y)", "cond(x, lambda: y, lambda: 2 * y)"),
    ],
)
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_a_number_that_is_a_condition_is_used_there(engine: str, text: str, place: str) -> None:
    ended = "greater" if ">" in text else "the truth of a condition"
    told = f"x: the gradient is None: the path from the source ends at {ended}, which carries no derivative"
    compiled = adiff.program(text)
    values = {"x": 0.0 if "and" not in text else 1.0, "y": 2.0}
    found = compiled.evaluate("grad", values, engine=engine)
    notices = [n for n in found.notices if n.message.startswith("x:")]
    notices += compiled.rows({name: [value] * 3 for name, value in values.items()}, engine=engine).notices
    assert {(n.code, n.message, text[n.span.start : n.span.end]) for n in notices} == {("N0502", told, place)}
    assert found.engine == engine
    assert found.gradients["x"] is None


def test_a_long_tape_says_that_an_input_is_never_used() -> None:
    text = "s = x\nfor i in range(2000):\n    if i > 5000:\n        s = s + y\n    s = s * 0.5 + x\ns"
    tape = adiff.program(text).evaluate("grad", {"x": 1.0, "y": 2.0}, engine="tape")
    assert [n.message for n in tape.notices] == ["y: the gradient is None: the source is never used"]


@pytest.mark.usefixtures("interpret")
def test_a_source_that_is_never_used_is_told_of_at_the_end() -> None:
    """Also where the second point has other integers, and a kernel of its own."""
    once = adiff.program("def f(q):\n    return x\nreal(sum(unsorted_segment_mean(z, k % 2, 2)))")
    for ids in ([0, 1, 1], [1, 0, 1]):
        at = {"x": 1.0, "z": np.array([0.5, 1.0, 2j]), "k": np.array(ids)}
        assert agree(once, at, ["x", "z"]) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("kind", "count"), [(Writer, 4), (Structured, 1)])
def test_generated(kind: type[Writer], count: int) -> None:
    """Programs some of whose numbers are inputs now, in branches that are taken or not, in conditions and elsewhere."""
    told = 0
    for seed in range(200 if LONG else count):
        text, at = program(seed, kind), point(seed)
        draw = random.Random(seed)
        literals = list(re.finditer(r"(?<![\w.])\d+\.\d+(?![\w.])", text))
        chosen = draw.sample(literals, min(3, len(literals)))
        for name, found in zip("pqr", sorted(chosen, key=lambda m: -m.start())):
            use = draw.choice([f"({name} if x > 100 else {found[0]})", f"({name} if x < 100 else {found[0]})", name])
            text = text[: found.start()] + use + text[found.end() :]
            at[name] = float(found[0])
        at = {name: at[name] for name in adiff.program(text).inputs}
        wrt = [name for name in at if name != "n"]
        if agree(text, at, wrt) == "":
            try:
                notices = adiff.program(text).evaluate("grad", at, wrt, engine="kernel").notices
            except AdiffError:
                continue
            told += len(none_told(notices))
    assert told >= count
