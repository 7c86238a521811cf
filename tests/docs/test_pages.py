"""The pages hold what the program has: operations, codes, commands, options; and their links lead somewhere."""

import re
from pathlib import Path

import examples
import generate
import pytest
from adiff.cli.commands import COMMANDS
from adiff.cli.environment import Environment
from adiff.cli.main import run
from adiff.engine.command import Command

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*examples.PAGES, ROOT / "CHANGELOG.md"]
COMMANDS_PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
STALE = "run python docs/generate.py"


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return examples.FENCE.sub("", page.read_text(encoding="utf-8"))


def fragments(page: Path) -> set[str]:
    """The fragments that links may name: a page's headings as GitHub files them."""
    return {generate.anchor(heading) for heading in re.findall(r"^#+ +(.+?) *$", prose(page), re.M)}


def test_operations_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "operations.md").read_text(encoding="utf-8") == generate.operations_page(), STALE


def test_errors_page_is_up_to_date(tmp_path: Path) -> None:
    assert (ROOT / "docs" / "errors.md").read_text(encoding="utf-8") == generate.errors_page(tmp_path), STALE


def test_every_code_of_the_source_is_described() -> None:
    assert set(generate.code_descriptions()) == generate.codes_of_source()


@pytest.mark.parametrize("code", generate.code_descriptions())
def test_the_example_of_a_code_shows_it(code: str, tmp_path: Path) -> None:
    entry = generate.code_descriptions()[code]
    _, shown = generate.error_example(entry, tmp_path)
    assert "why" in entry or f"[{code}]" in shown


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_command_is_documented(command: Command, tmp_path: Path) -> None:
    screen = examples.Terminal()
    status = run([command.name, "--help"], Environment(None, screen, screen, {"COLUMNS": "100", "NO_COLOR": "1"}))
    assert status == 0
    assert re.search(rf"^### {command.name}$", COMMANDS_PAGE, re.M), (
        f"docs/commands.md has no section on {command.name}"
    )
    assert f"$ adiff {command.name} " in COMMANDS_PAGE, f"docs/commands.md has no example of {command.name}"


def test_tables_of_commands_are_up_to_date() -> None:
    assert generate.with_parts(COMMANDS_PAGE, generate.commands_parts()) == COMMANDS_PAGE, STALE


def test_no_option_is_invented() -> None:
    known = {
        name for command in COMMANDS.values() for option in command.options for name in (option.long, option.off)
    } | {
        "--help",
        "--version",
        "--install-completion",
        "--show-completion",
    }
    for page in PAGES:
        for block in examples.blocks(page):
            for command, _ in examples.steps(block.body) if block.language == "console" else ():
                if examples.is_adiff_alone(examples.plain_command(command)) and "error" not in block.words:
                    mentioned = set(re.findall(r"(?<=\s)--[a-z-]+", command))
                    assert page.name == "errors.md" or mentioned <= known, f"{block}: {mentioned - known}"
    assert set(re.findall(r"(?<=`)--[a-z-]+", prose(ROOT / "docs" / "commands.md"))) <= known


def test_every_status_and_family_is_documented() -> None:
    from adiff.parser.errors import FAMILIES

    for digits, (_, status) in FAMILIES.items():
        assert re.search(rf"^\| E{digits}xx \|.*\| {status} \|$", COMMANDS_PAGE, re.M), digits


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if link.startswith(("http:", "https:")):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if fragment:
            assert fragment in fragments(target), f"{page.name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_samples_that_are_named_exist(page: Path) -> None:
    for name in re.findall(r"\bsamples/[\w./-]+\.\w+", page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_readme_leads_to_every_page() -> None:
    linked = {link.partition("#")[0] for link in LINK.findall(prose(ROOT / "README.md"))}
    assert {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")} <= linked


def test_readme_begins_with_the_two_commands() -> None:
    shown = [block for block in examples.blocks(ROOT / "README.md") if block.language == "sh"]
    assert shown[0].body.endswith('.venv/bin/adiff grad "x**2" --at x=2\n')
    assert shown[1].body.endswith(".venv/bin/python -m pytest -n auto\n")
