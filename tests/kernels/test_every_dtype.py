"""All numeric operations compile: every row, by every command and of every dtype that it takes, is answered by a kernel.

Beside test_every_row.py, which asks for gradients and Hessians by float64, and test_float32.py. Nothing is left to the
tape.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.core.operation import Operation
from agreement import agree
from of_dtypes import KINDS, of_dtype
from row_programs import RowProgram, programs
from test_every_row import EVERY_ROW, LATER, LONG

DIRECTIONAL = ("jvp", "vjp", "jacobian")
COMMANDS = (*DIRECTIONAL, "hvp", "value", "grad", "hessian")
TOLERANCE = {"hessian": 1e-10, "hvp": 1e-10}


def directions(command: str, at: dict[str, Any], wrt: list[str]) -> dict[str, Any]:
    """What a command is to be given beside the inputs: numbers of the inputs' kinds."""
    generator = np.random.default_rng(3)

    def like(x: Any) -> Any:
        found = generator.uniform(-1.0, 1.0, np.shape(x))
        if np.iscomplexobj(x):
            found = found + 1j * generator.uniform(-1.0, 1.0, np.shape(x))
        return found if np.ndim(x) else found.item() if hasattr(found, "item") else found

    option = {"jvp": "tangent", "hvp": "vector"}.get(command)
    return {} if option is None else {option: {name: like(at[name]) for name in wrt}}


def asked(command: str, program: RowProgram) -> tuple[str, dict[str, Any], list[str]]:
    """A program for a command: the row's own result, where that may be a tensor."""
    body, total = program.text.rsplit("\n", 1)
    text = f"{body}\nr" if command in DIRECTIONAL and "r[" not in total else program.text
    at = {name: x for name, x in program.at.items() if name in text}
    return text, at, [name for name in program.wrt if name in at]


def chosen(row: Operation, commands: tuple[str, ...], count: int) -> Iterator[str]:
    """Some of the commands, others for every row, or all of them."""
    start = zlib.crc32(row.name.encode())
    for k in range(len(commands) if LONG else count):
        yield commands[(start + k) % len(commands)]


def check(row: Operation, command: str, program: RowProgram) -> None:
    text, at, wrt = asked(command, program)
    if command != "value" and not wrt:
        return
    given = None if command == "value" else wrt
    reason = agree(text, at, given, command, TOLERANCE.get(command, 1e-12), **directions(command, at, wrt))
    assert reason in ("", "an error"), f"{command} of\n{text}\n{reason}"


@pytest.mark.usefixtures("interpret")
@EVERY_ROW
def test_real_inputs(row: Operation) -> None:
    for number, program in enumerate(programs(row)):
        if number and not LONG:
            break
        for command in chosen(row, COMMANDS[:4], 1):
            check(row, command, program)


@pytest.mark.usefixtures("interpret")
@EVERY_ROW
def test_complex_inputs(row: Operation) -> None:
    """Elementwise rows are in operations/test_complex.py too."""
    if "c" in row.accepts and row.name not in LATER:
        for number, program in enumerate(of_dtype(row, "c")):
            if number and not LONG:
                break
            for command in chosen(row, COMMANDS, 1):
                check(row, command, program)


WHOLE = {"k": np.array([1, 4, 1]), "b": np.array([True, False, True]), "n": 3}
NUMBERS = [
    "sum(k)", "prod(k)", "max(k)", "k[1]", "dot(k, k)", "norm(k, ord=1)", "trace(outer(k, k))", "ptp(k)", "mean(k)",
    "average(k, None, k)", "sum(b)", "any(b)", "b[0]", "n + 1", "len(k)", "real(n)", "imag(n)", "conj(n)", "real(b[0])",
    "reduce_mean(k)", "floor(n)", "abs(n)", "sign(k[0])", "argmax(k)", "count_nonzero(k)", "segment_mean(k, [0, 0, 2])",
    "segment_mean(k, k - 1)", "unsorted_segment_mean(k, [1, 0, 1], 2)", "real(k)", "imag(k)", "conj(k)", "unstack(k)",
    "imag(b)", "conj(b)", "cumsum(b)", "diff(k)", "k // 2", "k / 2", "k ** 2", "median(k)", "sort(k)", "where(b, k, 0)",
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("form", ["{}", "[{}, {}]", "({}, 0.5)", "r = {}\nfor i in range(2):\n    r = {}\nr"])
def test_types_of_whole_results(number: str, form: str) -> None:
    """What whole numbers give has one type, alone and as a part of a result."""
    text = form.replace("{}", number)
    agree(text, {name: x for name, x in WHOLE.items() if name in adiff.program(text).inputs}, None, "value")


def test_truth_values_are_not_added() -> None:
    at = {"b": WHOLE["b"], "c": np.array([[1], [2]])}
    assert agree("tensor_scatter_nd_add(b, c, b[1:])", at, None, "value") == "an error"
    assert (
        agree("tensor_scatter_nd_sub(b, c, b[1:])", at, None, "value") != "an error"
    )  # what is subtracted is a number


@pytest.mark.usefixtures("interpret")
def test_the_imaginary_part_of_what_has_none() -> None:
    for x in (np.array([np.inf, -1.0, np.nan]), np.inf, -2.0, np.nan):
        for engine in ("tape", "kernel"):
            found = adiff.program("imag(x)").evaluate("value", {"x": x}, engine=engine).value
            assert not np.any(found)
            assert not np.signbit(found).any()
        assert agree("sum(imag(x) * x)", {"x": x}) == ""


@pytest.mark.usefixtures("interpret")
@EVERY_ROW
@pytest.mark.parametrize("kind", ["i", "b"], ids=KINDS.get)
def test_whole_inputs(row: Operation, kind: str) -> None:
    if kind in row.accepts:
        for number, program in enumerate(of_dtype(row, kind)):
            if number and not LONG:
                break
            check(row, "value", program)
