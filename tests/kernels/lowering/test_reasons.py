"""Why there is no kernel: in the words of the language, with the place in the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff import Program

# Program, inputs, the reason, and what it marks in the program ("" for the program as a whole).
REASONS: list[tuple[str, dict[str, Any], str, str]] = [
    ("len(str(x)) * x", {"x": 2.5}, "len of a text", "len(str(x))"),
    (
        "d = {'a': 1.0}\nd[str(x)] = 2.0\nsum(d.values()) * x",
        {"x": 3.0},
        "a key that depends on data",
        "d[str(x)] = 2.0",
    ),
    (
        "y = x\nfor i in range(n):\n    if x > 3:\n        y = [x, x]\n    else:\n        y = x\ny",
        {"x": 2.0, "n": 10},
        "'y', which is of one kind or another, depending on data",
        "y",
    ),
    ("abs(cast(A, complex64)[0, 0])", {"A": np.eye(2)}, "a cast of complex numbers to complex64", "cast(A, complex64)"),
    ("xs = [x, 2 * x]\nxs.sort()\nxs[0] * 1.0", {"x": 1.0}, "the method 'sort' of a list", "xs.sort()"),
    ("if x > 2:\n    abs('a')\nx * 2", {"x": 1.0}, "what may be an error: abs is not defined for string", "abs('a')"),
    (
        "if x > 2:\n    y = x\nelse:\n    z = x\ny * 2",
        {"x": 3.0},
        "'y' may be read before it is assigned",
        "y",
    ),
    ("t = str(x) + '!'\nx * (t == 'a')", {"x": 3.0}, "'==' on texts that hold what depends on data", "t == 'a'"),
    (
        "k = [1, 2]\nk[int(x)] = [3]\nx * 1.0",
        {"x": 1.0},
        "a value that does not fit into what it replaces",
        "k[int(x)] = [3]",
    ),
]


@pytest.mark.parametrize(("text", "point", "reason", "marked"), REASONS, ids=[row[2] for row in REASONS])
def test_reason_and_place(text: str, point: dict[str, Any], reason: str, marked: str) -> None:
    outcome = Program(text).evaluate("grad", point, [next(iter(point))], engine="kernel")
    span = outcome.reason_span
    assert outcome.reason == f"no kernel for {reason}"
    assert (span is None and not marked) or text[span.start : span.end] == marked


def test_a_fault_is_told_and_the_tape_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails while a kernel is made is no mere reason why there is none."""
    from adiff.engine.kernels import runtime
    from adiff.engine.kernels.construction import construct

    def fail(*given: Any, **options: Any) -> Any:
        raise KeyError("boom")

    monkeypatch.setattr(construct, "build", fail)
    monkeypatch.setattr(runtime.Kernels, "attempt", runtime.Kernels.attempt.__wrapped__)
    found = Program("x*x").evaluate("grad", {"x": 3.0}, engine="kernel")
    assert (found.engine, found.gradients["x"]) == ("tape", 6.0)
    (told,) = found.notices
    assert (told.code, "KeyError: 'boom'" in told.message, "please report" in told.message) == ("N0911", True, True)
    table = Program("x*x").rows({"x": np.arange(3.0)}, engine="kernel")
    assert [n.code for n in table.notices] == ["N0911"]
    with pytest.raises(KeyError):
        Program("x*x").evaluate("tape", {"x": 3.0}, emit=True)
