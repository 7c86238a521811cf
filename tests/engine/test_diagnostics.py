"""Programs that parse and fail later, kept by stage: names, and evaluation. Each has its whole diagnostic beside it."""

import math
import os
from pathlib import Path

import adiff
import numpy as np
import pytest
from adiff.parser.render import render

FOLDER = Path(__file__).parent.parent / "samples_failing"
STAGES = {"name_error": "name", "evaluation_error": None}
SAMPLES = [path for stage in STAGES for path in sorted((FOLDER / stage).glob("*.adiff"))]


def diagnostic(path: Path) -> tuple[str, str]:
    """The kind of the error that a program ends in, and what is printed for it."""
    with pytest.raises(adiff.AdiffError) as caught:
        adiff.program(path.read_text(encoding="utf-8"), path.name).value()
    return caught.value.kind, render(caught.value) + "\n"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_diagnostic_is_as_kept(path: Path) -> None:
    kind, text = diagnostic(path)
    wanted = STAGES[path.parent.name]
    assert kind == wanted if wanted else kind not in ("syntax", "name")
    kept = path.with_suffix(".txt")
    if os.environ.get("ADIFF_UPDATE_SNAPSHOTS"):
        kept.write_text(text, encoding="utf-8")
    assert text == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(
    ("text", "command", "code", "place"),
    [
        ("where(x > 0, log(x), 0) + exp(1000*y)", "value", "N0601", "exp(1000*y)"),
        ("where(x > 0, log(x), 0) + exp(1000*y)", "grad", "N0601", "exp(1000*y)"),
        ("where(x > 0, log(x), 0) + exp(1000*y)*0", "value", "N0601", "exp(1000*y)"),
        ("where(x > 0, log(x), 0) + sqrt(y - 2)", "value", "N0601", "sqrt(y - 2)"),
        ("log(x) + sqrt(y - 2)", "value", "N0601", "log(x)"),
        ("where(x > 0, log(x), 0) + sqrt((y - 1)**2)", "grad", "N0602", "(y - 1)**2"),
        # What arises where the parts of a derivative meet.
        ("sqrt(y - 1) + x - (y - 1)**0.25", "grad", "N0602", "y - 1"),
        ("y * 0.9e308 + y * y * 0.45e308 + x", "grad", "N0602", "y * 0.9e308"),
    ],
)
def test_what_nobody_takes_is_not_where_a_nan_began(
    text: str, command: str, code: str, place: str, engine: str
) -> None:
    found = adiff.program(text).evaluate(command, {"x": -1.0, "y": 1.0}, engine=engine)
    told = [n for n in found.notices if n.code in ("N0601", "N0602")]
    assert told[-1].code == code
    assert text[told[-1].span.start : told[-1].span.end] == place


def test_what_the_inputs_hold_is_followed_on_the_way_back_by_kernels_too() -> None:
    """A nan of an input does not arise; one of the derivative does, and is told of whatever the value is."""
    text = "p = x\nfor i in range(n):\n    p = tanh(p) - 0.3 * p\np + sum(v * v * 0.1)"
    at = {"x": -3.0, "n": 4, "v": np.array([0.5, math.nan])}
    tape, kernel = (adiff.program(text).evaluate("grad", at, ["x", "v"], engine=e) for e in ("tape", "kernel"))
    assert kernel.engine == "kernel", kernel.reason
    assert [(n.code, n.message) for n in kernel.notices] == [(n.code, n.message) for n in tape.notices]
    assert tape.notices[0].code == "N0602"


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_an_integer_that_is_differentiated_is_told_as_the_float_that_it_is(engine: str) -> None:
    """Also where the program has a loop, and a kernel's values alone are looked at."""
    found = adiff.program("y = erfinv(x)\nk = 0\nwhile k < y:\n    k += 1\ny").evaluate("grad", {"x": 2}, engine=engine)
    assert [n.message for n in found.notices] == ["the first nan arises here, in erfinv of 2.0"]
