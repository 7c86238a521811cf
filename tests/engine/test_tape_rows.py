"""The recorded tape as rows: a long one is listed at its ends."""

import pytest
from adiff import program
from adiff.engine import tape_rows

TEXT = "y = x\nfor i in range(n):\n    y = y * 0.5 + a\ny"
AT = {"x": 1.0, "a": 2.0, "n": 20}


def test_a_long_tape_is_listed_at_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = program(TEXT).evaluate("tape", AT, ["x", "a"])
    monkeypatch.setattr(tape_rows, "MOST_STEPS", 40)
    assert len(program(TEXT).evaluate("tape", AT, ["x", "a"]).tape) == 42
    monkeypatch.setattr(tape_rows, "MOST_STEPS", 39)
    monkeypatch.setattr(tape_rows, "AT_ENDS", 3)
    short = program(TEXT).evaluate("tape", AT, ["x", "a"])
    assert [row.step for row in short.tape] == [0, 0, 1, 2, 3, 38, 39, 40]
    by_step = {row.name: row for row in whole.tape}
    for row in short.tape:
        same = by_step[row.name]
        assert (row.value, row.partials, row.adjoint, row.inputs) == (
            same.value,
            same.partials,
            same.adjoint,
            same.inputs,
        )
    assert short.gradients == whole.gradients
    assert [notice.code for notice in whole.notices] == []
    assert [notice.message for notice in short.notices] == [
        "the tape has 40 steps: the first 3 and the last 3 are listed"
    ]
