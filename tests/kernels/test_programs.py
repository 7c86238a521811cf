"""Programs with control flow, one for each thing that can go wrong, on both tiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import agree

CASES = (Path(__file__).parent / "programs.txt").read_text().split("\n---\n")
POINTS: list[dict[str, Any]] = [
    {"x": 0.7, "y": -1.3, "n": 5, "v": np.array([0.3, -1.1, 0.9, 2.0])},
    {"x": -1.6, "y": 0.4, "n": 0, "v": np.array([1.5, 0.2, -0.4, 0.0])},
]


@pytest.mark.parametrize("case", CASES, ids=[case.strip().split("\n")[0].lstrip("# ") for case in CASES])
@pytest.mark.usefixtures("interpret")
def test_program(case: str) -> None:
    """A case says in its first line what it is about; "tape:" in it means that no kernel takes it, for that reason."""
    import adiff

    title, text = case.strip().split("\n", 1)
    inputs = adiff.program(text).inputs
    for point in POINTS:
        reason = agree(text, {name: point[name] for name in inputs}, [name for name in inputs if name != "n"])
        if "tape:" in title:
            assert title.split("tape:")[1].strip() in reason
        elif "may" not in title:
            assert reason == "" or "doubtful" in reason, title
