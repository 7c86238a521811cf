"""Machine code of our own compiler: what every expression and statement means, held to Python itself and to Numba."""

from __future__ import annotations

import ast
import math
import re
import struct
from typing import Any

import adiff
import mpmath
import numpy as np
import pytest
from adiff import AdiffError
from adiff.engine.kernels.compilation import by_numba, compiler, llvm_module, native
from adiff.engine.kernels.compilation.llvm_writer import Untranslatable
from adiff.engine.kernels.emitted import Emitted
from adiff.engine.kernels.ir import Left
from adiff.engine.kernels.machine import code, record
from adiff.engine.kernels.source.helpers import borrowed, helper_text, helpers
from adiff.engine.kernels.source.primitives import OWN, TEXT
from agreement import agree
from interpreted import Ieee, Run, host_calls, identity, of_numpy
from llvmlite import binding

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-300, 1e300, math.pi, math.inf, -math.inf, math.nan]
INTS = [0, 1, -1, 2, 3, -3, 7, -7, 10, 2**53, -(2**53)]
SMALLEST = -(2**63)

# Expressions of x, y (floats), i, j (integers) and b, c (truth values), with the kind of what they give.
EXPRESSIONS = [
    ("x + y", "f"), ("x - y", "f"), ("x * y", "f"), ("x / y", "f"), ("-x", "f"), ("x + i", "f"), ("i - x", "f"),
    ("x * b", "f"), ("i / 7", "f"), ("i / 4", "f"), ("b / y", "f"), ("-(x * y)", "f"),
    ("i + j", "i"), ("i - j", "i"), ("i * 3", "i"), ("-i", "i"), ("b + c", "i"), ("b - c", "i"), ("i + b", "i"),
    ("i // 2", "i"), ("i // -2", "i"), ("i % 3", "i"), ("i % -3", "i"), ("i // (abs(j) + 1)", "i"),
    ("i % (abs(j) + 1)", "i"), ("i // -(abs(j) + 1)", "i"), ("i % -(abs(j) + 1)", "i"), ("(i > 0) - (i < 0)", "i"),
    ("x < y", "b"), ("x <= y", "b"), ("x > y", "b"), ("x >= y", "b"), ("x == y", "b"), ("x != y", "b"),
    ("i < j", "b"), ("i == j", "b"), ("i != j", "b"), ("i <= x", "b"), ("x > j", "b"), ("b == c", "b"), ("b < c", "b"),
    ("not x", "b"), ("not i", "b"), ("not b", "b"), ("not x < y", "b"), ("not not b", "b"), ("not 0 <= i < 5", "b"),
    ("0.0 < x < y", "b"), ("x <= y <= 2.0 <= 3.0", "b"), ("0.0 < math.exp(x) < math.cos(y)", "b"),
    ("b and c", "b"), ("b or c", "b"), ("x < y and y < 2.0", "b"), ("x != x or y != y", "b"), ("b and c or not b", "b"),
    ("b and math.sin(x) > 0.0", "b"), ("b or math.sqrt(y) > 1.0", "b"), ("x < y and math.exp(x) < 2.0 or c", "b"),
    ("x if x < y else y", "f"), ("x if b else i", "f"), ("i if b else x", "f"), ("i if c else j", "i"),
    ("b if x < y else c", "b"), ("i if b else c", "i"), ("math.sqrt(x) if x > 0.0 else 0", "f"),
    ("0 if x > 0.0 else math.exp(y)", "f"), ("math.exp(x) if b and math.cos(y) > 0.0 else -x", "f"),
    ("(1 if b else 2) if c else (3 if b else math.cos(x))", "f"), ("x if b else y if c else 1.0", "f"),
    ("abs(x)", "f"), ("abs(i)", "i"), ("float(i)", "f"), ("float(x)", "f"), ("int(b)", "i"),
    ("int(x) if abs(x) < 1e15 else 0", "i"), ("bool(x)", "b"), ("bool(i)", "b"),
    ("max(x, y)", "f"), ("min(x, y)", "f"), ("max(i, j)", "i"), ("min(i, j)", "i"), ("max(i, x)", "f"),
    ("min(3, i, j)", "i"), ("max(i, 0)", "i"),
    ("math.floor(x) + 1.0 if abs(x) < 1e15 else 0.0", "f"), ("x - math.floor(x) if abs(x) < 1e15 else 0.0", "f"),
    ("np.floor(x)", "f"), ("np.ceil(x)", "f"), ("np.trunc(x)", "f"), ("np.rint(x)", "f"), ("np.fmod(x, y)", "f"),
    ("math.copysign(x, y)", "f"), ("math.sqrt(x)", "f"), ("math.pow(x, y)", "f"), ("math.pow(x, float(i))", "f"),
    ("math.nan", "f"), ("(-math.inf)", "f"), ("math.pi * x", "f"), ("(-7) * x", "f"), ("(-0.0) * x", "f"), ("True", "b"),
    ("False or b", "b"), ("1e-320 * x", "f"), ("x * 0.1 + y * 0.3 - x * y", "f"), ("len(range(i, j, 3))", "i"),
    ("len(range(i, j, -2))", "i"), ("len(range(j))", "i"), ("len(range(i, j))", "i"),
]  # fmt: skip
LIBRARY = """exp log exp2 log10 log2 log1p expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc lgamma
hypot atan2 pow copysign sqrt""".split()

# Statements over a (a list of 8 floats), n and m (integers), which leave their results in s (a float) and k (an integer).
STATEMENTS = {
    "a loop": "for i in range(n):\n    s += i * 0.5\n    k += i",
    "its variable afterwards": "i = -5\nfor i in range(n):\n    k += 1\nk = k * 100 + i",
    "changed inside": "for i in range(n):\n    k += i\n    i = 1000\n    k += i",
    "bounds worked out once": "for i in range(n):\n    n += 1\n    k += n",
    "downwards": "for i in range(n - 1, -1, -1):\n    k = 3 * k + i",
    "in steps": "for i in range(1, n, 3):\n    k = 3 * k + i",
    "in steps down": "for i in range(n, m, -2):\n    k = 3 * k + i",
    "in steps that vary": "for j in range(1, 4):\n    for i in range(n, m, j):\n        k = 3 * k + i",
    "in steps down that vary": "for j in range(1, 4):\n    for i in range(n, m, -j):\n        k = 3 * k + i",
    "while": "while k < n and s < 10.0:\n    k += 1\n    s += 0.75 * k",
    "while True": "while True:\n    if k > n:\n        break\n    k += 2\n    s -= 1.0",
    "continue": "for i in range(n):\n    if i % 3 == 1:\n        continue\n    k = 2 * k + i",
    "break inside": "for i in range(n):\n    for j in range(i):\n        if i * j > m:\n            break\n        k += j\n    s += k",
    "branches": "if n > m:\n    s = 1.5\nelif n == m:\n    k = 7\nelse:\n    k = 8\n    s = -s",
    "nested": "if n > 2:\n    if m > 2:\n        k = 1\n    else:\n        k = 2\nelse:\n    pass",
    "widened": "w = n\nfor i in range(3):\n    w = w * 0.5\ns = w",
    "widened from a truth value": "w = n > m\nfor i in range(3):\n    w = w + i\nk = w",
    "together": "p, q = 1.0, 2.0\nfor i in range(n):\n    p, q = q, p + q\ns = p",
    "one pair or another": "p, q = (1.0, s) if n > m else (s, 2.0)\ns = p - 3.0 * q",
    "few": "f = few_floats(8)\nclear(f, 8)\nfor i in range(n):\n    f[i % 8] += i * 1.5\ns = f[0] - f[3] + f[7]",
    "few integers": "f = few_ints(3)\nclear(f, 3)\nfor i in range(n):\n    f[i % 3] = f[(i + 1) % 3] + i\nk = f[0] + f[2]",
    "few truth values": "f = few_bools(5)\nclear(f, 5)\nf[2] = n > m\nk = f[0] + f[2] * 2\ns = 1.0 if f[2] else 2.0",
    "memory": "f = floats(run, 0, n)\nfor i in range(n):\n    f[i] = s + i\nfor i in range(n):\n    k += 1\n    s += f[n - 1 - i] * k",
    "memory that grows": "room = 2\nf = ints(run, 0, room)\nfor i in range(n):\n    if i == room:\n        room *= 2\n"
    "        f = ints(run, 0, room)\n    f[i] = i * i\nfor i in range(n):\n    k = k * 7 + f[i]",
    "truth values in memory": "f = bools(run, 0, n)\nfor i in range(n):\n    f[i] = i % 2 == 0\nfor i in range(n):\n    k += f[i]",
    "constants": "for i in range(n):\n    s += known[i % 3]\n    k += whole[i % 2]",
    "helpers": "for i in range(n):\n    s += _gamma(0.5 * i + 0.25) + digamma(i + 0.5) - log_gamma(i - 0.75)\n    k = _int_add(k, i)",
}  # fmt: skip


def bits(x: Any) -> Any:
    """Floats by their bits, nan as nan."""
    if isinstance(x, float):
        return "nan" if x != x else struct.pack(">d", x)
    return (type(x).__name__, x)


def by_python(text: str) -> Any:
    """The kernel run as the Python that it is, in IEEE arithmetic."""
    namespace = {**helpers(identity), **host_calls(), "math": Ieee(), "float": np.float64}
    exec(of_numpy(compile(text, "<kernel>", "exec")), namespace)

    def run(*values: Any) -> list[Any]:
        with np.errstate(all="ignore"):
            found = namespace["kernel"](Run(), *[np.float64(v) if isinstance(v, float) else v for v in values])
        return [x.item() if isinstance(x, np.generic) else x for x in found]

    return run


def entries(text: str, parameters: str, results: str, slots: int = 0) -> list[code.Entry]:
    """A kernel by both compilers."""
    emitted = Emitted(text, parameters, list(results), slots)
    return [code.Entry(emitted, module.compiled(emitted)) for module in (native, by_numba)]


def test_expressions_mean_what_python_and_numba_say() -> None:
    lines = [f"    {kind}s[{k}] = {text}" for k, (text, kind) in enumerate(EXPRESSIONS)]
    head = "def kernel(run, x, y, i, j, b, c, fs, is_, bs):\n"
    text = head + "\n".join(lines).replace("    is[", "    is_[") + "\n    return (0,)\n"
    own, numba = entries(text, "ffiibbFIB", "i")
    python = by_python(text)
    generator = np.random.default_rng(1)
    for number, (x, y) in enumerate((x, y) for x in FLOATS for y in FLOATS):
        i, j = (int(k) for k in generator.choice(INTS, 2))
        values = (x, y, i, j, number % 2 == 0, number % 3 == 0)
        answers = []
        for run in (python, own, numba):
            arrays = {kind: np.zeros(len(EXPRESSIONS), dtype) for kind, dtype in zip("fib", (float, np.int64, bool))}
            run(*values, *arrays.values())
            answers.append([bits(arrays[kind][k].item()) for k, (_, kind) in enumerate(EXPRESSIONS)])
        for (e, _), expected, found, other in zip(EXPRESSIONS, *answers):
            assert expected == found, (e, values)
            assert other == found, (e, values)


def test_functions_of_the_library_are_those_of_the_tape() -> None:
    binary = ("hypot", "atan2", "pow", "copysign")
    calls = [f"math.{name}(x, y)" if name in binary else f"math.{name}(x)" for name in LIBRARY] + ["np.cbrt(x)"]
    text = f"def kernel(run, x, y):\n    return {', '.join(calls)}\n"
    own, numba = entries(text, "ff", "f" * len(calls))
    python = by_python(text)
    for x in [*FLOATS, 0.3, -0.7, 12.25, 1e-9, 170.5]:
        for y in (0.3, -1.5):
            found, other = own(x, y), numba(x, y)
            for call, a, b, c in zip(calls, python(x, y), found, other):
                if "cbrt" not in call:  # Numba takes a power for it
                    assert bits(b) == bits(c), (call, x, y)
                if a == a:
                    # CPython has a logarithm of gamma of its own.
                    assert b == pytest.approx(a, rel=1e-14 if "lgamma" in call else 3e-16, abs=0), (call, x, y)
                else:
                    assert b != b, (call, x, y)


def test_statements_mean_what_python_and_numba_say() -> None:
    """All of them in one kernel, each for an `at` of its own."""
    lines = ["known = np.array([0.5, -1.25, 1e10], dtype='float64')", "whole = np.array([3, -4], dtype='int64')"]
    lines += ["def kernel(run, at, s, n, m):", "    k = 0"]
    for number, (name, body) in enumerate(STATEMENTS.items()):
        mine = {"i": "i", "f": "f", "w": "w", "room": "room", "j": "j", "p": "p", "q": "q"}
        # Each has variables, and memory, of its own.
        owned = re.sub(r"\b(i|j|f|w|p|q|room)\b", lambda m: mine[m[0]] + str(number), body)  # noqa: B023
        owned = owned.replace("(run, 0,", f"(run, {number},")
        lines += [f"    if at == {number}:  # {name}", *(f"        {line}" for line in owned.split("\n"))]
    text = "\n".join([*lines, "    return s, k", ""])
    both = entries(text, "ifii", "fi", len(STATEMENTS))
    python = by_python(text)
    for number, name in enumerate(STATEMENTS):
        for n, m in ((0, 0), (1, 5), (9, 2), (17, 30)):
            expected = python(number, 0.25, n, m)
            for entry in both:
                found = entry(number, 0.25, n, m)
                assert found[0] == pytest.approx(expected[0], rel=1e-14), (name, n, m)
                assert found[1] == expected[1], (name, n, m)


@pytest.fixture(scope="module")
def leaving() -> code.Entry:
    text = """def kernel(run, n, x):
    f = floats(run, 0, n)
    for i in range(n):
        poll(run, 5)
        f[i] = x
        if not 0 <= i < 1000:
            fail(run, 3, i)
    k = _whole(x)
    return f[0], k
"""
    emitted = Emitted(text, "if", ["f", "i"], 1)
    return code.Entry(emitted, native.compiled(emitted))


def test_a_kernel_that_goes_to_its_end(leaving: code.Entry) -> None:
    assert leaving(10, 2.75) == (2.75, 2)


@pytest.mark.parametrize(
    ("n", "x", "memory", "why", "where", "number"),
    [
        (1001, 1.0, None, record.FAILED, 3, 1000),
        (10, math.inf, None, 0, 0, 0),
        (1000, 1.0, 7999, record.NO_MEMORY, 0, 8000),
    ],
)
def test_a_kernel_that_leaves(
    leaving: code.Entry, n: int, x: float, memory: int | None, why: int, where: int, number: int
) -> None:
    with pytest.raises(Left) as left:
        leaving(n, x, memory=memory)
    assert (left.value.why, left.value.where, left.value.number) == (why, where, number)


def test_a_kernel_that_is_told_to_stop(leaving: code.Entry) -> None:
    with pytest.raises(Left) as left:
        leaving(10, 1.0, started=lambda run: run.__setitem__(record.STOP, 1))
    assert (left.value.why, left.value.where) == (record.STOPPED, 5)


@pytest.mark.parametrize("name", [name for name in TEXT if name not in OWN], ids=str)
def test_every_row_s_text_is_translated(name: str) -> None:
    """No row is left to the other compiler, whatever its operands are."""
    text = TEXT[name]
    places = sorted(set(re.findall(r"\{(\d)\}", text)))
    statics = dict.fromkeys(re.findall(r"\{([a-z]\w*)\}", text), "2")
    statics = {key: "True" if key == "equal_nan" else two for key, two in statics.items()}
    code = text.format(*["xyz"[int(k)] for k in places], **statics)
    parameters = "bff" if code.startswith("(not") or " if x else " in code else "fff"
    if name.startswith("logical_"):
        parameters = "bbb"
    elif name.startswith("bitwise_") or name.endswith("_shift") or "_int_" in text:
        parameters = "iii"
    translated, _ = llvm_module.module_text(
        Emitted(f"def kernel(run, x, y, z):\n    r = {code}\n    return (0,)\n", parameters, ["i"], 0)
    )
    module = binding.parse_assembly(translated)
    module.verify()
    assert module.get_function(llvm_module.SYMBOL)


@pytest.mark.parametrize(
    "statement",
    [
        "g = f", "s = x[0]", "s = [1.0]", "s = unknown(x)", "s = undefined", "s = x and 1.0", "s = x % 2.0", "s = x ** 2.0",
        "s = 'text'", "del x", "for i in f:\n        pass", "for i in prange(f):\n        pass", "s = math.sin(x, x)", "s = f + 1.0", "s = x is 1.0",
        "with x:\n        pass", "s = lambda: x", "import os", "open(x)", "s = __import__(x)",
    ],
)  # fmt: skip
def test_what_is_no_kernel_is_refused(statement: str) -> None:
    text = f"def kernel(run, x):\n    f = few_floats(3)\n    {statement}\n    return (x,)\n"
    with pytest.raises(Untranslatable):
        llvm_module.module_text(Emitted(text, "f", ["f"], 0))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        # LLVM's parser takes it, and its passes end the process.
        (
            "define i64 @f(i64 %n) {\nentry:\n  br label %loop\n"
            "loop:\n  %i = phi i64 [0, %entry], [%j, %loop]\n  %j = add i64 %i, %k\n  %c = icmp slt i64 %j, %n\n"
            "  br i1 %c, label %loop, label %end\nend:\n  %k = add i64 %j, %n\n  ret i64 %k\n}\n",
            "does not dominate",
        ),
        ("define i64 @f(double %x) {\n  ret i64 %x\n}\n", "parsing error"),
    ],
)
def test_what_is_no_module_is_an_error(text: str, why: str) -> None:
    with pytest.raises(RuntimeError, match=why):
        native.object_code(text)


def test_the_smallest_integer_by_minus_one() -> None:
    """The processor's division fails for it, and ends the process."""
    for text, wanted in (
        ("i // j", SMALLEST), ("i % j", 0), ("i // -1", SMALLEST), ("i % -1", 0), ("i // (j + j)", 2**62),
    ):  # fmt: skip
        emitted = Emitted(f"def kernel(run, i, j):\n    return ({text},)\n", "ii", ["i"], 0)
        assert code.Entry(emitted, native.compiled(emitted))(SMALLEST, -1) == (wanted,)


def test_the_compiler_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    emitted = Emitted("def kernel(run, x):\n    return (x + x,)\n", "f", ["f"], 0)
    assert compiler.compile_source(emitted).symbol == llvm_module.SYMBOL
    monkeypatch.setenv("ADIFF_COMPILER", "numba")
    assert compiler.compile_source(emitted).symbol != llvm_module.SYMBOL
    monkeypatch.setenv("ADIFF_COMPILER", "gcc")
    with pytest.raises(AdiffError, match=r"ADIFF_COMPILER is 'gcc', and can be native or numba") as raised:
        compiler.compile_source(emitted)
    assert raised.value.code == "E0812"
    with pytest.raises(AdiffError, match="ADIFF_COMPILER is 'gcc'"):
        adiff.program("2 * x").evaluate("value", {"x": 1.0}, engine="kernel")


@pytest.mark.parametrize("name", [*borrowed(), "_strong", "_gamma", "_lanczos_sum", "_int_power", "revolve"])
def test_helpers_are_found_whole(name: str) -> None:
    (function,) = ast.parse(helper_text(name) or "").body
    assert isinstance(function, ast.FunctionDef)
    assert function.name == name


def test_what_is_no_helper_is_not_found() -> None:
    assert helper_text("open") is None


LONG = 100
MANY = {
    "numbers": [math.sin(7.0 * k) for k in range(LONG)],
    "with a nan": [math.nan if k == 37 else math.sin(7.0 * k) for k in range(LONG)],
    "a nan at the end": [math.nan if k == LONG - 1 else math.inf for k in range(LONG)],
    "a zero last below": [-0.0 if k == 70 else 0.0 if k == 3 else -1.0 for k in range(LONG)],
    "a zero last above": [0.0 if k == 70 else -0.0 if k == 3 else 1.0 for k in range(LONG)],
    "zeros": [0.0 if k % 3 else -0.0 for k in range(LONG)],
    "infinities": [(-1.0) ** k * math.inf for k in range(LONG)],
    "one side": [-math.inf] * LONG,
}


@pytest.mark.parametrize("function", ["_maximum", "_minimum"])
def test_extrema_of_many_numbers_keep_a_nan_and_of_equal_zeros_what_the_loop_says(function: str) -> None:
    text = (
        f"def kernel(run, x):\n    s = x[0]\n    for i in range({LONG}):\n        s = {function}(s, x[i])\n"
        f"    t = 0.5\n    for i in range({LONG}):\n        t = {function}(x[i], t)\n    return s, t, i\n"
    )
    own, numba = entries(text, "F", "ffi")
    python = by_python(text)
    for name, numbers in MANY.items():
        given = np.array(numbers)
        expected = [bits(x) for x in python(given)]
        assert [bits(x) for x in own(given)] == expected, name
        assert [bits(x) for x in numba(given)] == expected, name


def optimised(text: str, parameters: str, results: str) -> str:
    """What LLVM makes of a kernel."""
    found, _ = llvm_module.module_text(Emitted(text, parameters, list(results), 0))
    module = binding.parse_assembly(found)
    native.optimise(module, native.target_machine(), True)
    return str(module)


@pytest.mark.parametrize("arguments", ["s, x[i]", "x[i], s"])
def test_extrema_of_many_numbers_are_found_on_vectors(arguments: str) -> None:
    text = f"def kernel(run, x):\n    s = x[0]\n    for i in range({LONG}):\n        s = _maximum({arguments})\n    return (s,)\n"
    assert re.search(r"call <\d+ x double> @llvm\.maximum", optimised(text, "F", "f"))


def test_what_no_iteration_changes_is_loaded_before_a_loop_that_asks_at_its_end() -> None:
    text = """def kernel(run, n, x, w):
    for i in range(n):
        for j in range(4):
            x = x * x + w[j]
        poll(run, 5)
    return (x,)
"""
    found = optimised(text, "ifF", "f")
    assert "%p.w" in found[: found.index("load volatile")]
    assert "%p.w" not in found[found.index("load volatile") :]


def exponentials(n: int, over: str = "range") -> str:
    return f"def kernel(run, x, y):\n    for i in {over}({n}):\n        y[i] = math.exp(x[i])\n    return (0,)\n"


def test_many_exponentials_are_within_a_unit_in_the_last_place() -> None:
    generator = np.random.default_rng(3)
    ranges = [(-1.0, 1.0), (-40.0, 40.0), (-745.1, 709.7), (-745.1, -708.0)]
    ends = [709.782712893384, -745.1332191019411, -708.3964185322641, 0.0, -0.0, 1e-300, -5e-324]
    x = np.concatenate([*(generator.uniform(a, b, 500) for a, b in ranges), ends])
    y = np.empty_like(x)
    emitted = Emitted(exponentials(len(x)), "FF", ["i"], 0)
    code.Entry(emitted, native.compiled(emitted))(x, y)
    with mpmath.workprec(120):
        errors = [abs(b - mpmath.exp(a)) / np.spacing(b) for a, b in zip(x.tolist(), y.tolist())]
    normal = [error for error, b in zip(errors, y) if b > 2.3e-308]
    assert max(normal) < 0.7
    assert max(errors) < 0.8


def test_many_exponentials_beyond_all_floats() -> None:
    x = np.array([math.inf, -math.inf, math.nan, 709.7827128933841, -745.1332191019412, 1e308, -1e308, 746.0] * 4)
    y = np.empty_like(x)
    emitted = Emitted(exponentials(len(x)), "FF", ["i"], 0)
    code.Entry(emitted, native.compiled(emitted))(x, y)
    assert [bits(v) for v in y] == [
        bits(v) for v in [math.inf, 0.0, math.nan, math.inf, 0.0, math.inf, 0.0, math.inf] * 4
    ]


def test_many_exponentials_are_computed_on_vectors() -> None:
    assert re.search(r"call <\d+ x double> @llvm\.fmuladd", optimised(exponentials(LONG), "FF", "i"))
    assert re.search(r"call <\d+ x double> @llvm\.fmuladd", optimised(exponentials(10**6, "prange"), "FF", "i"))
    assert "fmuladd" not in optimised(exponentials(8), "FF", "i")


def test_what_seldom_runs_or_takes_next_to_nothing_has_the_least_code() -> None:
    """The function that threads run, the sums of its blocks, and the loop for angles that are too large for vectors."""
    shared = f"def kernel(run, x):\n    s = 0.0\n    t = 1.0\n    for i in prange({10**6}):\n        s += math.lgamma(x[i])\n"
    found = optimised(shared + "        t += x[i]\n    return (s, t)\n", "F", "ff")
    assert len(re.findall(r"call double @lgamma\(", found)) == 1
    (own,) = re.findall(r"(?s)^define [^\n]*@adiff_kernel.*?^}", found, re.MULTILINE)
    assert own.count("= fadd ") <= 2
    turned = "def kernel(run, x, y):\n    for i in range(1000):\n        y[i] = math.sin(x[i])\n    return (0,)\n"
    assert len(re.findall(r"call double @llvm\.sin\.f64\(", optimised(turned, "FF", "i"))) == 1


@pytest.mark.parametrize(("lanes", "note"), [(4, "!8"), (2, "!6")])
def test_neighbours_that_an_iteration_writes_are_the_vector(lanes: int, note: str) -> None:
    """Iterations are not made vectors of, whose elements would be gathered and scattered."""
    stores = "".join(f"        t[i * 100 + {k}] = 2.0 * x[i * {lanes} + {k}]\n" for k in range(lanes))
    text = f"def kernel(run, x):\n    t = floats(run, 0, 10000)\n    for i in range(100):\n{stores}    return (t,)\n"
    emitted = Emitted(text, "F", [(0, "f", 10000)], 1)
    written, _ = llvm_module.module_text(emitted)
    assert re.findall(r"!llvm\.loop (!\d+)", written) == [note]
    module = binding.parse_assembly(written)
    native.optimise(module, native.target_machine(), True)
    if lanes == 4:
        assert "scatter" not in str(module)
        assert re.search(r"store <\d+ x double>", str(module))
    (found,) = code.Entry(emitted, native.compiled(emitted))(np.arange(100.0 * lanes))
    expected = 2.0 * np.arange(100.0 * lanes).reshape(100, lanes)
    np.testing.assert_array_equal(found.reshape(100, 100)[:, :lanes], expected)


def test_options_of_llvm_hold_until_there_is_machine_code_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    set_option, emit = binding.set_option, binding.TargetMachine.emit_object
    state: dict[str, str] = {}
    during: list[dict[str, str]] = []

    def told(program: str, option: str) -> None:
        name, _, value = option.partition("=")
        state[name] = value
        set_option(program, option)

    def emitted(machine: Any, module: Any) -> Any:
        during.append(dict(state))
        return emit(machine, module)

    monkeypatch.setattr(binding, "set_option", told)
    monkeypatch.setattr(binding.TargetMachine, "emit_object", emitted)
    assert native.object_code("define i32 @adiff_kernel() { ret i32 0 }")
    assert during == [{name: ours for name, ours, _ in native.SETTINGS}]
    assert state == {name: default for name, _, default in native.SETTINGS}


def test_what_llvm_has_put_into_a_wrong_order_is_compiled_without_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this Hessian LLVM 20 pairs operations so that one comes before what it needs, which ends the process later."""
    emit = binding.TargetMachine.emit_object

    def sound(machine: Any, module: Any) -> Any:
        module.verify()
        return emit(machine, module)

    monkeypatch.setattr(binding.TargetMachine, "emit_object", sound)
    at = {"m": np.arange(16.0).reshape(4, 4) / 16, "x": 0.5}
    assert agree("z = tanh(band_part(tanh(m), 1, 1))\nsum(z) * x", at, None, "hessian", 1e-13) == ""
