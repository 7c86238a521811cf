"""The examples of the pages: find them, run them, and give what the tool really answers.

Blocks of a page, by the words after the three backticks:

    console            a session: `$ command` lines and what an 80-column terminal without colour shows for them
    console norun      a session that is shown and not run
    python             an adiff program; what it prints, and then its result, stand after `# →` at the ends of lines
    python norun       a program, or a piece of one, that is not run
    LANGUAGE NAME.EXT  a file of that name, which later commands of the page may use
    pycon              a session of Python's own prompt, run by doctest; those of a page share their names

All commands of a page run in one scratch folder, where `samples` is the repository's.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").glob("*.md")),
]
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.M | re.S)
ARROW = re.compile(r"\s*# → ?(.*)$")
SHELL_SIGNS = "|<>;&"
PROGRESS = re.compile(r"(\r[^\r\n]*)+\r\x1b\[K")  # a line that rewrites itself, and is gone at the end
ANYTHING = "<...>"  # in the output that a page shows: whatever stands there


class Terminal(io.StringIO):
    """A stream that a person reads."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Block:
    """One fenced block: the words of its info string, its text, and where both stand in the page."""

    def __init__(self, page: Path, text: str, match: re.Match[str]) -> None:
        self.page = page
        self.words = match["info"].split()
        self.body = match["body"]
        self.start, self.end = match.span("body")
        self.line = text.count("\n", 0, match.start()) + 1

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def file(self) -> str:
        """The name of the file that the block is, or nothing."""
        return next((word for word in self.words[1:] if "." in word), "")

    @property
    def run(self) -> bool:
        return "norun" not in self.words

    def __repr__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [Block(page, text, match) for match in FENCE.finditer(text)]


class Session:
    """The scratch folder and the last exit status of one page's commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        link = folder / "samples"
        if not link.exists():
            link.symlink_to(ROOT / "samples", target_is_directory=True)

    def command(self, line: str) -> str:
        """What a terminal shows for a command line."""
        if line == "echo $?":
            return f"{self.status}\n"
        return self.adiff(shlex.split(line)[1:]) if is_adiff_alone(line) else self.shell(line)

    def adiff(self, tokens: list[str], stdin: str = "", terminal: bool = True) -> str:
        """What `adiff` shows, run in this process."""
        from adiff.cli.environment import Environment
        from adiff.cli.main import run

        screen = Terminal() if terminal else io.StringIO()
        variables = {"COLUMNS": "80", "NO_COLOR": "1", "HOME": str(self.folder)}
        with contextlib.chdir(self.folder):
            self.status = run(tokens, Environment(io.StringIO(stdin), screen, screen, variables))
        return PROGRESS.sub("", screen.getvalue())

    def shell(self, line: str) -> str:
        """What a line with pipes or redirections shows, or one that calls another program."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}, timeout=60,
        )  # fmt: skip
        self.status = done.returncode
        return done.stdout


def is_adiff_alone(line: str) -> bool:
    """Whether a command line needs no shell: one adiff command without pipes or redirections."""
    words = shlex.shlex(line, posix=True, punctuation_chars=SHELL_SIGNS)
    words.whitespace_split = True
    words.commenters = ""
    found = list(words)
    return found[0] == "adiff" and not any(word[0] in SHELL_SIGNS for word in found if word)


def steps(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a session, each with the output that the page shows. A `\\` at its end continues a command."""
    command, shown = "", ""
    continued = False
    for line in body.splitlines(keepends=True):
        if continued:
            command += line
        elif line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line, ""
        else:
            shown += line
        continued = (continued or line.startswith("$ ")) and line.rstrip("\n").endswith("\\")
    if command:
        yield command, shown


def plain_command(command: str) -> str:
    """The command as a shell reads it: without the prompt and the line joints."""
    return command[2:].replace("\\\n", "").strip()


def tidy(text: str) -> str:
    """Output without spaces at the ends of lines and without empty lines around it."""
    return "".join(line.rstrip() + "\n" for line in text.strip("\n").splitlines())


def fresh_session(block: Block, session: Session) -> str:
    """A session block with what its commands really show."""
    fresh = ""
    for command, shown in steps(block.body):
        real = tidy(session.command(plain_command(command)))  # whose status an `echo $?` may show
        fresh += command + (shown if ANYTHING in shown else real)
    return fresh


def expected_lines(program: str) -> list[str]:
    """What the comments of a program say that it prints and gives."""
    return [found[1] for line in program.splitlines() if (found := ARROW.search(line))]


def program_lines(program: str, session: Session) -> list[str]:
    """What a program prints and gives, or the first line of its error."""
    found = session.adiff(["run", "-", "--quiet"], stdin=program, terminal=False).splitlines()
    if session.status:
        return [*found[: next(i for i, line in enumerate(found) if "error[" in line)], *(
            line[line.index("error[") :] for line in found if "error[" in line
        )]  # fmt: skip
    return found


def fresh_program(block: Block, session: Session) -> str:
    """A program with what it really prints and gives after its arrows, in order."""
    answers = iter(program_lines(block.body, session))
    lines = []
    for line in block.body.splitlines():
        found = ARROW.search(line)
        if found:
            line = line[: found.start()] + line[found.start() : found.start(1)] + next(answers, "(nothing)")
        lines.append(line + "\n")
    rest = list(answers)
    if rest:
        raise AssertionError(f"{block}: the program says more than its arrows do: {rest}")
    return "".join(lines)


def write_file(block: Block, session: Session) -> None:
    """Put the file that a block is into the session's folder."""
    path = session.folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.body, encoding="utf-8")


def matches(shown: str, real: str) -> bool:
    """Whether output is what the page shows; `<...>` in the page stands for anything."""
    pattern = ".*?".join(map(re.escape, tidy(shown).split(ANYTHING)))
    return re.fullmatch(pattern, tidy(real), re.S) is not None


def refreshed(page: Path, folder: Path) -> str:
    """The page with what its examples really show."""
    session = Session(folder)
    text = page.read_text(encoding="utf-8")
    pieces, at = [], 0
    for block in blocks(page):
        new = block.body
        if block.file:
            write_file(block, session)
        elif block.run and block.language == "console":
            new = fresh_session(block, session)
        elif block.run and block.language == "python" and page.parent.name == "docs":
            new = fresh_program(block, session)
        pieces += [text[at : block.start], new]
        at = block.end
    return "".join([*pieces, text[at:]])
