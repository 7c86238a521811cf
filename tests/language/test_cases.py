"""Programs and what they give, from cases/*.txt.

A case is a program after a line `===` and, if it has one, a name. What must be true of it stands in comments under it:

    #=> [1, 2]              its value, as a Python literal
    #~1e-14> 0.1            its value, to that relative tolerance
    #> text                 the lines that it prints
    #! E0302 words          its error's code, and words of the message
    #hint words             words of the hint
    #? N0502 words @ place  a notice: its code, words of the message, and the text that it points at
    #at {"x": 2.0}          the inputs

The lines before the first case stand before every program of the file.
"""

import ast
from pathlib import Path
from typing import Any

import pytest

from .conftest import Runner

KEYS = ("#=>", "#~", "#>", "#!", "#hint", "#?", "#at")


def read(path: Path) -> list[Any]:
    prelude, *blocks = ("\n" + path.read_text(encoding="utf-8")).split("\n===")
    cases = []
    for block in blocks:
        name, _, body = block.partition("\n")
        lines = body.split("\n")
        wanted = [line for line in lines if line.startswith(KEYS)]
        text = "\n".join([prelude, *(line for line in lines if line not in wanted)])
        assert wanted, f"{path.name}: a case without an expectation: {body}"
        odd = [line for line in lines if line[:1] == "#" and line[1:2] in tuple("=~>!?-<") and line not in wanted]
        assert not odd, f"{path.name}: no expectation begins like {odd}"
        assert not ({"#=", "#~"} & {line[:2] for line in wanted} and "#!" in {line[:2] for line in wanted}), body
        cases.append(pytest.param(text.strip("\n"), wanted, id=f"{path.stem}: {name.strip() or body[:60]}"))
    return cases


CASES = [case for path in sorted((Path(__file__).parent / "cases").glob("*.txt")) for case in read(path)]


def laid_out(value: Any) -> Any:
    """SparseTensors as (indices, values, shape)."""
    if hasattr(value, "to_plain"):
        found = value.to_plain()
        return found["indices"].tolist(), found["values"].tolist(), found["shape"]
    return type(value)(map(laid_out, value)) if isinstance(value, list | tuple) else value


def truths(value: Any) -> Any:
    """Which parts are bools: 1 == True as numbers."""
    return list(map(truths, value)) if isinstance(value, list | tuple) else isinstance(value, bool)


def near(found: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, list | tuple):
        for one, other in zip(found, expected, strict=True):
            near(one, other, tolerance)
    else:
        assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize(("text", "wanted"), CASES)
def test_case(run: Runner, text: str, wanted: list[str]) -> None:
    inputs = [line for line in wanted if line.startswith("#at")]
    at = ast.literal_eval(inputs[0].removeprefix("#at").strip()) if inputs else {}
    fails = any(line.startswith("#!") for line in wanted)
    error = run.refused(text, at) if fails else None
    value = None if fails else laid_out(run(text, at))
    for line in wanted:
        key, _, rest = line.partition(" ")
        if key == "#=>":
            expected = ast.literal_eval(rest)
            assert value == expected
            assert truths(value) == truths(expected)
        elif key.startswith("#~"):
            near(value, ast.literal_eval(rest), float(key[2:-1]))
        elif key == "#!":
            assert error is not None
            code, _, words = rest.partition(" ")
            assert (error.code, words in error.message) == (code, True), error.message
            assert error.span is not None
        elif key == "#hint":
            assert error is not None
            assert rest in (error.hint or "")
        elif key == "#?":
            code, _, words = rest.partition(" ")
            words, _, place = words.partition(" @ ")
            found = [words in message and place in shown for message, shown in run.notices(code)]
            assert sum(found) == 1, run.outcome.notices
    printed = [line[3:] for line in wanted if line.startswith("#>")]
    if printed:
        assert run.printed == "\n".join(printed) + "\n"
