"""The rendered diagnostic of every failing sample, against the text kept beside it.

UPDATE_SNAPSHOTS=1 writes the texts anew; read what changed before you keep it.
"""

import os
import re
from pathlib import Path

import pytest
from adiff.parser.errors import AdiffError
from adiff.parser.parse import parse
from adiff.parser.render import render
from adiff.parser.source import Source

SAMPLES = sorted((Path(__file__).parents[1] / "samples_failing" / "parse_error").glob("*.adiff"))
PACKAGE = Path(__file__).parents[2] / "parser"


def mistake(path: Path) -> AdiffError:
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read()
    with pytest.raises(AdiffError) as caught:
        parse(Source(text, path.name))
    return caught.value


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_is_refused_as_written_down(path: Path) -> None:
    rendered = render(mistake(path)) + "\n"
    expected = path.with_suffix(".txt")
    if os.environ.get("UPDATE_SNAPSHOTS"):
        expected.write_text(rendered, encoding="utf-8")
    assert rendered == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_mistake_has_a_place_and_says_what_to_write(path: Path) -> None:
    error = mistake(path)
    assert error.kind == "syntax"
    assert error.exit_code == 3
    assert error.span is not None
    assert 0 <= error.span.start <= error.span.end <= len(error.span.source.text)
    assert error.hint or path.stem == "sign_unknown"


def test_there_is_a_sample_of_every_code() -> None:
    written = {code for path in PACKAGE.glob("*.py") for code in re.findall(r'"(E01\d\d)"', path.read_text())}
    assert written == {mistake(path).code for path in SAMPLES}
