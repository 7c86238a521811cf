"""Programs and calls that could bring an evaluation down, and what they get instead."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError

ENDLESS = {
    "printed": "a = []\na.append(a)\nprint(a)",
    "the result": "a = []\na.append(a)\na",
    "summed": "a = []\na.append(a)\nsum(a)",
    "a tensor": "a = []\na.append(a)\narray(a)",
    "a dict": "d = {}\nd['a'] = d\nprint(d)",
    "compared": "a = []\nb = []\na.append(b)\nb.append(a)\na == b",
    "deep and printed": "a = [1]\nfor i in range(100000):\n    a = [a]\nprint(a)",
    "deep and the result": "a = [1]\nfor i in range(100000):\n    a = [a]\na",
    "a deep key": "a = 1\nfor i in range(100000):\n    a = (a,)\nd = {a: 1}",
    "iterators": "z = [1]\nfor i in range(100000):\n    z = zip(z)\nlist(z)",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_lists_without_end_are_an_error_and_no_crash(text: str, tmp_path: Path) -> None:
    # In a process of its own: what is tested for is the interpreter's stack.
    path = tmp_path / "program.adiff"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", "from adiff.cli.main import main; main()", "run", str(path)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr[-300:]
    assert "E0605" in done.stderr


def test_a_width_from_the_values_is_refused() -> None:
    with pytest.raises(AdiffError, match="width"):
        adiff.program("'%*d' % (10**9, 1)").value()


def test_a_limit_is_not_swallowed_on_the_way_out() -> None:
    text = "a = [1]\nfor i in range(40):\n    a = [a, a]\na"
    with pytest.raises(AdiffError) as caught:
        adiff.program(text).value({}, timeout=0.5)
    assert caught.value.code == "E0603"


BAD_CALLS: dict[str, Any] = {
    "kinks": {"kinks": "q"},
    "mode": {"mode": "q"},
    "engine": {"engine": "q"},
    "dtype": {"dtype": "float16"},
    "an unknown option": {"bogus": 1},
    "order": {"order": -1},
    "half an order": {"order": 1.5},
    "a point that is no dict": {"at": 5},
}


@pytest.mark.parametrize("options", BAD_CALLS.values(), ids=BAD_CALLS)
def test_options_are_checked(options: dict[str, Any]) -> None:
    at = options.pop("at", {"x": 1.0}) if "at" in options else {"x": 1.0}
    with pytest.raises(AdiffError) as caught:
        adiff.program("x**2").evaluate("grad", at, **options)
    assert caught.value.exit_code == 2


def test_threads_take_turns() -> None:
    program = adiff.program("y = x\nfor i in range(50):\n    y = sin(y)*x\ny")
    wanted = {float(k): program.value_and_gradient({"x": float(k)}, engine="tape") for k in range(1, 5)}
    wrong: list[Any] = []

    def work(point: float) -> None:
        for _ in range(25):
            found = program.value_and_gradient({"x": point}, engine="tape")
            if found != wanted[point]:
                wrong.append((point, found))

    threads = [threading.Thread(target=work, args=(point,)) for point in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


CAPTURES = {
    "a tensor": ("c = x*2\nh = checkpoint(lambda a: a*c)\nh(3.0*x)", 36.0),
    "and nothing else": ("c = x*2\nh = checkpoint(lambda a: a*c)\nh(3.0)", 6.0),
    "which it gives back": ("h = checkpoint(lambda a: [a*2.0, x])\nh(x)[0] * h(x)[1]", 12.0),
    "which is its argument too": ("h = checkpoint(lambda a: a*x)\nh(x)", 6.0),
    "beside integers": ("h = checkpoint(lambda a, k: a * (k // 2) + 3)\nh(x, 5)", 2.0),
    "one within another": ("g = lambda a: checkpoint(lambda t: t*a)(a) * x\nh = checkpoint(g)\nh(x)", 27.0),
    "by then another": ("a = 2.0\nh = checkpoint(lambda z: z*z*a)\ny = h(x)\na = 5.0\ny", 12.0),
    "in a loop, whose counter goes on": ("s = 0.0\nfor i in range(3):\n    s += checkpoint(lambda z: z**2*i)(x)\ns", 18.0),
    "an element of a list": ("w = [x, 2*x]\nh = checkpoint(lambda z: z*w[1])\ny = h(x)\nw[1] = 7.0\ny", 12.0),
    "a list that is its argument": ("w = [x, 2.0]\ny = checkpoint(lambda z: z[0]*z[1])(w)\nw[0] = 9.0\ny", 2.0),
    "an array that is written to": ("w = zeros(3)\ns = 0.0\nfor i in range(3):\n    w[i] = x*i\n    s += checkpoint(lambda z: z*sum(w))(x)\ns", 24.0),
    "a list that it changes": ("n = [0]\ndef f(z):\n    n[0] += 1\n    return z*z*n[0]\nh = checkpoint(f)\nh(x) + h(x)", 18.0),
    "a list that it makes longer": ("acc = []\ndef f(z):\n    acc.append(z)\n    return z*len(acc)\nh = checkpoint(f)\nh(x) + 10*h(x)", 21.0),
    "by a function that another calls": ("k = 2.0\ng = lambda q: q*k\nh = checkpoint(lambda z: grad(lambda q: g(q)*q)(z)*z)\ny = h(x)\nk = 5.0\ny", 24.0),
    "a Variable": ("v = Variable(2.0)\nh = checkpoint(lambda z: z*z*v)\ny = h(x)\nv.assign(7.0)\ny", 12.0),
    "second order": ("c = x*2\nh = checkpoint(lambda a: a*c*x)\ngrad(lambda z: h(3.0*z))(x)", 6.0 * 2 * 3.0),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), CAPTURES.values(), ids=CAPTURES)
def test_what_a_checkpointed_function_closes_over_is_differentiated(text: str, wanted: float) -> None:
    program = adiff.program(text)
    assert program.value_and_gradient({"x": 3.0})[1]["x"] == pytest.approx(wanted)
    assert program.jvp({"x": 3.0}, {"x": 1.0})[1] == pytest.approx(wanted)
    # Kernels compute again what is between the heads of loops, and take the function for itself.
    compiled = program.evaluate("grad", {"x": 3.0}, engine="kernel")
    assert compiled.engine == ("tape" if "Variable" in text else "kernel")
    assert compiled.gradients["x"] == pytest.approx(wanted)


UNUSED = {
    "h = checkpoint(lambda a: 3.0)\nh(x) * 2.0": "the target does not depend on anything",
    "h = checkpoint(lambda a: stop_gradient(a) * 2.0)\nh(x)": "the path from the source ends at stop_gradient",
    "h = checkpoint(lambda a: int(a) * 2.0)\nh(x)": "the path from the source ends at int()",
}


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("text", UNUSED)
def test_why_a_checkpointed_function_has_no_derivative(text: str, engine: str) -> None:
    found = adiff.program(text).evaluate("grad", {"x": 3.0}, engine=engine)
    assert found.gradients["x"] is None
    assert [UNUSED[text] in notice.message for notice in found.notices] == [True]


COMPLEX = {
    "holomorphic": ("exp(z)", {"z": 1 + 2j}, "z", -1.1312043837568135 + 2.4717266720048188j),
    "a curve": ("complex(x, 2*x)", {"x": 1.0}, "x", 1 + 2j),
    "steepest ascent": ("abs(z)", {"z": 3 + 4j}, "z", 0.6 + 0.8j),
}


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize(("text", "at", "name", "wanted"), COMPLEX.values(), ids=COMPLEX)
def test_complex_jacobians_do_not_depend_on_the_mode(
    text: str, at: dict[str, Any], name: str, wanted: complex, mode: str
) -> None:
    assert adiff.program(text).jacobian(at, mode=mode)[name] == pytest.approx(wanted, rel=1e-14)


def test_kinks_of_a_branch_not_taken_are_no_news() -> None:
    program = adiff.program("where(x > 0, sqrt(x), 0)")
    assert program.jvp({"x": 0.0}, {"x": 1.0}, kinks="error")[1] == 0.0
    outcome = program.evaluate("hessian", {"x": 0.0})
    assert outcome.hessian == {"x": {"x": 0.0}}
    assert outcome.notices == []


def test_the_hessian_of_a_norm_at_its_point_is_no_invention() -> None:
    assert adiff.program("norm(x)").hessian({"x": [0.0, 0.0]})["x"]["x"].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert adiff.program("log(x)").hessian({"x": -1.0})["x"]["x"] != 0.0


@pytest.mark.parametrize("text", ["sum(svdvals(x))", "norm(x, ord='nuc')", "q = qr(x)\nsum(q[1])"])
def test_a_nan_of_an_operation_with_several_results_is_told(text: str) -> None:
    """Some of its results have no cotangent, and the others' may be nan."""
    x = np.array([[1.0, 2.0, 0.5], [0.3, np.inf, 1.0], [2.0, 0.1, 0.7]])
    for engine in ("tape", "kernel"):
        found = adiff.program(text).evaluate("grad", {"x": x}, engine=engine)
        assert np.isnan(found.gradients["x"]).all()
        assert "N0602" in [notice.code for notice in found.notices]
