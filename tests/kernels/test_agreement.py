"""Agreement of the tiers on many programs: generated ones, the Feynman formulas, the samples.

Most kernels run as Python (`interpret`), which needs no compiler; a few of each kind are compiled.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from agreement import agree
from generated import Recording, Structured, Writer, program

ROOT = Path(__file__).parents[2]
FEYNMAN = json.loads((ROOT / "tests/data/feynman.json").read_text())["cases"]
SAMPLES = sorted((ROOT / "samples").glob("*.adiff"))
LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
GENERATED = 1_000 if LONG else 60
STRUCTURED = 2_000 if LONG else 20
RECORDED = 1_000 if LONG else 10
# Where a kernel must be what answered, of programs that are no errors; the rest are doubts that are the tape's to settle.
SHARE = 0.8


def point(seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    return {
        "x": round(draw.uniform(-2, 2), 2), "y": round(draw.uniform(-2, 2), 2), "n": draw.randint(0, 5),
        "v": np.array([0.3, -1.1, 0.9, 2.0]),
    }  # fmt: skip


def check(seed: int, kind: type[Writer] = Writer) -> str:
    text = program(seed, kind)
    at = point(seed)
    inputs = adiff.program(text).inputs
    return agree(text, {name: at[name] for name in inputs}, [name for name in inputs if name != "n"])


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("start", range(0, GENERATED, 20))
def test_generated(start: int) -> None:
    reasons = [check(seed) for seed in range(start, start + 20)]
    assert reasons.count("") >= SHARE * sum(why != "an error" for why in reasons), reasons


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("start", range(0, STRUCTURED, 10))
def test_generated_with_structures(start: int) -> None:
    """Lists, dicts, tuples, closures that assign outwards, recursion, loops over anything."""
    reasons = [check(seed, Structured) for seed in range(start, start + 10)]
    assert reasons.count("") >= SHARE * sum(why != "an error" for why in reasons), reasons


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("start", range(0, RECORDED, 10))
def test_generated_with_tapes(start: int) -> None:
    """GradientTape blocks, Variables and rules of the program's own, among all the others."""
    reasons = [check(seed, Recording) for seed in range(start, start + 10)]
    assert reasons.count("") >= 0.6 * len(reasons), reasons


@pytest.mark.usefixtures("interpret")
def test_feynman() -> None:
    refused = []
    for case in FEYNMAN:
        reason = agree(case["formula"], dict(zip(case["inputs"], case["points"][0][0])))
        if reason:
            refused.append((case["name"], reason))
    assert len(refused) <= len(FEYNMAN) // 20, refused


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_sample(path: Path) -> None:
    """Whatever a sample is, the tiers agree on it, or the kernel tier says why it leaves it to the tape."""
    text = path.read_text()
    inputs = adiff.program(text).inputs
    if not inputs:
        pytest.skip("nothing to differentiate by")
    draw = random.Random(path.stem)
    at = {name: round(draw.uniform(0.5, 2.0), 2) for name in inputs}
    try:
        adiff.program(text).evaluate("grad", at, engine="tape")
    except AdiffError:
        at = {name: np.round(np.random.default_rng(1).uniform(0.5, 2.0, 3), 2) for name in inputs}
    agree(text, at)
