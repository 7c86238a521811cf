"""Programs that parse and fail later, kept by stage: names, and evaluation. Each has its whole diagnostic beside it."""

from __future__ import annotations

import os
from pathlib import Path

import adiff
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
