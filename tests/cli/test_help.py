"""Help, version and completion: complete, true, and quick to load."""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from adiff.cli.commands import COMMANDS

from .conftest import Completed

EXAMPLES = [example for command in COMMANDS.values() for example in command.examples]
FORMULAE = ("numpy", "numba", "scipy", "lark")


def words(text: str) -> str:
    """The text of a help page without boxes and line breaks."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_every_option_and_every_example(answer: Callable[..., str], name: str) -> None:
    command = COMMANDS[name]
    page = words(answer(name, "--help", COLUMNS="200"))
    assert command.help in page
    assert "Examples:" in page
    for example in command.examples:
        assert " ".join(example.split()) in page
    for option in command.options:
        assert option.long in page
        assert option.short is None or f" {option.short} " in page
        assert option.help in page
    for argument in command.arguments:
        assert argument.metavar in page
        assert argument.help in page
    assert page == words(answer(name, "-h", COLUMNS="200"))


def test_the_first_page_names_every_command(answer: Callable[..., str]) -> None:
    page = words(answer("--help", COLUMNS="200"))
    for command in COMMANDS.values():
        assert f" {command.name} " in page
        assert command.help in page


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_runs(started: Callable[..., Completed], adiff: Callable[..., Completed], example: str) -> None:
    """The first of each command in a process of its own, with all that its start takes."""
    program, *arguments = shlex.split(example)
    assert program == "adiff"
    done = (started if example == COMMANDS[arguments[0]].examples[0] else adiff)(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout or "--resume" in arguments or arguments == ["repl"]  # which is given no line


def test_version(answer: Callable[..., str]) -> None:
    from importlib.metadata import version

    assert answer("--version") == f"adiff {version('adiff')}\n"


def loaded(arguments: list[str], folder: Path) -> set[str]:
    """The top-level modules a command loads."""
    code = (
        "import sys; from adiff.cli.main import run; from adiff.cli.environment import Environment;"
        "code = run(sys.argv[1:], Environment.system());"
        "print('MODULES', *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=folder)
    return set(done.stderr.rpartition("MODULES")[2].split())


@pytest.mark.parametrize(
    "arguments", ["--help", "--version", "grad --help", "batch -h", "gard", "grad x --att x=1", ""]
)
def test_help_and_mistakes_load_nothing_heavy(folder: Path, arguments: str) -> None:
    assert not loaded(arguments.split(), folder) & set(FORMULAE)


@pytest.mark.parametrize("arguments", ["grad x**2 --at x=2", "value 2+2", "grad -x**2 --at x=-1 --json"])
def test_a_scalar_command_loads_little(folder: Path, arguments: str) -> None:
    assert not loaded(arguments.split(), folder) & {*FORMULAE, "typer", "click", "rich", "inspect", "dataclasses"}


def test_help_without_unicode(adiff: Callable[..., Completed]) -> None:
    done = adiff("grad", "--help", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert done.stdout.isascii()


@pytest.mark.parametrize(
    ("shell", "variables"),
    [
        ("bash", lambda line: {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}),
        ("zsh", lambda line: {"_TYPER_COMPLETE_ARGS": line}),
        ("fish", lambda line: {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}),
    ],
)
def test_completion(adiff: Callable[..., Completed], shell: str, variables: Callable[[str], dict[str, str]]) -> None:
    def completed(line: str) -> str:
        return adiff(_ADIFF_COMPLETE=f"complete_{shell}", **variables(line)).stdout

    assert "hessian" in completed("adiff hes")
    assert "--format" in completed("adiff grad x --for")
    assert "ndjson" in completed("adiff grad x --format nd")
    assert "float32" in completed("adiff grad x --dtype ")
    assert "sinh" in completed("adiff ops sin")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(adiff: Callable[..., Completed], shell: str) -> None:
    done = adiff("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.returncode == 0
    assert "_ADIFF_COMPLETE" in done.stdout
