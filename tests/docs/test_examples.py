"""Every example of README.md and docs/ shows what adiff really answers."""

import doctest
from pathlib import Path

import examples
import pytest

PAGES = {page.name: page for page in examples.PAGES if page.name != "errors.md"}  # which is compared as a whole


@pytest.mark.parametrize("name", PAGES)
def test_examples_show_what_happens(name: str, tmp_path: Path) -> None:
    session = examples.Session(tmp_path)
    wrong = []
    names: dict[str, object] = {}  # of the page's sessions of Python
    for block in examples.blocks(PAGES[name]):
        if block.file:
            examples.write_file(block, session)
        elif block.run and block.language == "console":
            for command, shown in examples.steps(block.body):
                real = session.command(examples.plain_command(command))
                if not examples.matches(shown, real):
                    wrong.append(f"{block}: {command}shows\n{shown}and answers\n{examples.tidy(real)}")
        elif block.run and block.language == "python" and block.page.parent.name == "docs":
            shown, real = examples.expected_lines(block.body), examples.program_lines(block.body, session)
            if shown != real:
                wrong.append(f"{block}: shows {shown} and answers {real}")
        elif block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(block.body, names, str(block), block.page.name, block.line)
            names = test.globs
            if doctest.DocTestRunner(verbose=False).run(test, clear_globs=False).failed:
                wrong.append(f"{block}: the session goes another way")
    assert not wrong, "\n\n".join([*wrong, "(python docs/generate.py writes what happens now)"])


@pytest.mark.parametrize("name", PAGES)
def test_no_example_fails_by_adiffs_own_fault(name: str) -> None:
    assert "error[E09" not in PAGES[name].read_text(encoding="utf-8")


def test_a_wrong_output_is_found() -> None:
    assert examples.matches("4.0\n", "4.0  \n\n")
    assert examples.matches("parse <...> ms\n", "parse 0.12 ms\n")
    assert not examples.matches("4.0\n", "4.1\n")
    assert not examples.matches("", "4.0\n")


def test_pipes_are_left_to_the_shell() -> None:
    assert examples.is_adiff_alone('adiff grad "where(x > 0, x | 1, 2); x" --at x=2')
    assert not examples.is_adiff_alone("adiff ops | head -1")
    assert not examples.is_adiff_alone("python3 ask.py")
