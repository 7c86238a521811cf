"""Rows that a library computes for kernels on whole matrices: signs, phases, singular cases, failures and loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import collection
from adiff.engine.kernels.machine import externals
from agreement import agree

RANDOM = np.random.default_rng(5)
ANY = RANDOM.normal(size=(3, 3))
SYMMETRIC = ANY @ ANY.T + 3.0 * np.eye(3)
TURNING = np.array([[0.2, -1.3, 0.1], [0.9, 0.4, 0.3], [0.0, -0.2, 1.7]])  # complex eigenvalues
TALL = RANDOM.normal(size=(4, 3))
WEIGHTS = RANDOM.normal(size=(3, 3))
PROGRAMS: list[tuple[str, Any]] = [
    ("w, v = eigh(m)\nsum(v * q) + sum(w**2)", SYMMETRIC),
    ("w, v = eigh(stack([m, m @ m]))\nsum(v[0] * q) + sum(v[1] * q) + w[0, 2] * w[1, 0]", SYMMETRIC),
    ("u, s, v = svd(m, full_matrices=False)\nsum(u) + sum(s**2) + sum(v * q)", TALL),
    ("u, s, v = svd(transpose(m), full_matrices=False)\nsum(v) + s[0] * s[1] + sum(u * q)", TALL),
    ("w, v = eig(m)\nsum(abs(v) * q) + real(w[0]) * abs(w[1])", TURNING),
    ("abs(prod(real(eigvals(m)))) + imag(eigvals(m)[0])", TURNING),
    ("sum(logm(m) * q)", SYMMETRIC),
    ("sum(sqrtm(m) * q)", SYMMETRIC),
    ("fsum(m * q) ** 2 + fsum([1e16, m[0, 0], -1e16])", SYMMETRIC),
    ("norm(m, 2) + sum(svdvals(m) ** 3) + sum(eigvalsh(m + transpose(m)) ** 3)", ANY),
    (
        "t = 0.0\nfor i in range(4):\n    w, v = eigh(m * (1 + i) + q * q[i % 3, 0])\n    t += v[0, 0] * w[1]\nt",
        SYMMETRIC,
    ),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "m"), PROGRAMS)
def test_agreement(text: str, m: Any) -> None:
    at = {"m": m, "q": WEIGHTS} if "q" in text else {"m": m}
    for command, tolerance in (("value", 1e-13), ("grad", 1e-12), ("hessian", 1e-10)):
        assert agree(text, at, None if command == "value" else ["m"], command, tolerance) == ""


FAILING: list[tuple[str, Any, str]] = [
    # Vectors of values that coincide have no derivative: the tape reports them.
    ("eigh(m)[1][0, 0]", np.eye(3), "a step with values that only the tape takes"),
    ("svd(m)[0][0, 0]", np.eye(3), "a step with values that only the tape takes"),
    ("real(sum(eigvals(m)))", np.eye(3), "a step with values that only the tape takes"),
    ("sum(logm(m))", -SYMMETRIC, "an error"),
    ("sum(sqrtm(m))", -SYMMETRIC, "an error"),
    ("eigh(m)[1][0, 0]", np.full((3, 3), np.nan), ""),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "m", "reason"), FAILING)
def test_singular_cases_and_failures(text: str, m: Any, reason: str) -> None:
    assert reason in agree(text, {"m": m})


@pytest.mark.usefixtures("interpret")
def test_phases() -> None:
    """A function that depends on the phases of complex eigenvectors is told so by both tiers."""
    assert agree("w, v = eig(m)\nreal(sum(v * (1 + 2j)))", {"m": TURNING}) == ""
    outcome = adiff.program("w, v = eig(m)\nreal(sum(v * (1 + 2j)))").evaluate("grad", {"m": TURNING}, engine="kernel")
    assert [n.code for n in outcome.notices] == ["N0501"]


COMPLEX = ANY + 1j * RANDOM.normal(size=(3, 3))
HERMITIAN = COMPLEX @ COMPLEX.conj().T + np.eye(3)
FORWARD = [
    ("eig(m)[1]", TURNING), ("eig(m)[1]", COMPLEX), ("eigh(m)[1]", HERMITIAN), ("svd(m)[0]", COMPLEX), ("svd(m)[2]", COMPLEX),
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["jvp", "jacobian", "hvp"])
@pytest.mark.parametrize(("part", "m"), FORWARD)
def test_phases_in_forward_mode(part: str, m: Any, command: str) -> None:
    """Tangents are what the rule says, and the notice is that of a sweep back."""
    options = {"jvp": {"tangent": {"m": m + 1}}, "hvp": {"vector": {"m": m + 1}}}.get(command, {})
    said: list[Any] = []
    text = f"real(sum({part} * (0.6 - 0.8j)))"
    assert agree(text, {"m": m}, ["m"], command, 1e-10, also=lambda a, b: said.extend(b.notices), **options) == ""
    assert [n.code for n in said] == ["N0501"]


TURN = np.linalg.qr(ANY)[0]
COINCIDING = [("eigh(m)[0]", [1.0, 1.0, 2.0]), ("svd(m)[1]", [1.0, 1.0, 2.0]), ("svd(m)[1]", [0.0, 1.0, 2.0])]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "jvp", "jacobian"])
@pytest.mark.parametrize(("part", "values"), COINCIDING)
def test_values_that_coincide_are_told_of_in_every_mode(part: str, values: Any, command: str) -> None:
    m = TURN @ np.diag(values) @ TURN.T
    options = {"tangent": {"m": m + 1}} if command == "jvp" else {}
    text = f"sum({part} * [0.3, 0.7, 0.4])"
    agree(text, {"m": m}, ["m"], command, 1e-9, **options)
    outcome = adiff.program(text).evaluate(command, {"m": m}, ["m"], engine="kernel", **options)
    assert [n.code for n in outcome.notices] == ["N0501"]


POOR = np.outer([1.0, 2.0, 0.0, -1.0], [1.0, 0.5, 2.0]) + np.outer([0.0, 1.0, 1.0, 1.0], [2.0, 1.0, 4.0])
OF_LOWER_RANK = [
    "q, r = qr(m)\nabs(q @ r)", "qr(m[:3])[1]", "qr(m[2:])", "tf.linalg.lstsq(m, b)", "tf.linalg.lstsq(transpose(m), b[:3])",
    "pinv(m)", "polyfit([1.0, 0.0, 1.0, 0.0], [2.0, 1.0, 4.0, 1.0], 2) * m[0, 0]",
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", OF_LOWER_RANK)
def test_matrices_of_lower_rank(text: str) -> None:
    """A value has as many vectors as LAPACK finds; derivatives are the tape's."""
    at = {"m": POOR, "b": np.arange(8.0).reshape(4, 2)}
    at = {name: at[name] for name in adiff.program(text).inputs}
    assert agree(text, at, None, "value", 1e-11) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["sum(pinv(m) ** 2)", "sum(tf.linalg.lstsq(m, b))"])
def test_derivatives_of_matrices_of_lower_rank(text: str) -> None:
    at = {"m": POOR, "b": np.arange(8.0).reshape(4, 2)}
    at = {name: at[name] for name in adiff.program(text).inputs}
    assert "only the tape takes" in agree(text, at, ["m"], "grad", 1e-9)
    assert "only the tape takes" in agree(text, at, ["m"], "jvp", 1e-9, tangent={"m": POOR + 1})
    inside = f"with GradientTape() as t:\n    t.watch(m)\n    y = {text}\nt.gradient(y, m)"
    assert "only the tape takes" in agree(inside, at, None, "value", 1e-9)
    assert "only the tape takes" in agree(f"grad(lambda m: {text})(m)", at, None, "value", 1e-9)


def test_machine_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled, and loaded again by a program that has not seen it."""
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path / "kept"))
    text = """
w, v = eigh(m @ transpose(m) + 4 * q)
u, s, t = svd(m + q)
e, p = eig(m)
sum(v * q) + w[0] + sum(u * t) * s[1] + sum(abs(p)) + abs(e[0]) + sum(sqrtm(w[1] * q)) + fsum(m) + sum(logm(v @ q @ transpose(v)))
"""
    at = {"m": TURNING, "q": SYMMETRIC}
    assert agree(text, at, ["m"], "grad", 1e-12) == ""
    made: list[Any] = []
    original = collection.compile_kernel
    monkeypatch.setattr(collection, "compile_kernel", lambda *given: made.append(given) or original(*given))
    again = adiff.program(text).evaluate("grad", at, ["m"], engine="kernel")
    assert again.engine == "kernel"
    assert not made


class Stopping(BaseException):
    """What no row is expected to raise, as a Ctrl-C is not."""


@pytest.mark.parametrize("fault", [KeyboardInterrupt, Stopping, MemoryError, RuntimeError])
def test_what_a_routine_raises_ends_the_run(
    fault: type[BaseException], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In a loop whose first call succeeded: nothing is printed, and no earlier answer is taken for this one."""
    program = adiff.program(
        "t = 0.0\nfor i in range(4):\n    w, v = eigh(m * (1 + i))\n    t += w[0] * v[0, 0] ** 2\nt"
    )
    before = program.evaluate("value", {"m": SYMMETRIC}, engine="kernel")
    assert before.engine == "kernel"
    calls: list[int] = []
    results = externals.Routine.results

    def failing(self: Any, matrix: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise fault
        return results(self, matrix)

    monkeypatch.setattr(externals.Routine, "results", failing)
    with pytest.raises(adiff.AdiffError if fault is MemoryError else fault) as raised:
        program.evaluate("value", {"m": SYMMETRIC}, engine="kernel")
    if fault is MemoryError:
        assert raised.value.code in ("E0602", "E0611")
    assert len(calls) == 3
    assert capfd.readouterr().err == ""
    assert not externals.RAISED
    assert program.evaluate("value", {"m": SYMMETRIC}, engine="kernel").value == before.value
