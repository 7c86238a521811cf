"""Which tier runs, and the reason that it gives."""

from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from adiff.engine import tier
from adiff.engine.core.limits import LIMITS

LOOP = "y = x\nfor i in range(n):\n    y = y * 0.999 + sin(y) * 0.001\ny"
LONG_LOOP, SHORT_LOOP = {"x": 2.0, "n": 20_000}, {"x": 2.0, "n": 3}
DONE = "the tape was done before a kernel would have been ready"
STOPPED = "the kernel stopped at an error, or at a number that it does not hold"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The tape gives way after a few hundredths of a second; no kernels are kept from elsewhere."""
    monkeypatch.setattr(tier, "READY_KEPT", 0.01)
    monkeypatch.setattr(tier, "READY_COMPILED", 0.03)
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path))


def chosen(program: Any, at: dict[str, Any], command: str = "grad", **options: Any) -> tuple[str, str]:
    program = adiff.program(program) if program.__class__ is str else program
    outcome = program.evaluate(command, at, None if command == "value" else ["x"], **options)
    assert LIMITS.patience is None
    assert LIMITS.max_steps is None
    return outcome.engine, outcome.reason


def test_asked_for() -> None:
    assert chosen(LOOP, SHORT_LOOP, engine="tape") == ("tape", "asked for")
    assert chosen(LOOP, SHORT_LOOP, engine="kernel") == ("kernel", "asked for")
    assert chosen(LOOP, SHORT_LOOP, "value", engine="kernel") == ("kernel", "asked for")


def test_the_tape_starts() -> None:
    assert chosen(LOOP, SHORT_LOOP) == ("tape", DONE)
    assert chosen("x * x", {"x": 2.0}, "value") == ("tape", DONE)


def test_the_tape_gives_way_to_a_kernel_that_is_compiled() -> None:
    tape = adiff.program(LOOP).evaluate("grad", LONG_LOOP, ["x"], engine="tape")
    outcome = adiff.program(LOOP).evaluate("grad", LONG_LOOP, ["x"])
    assert (outcome.engine, outcome.reason) == ("kernel", "the tape had not finished after 0.03 s")
    assert outcome.value == pytest.approx(tape.value, rel=1e-12)
    assert outcome.gradients == pytest.approx(tape.gradients, rel=1e-10)


@pytest.mark.parametrize(
    ("command", "text", "options"),
    [
        ("grad", "while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 0.999), (0, x))[1]", {}),
        ("grad", "fori_loop(0, n, lambda i, y: y * 0.999, x)", {}),
        ("hessian", LOOP, {}),
        ("hvp", LOOP, {"vector": {"x": 1.0}}),
        ("jacobian", LOOP + "\nstack([y, y * y])", {"mode": "reverse"}),
    ],
)
def test_it_gives_way_in_every_command(command: str, text: str, options: dict[str, Any]) -> None:
    assert chosen(text, LONG_LOOP, command, **options)[0] == "kernel"


def test_notices_are_those_of_one_run() -> None:
    text = "s = 0.0\nfor k in range(n):\n    s += abs(x - k)\ns"
    outcomes = [adiff.program(text).evaluate("grad", LONG_LOOP, ["x"], engine=engine) for engine in ("auto", "tape")]
    told = [[(n.code, n.message, n.span.start) for n in outcome.notices if n.span is not None] for outcome in outcomes]
    assert outcomes[0].engine == "kernel"
    assert told[0] == told[1] != []


def test_the_tape_gives_way_sooner_to_a_kernel_that_is_kept() -> None:
    chosen(LOOP, SHORT_LOOP, engine="kernel")
    assert chosen(LOOP, LONG_LOOP) == ("kernel", "the tape had not finished after 0.01 s")
    assert chosen(LOOP, SHORT_LOOP) == ("tape", DONE)


def test_a_kernel_that_is_kept_for_a_size_is_found() -> None:
    sized = "v = linspace(0, x, n)\ns = 0.0\nfor i in range(n):\n    for j in range(50):\n        s += sin(v[i]) * j\ns"
    assert chosen(sized, LONG_LOOP, engine="kernel")[0] == "kernel"
    assert chosen(sized, LONG_LOOP) == ("kernel", "the tape had not finished after 0.01 s")


def test_a_kernel_in_memory_runs_at_once() -> None:
    program = adiff.program(LOOP)
    chosen(program, SHORT_LOOP, engine="kernel")
    assert chosen(program, SHORT_LOOP) == ("kernel", "its kernel is in memory")
    assert chosen(program, SHORT_LOOP, "value") == ("tape", DONE)
    assert chosen(program, {"x": np.ones(3), "n": 3}) == ("tape", DONE)


def test_what_the_tape_has_spent_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier, "READY_COMPILED", 1.0)
    program = adiff.program(LOOP)
    assert chosen(program, SHORT_LOOP) == ("tape", DONE)
    tier.spend(LOOP, "grad", 1.5)
    assert chosen(program, SHORT_LOOP, "value") == ("tape", DONE)
    assert chosen(program, SHORT_LOOP) == ("kernel", "the tape has spent 1.5 s on this program")


@pytest.mark.parametrize("printing", ["print(x)\n", "for i in range(3):\n    print(i * x)\n"])
def test_a_program_that_prints_stays_on_the_tape(printing: str) -> None:
    """What has been printed is not printed again."""
    printed: dict[str, list[str]] = {}
    for engine in ("tape", "auto", "kernel"):
        lines = printed[engine] = []
        found, reason = chosen(printing + LOOP, LONG_LOOP, engine=engine, write=lines.append)
        assert found == "tape", reason
    assert printed["tape"] == printed["auto"] == printed["kernel"] != []


def test_printing_that_comes_late() -> None:
    """The tape had given way before anything was printed: it starts again, and stays."""
    lines: list[str] = []
    found = chosen(LOOP.removesuffix("y") + "print(n)\ny", LONG_LOOP, write=lines.append)
    assert found[0] == "tape"
    assert "printing" in found[1]
    assert lines == ["20000\n"]


def test_a_program_without_a_kernel_stays_on_the_tape() -> None:
    text = "c = []\nfor i in range(n):\n    if x > 0.001 * i:\n        c.append(x)\nsum(c)"
    program = adiff.program(text)
    for engine in ("auto", "auto", "kernel"):
        outcome = program.evaluate("grad", LONG_LOOP, ["x"], engine=engine)
        assert outcome.engine == "tape"
        assert LIMITS.patience is None
    assert outcome.reason == "no kernel for a list with a length that depends on data"
    assert outcome.reason_span is not None
    assert outcome.reason_span.start == text.index("x > 0")


def test_limits_of_steps() -> None:
    """The tape counts steps; under such a limit there is no kernel, and no giving way."""
    for engine in ("auto", "kernel"):
        found, reason = chosen(LOOP, SHORT_LOOP, engine=engine, max_steps=10)
        assert (found, "limit of steps" in reason or reason == DONE) == ("tape", True)
        with pytest.raises(AdiffError) as error:
            chosen(LOOP, LONG_LOOP, engine=engine, max_steps=100)
        assert error.value.code == "E0601"


@pytest.mark.parametrize("engine", ["tape", "auto", "kernel"])
def test_limits_of_time_and_memory(engine: str) -> None:
    with pytest.raises(AdiffError) as error:
        chosen(LOOP, {"x": 2.0, "n": 10**11}, "value", engine=engine, timeout=0.4)
    assert error.value.code == "E0603"
    with pytest.raises(AdiffError) as error:
        chosen("sum(zeros(10**9) + x)", {"x": 1.0}, engine=engine, max_memory=10**8)
    assert error.value.code == "E0602"


def test_why_there_is_no_kernel() -> None:
    """The reasons of commands and inputs that kernels do not take."""
    cases: list[tuple[str, dict[str, Any], str, dict[str, Any], str]] = [
        ("x * x", {"x": np.float32(2.0)}, "grad", {}, "float32"),
        ("x * x", {"x": 2.0}, "grad", {"dtype": "float32"}, "float32"),
        ("sum(cast(x, float64))", {"x": np.array([True, False])}, "grad", {}, "'x' has no derivative"),
        ("x ** 3", {"x": 2.0}, "derivative", {"order": 2}, "power series"),
        ("sum(x * x)", {"x": np.ones(3)}, "hessian", {"sparse": True}, "sparse"),
        ("x * 2 ** (0 - n)", {"x": 2.0, "n": 2}, "grad", {}, STOPPED),
        ("x * v[n]", {"x": 2.0, "n": 2, "v": np.ones(3, "complex128")}, "grad", {}, "complex"),
    ]
    for text, at, command, options, reason in cases:
        engine, found = chosen(text, at, command, engine="kernel", **options)
        assert engine == "tape", text
        assert reason in found, (text, found)


def test_a_kernel_that_stops_leaves_the_others_alone() -> None:
    program = adiff.program("assert x > 0\nsqrt(x) * n")
    for x, engine in ((1.0, "kernel"), (-1.0, ""), (4.0, "kernel")):
        if engine:
            assert chosen(program, {"x": x, "n": 2}, engine="kernel")[0] == engine
        else:
            with pytest.raises(AdiffError) as error:
                chosen(program, {"x": x, "n": 2}, engine="kernel")
            assert error.value.code == "E0406"


def test_that_there_is_no_kernel_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "c = []\nfor i in range(n):\n    if x > 0.001 * i:\n        c.append(2 * x)\nsum(c)"
    first = adiff.program(text).evaluate("grad", LONG_LOOP, ["x"], engine="kernel")
    monkeypatch.setattr("adiff.engine.kernels.kernels.compiled_source", None)
    again = adiff.program(text).evaluate("grad", LONG_LOOP, ["x"], engine="kernel")
    assert again.reason == first.reason == "no kernel for a list with a length that depends on data"
    assert again.reason_span is not None
    assert again.reason_span.start == text.index("x > 0")


def test_a_loop_without_an_end_has_none() -> None:
    with pytest.raises(AdiffError, match="time limit") as failed:
        adiff.program("while True: x = 1").evaluate("value", {}, engine="kernel", timeout=0.3)
    assert failed.value.code == "E0603"
