"""Limits: untrusted programs end with an error of family E06, soon, and leave the next evaluation unharmed."""

import contextlib
import math
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, constant, program
from adiff.engine.core import limits, watchdog
from adiff.engine.core.watchdog import RUNNING, OutOfTime, Watchdog


def refused(text: str, at: dict[str, Any] | None = None, command: str = "value", **options: Any) -> AdiffError:
    with pytest.raises(AdiffError) as caught:
        program(text).evaluate(command, at or {}, **options)
    assert program("1 + 1").value() == 2
    return caught.value


@pytest.mark.parametrize("command", ["value", "grad"])
@pytest.mark.parametrize(
    "text",
    ["while True: pass", "y = x\nwhile True:\n    y = y + 1", "for i in range(10**9): pass", "def f(n):\n    return f(n + 1) if n < 10**9 else n\nf(x)",
     "while_loop(lambda i: i < 10**9, lambda i: i + 1, 0)", "sum([i for i in range(10**9)])", "fori_loop(0, 10**9, lambda i, v: v + i, x)"],
)  # fmt: skip
def test_steps(text: str, command: str) -> None:
    error = refused(text, {"x": 1.0} if "x" in text else {}, command, max_steps=2000, engine="tape")
    assert error.code in ("E0601", "E0605")
    assert error.span is not None
    assert error.exit_code == 1


def test_steps_of_further_runs() -> None:
    assert refused("while x: pass\n3.0", {"x": 0.0}, "check", max_steps=2000).code == "E0601"


@pytest.mark.parametrize(
    "text", ["while True: pass", "def f():\n    while True:\n        1 + 1\nf()", "for i in range(10**12): i * 2"]
)
def test_time(text: str) -> None:
    error = refused(text, timeout=0.3, engine="tape")
    assert error.code == "E0603"
    assert "0.3 s" in error.message


def in_a_thread(work: Callable[[], Any]) -> Any:
    """What `work` raises or returns in a thread that is not the main one."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as fault:
            found.append(fault)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it goes on"
    return found[0]


UNENDING = "s = x\nwhile s > 0:\n    s = s + 1\ns"


@pytest.mark.parametrize(
    "evaluate",
    [
        lambda: program(UNENDING).value({"x": 1.0}, timeout=0.2, engine="tape"),
        lambda: program(UNENDING).rows({"x": [1.0, 2.0]}, timeout=0.2, engine="tape"),
        lambda: constant("[i for i in range(10**12) if i < 0]", timeout=0.2),
    ],
    ids=["value", "rows", "constant"],
)
def test_time_in_another_thread(evaluate: Callable[[], Any]) -> None:
    error = in_a_thread(evaluate)
    assert isinstance(error, AdiffError), error
    assert error.code == "E0603"
    assert error.span is not None
    assert "0.2 s" in error.message
    assert pickle.loads(pickle.dumps(error)).message == error.message


def test_memory_in_another_thread() -> None:
    text = "xs = []\nwhile True:\n    xs = xs + [1.0] * 1000000"
    assert in_a_thread(lambda: program(text).value(max_memory=2**28, timeout=20.0)).code in ("E0602", "E0603")
    assert in_a_thread(lambda: program("ones((20000, 20000))").value(max_memory=2**28)).code == "E0602"


@pytest.mark.parametrize("seconds", [1e-9, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3])
def test_a_limit_that_ends_with_the_evaluation_strikes_nowhere_else(seconds: float) -> None:
    """Whether it is over on the way in, on the way out or between."""
    compiled = program("s = x\nfor i in range(300):\n    s = sin(s)\ns")
    for _ in range(20):
        with contextlib.suppress(OutOfTime):
            compiled.value({"x": 1.0}, timeout=seconds, engine="tape")
        assert RUNNING == []
    end = time.perf_counter() + 0.01
    while time.perf_counter() < end:
        pass


IN_FRESH_PROCESS = """
import sys
import adiff
compiled = adiff.program("sum(exp(x)*x)")
for part in range(1, 60):
    assert part > 1 or "numpy" not in sys.modules
    try:
        compiled.value({"x": [1.0, 2.0, 3.0]}, timeout=START * part)
    except adiff.AdiffError as error:
        assert error.code == "E0603", error
print(compiled.value({"x": [1.0, 2.0, 3.0]}))
"""


@pytest.mark.parametrize("start", ["1e-4", "7e-4", "2e-3", "6e-3"])
def test_a_limit_that_ends_during_an_import_breaks_nothing(start: str) -> None:
    """NumPy cannot be imported twice: a process whose first import was interrupted had none any more."""
    done = subprocess.run(
        [sys.executable, "-c", IN_FRESH_PROCESS.replace("START", start)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(sum(x * math.exp(x) for x in (1.0, 2.0, 3.0)))


def test_a_limit_holds_while_a_module_of_the_caller_is_imported(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(
        "import adiff\n"
        "try:\n"
        "    adiff.program('while True: pass').value(timeout=0.2, engine='tape')\n"
        "except adiff.AdiffError as error:\n"
        "    print(error.code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import caller"], cwd=tmp_path, capture_output=True, text=True, timeout=20
    )
    assert done.stdout == "E0603\n", done.stderr


def test_the_binding_of_llvm_is_not_ended_halfway() -> None:
    """What it owns it frees in steps: the limit is told when it has come back."""
    steps: list[str] = []
    text = "def work():\n    pause(0.2)\n    steps.append('done')\n"
    names: dict[str, Any] = {"pause": time.sleep, "steps": steps}
    exec(compile(text, "/somewhere/llvmlite/binding/ffi.py", "exec"), names)
    alarm = Watchdog(0.05)
    alarm.start()
    with contextlib.suppress(OutOfTime):
        names["work"]()
        steps.append("back")
        time.sleep(0.5)
        steps.append("not told")
    alarm.cancel()
    assert steps[0] == "done"
    assert "not told" not in steps


def test_nothing_is_raised_while_a_thread_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it runs, CPython knows it by the number of the thread that starts it, and would raise the exception there."""
    alarm, begin, steps = Watchdog(60.0), watchdog.start_new_thread, []
    alarm.start()
    alarm.thread = 0  # of no thread
    other = threading.Thread(target=lambda: steps.append("raised" if alarm.interrupt(OutOfTime) else "not raised"))

    def start(work: Callable[[], None], given: tuple[()]) -> int:
        other.start()
        other.join(0.2)
        steps.append("started")
        return begin(work, given)

    monkeypatch.setattr(watchdog, "start_new_thread", start)
    watchdog.start_thread(lambda: None)
    other.join()
    alarm.cancel()
    assert steps == ["started", "raised"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="alarms of POSIX")
@pytest.mark.parametrize("text", ["while True: pass", "x + 1"])
def test_the_callers_alarm_goes_on(text: str) -> None:
    heard: list[float] = []
    start = time.perf_counter()
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(time.perf_counter() - start))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with contextlib.suppress(AdiffError):
            program(text).value({"x": 1.0}, timeout=0.1, engine="tape")
        assert not heard
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.5
        while not heard and time.perf_counter() - start < 10:
            time.sleep(0.01)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(heard) == 1
    assert heard[0] >= 0.5


HUGE = [
    "ones((10**9, 10**9))", "zeros(10**15)", "full((10**6, 10**6, 10**6), 1.0)", "list(range(10**13))", "[0] * 10**14",
    "'a' * 10**15", "eye(10**8)", "linspace(0, 1, 10**14)", "arange(10**15)", "tile([1, 2], 10**15)", "repeat([1, 2], 10**14)",
    "broadcast_to(1.0, (10**8, 10**8))", "one_hot(3, 10**15)", "reshape(ones(10), (10**9, -1))", "pad([1.0], [[10**14, 0]])",
    "outer(ones(10**5), ones(10**5)) @ ones((10**5, 10**5))", "f'{1:>100000000000}'",
    "'%1000000000d' % 3", "' ' * 10**13", "[1, 2] * 10**13", "stack([ones(10**5)] * 10**6)", "diag(ones(10**7))",
]  # fmt: skip


@pytest.mark.parametrize("text", HUGE)
def test_memory(text: str) -> None:
    error = refused(text, max_memory=2**30)
    assert error.code in ("E0602", "E0604", "E0302", "E0303"), (error.code, error.message)


@pytest.mark.parametrize(
    "text",
    [
        "10**10**10",
        "2**10**9",
        "x = 10\nfor _ in range(10):\n    x = x**x\nx",
        "1 << 10**9",
        "x = 3\nwhile True:\n    x = x * x",
        "factorial(10**9)",
        "10**100000",
    ],
)
def test_integers_that_never_end(text: str) -> None:
    error = refused(text, timeout=4.0)
    assert error.code in ("E0604", "E0603", "E0303", "E0401", "E0403", "E0305"), (error.code, error.message)


def test_recursion() -> None:
    error = refused("def f(n):\n    return f(n + 1)\nf(0)")
    assert error.code == "E0605"
    assert "f" in error.message
    deep = "def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\nf(4000)"
    assert program(deep).value() == 4000


def test_deep_and_long_expressions() -> None:
    assert program(" + ".join(["x"] * 100_000)).value_and_gradient({"x": 2.0}) == (200_000.0, {"x": 100_000.0})
    assert program("-" * 2000 + "x").value({"x": 2.0}) == 2.0
    nested = "sin(" * 400 + "x" + ")" * 400
    assert program(nested).value({"x": 0.0}) == 0.0


def test_a_hundred_thousand_parentheses_are_answered_or_refused() -> None:
    code = "answered"
    try:
        value = program("(" * 100_000 + "1" + ")" * 100_000).value()
    except AdiffError as error:
        code, value = error.code, 1
    assert value == 1
    assert code in ("answered", "E0605") or code.startswith("E01")


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_without_a_limit_nothing_larger_than_the_machine_is_made(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MACHINE", 1 << 20)
    with pytest.raises(AdiffError) as caught:
        program("sum(ones(n) * x)").value({"x": 2.0, "n": 200_000}, engine=engine)
    assert caught.value.code == "E0602"
    assert caught.value.message == "this would need 1.53 MiB of memory, and this machine has 1 MiB"
    assert program("sum(ones(n) * x)").value({"x": 2.0, "n": 100}, engine=engine) == 200.0


def test_a_loop_whose_states_no_machine_holds() -> None:
    """Nobody has set a limit, and the process lives on."""
    loop = program("y = x\nfor i in range(n):\n    y = y * 0.5 + sin(y)\ny")
    n = limits.MACHINE // 8 + 1
    with pytest.raises(AdiffError) as caught:
        loop.value_and_gradient({"x": 0.5, "n": n}, ["x"], engine="kernel")
    assert caught.value.code == "E0602"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_memory", "1M"), ("max_memory", 1.5), ("max_memory", 0), ("max_steps", -1), ("max_steps", 2.5),
        ("timeout", "a"), ("timeout", math.nan), ("timeout", -1),
    ],
)  # fmt: skip
def test_amounts_that_mean_nothing(option: str, value: Any) -> None:
    for evaluate in (program("x").value, program("x").rows):
        with pytest.raises(AdiffError, match=f"{option} cannot be {value!r}") as caught:
            evaluate({"x": [1.0]}, **{option: value})
        assert caught.value.hint is not None
        assert f"{option}=" in caught.value.hint


def test_sources_and_columns_that_are_single() -> None:
    with pytest.raises(AdiffError, match="must be a name or a list of names"):
        program("x").evaluate("grad", {"x": 1.0}, 5)  # type: ignore[arg-type]
    with pytest.raises(AdiffError, match="the column 'x' is no list and no array"):
        program("x").rows({"x": np.array(3.0)})


IN_LITTLE_ROOM = """
import adiff
compiled = adiff.program("xs = [0.0]\\nfor i in range(n):\\n    xs = [xs, sin(x * i)]\\nlen(xs)")
for size in (16, 20):
    try:
        compiled.value({"x": 0.3, "n": 10**9}, max_memory=size << 20, engine="tape")
    except adiff.AdiffError as error:
        print(error.code, error.span.line)
print(compiled.value({"x": 0.3, "n": 10}))
"""


def test_many_small_values_leave_room_to_say_so() -> None:
    """Where there is none, CPython begins with an exception again for ever, deaf to Ctrl-C."""
    done = subprocess.run([sys.executable, "-c", IN_LITTLE_ROOM], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["E0602 2", "E0602 2", "2"], done.stderr
