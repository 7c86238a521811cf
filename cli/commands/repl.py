"""`repl`: a prompt whose lines share their variables."""

from __future__ import annotations

from ...engine import commands
from ...engine.command import COMPUTED, ENGINE, EVALUATE, KINKS, TIMEOUT, Command
from .. import errors
from ..diagnostics import error_text, report_notices
from ..environment import is_terminal
from ..evaluate import options
from ..interrupts import HEARD
from ..output import ClosedPipe
from ..prompt import NAME, from_pipe, from_terminal, reader
from ..request import Request, nearest
from ..result import Result, from_outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...engine.program.session import Session
    from ..output import Output

EVALUATING = ("grad", "hessian", "jacobian", "laplacian", "derivative", "tape", "check")
WORDS = (*EVALUATING, "derive", "help", "quit")
HELP = """\
EXPR             the value of an expression; `_` is the last one
NAME = EXPR      a variable; functions and other blocks end with an empty line
:grad EXPR       value and gradient by the variables that EXPR reads; :grad alone is of the last line
:hessian, :jacobian, :laplacian, :derivative, :tape, :check     likewise
:derive EXPR     the derivatives as formulas
:help sin        an operation; :help alone is this
quit, :quit      leave, as Ctrl-D does; Ctrl-C drops the line
"""


class Leave(Exception):
    """The prompt is to end."""


class Prompt:
    """What the lines of a prompt have left, and how each is answered."""

    def __init__(self, request: Request, output: Output) -> None:
        from ...engine.program.session import Session

        self.request = request
        self.environment = output.environment
        self.output = output
        self.style = output.style
        self.options = options(request)
        self.session: Session = Session()
        self.last: tuple[str, Session] | None = None  # the text of the last line with a value, and what it read
        self.definitions: list[str] = []  # of functions, which `:derive` puts before an expression
        self.ok = True

    def answer(self, text: str) -> None:
        """Do what a line says, or say what is wrong with it."""
        try:
            word, _, rest = text.strip().partition(" ")
            bare = text.strip().removesuffix("()")
            if bare in ("quit", "exit") and bare not in self.session.names:
                raise Leave
            if word.startswith(":"):
                self.command(word[1:], rest.strip())
            elif any(line.strip()[:1] not in ("", "#") for line in text.split("\n")):
                self.evaluate(text)
        except Exception as error:
            if HEARD or isinstance(error, ClosedPipe | Leave):
                raise
            self.ok = False
            told = errors.from_exception(error)
            if told.code == "E0801":
                told.advice = f"give it a value first, as in {told.message.split(chr(39))[1]} = 2"
            report_notices(told, self.request, self.environment)
            colour = self.request.text("color", "auto")
            self.environment.write_error(error_text(told, self.environment, False, colour, "repl"))

    def evaluate(self, text: str) -> None:
        """Run a line, and show its value where it ends in an expression that has one."""
        from ...engine.api import Program
        from ...engine.commands.value import COMMAND
        from ...engine.program import core as c

        before = self.session.copied()
        parsed = Program(text, NAME, session=self.session)
        given = {**self.options, "engine": "tape"}
        outcome = parsed.evaluate("value", write=self.output.write, last_statement=True, **given)
        body = parsed.core.body
        if body and all(map(holds_function, body)):
            self.definitions.append(text)
        if body and (
            body[-1].__class__ is c.Evaluate or (parsed.inputs and body[-1].__class__ in (c.Assign, c.Augment))
        ):
            self.last = text, before
        if outcome.value is not None:
            self.session.names["_"] = self.session.result
        self.show(self.request, from_outcome(COMMAND, text, {}, outcome), "plain", outcome.value is not None)

    def command(self, name: str, text: str) -> None:
        """Do what a line that begins with a colon says."""
        if name in ("quit", "q", "exit"):
            raise Leave
        if name == "help" and not text:
            self.output.write(HELP)
        elif name == "help":
            self.run("ops", {"name": text}, {})
        elif name == "derive":
            text = text or (self.last[0] if self.last else "")
            self.needed(name, text)
            self.formulas(text)
        elif name in EVALUATING:
            self.needed(name, text or self.last)
            self.derivative(name, *((text, self.session) if text or self.last is None else self.last))
        else:
            raise errors.usage(f"no such command: ':{name}'", nearest(name, WORDS) or ":help lists them")

    def needed(self, name: str, given: Any) -> None:
        if not given:
            raise errors.usage(f":{name} needs an expression", f"for example: x = 2, and then :{name} x**2")

    def derivative(self, name: str, text: str, session: Session) -> None:
        """A derivative by the variables that an expression reads and that hold numbers."""
        from ...engine.api import Binding, Program

        parsed = Program(text, NAME, session=session)
        names = (*parsed.inputs, *parsed.optional)
        sources = session.sources(names)
        command = commands.COMMANDS[name]
        given = {key: value for key, value in self.options.items() if command.given(key)}
        outcome = parsed.evaluate(name, wrt=sources, write=None, **given)
        shown = {x: Binding(session.names[x]) for x in sources}
        result = from_outcome(command, text, shown, outcome)
        self.ok &= result.ok
        self.show(Request(name, {}, self.request.options), result)

    def formulas(self, text: str) -> None:
        """The derivatives as formulas by the names that an expression reads, functions aside."""
        from ...engine.api import Program

        parsed, names = Program(text, NAME, session=self.session), self.session.names
        read = (*parsed.inputs, *(name for name in parsed.optional if name in names))
        wrt = [name for name in read if name not in names or self.session.sources([name])]
        given: dict[str, object] = {"wrt": wrt} if wrt else {}
        self.run("derive", {"expression": "\n".join([*self.definitions, text])}, given)

    def run(self, name: str, arguments: dict[str, str], given: dict[str, object]) -> None:
        """Answer another command of the shell."""
        from ..evaluate import answer

        request = Request(name, arguments, given)
        self.show(request, answer(request, self.output))

    def show(self, request: Request, result: Result, format: str = "", valued: bool = True) -> None:
        from ..formats import Style, pieces

        style = self.style
        style = Style(format or style.format, style.precision, style.width, style.colour, style.ascii)
        report_notices(result, self.request, self.environment)
        if valued:
            self.output.write("".join(pieces(request, result, style)))

    def words(self) -> list[str]:
        """What a name may be completed to."""
        from ...engine.program import vocabulary

        return sorted({*self.session.names, *vocabulary.function_names(), *(f":{word}" for word in WORDS)})


def holds_function(node: Any) -> bool:
    """Whether a statement gives a function a name."""
    from ...engine.program import core as c

    value = node.value if node.__class__ is c.Assign else None
    while value.__class__ is c.Call and len(value.args) == 1:  # a decorator
        value = value.args[0]
    return value.__class__ is c.MakeFunction


def answer(request: Request, output: Output) -> Result:
    """Answer lines until there are no more."""
    prompt = Prompt(request, output)
    typed = is_terminal(output.environment.stdin)
    if typed:
        from signal import SIGINT, default_int_handler, set_wakeup_fd, signal

        set_wakeup_fd(-1)  # Ctrl-C drops a line, and does not end the process
        signal(SIGINT, default_int_handler)
        output.write("adiff: :help says what there is, Ctrl-D leaves\n")
    try:
        for text in from_terminal(reader(prompt.words, output.environment)) if typed else from_pipe(output.environment):
            try:
                prompt.answer(text)
            except KeyboardInterrupt:
                if HEARD or not typed:
                    raise
                output.write("interrupted\n")
    except Leave:
        pass
    result = Result({})
    result.ok = prompt.ok or typed
    return result


def draw(drawing: Any, result: Result) -> None:
    """All is written already."""


COMMAND = Command(
    "repl", EVALUATE, "A prompt: lines that share their variables, with derivatives by `:grad` and its like.",
    ("adiff repl",),
    (KINKS, ENGINE, *(option for option in COMPUTED if option is not TIMEOUT)), (), answer=answer, draw=draw,
)  # fmt: skip
