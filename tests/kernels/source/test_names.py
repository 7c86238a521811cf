"""Names in emitted source: no input's name meets one of the emitter's own."""

from __future__ import annotations

import re

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.runtime import Kernels
from adiff.engine.kernels.source.emit import emit
from adiff.engine.kernels.source.helpers import borrowed
from adiff.engine.kernels.source.legend import LEGEND, RESERVED, explained
from adiff.engine.kernels.source.prelude import PRELUDE
from adiff.engine.kernels.source.primitives import TEXT
from agreement import agree

# `other` is the integer whose name is changed. Heads that grow, heads of a stepped range, the log of what a loop stores
# over, short and long arrays, constants, helpers.
PROGRAMS = [
    "s = x\nfor i in range(3000):\n    s = s * 0.9999 + 0.0001 * s * s * x - 0.00001 * other\n"
    "    if s > 50:\n        break\ns",
    "s = x\nwhile s < 50:\n    s = s * s * 1.1 + other * 0.01 + 1.0\ns",
    "s = x\nfor i in range(20, 2, -other):\n    s = sin(s) * i\ns",
    "a = zeros(40) + x\ns = 0.0\nfor i in range(1, 50):\n    a[i % 7] = a[(i * other) % 5] * x + sin(s)\n    s += a[i % 7]\ns",
    "a = zeros(5)\nc = array([1.0, 2.5, 3.5])\nfor i in range(5):\n"
    "    a[i] = c[i % 3] * x ** 2 + gamma(x + other) + max(i // other, i % other)\nsum(a * a)",
]
IDENTIFIER = re.compile(r"(?<![.\w])[A-Za-z]\w*")


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", PROGRAMS)
def test_an_input_with_a_name_of_the_emitters(text: str) -> None:
    """Every name that the source has becomes the input's, and the answers stay."""
    at = {"x": 0.4, "other": 2}

    def source(name: str) -> str:
        program = adiff.program(text.replace("other", name))
        return Kernels(program.core, program.source).source_text({"x": 0.4, name: 2}, ["x"])

    assert agree(text, at, ["x"]) == ""
    wanted = adiff.program(text).evaluate("grad", at, ["x"], engine="tape")
    tried = 0
    for name in sorted(set(IDENTIFIER.findall(source("other"))) - {"x", "other", "s", "a", "c", "i", "sin"} - RESERVED):
        renamed = adiff.program(text.replace("other", name))
        found = renamed.evaluate("grad", {"x": 0.4, name: 2}, ["x"], engine="kernel")
        assert found.engine == "kernel", (name, found.reason)
        assert found.value == pytest.approx(wanted.value, rel=1e-13), name
        assert found.gradients["x"] == pytest.approx(wanted.gradients["x"], rel=1e-12), name
        tried += 1
    assert tried > 5


def test_derived_names_are_among_those_tried() -> None:
    program = adiff.program(PROGRAMS[0] + " * other")
    text = Kernels(program.core, program.source).source_text({"x": 0.4, "other": 2}, ["x"])
    assert "t1_room" in IDENTIFIER.findall(text)
    program = adiff.program(PROGRAMS[3])
    text = Kernels(program.core, program.source).source_text({"x": 0.4, "other": 2}, ["x"])
    suffixes = {name.rpartition("_")[2] for name in IDENTIFIER.findall(text) if "_" in name}
    assert suffixes >= {"room", "top", "at", "was"}


def test_what_the_source_calls_is_no_inputs_name() -> None:
    needed = {"float", "abs", "math", "np", "routine_eigh", "scipy_jv", "while", "revolve", "range", *LEGEND}
    called = " ".join(TEXT.values())
    needed |= {name for name in borrowed() if re.search(rf"\b{name}\(", called)}
    assert needed <= RESERVED
    for name in sorted(RESERVED | {"_strong", "_gamma"}):
        other, x = ir.Var(ir.INT, name), ir.Var(ir.FLOAT, "x")
        y = ir.Var(ir.FLOAT, "v")
        kernel = ir.Kernel([other, x], [ir.Set(y, "to_float", (other,), None, None)], [y])
        assert not re.search(rf"\b{name}\b", emit(kernel).text.splitlines()[0].partition("run, ")[2]), name


def test_compiled() -> None:
    text = PROGRAMS[0].replace("other", "t1_room")
    assert agree(text, {"x": 0.4, "t1_room": 2}, ["x"], tolerance=1e-12) == ""
    text = "s = x\nfor i in range(30):\n    s = s * 0.9 + floats + few_bools * kernel\ns"
    assert agree(text, {"x": 0.4, "floats": 2, "few_bools": 3, "kernel": 4}, ["x"]) == ""


def test_rows() -> None:
    """The loop over rows has names of its own."""
    text = "row + first * last - at * doubt + xs * x + result"
    columns = {name: np.arange(1.0, 7.0) * k for k, name in enumerate(("row", "first", "x", "xs"), 1)}
    constants = {"last": 2, "at": 3, "doubt": 4, "result": 5}
    program = adiff.program(text)
    tape, kernel = (program.rows(columns, ["x"], engine=engine, at=constants) for engine in ("tape", "kernel"))
    assert kernel.engine == "kernel"
    np.testing.assert_allclose(kernel.value, tape.value, rtol=1e-15)
    np.testing.assert_allclose(kernel.gradients["x"], tape.gradients["x"], rtol=1e-15)


def test_what_the_source_calls_is_explained() -> None:
    """Each helper has words of its own, or a formula of one line."""
    for name in re.findall(r"^def (\w+)\(", PRELUDE, re.MULTILINE):
        if name not in LEGEND:
            assert len(explained(name)) < 120, name
    source = adiff.program("max(x**2, gamma(x)) + sinh(x)/x").evaluate("tape", {"x": 1.5}, emit=True).emitted
    helpers = set(re.findall(r"(?<![\w.])(_?[a-z]\w*)\(", source[source.index("def kernel") :]))
    assert {"_maximum", "sinh_quotient"} <= helpers
    for name in helpers - {"abs", "range", "kernel", "len", "int", "float", "bool", "max", "min"}:
        assert f"# {name}(" in source, name
