"""Kernels that end before their end: errors in the words of the tape, limits, and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import adiff
import pytest
from adiff import AdiffError
from adiff.engine import evaluation
from adiff.engine.autodiff import drivers
from adiff.engine.core.state import State
from adiff.engine.kernels import ir
from adiff.engine.kernels.compilation import native
from adiff.engine.kernels.machine import spare
from adiff.engine.kernels.passes import polls
from adiff.engine.kernels.source import emit
from agreement import outcome

BRANCHING = """
y = x
for i in range(n):
    if y > 1.0:
        y = y * 0.5 + a
    else:
        y = y + x * 0.1
y
"""
POINT = {"x": 0.7, "a": 0.3, "n": 10}

READ = "s = 0.0\nfor i in range(n):\n    s = s + v[i] * v[i]\ns"
OUT_OF_RANGE = [
    (READ, {"v": [1.0, 2.0, 3.0], "n": 5}),
    ("s = 0.0\nfor i in range(n):\n    s = s + v[1, i] * v[0, 0]\ns", {"v": [[1.0, 2.0, 3.0]] * 2, "n": 5}),
    ("s = x\nfor i in range(n):\n    s = s + v[i - 4]\ns", {"v": [1.0, 2.0, 3.0], "n": 5, "x": 2.0}),
    ("w = v * 1.0\nfor i in range(n):\n    w[i] = 2.0 * x\nsum(w)", {"v": [1.0, 2.0, 3.0], "n": 5, "x": 2.0}),
    ("w = zeros(3)\nfor i in range(n):\n    w[i] += exp(x)\nsum(w)", {"n": 5, "x": 2.0}),
    ("w = zeros((3, 3))\nfor i in range(n):\n    w[i, i + 1] += x\nsum(w)", {"n": 5, "x": 2.0}),
    ("w = zeros((3, 3))\nfor i in range(n):\n    w[:, i] -= x\nsum(w)", {"n": 5, "x": 2.0}),
    ("w = [x] * 3\nfor i in range(n):\n    w[i] *= 2.0\nw[0]", {"n": 5, "x": 2.0}),
    ("w = [[x] * 2 for k in range(3)]\nfor i in range(n):\n    w[0][i] *= x\nw[0][0]", {"n": 5, "x": 2.0}),
    ("w = zeros(4)\nj = 0\nwhile j < 9:\n    w[j] **= x\n    j += 1\nsum(w)", {"x": 2.0}),
    (
        "def f(k):\n    w = zeros(3)\n    w[k] += x\n    return sum(w)\ns = 0.0\nfor i in range(n):\n    s += f(i)\ns",
        {"n": 5, "x": 2.0},
    ),
]


def refused(text: str, at: dict[str, Any], **options: Any) -> AdiffError:
    with pytest.raises(AdiffError) as caught:
        adiff.program(text).evaluate(options.pop("command", "grad"), at, engine="kernel", **options)
    return caught.value


def never(*arguments: Any) -> None:
    raise AssertionError("the tape ran")


@pytest.mark.parametrize(("text", "at"), OUT_OF_RANGE)
def test_an_index_out_of_range_is_said_without_the_tape(
    text: str, at: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = outcome(adiff.program(text), at, "tape", "grad", None)
    assert isinstance(tape, AdiffError)
    monkeypatch.setattr(drivers, "recorded", never)
    kernel = refused(text, at)
    assert (kernel.code, kernel.message, kernel.hint) == (tape.code, tape.message, tape.hint)
    assert kernel.span is not None
    assert tape.span is not None
    assert (kernel.span.start, kernel.span.end) == (tape.span.start, tape.span.end)


LONG = 10**6  # iterations of which the tape would take seconds

# What fails in a loop of `k` iterations for each step of `i // k`: the same error for every k.
FAILING = {
    "a list": ("w = [x, 2 * x]\ns = 0.0\nfor i in range(n):\n    s = s + w[i // k]\ns", {}),
    "a list from its end": ("w = [x, 2 * x]\ns = 0.0\nfor i in range(n):\n    s = s + w[-1 - i // k]\ns", {}),
    "a list's item replaced": ("w = [x, 2 * x]\nfor i in range(n):\n    w[i // k] = x * i\nw[0]", {}),
    "a tuple": ("w = (x, 2 * x)\ns = 0.0\nfor i in range(n):\n    s = s + w[i // k]\ns", {}),
    "a list that grew": (
        "w = [x]\nfor i in range(300):\n    if i % 100 == 7:\n        w.append(x * i)\n"
        "s = 0.0\nfor i in range(n):\n    s = s + w[i // k]\ns",
        {},
    ),
    "a list that grew, from its end": (
        "w = [x]\nfor i in range(300):\n    if i % 100 == 7:\n        w.append(x * i)\n"
        "s = 0.0\nfor i in range(n):\n    s = s + w[1 - i // k]\ns",
        {},
    ),
    "a list that is too short": (
        "w = []\nfor i in range(300):\n    if x > i:\n        w.append(x * i)\ns = x\nfor i in range(n):\n    s = s * 0.5\ns + w[-3]",
        {},
    ),
    "a tensor": ("s = 0.0\nfor i in range(n):\n    s = s + v[i // k]\ns", {"v": [1.0, 2.0, 3.0]}),
    "an array of indices": ("s = 0.0\nfor i in range(n):\n    s = s + sum(v[[3 - i // k, i // k]])\ns", {"v": [1.0] * 4}),
    "an array of indices, its least": (
        "s = x\nfor i in range(n):\n    s = s + sum(v[p - i // k])\ns", {"v": [1.0] * 4, "p": [1, -2, 0]},
    ),
    "elements replaced": ("w = v * x\nfor i in range(n):\n    w[[i // k, 0]] = v[:2]\nsum(w)", {"v": [1.0, 2.0, 3.0]}),
    "an assertion": ("s = x\nfor i in range(n):\n    s = s * 0.5\n    assert i // k < 3\ns", {}),
    "an assertion with words": ("s = x\nfor i in range(n):\n    s = s * 0.5\n    assert i // k < 3, 'too many'\ns", {}),
    "an assertion with values": (
        "w = [x, 0.1]\nfor i in range(n):\n    j, w[1] = i // k, 0.1 * (i // k)\n"
        "    assert j < 3, f'{j} of {w}: {w[1]:.3f}, ' + str(j > 1)\nw[0]",
        {},
    ),
    "an assertion with values in a function": (
        "def f(y, j):\n    assert j < 3, [y, j]\n    return y\ns = x\nfor i in range(n):\n    s = f(s, i // k)\ns", {},
    ),
    "a kink": ("s = x\nfor i in range(n):\n    s = s + abs(i // k - 3 + 0.0 * x)\ns", {}),
    "a division by zero": ("s = x\nfor i in range(n):\n    s = s + 7 // (3 - i // k)\ns", {}),
    "a remainder by zero": ("s = x\nfor i in range(n):\n    s = s + 7 % (3 - i // k)\ns", {}),
    "a division that nothing uses": ("s = x\nfor i in range(n):\n    j = 7 // (3 - i // k)\n    s = s * 0.5\ns", {}),
    "integers by zero": ("s = x\nfor i in range(n):\n    s = s + p[0] // (p[1] - i // k)\ns", {"p": [3, 2]}),
    "the integer of infinity": ("s = x\nfor i in range(n):\n    j = int(1.0 / (1 - i // k))\n    s = s * 0.5\ns", {}),
    "the integer of nan": ("s = x\nfor i in range(n):\n    s = s + int(x * 0.0 / (1 - i // k))\ns", {}),
    "the integer below minus infinity": (
        "import math\ns = x\nfor i in range(n):\n    s = s + math.floor(-1.0 / (1 - i // k))\ns", {},
    ),
    "a recursion": ("def f(j, y):\n    if j <= 0:\n        return y\n    return f(j - 1, y * 0.5)\nf(n, x)", {}),
    "a recursion in a function": (
        "def f(j, y):\n    return y if j <= 0 else f(j - 1, y * 0.5)\ndef g(y):\n    return f(n, y)\ng(x)", {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_an_error_in_a_long_loop_is_said_without_the_tape(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, more = FAILING[name]
    wrt = [source for source in ("x", "v") if source in adiff.program(text).core.inputs]
    found = {}
    for engine, k in (("tape", 3), ("kernel", LONG)):
        program = adiff.program(text)
        at = {
            name: value for name, value in {"x": 2.0, "n": 8 * k, "k": k, **more}.items() if name in program.core.inputs
        }
        if name.startswith("a recursion"):
            at["n"] = 7000
        with monkeypatch.context() as patch:
            if engine == "kernel":
                patch.setattr(evaluation.Evaluation, "execute", never)
            kinks = "error" if name == "a kink" else "adiff"
            with pytest.raises(AdiffError) as caught:
                program.evaluate("grad", at, wrt, engine=engine, kinks=kinks)
        error = caught.value
        assert error.span is not None
        found[engine] = (error.code, error.message, error.hint, error.span.start, error.span.end)
    assert found["kernel"] == found["tape"]


def test_heads_count_against_the_memory_limit() -> None:
    error = refused(BRANCHING, {**POINT, "n": 10**8}, max_memory=10**8)
    assert error.code == "E0602"
    assert error.message == "the program ran out of memory (limit 95.4 MiB)"
    assert error.span is not None
    assert BRANCHING[error.span.start : error.span.end] == "range(n)"
    # What fits goes on, in the process that was refused before.
    found = adiff.program(BRANCHING).evaluate("grad", {**POINT, "n": 10**6}, engine="kernel", max_memory=10**8)
    assert found.engine == "kernel"


OUT_OF_MEMORY = """
import sys
import adiff
text = sys.argv[1]
for engine in ("tape", "kernel"):
    try:
        adiff.program(text).evaluate("grad", {"x": 1.0, "n": 10**8}, ["x"], engine=engine, max_memory=12 << 20)
    except adiff.AdiffError as error:
        print((error.code, error.message, error.hint, text[error.span.start : error.span.end]))
"""


@pytest.mark.parametrize(
    "text",
    ["y = x\nfor i in range(n):\n    y = sin(y) + x\ny",
     "y = x\nfor i in range(n):\n    for j in range(3):\n        y = sin(y) + x\ny",
     "y = x\nk = 0\nwhile k < n:\n    k = k + 1\n    y = sin(y) + x\ny",
     "a = zeros(1000) + x\nfor i in range(n):\n    a = sin(a) * a + x\nsum(a)"],
)  # fmt: skip
def test_both_tiers_run_out_of_memory_in_the_same_words(text: str) -> None:
    """In a process of their own: a tape first takes what others have left free in theirs, which may be much."""
    done = subprocess.run([sys.executable, "-c", OUT_OF_MEMORY, text], capture_output=True, text=True, check=True)
    tape, kernel = done.stdout.splitlines()
    assert kernel == tape
    assert tape.startswith("('E0602', ")


def test_heads_of_a_loop_that_data_ends_count_too() -> None:
    text = "y = x\nwhile y < n:\n    y = y * (1 + x * 1e-9)\ny"
    error = refused(text, {"x": 1.0, "n": 1e6}, wrt=["x"], max_memory=2 * 10**8)
    assert error.code == "E0602"
    assert error.span is not None


def test_a_time_limit_stops_a_kernel() -> None:
    found = adiff.program(BRANCHING).evaluate("value", POINT, engine="kernel", timeout=60)
    assert found.engine == "kernel"
    start = time.perf_counter()
    error = refused(BRANCHING, {**POINT, "n": 10**11}, command="value", timeout=0.2)
    assert time.perf_counter() - start < 10  # without it minutes
    assert (error.code, error.message) == ("E0603", "the time limit of 0.2 s is over")
    assert error.span is not None
    assert error.span.start > BRANCHING.index(":")


@pytest.mark.parametrize("by_rows", [False, True])
def test_a_time_limit_stops_a_kernel_in_another_thread(by_rows: bool) -> None:
    program = adiff.program("s = x\nwhile s > 0:\n    s = s + 1.0\n    if s > 1e6:\n        s = 1.0\ns")
    caught: list[AdiffError] = []
    evaluate = program.rows if by_rows else program.value

    def run() -> None:
        with pytest.raises(AdiffError) as raised:
            evaluate({"x": [1.0, 2.0] if by_rows else 1.0}, engine="kernel", timeout=0.2)
        caught.append(raised.value)

    assert program.evaluate("value", {"x": -1.0}, engine="kernel").engine == "kernel"
    assert program.rows({"x": [-1.0]}, engine="kernel").engine == "kernel"
    thread = threading.Thread(target=run, daemon=True)
    start = time.perf_counter()
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "the kernel goes on"
    assert time.perf_counter() - start < 5
    assert caught[0].code == "E0603"
    assert by_rows or caught[0].span is not None


def test_a_time_limit_does_not_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    text = BRANCHING.replace("0.1", "0.125")
    original = native.compiled
    begun, waited, finished = threading.Event(), threading.Event(), threading.Event()

    def slow(emitted: Any) -> Any:
        begun.set()
        waited.wait(60.0)
        finished.set()
        return original(emitted)

    with monkeypatch.context() as patch:
        patch.setattr(native, "compiled", slow)
        error = refused(text, POINT, timeout=2.0)
        assert error.code == "E0603"
        assert begun.is_set()
        assert not finished.is_set()
    # The compiler that goes on, unheard, is not in the way of the next kernel.
    assert adiff.program(text).evaluate("grad", POINT, engine="kernel").engine == "kernel"
    waited.set()
    assert finished.wait(10.0)


def test_memory_that_stays_serves_runs_of_every_size() -> None:
    """Runs of few steps and of many, of another kernel between, and of limited memory."""
    program, other = adiff.program(BRANCHING), adiff.program(BRANCHING.replace("0.1", "0.0625"))

    def gradient(which: Any, n: int, engine: str = "kernel", **options: Any) -> Any:
        return which.evaluate("grad", {**POINT, "n": n}, engine=engine, **options).gradients

    expected = gradient(program, 2000, "tape")
    for which, n, options in (
        (program, 10**6, {}),
        (program, 2000, {}),
        (other, 10**5, {}),
        (program, 2000, {"max_memory": 10**8}),
        (program, 10**6, {}),
        (program, 2000, {}),
    ):
        found = gradient(which, n, **options)
        if which is program and n == 2000:
            assert found["x"] == pytest.approx(expected["x"], rel=1e-13)
            assert found["a"] == pytest.approx(expected["a"], rel=1e-13)
    assert 0 < sum(left.size for left in spare.SPARE.values()) <= spare.LIMIT


def test_another_thread_runs_kernels_too() -> None:
    found: list[Any] = []
    run = lambda: found.append(adiff.program(BRANCHING).evaluate("grad", {**POINT, "n": 10**6}, engine="kernel"))  # noqa: E731
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found[0].engine == "kernel"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("elsewhere", [False, True])
def test_signals_that_end_nothing_leave_the_answer(elsewhere: bool) -> None:
    """Even where they stop a kernel: it runs again. The wake-up of an event loop stays as it was."""
    program = adiff.program(BRANCHING)
    at = {**POINT, "n": 10**7}
    expected = program.evaluate("value", at, engine="kernel").value
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    if elsewhere:
        signal.set_wakeup_fd(mouth)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        found = program.evaluate("value", at, engine="kernel")
        woken = signal.set_wakeup_fd(-1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        os.close(ear)
        os.close(mouth)
    assert found.engine == "kernel"
    assert found.value == expected
    assert heard == [signal.SIGALRM]
    assert woken == (mouth if elsewhere else -1)


def test_ctrl_c_ends_a_kernel(strikes: Callable[[Callable[[], Any]], None]) -> None:
    program = adiff.program(BRANCHING)
    assert program.evaluate("value", POINT, engine="kernel").engine == "kernel"
    strikes(lambda: program.evaluate("value", {**POINT, "n": 10**12}, engine="kernel"))


@pytest.mark.parametrize("by_rows", [False, True])
def test_ctrl_c_leaves_nothing_behind(by_rows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it strikes: at the beginning of an evaluation, or when that cleans up."""
    program = adiff.program(BRANCHING)
    evaluate = (
        (lambda: program.rows({name: [x] for name, x in POINT.items()})) if by_rows else (lambda: program.value(POINT))
    )

    def struck(*given: Any) -> None:
        raise KeyboardInterrupt

    for place in ("reset", "end"):
        with monkeypatch.context() as patch:
            patch.setattr(State, place, struck)
            with pytest.raises(KeyboardInterrupt):
                evaluate()
        evaluate()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_a_command_within_a_second() -> None:
    adiff.program(BRANCHING).evaluate("value", POINT, engine="kernel")  # kept, so that the command need not compile it
    expression = "value", BRANCHING, "--at", "x=0.7,a=0.3,n=100000000000", "--engine", "kernel"
    script = "import sys; from adiff.cli.main import main; print('started', file=sys.stderr, flush=True); main()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, *expression],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"
    time.sleep(1.5)  # in the kernel, or on a slow machine still on the way to it: either way it ends
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert time.perf_counter() - start < 5  # of a loop without end
    assert process.returncode == 130
    assert output == ""


def kernel_of(text: str, at: dict[str, Any]) -> ir.Kernel:
    """The kernel of a program's gradient."""
    from adiff.engine.kernels.construction.construct import build
    from adiff.engine.kernels.inputs import specification
    from adiff.engine.plain import bind

    values = {name: bind(value, name) for name, value in at.items()}
    kernel = build(adiff.program(text).core, specification(values, list(at)), list(at)).kernel
    assert kernel is not None
    return kernel


@pytest.mark.parametrize(
    ("text", "at", "asked"),
    [
        # A loop whose end is an input asks, forward and back.
        (BRANCHING, POINT, 2),
        # What is done in a moment does not, and neither does what an array operation became.
        ("y = x\nfor i in range(100):\n    y = sin(y)\ny", {"x": 1.0}, 0),
        ("sum(sin(v) * v)", {"v": [0.5] * 1000}, 0),
        # Inner loops of a known, small number of iterations leave it to the outer one.
        ("y = x\nfor i in range(n):\n    for j in range(4):\n        y = sin(y)\ny", {"x": 1.0, "n": 3.0}, 2),
        # Their number may depend on where the outer loop is.
        ("s = 0.0\nfor i in range(9):\n    for j in range(i + 1):\n        s += x * sin(s)\ns", {"x": 1.0}, 0),
        ("s = 0.0\nfor i in range(9, 2, -2):\n    for j in range(i, 2 * i):\n        s += sin(x)\ns", {"x": 1.0}, 0),
        ("s = 0.0\nfor i in range(100000):\n    for j in range(i):\n        s += sin(x)\ns", {"x": 1.0}, 1),
        # A long loop asks, however well its number of iterations is known.
        ("y = x\nfor i in range(100000000):\n    y = sin(y)\ny", {"x": 1.0}, 2),
        # Sooner where its iterations are so long that a question costs nothing.
        ("y = x\nfor i in range(1000000):\n    y = sin(y) * x\ny", {"x": 1.0}, 2),
        ("y = x\nfor i in range(1000000):\n    y = y * x + i\ny", {"x": 1.0}, 0),
        ("y = x\nwhile y < 100:\n    y = y * 1.5\ny", {"x": 1.0}, 2),
    ],
)
def test_loops_that_ask_whether_to_go_on(text: str, at: dict[str, Any], asked: int) -> None:
    kernel = kernel_of(text, at)
    assert emit.emit(kernel).text.count("poll(run") == asked
    assert (polls.asking(kernel)[1] > 0) == (asked > 0)


def test_where_a_nan_began_is_said_as_on_the_tape(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "y = x\nfor i in range(n):\n    y = y + log(x - 1)\ny"
    notices = {}
    for engine in ("tape", "kernel"):
        found = adiff.program(text).evaluate("grad", {"x": 1.0, "n": 100}, ["x"], engine=engine)
        assert found.engine == engine
        notices[engine] = [(n.code, n.message, n.span and n.span.start) for n in found.notices]
    assert [code for code, _, _ in notices["tape"]] == ["N0501", "N0601"]
    assert notices["kernel"] == notices["tape"]
    # However long the loop is, what begins soon is found soon; the tape does not go on for longer than a moment.
    late = "y = x\nfor i in range(n):\n    y = y + log(x * (n - 3 - i))\ny"
    for program, code in ((text, "N0601"), (late, "N0603")):
        found = adiff.program(program).evaluate("grad", {"x": 1.0, "n": 10**6}, ["x"], engine="kernel")
        assert [n.code for n in found.notices] == ["N0501", code]
    assert found.notices[-1].message.startswith("the result holds nan or inf; ")
    # It goes on for a part of what the evaluation has taken, and is told beside that.
    allowed: list[float] = []
    monkeypatch.setattr(evaluation, "PART", 0.0)
    monkeypatch.setattr(evaluation, "give_way_after", lambda seconds: allowed.append(seconds))
    found = adiff.program(text).evaluate("grad", {"x": 1.0, "n": 10**6}, ["x"], engine="kernel")
    assert allowed == [evaluation.LEAST]
    assert found.timings["origin"] > 0.0


def test_nothing_is_touched_before_its_index_has_been_checked() -> None:
    text = "s = x\nfor i in range(n):\n    s = s + sum(v[[3 - i // 2, i // 2]])\ns"
    found = adiff.program(text).evaluate("grad", {"x": 2.0, "n": 8, "v": [1.0] * 4}, ["x", "v"], engine="kernel")
    assert found.engine == "kernel"
    source = str(found.emitted)
    checked = source.rindex("fail(run")
    assert checked < source.index("] += "), "the cotangents"
    assert checked < source.index("v[v"), "the elements"


# Loops that nobody reads anything of, and that do not end.
ENDLESS = {
    "for good": "while True:\n    pass\nx\n",
    "by its condition": "s = 0.0\nwhile s >= 0.0:\n    s = s + 1.0\n    if s > 10.0:\n        s = 0.0\nx * x\n",
    "inside another": "for i in range(3):\n    s = 1.0\n    while s > 0.0:\n        s = s * 1.0\nx * x\n",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=list(ENDLESS))
@pytest.mark.parametrize("command", ["value", "grad"])
def test_a_loop_that_does_not_end_is_waited_for(text: str, command: str) -> None:
    tape, kernel = (outcome(adiff.program(text), {"x": 2.0}, e, command, None, timeout=0.3) for e in ("tape", "kernel"))
    assert isinstance(tape, AdiffError)
    assert isinstance(kernel, AdiffError)
    assert (kernel.code, kernel.message, kernel.hint) == (tape.code, tape.message, tape.hint)
    assert kernel.code == "E0603"
    assert kernel.span is not None
    assert text[kernel.span.start : kernel.span.end] in text.partition("while")[2]


@pytest.mark.parametrize("command", ["value", "grad", "hessian"])
def test_memory_that_a_list_grows_out_of_is_reported_at_its_loop(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tape, and by a kernel that another process has kept as by one that was made here."""

    def never(*given: Any) -> Any:
        raise AssertionError("the tape was to have no part in it")

    monkeypatch.setattr(evaluation.Evaluation, "execute", never)
    text = "l = []\nfor i in range(n):\n    l.append(x * i)\nsum(stack(l))"
    for _ in range(2):
        with pytest.raises(AdiffError) as caught:
            adiff.program(text).evaluate(
                command, {"x": 0.5, "n": 90_000_000}, ["x"], engine="kernel", max_memory=100 << 20
            )
        assert caught.value.code == "E0602"
        assert caught.value.span is not None
        assert caught.value.span.text == "range(n)"


OVERFLOWING = "where(cast(f[i], int64) * 4000000000000 * 4000000000 > 3, 1.0, 2.0)"
DEAR = "sin(exp(cos(x[a] * y))) * tanh(x[a]) * sin(i * y) * sin(exp(cos(sin(y + i))))"
# Errors of statements whose values nobody reads, or that stand before another error; the first of the program is told.
FIRST_ERRORS = [
    ("k = cast(x, int64)\nz = k**50\nx * 2", {"x": 7.0}, "E0403"),
    ("s = x\nk = cast(n, int64)\nfor i in range(n):\n    k = k * 7\n    s = s * 1.01\ns", {"x": 7.0, "n": 70}, "E0403"),
    ("k = int(x)\nz = 1 // (k - 7)\nx * 2", {"x": 7.0}, "E0402"),
    ("z = inv(A)\nx * 2", {"x": 3.0, "A": [[1.0, 2.0], [2.0, 4.0]]}, "E0404"),
    ("k = cast(x, int64)\nz = k**50\nassert x < 1\nwhere(z > 1, x, x * 2)", {"x": 7.0}, "E0403"),
    (
        f"s = zeros(40)\nfor i in range(40):\n    a = int(f[i])\n    s[i] = {DEAR} * {OVERFLOWING}\nsum(s)",
        {"x": [0.0, 1.0, 2.0, 3.0], "f": [*[0.0, 1.0, 2.0, 3.0] * 9, 0.0, 1.0, 7.0, 1.0], "y": 0.5},
        "E0403",
    ),
]


@pytest.mark.parametrize(("text", "at", "code"), FIRST_ERRORS)
def test_the_first_error_is_told(text: str, at: dict[str, Any], code: str) -> None:
    tape, kernel = (outcome(adiff.program(text), at, engine, "grad", ["x"]) for engine in ("tape", "kernel"))
    for found in (tape, kernel):
        assert isinstance(found, AdiffError)
        assert found.code == code
        assert found.span is not None
    assert (tape.span.start, tape.span.end) == (kernel.span.start, kernel.span.end)


def test_bare_integers_that_nobody_reads_have_any_number_of_digits() -> None:
    text = "s = x\nk = 1\nm = 0\nfor i in range(n):\n    k = k * 7\n    m = m + i // 3\n    s = s * 1.01\ns"
    found = adiff.program(text).evaluate("grad", {"x": 7.0, "n": 70}, ["x"], engine="kernel")
    assert found.engine == "kernel"
    assert "fail(" not in (found.emitted or "")
    assert found.gradients["x"] == pytest.approx(1.01**70, rel=1e-13)


@pytest.mark.parametrize(
    ("loop", "iterations"),
    [
        ("range(9223372036854775000, 9223372036854775807, 7)", 116),
        ("range(9223372036854775800, 9223372036854775807, 3)", 3),
        ("range(-9223372036854775000, -9223372036854775807, -7)", 116),
    ],
)
def test_ranges_to_the_last_integer(loop: str, iterations: int) -> None:
    found = adiff.program(f"s = 0.0\nfor i in {loop}:\n    s = s + x\ns").evaluate("grad", {"x": 1.5}, engine="kernel")
    assert found.gradients == {"x": iterations}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "def f(k, xs):\n    if k == 0:\n        return sum(xs)\n    xs.append(x * k)\n    return f(k - 1, xs)\nf(n, [])",
            28.0,
        ),
        ("def f(k, xs):\n    if k == 0:\n        return sum(xs)\n    return f(k - 1, xs + [x * k])\nf(n, [])", 28.0),
        (
            "def f(k, v):\n    if k == 0:\n        return v[0] + v[1]\n    return f(k - 1, [v[1], v[0] * x])\nf(n, [x, x])",
            4 * 3.0**3 + 5 * 3.0**4,
        ),
    ],
)
def test_lists_that_recursion_hands_on(text: str, expected: float) -> None:
    """Those that it changes are the tape's, and no fault."""
    found = adiff.program(text).evaluate("grad", {"x": 3.0, "n": 7}, ["x"], engine="kernel")
    assert found.gradients["x"] == pytest.approx(expected, rel=1e-14)
    assert not any(notice.code == "N0911" for notice in found.notices)
