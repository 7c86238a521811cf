"""The strict decoder, and its agreement with the Typer application built from the same table."""

import io
import os
import shlex

import pytest
from adiff.cli.app import interpret
from adiff.cli.commands import COMMANDS
from adiff.cli.decode import decode, text_given
from adiff.cli.environment import Environment
from adiff.cli.request import Request
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

UNPLAIN = """

--help
grad -h
grad x --att x=2
grad x --at
grad x --at --json
grad x y
grad --json=1 x
partition 1 2
--version
""".strip("\n").splitlines()


def by_typer(tokens: list[str]) -> Request:
    environment = Environment(io.StringIO(), io.StringIO(), io.StringIO(), {})
    request = interpret(tokens, environment)
    assert isinstance(request, Request)
    return request


def parts(request: Request) -> tuple[object, ...]:
    return request.command, request.arguments, request.options, request.bound


@pytest.mark.parametrize("line", PLAIN)
def test_decoder_and_typer_agree(line: str) -> None:
    tokens = shlex.split(line)
    request = decode(tokens)
    assert request is not None
    assert parts(request) == parts(by_typer(tokens))


@pytest.mark.parametrize("line", UNPLAIN)
def test_decoder_leaves_doubt_to_typer(line: str) -> None:
    assert decode(shlex.split(line)) is None


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
def test_decoder_and_typer_agree_on_any_line(tokens: list[str]) -> None:
    request = decode(tokens)
    assert request is not None
    assert parts(request) == parts(by_typer(tokens))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["grad", "x", "--at", "x=1", "-q", "--json", "--", "--jsn", "-", "-x", "=", "-f", ""])))
def test_decoder_never_accepts_what_typer_refuses(tokens: list[str]) -> None:
    try:
        request = decode(tokens)
    except AdiffError:
        return
    if request is not None:
        assert parts(request) == parts(by_typer(tokens))


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
