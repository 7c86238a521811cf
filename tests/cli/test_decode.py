"""Command lines and what they ask for."""

import os
import shlex
from contextlib import suppress

import pytest
from adiff.cli.commands import COMMANDS
from adiff.cli.decode import decode, text_given
from adiff.engine.command import Command, Option
from adiff.parser.errors import AdiffError
from hypothesis import given, settings
from hypothesis import strategies as st

PLAIN = """
value 2+2
grad x**2 --at x=2
grad --x --at x=-1
grad -1
value -
value --file=file.adiff
grad --at=x=-1e-3 x
grad x --at x=2,y=3 --at 'z=[1,2]' --wrt x,y --wrt z
grad -- -q
grad 'x' --json
grad x -o out --precision 3 --color never --debug
jvp x --tangent x=1
vjp x --cotangent=-1
check x --dtype float32 --kinks jax --engine tape
grad x --max-steps 1e6 --max-memory 2GiB --timeout 0.5
partition '[10,20]' '[0,1]' 2
partition @a.npy -1 2 --grad
stitch '[[0]]' '[[1]]'
run file.adiff --at x=1
batch - --fail-fast
ops sin
""".strip().splitlines()

HELP = """
--help
-h
grad -h
grad x --help --oops
--show-completion bash
""".strip().splitlines()


@pytest.mark.parametrize("line", PLAIN)
def test_plain_lines(line: str) -> None:
    tokens = shlex.split(line)
    request = decode(tokens)
    assert request is not None
    assert request.command == tokens[0]


@pytest.mark.parametrize("line", HELP)
def test_lines_that_ask_for_help(line: str) -> None:
    assert decode(line.split()) is None


VALUES = {
    "count": st.sampled_from(["1", "25", "1e3"]),
    "positive": st.sampled_from(["0.5", "1e-3", "2"]),
    "order": st.sampled_from(["0", "25", "170"]),
    "processes": st.sampled_from(["1", "2"]),
    "digits": st.sampled_from(["1", "17"]),
    "size": st.sampled_from(["1M", "2g", "1.5MiB"]),
    "seconds": st.sampled_from(["1", "0.25"]),
    "names": st.sampled_from(["x", "x,y", "alpha, beta"]),
    "text": st.sampled_from(["x=1", "x=-1", "-1", "--x", "a b", "", "=", "x=[1,2],y=3", "é", "-"]),
}
VALUES["bindings"] = VALUES["value"] = VALUES["text"]


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """Command lines with nothing wrong in them, their parts in any order."""
    command: Command = draw(st.sampled_from(list(COMMANDS.values())))
    expressions = st.sampled_from(["x", "-x**2", "--x", "-1", "x y", "-(x)", "--1", "é", "", "-.5", "-fx"])
    parts = [[draw(expressions)] for argument in command.arguments if argument.required]
    if command.arguments and command.arguments[0].key == "expression":
        parts = [[draw(expressions)]]
    chosen: list[Option] = draw(st.lists(st.sampled_from(command.options), max_size=6))
    for option in chosen:
        if option.key in ("file", "json", "csv", "format"):
            continue
        name = draw(st.sampled_from([name for name in (option.long, option.short) if name]))
        if option.kind == "flag":
            parts.append([name])
            continue
        kind = option.key if option.key in VALUES else option.kind
        value = draw(st.sampled_from(option.choices) if option.choices else VALUES[kind])
        parts.append([f"{name}={value}"] if draw(st.booleans()) and name == option.long else [name, value])
    # The order of positional arguments among themselves does not matter to the comparison.
    return [command.name, *(token for part in draw(st.permutations(parts)) for token in part)]


@settings(max_examples=400 if os.environ.get("ADIFF_LONG_TESTS") else 120, deadline=None)
@given(command_lines())
def test_options_and_arguments_in_any_order(tokens: list[str]) -> None:
    request = decode(tokens)
    assert request is not None
    assert all(text in tokens for text in request.arguments.values())
    command = COMMANDS[request.command]
    written = [
        option.key for option in command.options if {option.long, option.short} & {t.partition("=")[0] for t in tokens}
    ]
    assert set(request.options) <= set(written)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["grad", "x", "--at", "x=1", "-q", "--json", "--", "--jsn", "-", "-x", "=", "-f", ""])))
def test_any_line_is_a_request_or_an_error(tokens: list[str]) -> None:
    with suppress(AdiffError):
        decode(tokens)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("grad x --json", "json"),
        ("grad x --csv --oops", "csv"),
        ("grad --format ndjson", "ndjson"),
        ("grad --format=tsv --nope", "tsv"),
        ("grad -- --json", None),
        ("grad", None),
        ("grad --format", ""),
    ],
)
def test_the_format_is_known_even_of_a_wrong_line(line: str, found: str | None) -> None:
    assert text_given(line.split(), "--format") == found
