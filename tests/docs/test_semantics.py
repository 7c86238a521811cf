"""The column of docs/semantics.md that says what adiff gives at singular points, held against what it gives."""

import math
import re
from pathlib import Path
from typing import Any

import adiff
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "semantics.md"
ROWS = {
    cells[0]: cells[4]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if len(cells := line.strip("| ").split(" | ")) == 5
}
INF = math.inf
# What the first cell of a row describes: programs and their points.
POINTS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "`abs(x)` at 0": [("abs(x)", {"x": 0.0})],
    "`relu(x)` at 0": [("relu(x)", {"x": 0.0})],
    "`maximum(x, y)`, a tie": [("maximum(x, y)", {"x": 1.0, "y": 1.0})],
    "`max(x)` of [2, 1, 2]": [("max(x)", {"x": [2.0, 1.0, 2.0]})],
    "`max(x, y, z)`, a tie of all three": [("max(x, y, z)", {"x": 1.0, "y": 1.0, "z": 1.0})],
    "`clip` at an edge": [("clip(x, 0, 1)", {"x": 1.0}), ("clip(x, 0, 1)", {"x": 0.0})],
    "`sign`, `floor`, `round`": [("sign(x)", {"x": 0.0}), ("floor(x)", {"x": 1.0}), ("round(x)", {"x": 0.5})],
    "`sqrt(x)` at 0": [("sqrt(x)", {"x": 0.0})],
    "`1/x` at 0": [("1/x", {"x": 0.0})],
    "`log(x)` at 0; at -1": [("log(x)", {"x": 0.0}), ("log(x)", {"x": -1.0})],
    "`x**0` at 0": [("x**0", {"x": 0.0})],
    "`x**y` at (0, 2)": [("x**y", {"x": 0.0, "y": 2.0})],
    "`x**y` at (0, 0)": [("x**y", {"x": 0.0, "y": 0.0})],
    "`x**y` at (-2, 3)": [("x**y", {"x": -2.0, "y": 3.0})],
    "`norm(x)` at [0, 0]": [("norm(x)", {"x": [0.0, 0.0]})],
    "`hypot(x, y)` at (0, 0)": [("hypot(x, y)", {"x": 0.0, "y": 0.0})],
    "`atan2(y, x)` at (0, 0)": [("atan2(y, x)", {"x": 0.0, "y": 0.0})],
    "`sqrt(sum(x**2))` at 0": [("sqrt(sum(x**2))", {"x": [0.0, 0.0]})],
    "`where(x > 0, sqrt(x), 0)` at 0 and -1": [("where(x > 0, sqrt(x), 0)", {"x": 0.0}), ("where(x > 0, sqrt(x), 0)", {"x": -1.0})],
    "`where(x > 0, log(x), 0)` at 0": [("where(x > 0, log(x), 0)", {"x": 0.0})],
    "`xlogy(x, y)` at (0, 0)": [("xlogy(x, y)", {"x": 0.0, "y": 0.0})],
    "`prod(x)` of [0, 2, 3]": [("prod(x)", {"x": [0.0, 2.0, 3.0]})],
    "`std(x)` of constants": [("std(x)", {"x": [2.0, 2.0, 2.0]})],
    "`logsumexp` of (-inf, -inf)": [("logsumexp(x)", {"x": [-INF, -INF]}), ("logaddexp(x, y)", {"x": -INF, "y": -INF})],
    "`sinc(x)` at 0": [("sinc(x)", {"x": 0.0})],
    "`mod(x, y)` at (4, 2)": [("mod(x, y)", {"x": 4.0, "y": 2.0})],
}  # fmt: skip


def test_every_row_is_tried() -> None:
    assert set(POINTS) == set(ROWS) - {"case"}


def gradients(text: str, point: dict[str, Any]) -> list[Any]:
    """Those of the tape, which are a kernel's too."""
    found = [adiff.program(text).evaluate("grad", point, engine=engine).gradients for engine in ("tape", "kernel")]
    tape, kernel = ([[float(x) for x in flat(g)] for g in each.values()] for each in found)
    assert repr(tape) == repr(kernel)
    return tape


def flat(gradient: Any) -> list[Any]:
    return list(gradient) if hasattr(gradient, "__len__") else [gradient]


@pytest.mark.parametrize("case", POINTS)
def test_adiffs_column(case: str) -> None:
    wanted = [float(number) for number in re.findall(r"-?(?:inf|nan|\d*\.?\d+)", ROWS[case])]
    found = [float(entry) for text, point in POINTS[case] for gradient in gradients(text, point) for entry in gradient]
    if len(wanted) == 1:
        wanted *= len(found)
    assert len(found) == len(wanted)
    assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(found, wanted, strict=True))
