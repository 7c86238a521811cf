"""Operations that are written in the language (engine/library/operations/): documented, with true examples, and differentiable
on both tiers at the samples of tests/data/operations.txt."""

import ast
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.ops.operation import Operation
from adiff.engine.program import library

FILES = dict.fromkeys(file for file, _ in library.OPERATIONS.values())
ROWS = [row for file in FILES for row in library.operations(file).values()]
SAMPLES = (Path(__file__).parent.parent / "data" / "operations.txt").read_text().splitlines()
# A number of all results; of complex ones from both parts.
TOTAL = """
total = 0.0
for part in (found if isinstance(found, (list, tuple)) else [found]):
    total += np.sum(TERM)
total
"""
COMPLEX = ("fft2d", "ifft2d", "eigvals")
TERMS = "sin(part)", "sin(real(part)) + cos(2*real(part)*imag(part)) + imag(part)**2"
# Operations with a kernel at none of their samples, since what they are made of has none.
DECLINED = """
    polyfit convolve scipy.signal.convolve correlate cholesky_solve solve_triangular pinv tf.linalg.lstsq eigvalsh svdvals logdet
    tf.linalg.qr tf.linalg.svd jax.lax.cummax jax.lax.cummin jax.lax.cumlogsumexp top_k median quantile percentile
    triangular_solve qr svd lstsq segment_max segment_min unsorted_segment_max unsorted_segment_min tensor_scatter_nd_update
    sort cummax cummin cumlogsumexp
""".split()


def test_every_name_has_its_function() -> None:
    for name, (file, function) in library.OPERATIONS.items():
        assert function in library.operations(file), f"{name} has no docstring with an example"
    assert {name for file in FILES for name in library.public(file)} == {f for _, f in library.OPERATIONS.values()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_operation_is_shown_and_its_example_true(row: Operation) -> None:
    shown = next(info for info in adiff.operations() if info.name == row.name)
    assert shown.doc.endswith(".")
    assert shown.signature.startswith(row.name + "(")
    assert row.example is not None
    text, expected = row.example
    assert_close(adiff.program(text).evaluate("value").value, expected, 4e-15)


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert_close(a, b, tolerance)
    else:
        assert np.shape(found) == np.shape(expected)
        assert np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True), (found, expected)


@pytest.mark.parametrize("sample", SAMPLES)
def test_gradient_of_operation(sample: str) -> None:
    call, _, bound = sample.partition(" | ")
    at = {name: np.array(ast.literal_eval(value)) for name, _, value in (x.partition("=") for x in bound.split("; "))}
    name = call.partition("(")[0]
    program = adiff.program(f"found = {call}{TOTAL.replace('TERM', TERMS[name in COMPLEX])}")
    tape, kernel = (program.evaluate("grad", at, engine=engine) for engine in ("tape", "kernel"))
    declined = name in (*COMPLEX, *DECLINED) or call in (
        "condition_number(v0)",
        *(f"norm(v0, ord={n})" for n in ("3", "'nuc'", "2")),
    )
    assert kernel.engine == ("tape" if declined else "kernel")
    for name, x in at.items():
        direction = np.cos(np.arange(x.size)).reshape(x.shape)
        change = float(np.sum(tape.gradients[name] * direction))
        assert_close(change, slope(program, "value", at, name, direction), 1e-8)
        assert_close(kernel.gradients[name], tape.gradients[name], 1e-12)
        assert_close(program.jvp(at, {name: direction}, engine="tape")[1], change, 1e-12)
        product = program.hvp(at, vector={name: direction}, wrt=[name], engine="tape")[name]
        assert_close(product, slope(program, "grad", at, name, direction), 2e-7)


def slope(program: Any, command: str, at: dict[str, Any], name: str, direction: Any) -> Any:
    def change(h: float) -> Any:
        ends = [program.evaluate(command, {**at, name: at[name] + s * direction}, engine="tape") for s in (h, -h)]
        high, low = (end.value if command == "value" else np.asarray(end.gradients[name]) for end in ends)
        return (high - low) / (2 * h)

    return (4 * change(5e-4) - change(1e-3)) / 3


def test_steps_of_a_tape_are_at_the_call_of_the_operation() -> None:
    text = "outer(x, x)[0, 0]"
    for row in adiff.program(text).evaluate("tape", {"x": [2.0, 3.0]}).tape[1:]:
        assert row.span.source.text == text
