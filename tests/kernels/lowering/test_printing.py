"""`print` and `run` by kernels: the same lines and the same result as on the tape."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine import evaluation

POINT: dict[str, Any] = {"x": 0.75, "n": 7, "v": np.array([1.5, 2.0, -3.25])}

PROGRAMS = {
    "values": "print('x is', x, v, n)\nx*2",
    "formats": "print(f'{x:.3f} {x!r:>12} {n:03d} {v}')\nx",
    "separators": "print(1, x, True, None, sep='; ', end='!\\n')\nprint()\nx",
    "lists": "print([x, 2*x], (x,), [n, n+1], [v])\nx",
    "str": "print('a' + 'b', str(x), str(n))\nx",
    "short loop": "for i in range(3):\n    print(i, x*i)\nx",
    "long loop": "s = x\nfor i in range(200):\n    s = s*0.9 + 0.1\n    if i % 50 == 0:\n        print(f'{i}: {s}')\ns",
    "loop that data ends": "s = x\nwhile s < 50:\n    s = s*2\n    print('s', s)\ns",
    "break": "for i in range(100):\n    if i*x > 3:\n        break\n    print(i)\nx",
    "branch": "if x > 0.5:\n    print('large', x)\nelse:\n    print('small', x)\nx",
    "function": "def f(a):\n    print('f of', a)\n    return a*a\nf(x) + f(2*x)",
    "nested loops": "for i in range(3):\n    for j in range(70):\n        if j == i:\n            print(i, j, x*j)\nx",
    "variable": "w = Variable([1.0, 2.0])\nw.assign_add([x, x])\nprint(w, w.numpy(), w[0])\nx",
    "booleans": "print(x > 0.5, v > 0)\nx",
    "rounded": "print([int(round(u)) for u in [x, 2.5, 3*x]])\nx",
    "elements of a tensor": "v = zeros(3)\nfor j in range(3):\n    v[j] = max(x - j, 0)\n    print(v, v[j])\nsum(v)",
    "an integer made a float": "m = max(x - 1, 0)\nprint(float(m), m*0.5, m/2, exp(m))\nm*0.5",
    "a constant": "print('nothing')\n2.0",
    "nothing at the end": "y = x*2\nprint(y)",
    "a loop at the end": "for i in range(100):\n    print(i)",
    "assignments at the end": "y = x*2\nz = y*3",
    "a definition at the end": "print(x)\ndef f(a):\n    return a",
}
LEFT = {
    "s = 0\nfor i in range(100):\n    print(s)\n    s = s + x\ns": "an integer on some path",
    "m = max(x - 1, 0)\nprint(m*2)\nm": "an integer on some path",
    "v = [0.0]*2\nv[n - 7] = max(x - 1, 0)\nprint(v)\nsum(v)": "an integer on some path",
    "y = 1\nif x > 0.5:\n    y = x\nprint(y*2)\ny": "an integer on some path",
    "grad(lambda u: print(u))(x)\nx": "",
    "def f(u):\n    print(u)\n    return u*u\ngrad(f)(x)": "in a function that is differentiated",
    "for i in range(100):\n    x > 0 and print(i)\nwhile x > 10:\n    print(x)": "",
}


def both(text: str, command: str = "run", **options: Any) -> tuple[Any, Any]:
    """The outcome of each tier, with what it printed."""
    found = []
    for engine in ("tape", "kernel"):
        lines: list[str] = []
        program = adiff.program(text)
        at = {name: POINT[name] for name in program.inputs}
        outcome = program.evaluate(command, at, engine=engine, write=lines.append, **options)
        found.append((outcome, "".join(lines)))
    return found[0], found[1]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_run(text: str) -> None:
    (tape, printed), (kernel, lines) = both(text)
    assert kernel.engine == "kernel", kernel.reason
    assert lines == printed
    assert np.array_equal(tape.value, kernel.value) if tape.value is not None else kernel.value is None
    assert tape.types == kernel.types


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("end", ["s", "s / 0"])
def test_gradient_prints_once(end: str) -> None:
    """A result that is not finite among them, for which the program is run again."""
    text = f"s = x\nfor i in range(100):\n    s = s*0.9 + x*x\n    if i % 30 == 0:\n        print(i, s)\n{end}"
    (tape, printed), (kernel, lines) = both(text, "grad")
    assert kernel.engine == "kernel"
    assert lines == printed != ""
    assert np.isclose(tape.gradients["x"], kernel.gradients["x"], rtol=1e-13)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", LEFT)
def test_left_to_the_tape(text: str) -> None:
    """What a kernel leaves is printed once, by the tape."""
    try:
        (_, printed), (kernel, lines) = both(text)
    except adiff.AdiffError:
        return
    assert lines == printed
    if LEFT[text]:
        assert LEFT[text] in kernel.reason


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("shown", "engine"),
    [
        ("j, k*x, n*x, max(x, 0.5), n*0.5, n*k*x, max(n, x), sqrt(n), v[0]", "kernel"),
        ("n", "tape"), ("n + j", "tape"), ("array([n, 2])", "tape"), ("n*k", "tape"), ("n*k - n", "tape"), ("v", "kernel"),
    ],
)  # fmt: skip
def test_integers_that_are_differentiated(shown: str, engine: str) -> None:
    """Of numbers that are printed they are shown as integers, and what is made of them and floats as floats."""
    program = adiff.program(f"v = zeros(2)\nfor j in range(2):\n    v[j] = n - j\n    print({shown})\nn*x*k + sum(v)")
    printed = []
    for tier in ("tape", "kernel"):
        lines: list[str] = []
        found = program.evaluate("grad", {"n": 7, "k": 3, "x": 0.75}, engine=tier, write=lines.append)
        printed.append(lines)
    assert printed[0] == printed[1]
    assert found.engine == engine, found.reason
    if engine == "tape":
        assert "an integer that is differentiated" in found.reason


@pytest.mark.usefixtures("interpret")
def test_more_lines_than_there_is_room_for() -> None:
    (_, printed), (kernel, lines) = both("s = x\nwhile s < 20000:\n    s = s + 1\n    print(s)\ns")
    assert kernel.engine == "tape"
    assert lines == printed
    assert lines.count("\n") == 20_000


def test_compiled() -> None:
    """Through the compiler; and again from the folder of kept kernels, where no compiler is."""
    text = "s = 0.0\nfor i in range(300):\n    s += 0.5\n    if i % 100 == 0:\n        print(f'step {i}: {s:.2f}')\ns"
    for _ in range(2):
        lines: list[str] = []
        found = adiff.program(text).evaluate("run", engine="kernel", write=lines.append)
        assert found.engine == "kernel"
        assert lines == ["step 0: 0.50\n", "step 100: 50.50\n", "step 200: 100.50\n"]
        assert found.value == 150.0


def never(*arguments: Any) -> Any:
    raise AssertionError("the tape was to have no part in it")


COUNTING = """
y = x
for i in range(n):
    y = y * 0.5 + x
    if i % 100 == 0 and i < 500:
        print("at", i, y)
    if i == k:
        assert y < 0, "no"
y
"""


@pytest.mark.parametrize("command", ["run", "grad"])
def test_lines_come_before_the_error_that_ends_a_kernel(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = adiff.program(COUNTING)
    wrt = ["x"] if command == "grad" else None
    expected = [f"at {i} {y}\n" for i, y in ((0, 1.5), *((i, 2.0) for i in (100, 200)))]
    for engine in ("tape", "kernel", "kernel"):
        if engine == "kernel":
            monkeypatch.setattr(evaluation.Evaluation, "execute", never)
        lines: list[str] = []
        with pytest.raises(adiff.AdiffError, match="assertion failed: no") as caught:
            program.evaluate(command, {"x": 1.0, "n": 1000, "k": 250}, wrt, engine=engine, write=lines.append)
        assert caught.value.span is not None
        assert lines == expected, engine
    # What was not asked for then is not there later.
    with pytest.raises(adiff.AdiffError):
        program.evaluate(command, {"x": 1.0, "n": 1000, "k": 450}, wrt, engine="kernel")
    lines = []
    program.evaluate(command, {"x": 1.0, "n": 120, "k": 2000}, wrt, engine="kernel", write=lines.append)
    assert lines == expected[:2]


def timeout(run: Callable[..., Any]) -> None:
    with pytest.raises(adiff.AdiffError, match="the time limit"):
        run(timeout=0.3)


def ctrl_c(run: Callable[..., Any]) -> None:
    def begin() -> None:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        run()

    with pytest.raises(KeyboardInterrupt):
        begin()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("end", [timeout, ctrl_c])
def test_lines_are_there_when_a_signal_ends_a_kernel(
    end: Callable[[Callable[..., Any]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = adiff.program(COUNTING)
    at = {"x": 1.0, "n": 120, "k": -1}
    program.evaluate("run", at, engine="kernel", write=lambda text: None)  # so that only the kernel takes time
    monkeypatch.setattr(evaluation.Evaluation, "execute", never)
    lines: list[str] = []
    end(lambda **options: program.evaluate("run", {**at, "n": 10**12}, engine="kernel", write=lines.append, **options))
    assert lines == [f"at {i} {2.0 if i else 1.5}\n" for i in range(0, 500, 100)]


LONG = "for i in range(100000):\n    for j in range(n):\n        s = s * 0.999 + 0.1\n"
WAITING = {
    "a loop": 'print("start", x)\ns = x\n' + LONG + 'print("done")\ns',
    "a value computed before": 't = exp(x)\nprint("start", x)\ns = x\n' + LONG + 'print("done", t)\ns + t',
    "loops over elements": 's = x\na = v * 2.0\nprint("start", x)\n' + LONG + 'print("done")\nb = a * s\nprint("end")\nsum(b)',
    "loops over elements of one range": 's = x\na = v * x\n' + LONG + 'print("done")\nb = exp(a)\nprint(sum(b))\ns + sum(b)',
}  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", WAITING)
@pytest.mark.parametrize("end", [timeout, ctrl_c])
def test_what_is_not_reached_is_not_printed(
    end: Callable[[Callable[..., Any]], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = WAITING[name]
    program = adiff.program(text)
    at = {key: value for key, value in {"x": 1.0, "n": 1, "v": [1.0, 2.0]}.items() if key in program.inputs}
    program.evaluate("run", at, engine="kernel", write=lambda text: None)  # so that only the kernel takes time
    monkeypatch.setattr(evaluation.Evaluation, "execute", never)
    lines: list[str] = []
    at["n"] = 10**6
    end(lambda **options: program.evaluate("run", at, engine="kernel", write=lines.append, **options))
    assert lines == (["start 1.0\n"] if "start" in text else [])


FIELDS = [
    "'%5.2e' % x", "'%d' % n", "'%.3f %s' % (x, n)", "'%d%% of %g' % (n, x)", "'%s' % v", "'%5.2f|%-8s|%+d' % (x, 'ab', n)",
    "'%x %o %X' % (n, n, n)", "'%r %a' % (x, n)", "'%s' % [x, n]", "'%s: %5.2f' % (f'{x:.1f}', x)", "'%s' % (n > 1)",
    "'%05.1f' % x", "'{:.3f}'.format(x)", "'{0:.2e} {1} {0} {a:>6}'.format(x, n, a=n)", "'{} {}'.format(v, [x])",
    "'{:d}'.format(n)", "f'{x!r:>8} {x:%} {n:03d}'",
]  # fmt: skip
MISFITS = [
    "'%d' % x", "'%s %s' % x", "'%q' % x", "'%5.2f' % v", "'%*d' % (3, n)", "'%c' % n", "'%' % n", "'%(a)s' % {'a': x}",
    "'{:d}'.format(x)", "'{1}'.format(x)", "f'{x:d}'", "f'{v:.2f}'",
]  # fmt: skip
AT = {"x": 0.5, "n": 5, "v": np.array([0.5, 1.5])}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("field", FIELDS + MISFITS)
def test_fields(field: str) -> None:
    """Texts before `%` and `.format`; what may not fit is the tape's, which says so."""
    program = adiff.program(f"for i in range(2):\n    print({field})\nx*n")
    found: list[Any] = []
    for engine in ("tape", "kernel"):
        lines: list[str] = []
        try:
            at = {name: AT[name] for name in program.inputs}
            outcome = program.evaluate("value", at, engine=engine, write=lines.append)
        except adiff.AdiffError as error:
            found.append((error.code, error.message, error.span.start))
        else:
            assert outcome.engine == ("tape" if field in MISFITS else engine)
            found.append((outcome.value, "".join(lines)))
    assert found[0] == found[1]
