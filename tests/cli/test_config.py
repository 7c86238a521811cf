"""`config`, `doctor` and `man`: what holds and why, what is wrong, and a page that has it all."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from adiff.cli.commands import COMMANDS

from .conftest import Completed


@pytest.fixture
def configured(adiff: Callable[..., Completed], folder: Path) -> Callable[..., Completed]:
    """Run a command with a text as config.toml."""

    def run(text: str, *arguments: str, **variables: str) -> Completed:
        (folder / "adiff").mkdir(exist_ok=True)
        (folder / "adiff" / "config.toml").write_text(text)
        return adiff(*arguments, XDG_CONFIG_HOME=str(folder), **variables)

    return run


GRAD = ("grad", "sin(x)", "--at", "x=2")


@pytest.mark.parametrize(
    ("text", "arguments", "variables", "shown"),
    [
        ("precision = 3", GRAD, {}, "-0.416\n"),
        ("# three\nprecision = 3", GRAD, {"ADIFF_PRECISION": "4"}, "-0.4161\n"),
        ("precision = 3", (*GRAD, "--precision", "2"), {"ADIFF_PRECISION": "4"}, "-0.42\n"),
        ('format = "csv"', GRAD, {}, "value,d_x\n0.9092974268256817,-0.4161468365471424\n"),
        ('max-steps = "1e3"', ("value", "while True: pass"), {}, "took more than 1000 steps"),
        ('quiet = true', ("grad", "x*ones(2)", "--at", "x=1"), {}, "2.0\n"),
        ('quiet = true', ("grad", "x*ones(2)", "--at", "x=1", "--no-quiet"), {}, "notice[N"),
        ('quiet = true', ("grad", "x*ones(2)", "--at", "x=1"), {"ADIFF_QUIET": "no"}, "notice[N"),
        ('jobs = 2\nkinks = "torch"', ("derive", "x**2"), {}, "2*x\n"),
    ],
)  # fmt: skip
def test_the_line_goes_before_variables_and_these_before_the_file(
    configured: Callable[..., Completed], text: str, arguments: tuple[str, ...], variables: dict[str, str], shown: str
) -> None:
    done = configured(text, *arguments, **variables)
    assert shown in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('# a\nengin = "tape"', "2", "did you mean 'engine'?"),
        ("\nprecision = 40", "2", "'40' is not a number of digits from 1 to 17"),
        ('engine = "tap"', "1", "did you mean 'tape'?"),
        ('engine = "dask"', "1", "'dask' is not one of auto, tape, kernel"),
        ("engine = tape", "", "with text in quotes"),
        ('a = 1\nengine = "tape', "", "not TOML"),
        ("quiet = 3", "1", "3 is not true or false"),
        ("[output]\nquiet = true", "1", "no setting is named 'output'"),
        ("timeout = [1]", "1", "the value is no text, number, true or false"),
    ],
)
def test_a_mistake_has_its_line(configured: Callable[..., Completed], text: str, place: str, message: str) -> None:
    done = configured(text, *GRAD)
    assert (done.returncode, done.stdout) == (4, "")
    assert f"config.toml:{place}" in done.stderr
    assert message in done.stderr
    checked = configured(text, "doctor")
    assert checked.returncode == 1
    assert f"config.toml:{place}" in checked.stdout


def test_config_says_what_holds_and_why(configured: Callable[..., Completed], folder: Path) -> None:
    done = configured('\nengine = "tape"\nprecision = 5', "config", "--json", ADIFF_PRECISION="7")
    found = json.loads(done.stdout)["settings"]
    assert found["engine"] == {"value": "tape", "from": f"{folder}/adiff/config.toml:2"}
    assert found["precision"] == {"value": 7, "from": "ADIFF_PRECISION"}
    assert found["dtype"] == {"value": None, "from": "default"}


def test_a_variable_that_means_nothing(adiff: Callable[..., Completed]) -> None:
    done = adiff(*GRAD, ADIFF_ENGINE="kernl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "ADIFF_ENGINE: 'kernl' is not one of" in done.stderr
    assert "did you mean 'kernel'?" in done.stderr


def test_doctor(adiff: Callable[..., Completed], folder: Path) -> None:
    checks = {check["name"]: check for check in json.loads(adiff("doctor", "--json").stdout)["checks"]}
    assert {"adiff", "Python", "numpy", "pyarrow", "kernels", "cache", "cores", "terminal"} <= set(checks)
    assert not any(check["problem"] for check in checks.values())
    done = adiff("doctor", ADIFF_CACHE_DIR=str(folder / "table.csv"))
    assert done.returncode == 1
    assert "PROBLEM: it is no folder" in done.stdout


def test_the_manual_page_has_all_commands_and_options(answer: Callable[..., str]) -> None:
    page = answer("man")
    if shutil.which("groff"):
        drawn = subprocess.run(
            ["groff", "-man", "-Tascii", "-ww", "-P-c"], input=page, capture_output=True, text=True, check=True
        )
        assert drawn.stderr == ""
    plain = page.replace(r"\-", "-").replace(r"\(dq", '"').replace(r"\(aq", "'")
    assert not set(re.findall(r"^\.(\w+)", page, re.M)) - {"TH", "SH", "SS", "TP", "PP", "EX", "EE", "B"}
    for command in COMMANDS.values():
        assert f'.SS "adiff {command.name}' in page
        assert all(example in plain for example in command.examples)
        assert all(rf"\fB{option.long}\fR" in plain and option.help in plain for option in command.options)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_breaks_no_word_at_80_columns(answer: Callable[..., str], name: str) -> None:
    page = answer(*name.split(), "--help", COLUMNS="80")
    command = COMMANDS.get(name)
    for option in command.options if command else ():
        choices = option.choices if len("|".join(option.choices)) > 17 else ("|".join(option.choices),)
        for word in (*option.help.split(), *choices):
            assert word in page, word
    for line in command.examples if command else ():
        assert f" {line} " in page


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("--search", "log sum exp"), {"logsumexp", "cumlogsumexp", "jax.lax.cumlogsumexp"}),
        (("--search", "ERF", "--family", "special"), {"erf", "erfc"}),
    ],
)
def test_operations_are_searched(answer: Callable[..., str], arguments: tuple[str, ...], names: set[str]) -> None:
    rows = [line.split("\t") for line in answer("ops", *arguments, "--format", "tsv").splitlines()[1:]]
    found = {row[0] for row in rows}
    assert names <= found
    assert len(found) < 30


def test_a_search_in_vain(adiff: Callable[..., Completed]) -> None:
    done = adiff("ops", "--family", "specia")
    assert (done.returncode, "did you mean 'special'?" in done.stderr) == (2, True)
    assert adiff("ops", "--search", "zorp").returncode == 3
    assert [adiff("ops", *line).returncode for line in (("sin", "--family", "special"), ("--search", ""))] == [2, 2]


@pytest.mark.parametrize("line", [("man",), ("batch", "-"), ("repl",)])
def test_protocols_keep_their_format(adiff: Callable[..., Completed], line: tuple[str, ...]) -> None:
    shown = [
        adiff(*line, stdin="1/4\n", **given).stdout for given in ({}, {"ADIFF_FORMAT": "csv"}, {"ADIFF_FORMAT": "json"})
    ]
    assert shown[0]
    assert shown[0] == shown[1] == shown[2]
