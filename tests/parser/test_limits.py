"""Long and deep texts: linear time, no recursion, a clear error where a tree would be too deep to walk."""

import json
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest
from adiff.parser.errors import AdiffError
from adiff.parser.parse import MAXIMUM_DEPTH, parse
from adiff.parser.source import Source
from adiff.parser.syntax import Binary, Module, Name


def expression(text: str) -> object:
    module = parse(Source(text))
    return module.body[0].value  # type: ignore[attr-defined]


def test_brackets_leave_no_nodes_and_have_no_limit() -> None:
    node = expression("(" * 100_000 + "x" + ")" * 100_000)
    assert isinstance(node, Name)
    assert (node.start, node.end) == (100_000, 100_001)


@pytest.mark.parametrize("operator", ["+", "-", "*", "@", "|"])
def test_a_long_chain_nests_to_the_left(operator: str) -> None:
    count = 100_000 if operator == "+" else 20_000
    node = expression(operator.join(["x"] * count))
    length = 1
    while isinstance(node, Binary):
        assert isinstance(node.right, Name)
        node = node.left
        length += 1
    assert length == count


def test_long_lists_are_flat() -> None:
    for text in (
        ",".join(["x"] * 20_000),
        "[" + "1," * 20_000 + "]",
        " and ".join(["x"] * 20_000),
        "<".join(["x"] * 20_000),
        "'a' " * 20_000,
        "x=1\n" * 20_000,
        "a=" * 20_000 + "1",
        "f(" + "x," * 20_000 + ")",
    ):
        assert isinstance(parse(Source(text)), Module)


DEEP = {
    "calls": ("f(", "x", ")"),
    "lists": ("[", "", "]"),
    "signs": ("-", "x", ""),
    "not": ("not ", "x", ""),
    "powers": ("x**", "x", ""),
    "conditions": ("x if x else ", "x", ""),
    "lambdas": ("lambda: ", "x", ""),
    "attributes": ("", "x", ".y"),
    "indexes": ("", "x", "[0]"),
    "calls of calls": ("", "f", "()"),
    "right operands": ("x+(", "x", ")"),
    "targets": ("[", "x", "]"),
}


@pytest.mark.parametrize("name", DEEP)
def test_nesting_has_a_limit(name: str) -> None:
    before, middle, after = DEEP[name]
    ending = " = y" if name == "targets" else ""
    shallow = before * 9_000 + middle + after * 9_000 + ending
    assert parse(Source(shallow)).body
    with pytest.raises(AdiffError) as caught:
        parse(Source(before * 20_000 + middle + after * 20_000 + ending))
    assert caught.value.code == "E0139"


@pytest.mark.parametrize(
    "text",
    ["if a: b\n" + "elif a: b\n" * (MAXIMUM_DEPTH + 1), "".join(" " * k + "if x:\n" for k in range(102))],
)
def test_long_elif_chains_and_deep_blocks_are_refused(text: str) -> None:
    with pytest.raises(AdiffError) as caught:
        parse(Source(text))
    assert caught.value.code == "E0139"


TEXTS = Path(__file__).parents[2] / "bench" / "hostile_texts.py"
HOSTILE: dict[str, tuple[str, str]] = run_path(str(TEXTS))["HOSTILE"]

# How many lines of the parser are run for a text, in a process of its own: of a long one in which much has been specialised,
# CPython 3.11 may never trace a line. How long those lines take is measured in bench/growth.py.
STEPS = """
import json, runpy, sys
from adiff.parser.errors import AdiffError
from adiff.parser.parse import MAXIMUM_DEPTH, parse
from adiff.parser.source import Source

def steps(text):
    count = 0
    def step(frame, event, argument):
        nonlocal count
        count += 1
        return step
    sys.settrace(step)
    try:
        parse(Source(text))
    except AdiffError:
        pass
    finally:
        sys.settrace(None)
    return count

parse(Source("x"))  # what is found once is
texts = runpy.run_path(sys.argv[1])["HOSTILE"]
print(json.dumps({name: [steps(begun + unit * n) for n in (500, 4_000)] for name, (begun, unit) in texts.items()}))
"""


@pytest.fixture(scope="module")
def steps() -> dict[str, tuple[int, int]]:
    shown = subprocess.run([sys.executable, "-c", STEPS, str(TEXTS)], capture_output=True, text=True, check=True)
    found: dict[str, tuple[int, int]] = json.loads(shown.stdout)
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_no_faster_than_the_text(name: str, steps: dict[str, tuple[int, int]]) -> None:
    """Eight times the text takes some eight times as many steps, and not sixty-four."""
    few, many = steps[name]
    assert 0 < many < 10 * few
