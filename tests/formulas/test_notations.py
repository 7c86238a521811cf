"""Formulas in C compile and agree, in Python run on NumPy and agree, in LaTeX are well formed."""

import ctypes
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, program
from adiff.engine.formulas.derivation import as_program

CASES = json.loads((Path(__file__).parents[1] / "data" / "feynman.json").read_text(encoding="utf-8"))["cases"]
# More functions, and inputs with names that are taken elsewhere.
MORE = [
    "where(x > 0 and y < 2, abs(x), -y/2)*exp(x*y) + max(x, y)**2.5",
    "erf(x)*tanh(y) + hypot(x, 2*y)*arctan2(y, x) + cbrt(x) + log1p(x)*expm1(y)",
    "lambda_ = x*y\nlambda_**x + 1e-3*floor(x) + (not x > y)*x + arccosh(2 + x)*floor(y)",
    "double = x + 1\nint_ = double*y\nsin(int_)*sin(double)*cos(int_) + exp(1)*pi**x",
    "round(5*x - y)*y + fmod(5*x, y)*y + (2*y) % (-x)*x + (-5*y)//x*x",
    "lgamma(2.0)*x + gamma(3.0)*y + sqrt(x**2 + y**2)**3/7",
]
EVERY = [(case["name"], case["formula"], [p[0] for p in case["points"]], case["inputs"]) for case in CASES]
EVERY += [(f"more {k}", text, [[0.75, 0.5], [1.5, 3.25]], ["x", "y"]) for k, text in enumerate(MORE)]


def close(found: Any, expected: float) -> bool:
    return abs(float(found) - expected) <= 1e-10 * max(abs(expected), 1e-3)


@pytest.mark.parametrize(("name", "text", "points", "inputs"), EVERY, ids=[name for name, *_ in EVERY])
def test_numpy_agrees(name: str, text: str, points: list[list[float]], inputs: list[str]) -> None:
    found = program(text).derive()
    names: dict[str, Any] = {}
    exec(as_program(found, "python"), names)
    for d in found:
        label = "_".join(["d", *d.wrt])
        columns = [np.array([point[inputs.index(x)] for point in points]) for x in d.inputs]
        together = np.broadcast_to(names[label](*columns), (len(points),))
        for point, value in zip(points, together):
            assert close(value, program(d.text()).value(dict(zip(inputs, point)))), d


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_compiles_and_agrees(tmp_path: Path) -> None:
    """All functions in one library, whose names get the number of the case."""
    source = ["#include <math.h>"]
    wanted = []
    for k, (_, text, points, inputs) in enumerate(EVERY):
        for d in program(text).derive():
            body = d.text("c")
            assert body.startswith(f"double d_{d.wrt[0]}(")
            source.append(body.replace("double d_", f"double f{k}_", 1))
            wanted.append((f"f{k}_{d.wrt[0]}", d, points, inputs))
    (tmp_path / "all.c").write_text("\n".join(source))
    flags = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-std=c99", "-O1", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "all.so", tmp_path / "all.c", "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "all.so"))
    for name, d, points, inputs in wanted:
        function = getattr(library, name)
        function.restype = ctypes.c_double
        for point in points:
            found = function(*[ctypes.c_double(point[inputs.index(x)]) for x in d.inputs])
            assert close(found, program(d.text()).value(dict(zip(inputs, point)))), d


COMMANDS = set(
    r"""\frac \sqrt \left \right \cdot \pi \sin \cos \tan \sinh \cosh \tanh \arcsin \arccos \arctan \log \le \ge \ne \land \lor
    \mathrm \operatorname \text \begin \end \\ \_ \alpha \beta \gamma \delta \epsilon \theta \kappa \lambda \mu \rho \sigma \phi \omega
    \chi \Gamma \psi \zeta \max \min \lfloor \rfloor \lceil \rceil""".split()
)


def check_latex(text: str) -> None:
    """Braces, \\left and \\right, and environments pair; commands are LaTeX's; every ^ and _ has one argument."""
    assert text.isascii()
    assert "*" not in text
    for command in re.findall(r"\\(?:[a-zA-Z]+|.)", text):
        assert command in COMMANDS, command
    depth = 0
    stack: list[str] = []
    for token in re.findall(r"\\left|\\right|\\begin|\\end|(?<!\\)[{}]", text):
        if token in ("{", r"\left", r"\begin"):
            stack.append(token)
        else:
            assert stack.pop() == {"}": "{", r"\right": r"\left", r"\end": r"\begin"}[token], text
        depth = max(depth, len(stack))
    assert not stack, text
    assert not re.search(r"(?<!\\)[\^_](?![{\w])", text), text
    assert not re.search(r"\^\{[^{}]*\}\^|_\{[^{}]*\}_", text), text
    assert not re.search(r"\\frac(?!\{)|\\sqrt(?![\[{])", text), text


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, text, *_ in EVERY])
def test_latex_is_well_formed(name: str, text: str) -> None:
    for d in program(text).derive():
        check_latex(d.text("latex"))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("x**2", "2 x"),
        ("sqrt(x)", r"\frac{1}{2 \sqrt{x}}"),
        ("exp(-x**2)", "-2 x e^{-x^{2}}"),
        ("sin(x)**3", r"3 \sin^{2}\left(x\right) \cos\left(x\right)"),
        ("x**2 if x > 0 else -x", r"\begin{cases} 2 x & \text{if } x > 0 \\ -1 & \text{otherwise} \end{cases}"),
        ("x*theta_1*sigma_max*m2*speed", r"\theta_{1} \sigma_{\mathrm{max}} m_{2} \mathrm{speed}"),
        ("1.5e-30*x*2**2", r"6 \cdot 10^{-30}"),
        ("gamma(x)", r"\Gamma\left(x\right) \psi\left(x\right)"),
        ("x*floor(y)*cbrt(y)", r"\left\lfloor y \right\rfloor \sqrt[3]{y}"),
        ("x*factorial(y)**2", r"\left(y!\right)^{2}"),
        ("x*maximum(y, j1(y))", r"\max\left(y, J_1\left(y\right)\right)"),
        ("log(x, 2)", r"\frac{1}{x \log\left(2\right)}"),
    ],
)
def test_latex(text: str, latex: str) -> None:
    assert program(text).derive(["x"])[0].text("latex") == latex


def test_code() -> None:
    (found,) = program("a = sin(x*y)\na*exp(a)").derive(["x"])
    assert found.text("python") == (
        "def d_x(x, y):\n    t1 = x*y\n    t2 = np.sin(t1)\n    return y*(1 + t2)*np.cos(t1)*np.exp(t2)\n"
    )
    assert program("x**lambda1").derive(["x"])[0].text("c") == (
        "double d_x(double x, double lambda1) {\n    return lambda1*pow(x, lambda1 - 1.0);\n}\n"
    )
    assert "(double auto_)" in program("auto**2").derive()[0].text("c")
    with pytest.raises(AdiffError, match="C has no function 'digamma'"):
        program("gamma(x)").derive()[0].text("c")
    assert "special.digamma" in as_program(program("gamma(x)").derive(), "python")
    with pytest.raises(AdiffError, match="no name"):
        program("zeta(x, 2)").derive()[0].text()


def test_threads_derive_and_write_beside_one_another() -> None:
    """What one thread writes is of the formula that it derived, whatever the others begin."""
    from concurrent.futures import ThreadPoolExecutor

    texts = [f"x**{n}*sin(x)/(x + {n})" for n in range(2, 6)]
    expected = [str(program(text).derive(["x"])[0]) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda text: [str(program(text).derive(["x"])[0]) for _ in range(10)], texts)
    assert [set(many) for many in found] == [{one} for one in expected]
