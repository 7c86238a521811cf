"""One line of a batch: what it asks for, and what it comes to as text."""

from __future__ import annotations

from ...engine.command import EXPRESSION
from ...parser.errors import AdiffError
from ...parser.fields import Record as Fields
from .. import errors
from ..bindings import split_at_commas
from ..commands import COMMANDS
from ..decode import decode
from ..diagnostics import report_engine, report_notices
from ..environment import Environment
from ..evaluate import answer
from ..files import decode_text
from ..formats import Style
from ..formats.records import NO_ID, Record
from ..interrupts import HEARD
from ..output import Output
from ..request import nearest, resolve_engine
from ..words import divide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..formats.records import Writer
    from ..request import Request
    from ..result import Result

EXAMPLE = 'for example: {"command": "grad", "expr": "x**2", "at": {"x": 2}}'
PROGRAM = "'expr' or 'file'"  # the keys that a program may have
LONGEST_LINE = 64 * 2**20  # bytes
# What a line takes from the options of the batch itself, where it does not say otherwise.
INHERITED = ("dtype", "kinks", "engine", "max_steps", "max_memory", "timeout", "checkpoint", "quiet")


class Reply(Fields):
    """What a line comes to: the text of its record, what is to be said beside it on standard error, and whether it did what
    it asked for."""

    ok: bool
    text: str
    told: str


class Beside(Environment):
    """An environment that keeps what is said on standard error until the record it stands beside is written."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment.stdin, environment.stdout, environment.stderr, environment.variables)
        self.said = ""

    def write_error(self, text: str) -> None:
        self.said += text


class Answering:
    """Lines answered one after the other, with the options of their batch.

    `limited` is told the seconds that a line may take, when its work begins.
    """

    def __init__(self, batch: Request, output: Output, records: Writer) -> None:
        self.batch = batch
        self.environment = output.environment
        self.output = output
        self.style = output.style
        self.records = records
        self.limited: Callable[[float], None] | None = None

    def reply(self, number: int, raw: bytes) -> Reply | None:
        """What the line comes to, None for a blank one or a comment. Whatever the line holds, the batch goes on."""
        record = self.record(number, raw)
        beside = Beside(self.environment)
        try:
            if not self.evaluate(record, raw, beside):
                return None
            text = self.records.text(record)
        except Exception as error:
            if HEARD:
                raise KeyboardInterrupt from None
            reply = self.failed(record, errors.from_exception(error))
            if self.batch.flag("debug") and not isinstance(error, AdiffError):
                import traceback

                reply.told = traceback.format_exc()
            return reply
        return Reply(record.ok, text, beside.said)

    def record(self, number: int, raw: bytes) -> Record:
        """The record of a line, without an answer yet; in a file it says of which text it is."""
        if self.style.format != "ndjson" or self.batch.text("output", "-") == "-":
            return Record(number)
        from zlib import crc32

        return Record(number, f"{crc32(raw.strip()):08x}")

    def failed(self, record: Record, error: AdiffError) -> Reply:
        """The record of a line that has no answer."""
        record.result, record.error = None, error
        return Reply(False, self.records.text(record), "")

    def lost(self, number: int, raw: bytes, why: Callable[[float | None], AdiffError]) -> Reply | None:
        """The record of a line whose process is gone, None for one that asks for nothing; `why` says so by its limit of time."""
        record = self.record(number, raw)
        limit: Any = self.batch.options.get("timeout")
        try:
            request = self.request(record, raw)
            if request is None:
                return None
            limit = request.options.get("timeout", limit)
        except AdiffError:
            pass  # its record holds what the line says of itself
        return self.failed(record, why(limit))

    def evaluate(self, record: Record, raw: bytes, beside: Environment) -> bool:
        """Put the result of a line into its record; whether it asks for anything."""
        request = self.request(record, raw)
        if request is None:
            return False
        allow(request)
        for key in INHERITED:
            if key in self.batch.options:
                request.options.setdefault(key, self.batch.options[key])
        resolve_engine(request)
        if "timeout" in request.options and self.limited is not None:
            self.limited(float(request.options["timeout"]))
        if "rows" in request.options or "over" in request.options:
            record.result = table(request, beside)
        else:
            record.result = answer(request, Output(beside, None, style=self.style))
        self.tell(record, request, beside)
        return True

    def request(self, record: Record, raw: bytes) -> Request | None:
        """What a line asks for, as far as its record too; None where it asks for nothing."""
        text = decode_text(f"line {record.line}", raw).strip()
        if not text or text.startswith("#"):
            return None
        if len(raw) >= LONGEST_LINE:
            raise errors.usage("the line is too long")
        request = from_json(text, record) if text.startswith("{") else from_words(text, record)
        record.command = request.command
        return request

    def tell(self, record: Record, request: Request, beside: Environment) -> None:
        """Say beside the record what people should know of the result, and with -v what has answered."""
        assert record.result is not None
        line = f"line {record.line}: "
        if self.style.format not in ("json", "ndjson"):  # whose objects hold the notices
            if not request.flag("quiet"):
                report_notices(record.result, self.batch, beside, line)
        if request.flag("verbose") or self.batch.flag("verbose"):
            report_engine(record.result, self.batch, beside, line)


def from_words(text: str, record: Record) -> Request:
    """The request of a line quoted as in a shell."""
    try:
        tokens = divide(text)
    except ValueError as error:
        raise errors.usage(f"the line does not divide into words: {str(error).lower()}") from None
    if tokens[:1] == ["adiff"]:
        raise errors.usage("a line begins with the command, without the word 'adiff'")
    record.command = getattr(COMMANDS.called(tokens[0]), "name", None)
    return decoded(tokens)


def decoded(tokens: list[str]) -> Request:
    """The request of the words of a command line."""
    request = decode(tokens)
    if request is None:
        raise errors.usage("a line of a batch cannot ask for help")
    return request


def from_json(text: str, record: Record) -> Request:
    """The request of a line that is a JSON object, by the words that say the same: its "command", the arguments (an expression
    is "expr" or "expression"), and options; its "id" goes to the record before anything can fail."""
    import json

    try:
        line = json.loads(text)
    except json.JSONDecodeError as error:
        raise errors.usage(f"not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise errors.usage("not JSON that adiff reads: nested too deeply, or a number too long") from None
    record.id = line.pop("id", NO_ID)
    name = line.pop("command", None)
    command = COMMANDS.called(name) if isinstance(name, str) else None
    record.command = getattr(command, "name", None)
    if name is None:
        raise errors.usage('the object has no "command"', EXAMPLE)
    if command is None:
        hint = nearest(name, COMMANDS.words()) if isinstance(name, str) else EXAMPLE
        raise errors.usage(f"no such command: {name!r}", hint)
    if "expression" in line:
        line.setdefault("expr", line.pop("expression"))
    arguments = {("expr" if argument is EXPRESSION else argument.key): argument for argument in command.arguments}
    tokens = [command.name]
    bound: dict[str, dict[str, object]] = {}
    for key, value in line.items():
        option = command.option(key.replace("-", "_"))
        if option is None and key not in arguments:
            known = [*arguments, *(option.long[2:] for option in command.options), "id"]
            key = key.replace("_", "-")
            raise errors.usage(f"'{name}' has no option {key!r}", nearest(key, known))
        if option is None or value is None:
            continue
        if isinstance(value, dict) and option.kind == "bindings":
            bound[option.key] = value
        elif option.kind == "flag":
            if not isinstance(value, bool):
                raise errors.bad_value(option.long, f"{value!r} is not true or false")
            tokens += [option.long] * value
        else:
            values = value if isinstance(value, list) and option.repeat else [value]
            tokens += [f"{option.long}={word(key, x)}" for x in values]
    given = {key: line[key] for key in arguments if line.get(key) is not None}
    missing = [key for key, argument in arguments.items() if argument.required and key not in given]
    if missing or ("expr" in arguments and not {"expr", "file"} & line.keys()):
        raise errors.usage(f"'{name}' needs {repr(missing[0]) if missing else PROGRAM}", EXAMPLE)
    request = decoded([*tokens, "--", *(word(key, x) for key, x in given.items())])
    request.bound = bound
    return request


def word(key: str, value: object) -> str:
    """What a user would have typed for a JSON value."""
    if isinstance(value, dict):
        raise errors.bad_value(key, "an object means nothing here")
    return value if isinstance(value, str) else repr(value)


def allow(request: Request) -> None:
    """Refuse what has no place on a line."""
    if request.command in ("batch", "config", "doctor", "man", "plot", "repl", "run"):
        hint = "write value -f FILE" if request.command == "run" else None
        raise errors.usage(f"{request.command!r} cannot be a line of a batch", hint)
    texts = [*request.arguments.values(), *request.options.values(), *request.bound.values()]
    inputs = request.arguments.get("expression"), request.options.get("file"), request.options.get("rows")
    if "-" in inputs or reads_input(texts):
        raise errors.usage("a line of a batch cannot read standard input")
    if "trace" in request.options:
        raise errors.usage("a line of a batch has one record, and --trace gives one for each iteration")
    if "output" in request.options:
        raise errors.usage("a line of a batch has no file of its own", "give -o FILE to batch itself")


def table(request: Request, beside: Environment) -> Result:
    """The result of a line over the rows of a table: all of them in its one record."""
    import json
    from io import StringIO

    written = StringIO()
    environment = Environment(None, written, beside.stderr, beside.variables)
    inside = Output(environment, None, style=Style("json", None, 0, False, True))
    request.options["format"] = "json"
    result = answer(request, inside)
    rows = json.loads(written.getvalue())["rows"]
    result.written = False
    result.document = {"rows": rows, "notices": result.notices}
    result.header = tuple(dict.fromkeys(key for row in rows for key in row))
    result.rows = [tuple(row.get(key) for key in result.header) for row in rows]
    result.columns = [(f"{i}.{key}", x) for i, row in enumerate(result.rows) for key, x in zip(result.header, row)]
    return result


def reads_input(value: object) -> bool:
    """Whether `@-` is among the values of a request."""
    if isinstance(value, str):
        return "@-" in value and any(part.rpartition("=")[2].strip() == "@-" for part in split_at_commas(value))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(reads_input, parts))
