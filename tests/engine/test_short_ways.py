"""Loops over numbers on the tape: their operations take the short way, with the derivatives of the long one."""

from typing import Any

import mpmath as mp
import pytest
from adiff import program
from adiff.engine.core import dispatch

LOOP = "y = x\nfor i in range(5):\n    y = {}\ny"
# A step, and the same in mpmath where it does not count.
STEPS: dict[str, tuple[str, Any]] = {
    "arithmetic": ("y * 0.9 + 2 * sin(y) - 0.1 / (1 + y ** 2)", lambda y: y * 0.9 + 2 * mp.sin(y) - 0.1 / (1 + y**2)),
    "counts": ("y * 3 - i + y / 4", None),
    "extremes": ("max(y, 0.3) * 1.1 - min(y, 2.0) + maximum(y, -y)", lambda y: max(y, 0.3) * 1.1 - min(y, 2.0) + max(y, -y)),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_numbers_take_the_short_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step, exact = STEPS[name]
    compiled = program(LOOP.format(step))
    apply, slow = dispatch.apply, []

    def counted(op: Any, inputs: Any, attributes: Any) -> Any:
        slow.append(op.name)
        return apply(op, inputs, attributes)

    monkeypatch.setattr(dispatch, "apply", counted)
    at = {"x": 0.7}
    pulled = compiled.evaluate("grad", at, ["x"], engine="tape").gradients["x"]
    pushed = compiled.evaluate("jvp", at, ["x"], engine="tape", tangent={"x": 1.0}).tangent
    assert not slow
    assert pushed == pytest.approx(pulled, rel=1e-15)
    if exact is not None:

        def whole(y: Any) -> Any:
            for _ in range(5):
                y = exact(y)
            return y

        with mp.workdps(30):
            assert pulled == pytest.approx(float(mp.diff(whole, mp.mpf(0.7))), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "at", "wanted"),
    [
        ("max(x, 2.0)", 2.0, 0.5),  # a tie, half of which is chosen
        ("sqrt(x) * 0.0", 0.0, 0.0),  # an infinite slope beside a tangent of zero: reverse mode decides
        ("where(x > 0, sqrt(x), 0)", 0.0, 0.0),
        ("x ** 2 + x * 10**30", 1.0, 1e30),  # an integer that is no float exactly
        ("where(x > 0, x, 3) * 2", -1.0, 0.0),
    ],
)
def test_what_the_long_way_decides(text: str, at: float, wanted: float) -> None:
    for command, options in (("grad", {}), ("jvp", {"tangent": {"x": 1.0}})):
        found = program(text).evaluate(command, {"x": at}, ["x"], engine="tape", **options)
        assert (found.gradients["x"] if command == "grad" else found.tangent) == pytest.approx(wanted, rel=1e-15)
