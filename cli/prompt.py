"""The lines of a prompt: where a statement ends, at a terminal and in a pipe; history and completion."""

from __future__ import annotations

import os

from ..parser.errors import AdiffError
from .files import MOST_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .environment import Environment

NAME = "<repl>"
# Errors of a text that goes on: an open bracket, a block without its lines, a joined line, a decorator, `try` alone.
UNFINISHED = ("E0103", "E0117", "E0127", "E0128", "E0130")
GOES_ON = ("else", "elif", "except", "finally")


def unfinished(text: str) -> bool:
    """Whether a text goes on with the next line. An empty line ends all but a text in triple quotes."""
    from ..parser.parse import parse
    from ..parser.source import Source

    if text.lstrip().startswith(":") or not text.strip():
        return False
    ended = not text.rpartition("\n")[2].strip()
    try:
        last = parse(Source(text, NAME)).body[-1]
    except AdiffError as error:
        if error.code == "E0106":
            return text[error.span.start :][:3] in ('"""', "'''") if error.span else False
        return error.code in UNFINISHED and not ended
    return hasattr(last, "body") and not ended


def follows(text: str, line: str) -> bool:
    """Whether a line without indentation begins a statement of its own, after a block that is complete without it."""
    starts = line[:1] not in ("", " ", "\t", "#") and not line.startswith(GOES_ON)
    return starts and "\n" in text and not unfinished(text + "\n")


def from_pipe(environment: Environment) -> Iterator[str]:
    """The statements of a text that comes in whole."""
    text = ""
    stream = environment.input()
    while raw := stream.readline(MOST_TEXT):
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if text and follows(text, line):
            yield text
            text = ""
        text = f"{text}\n{line}" if text else line
        if not unfinished(text):
            yield text
            text = ""
    yield text


def from_terminal(read: Callable[[str], str]) -> Iterator[str]:
    """The statements that a person types. Ctrl-C drops what was typed of one."""
    from .interrupts import HEARD

    text = ""
    while True:
        try:
            line = read("... " if text else ">>> ")
        except EOFError:
            return
        except KeyboardInterrupt:
            if HEARD:  # a signal to end
                raise
            print()
            text = ""
            continue
        text = f"{text}\n{line}" if text else line
        if not unfinished(text):
            yield text
            text = ""


def reader(words: Callable[[], list[str]], environment: Environment) -> Callable[[str], str]:
    """What reads a line at a terminal, with history and completion: prompt_toolkit, else the readline of Python."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import FileHistory
    except ImportError:
        return readline(words, environment)
    import re

    path = history(environment, "prompt_history")
    completer = WordCompleter(words, pattern=re.compile(r"[\w.:]+"))
    kept = FileHistory(path) if path else None
    read: Callable[[str], str] = PromptSession(history=kept, completer=completer, complete_while_typing=False).prompt
    return read


def readline(words: Callable[[], list[str]], environment: Environment) -> Callable[[str], str]:
    path = history(environment, "history")
    try:
        import readline as lines
    except ImportError:
        return input

    def complete(text: str, number: int) -> str | None:
        found = [word for word in words() if word.startswith(text)]
        return found[number] if number < len(found) else None

    def read(prompt: str) -> str:
        line = input(prompt)
        if path:
            lines.write_history_file(path)
        return line

    lines.set_completer(complete)
    lines.set_completer_delims(" \t\n()[]{}+-*/,=<>")
    lines.parse_and_bind("tab: complete")
    lines.set_history_length(1000)
    if path and os.path.exists(path):
        lines.read_history_file(path)
    return read


def history(environment: Environment, name: str) -> str:
    """The file of the lines that were typed before, empty where there can be none; readers have different forms of it."""
    home = environment.variables.get("HOME", "")
    folder = environment.variables.get("XDG_STATE_HOME") or (os.path.join(home, ".local", "state") if home else "")
    try:
        os.makedirs(os.path.join(folder, "adiff"), exist_ok=True)
        path = os.path.join(folder, "adiff", name)
        with open(path, "a", encoding="utf-8"):
            return path
    except OSError:
        return ""
