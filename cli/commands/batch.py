"""`batch`: a file of command lines, answered one record a line, in order, as they come."""

from __future__ import annotations

import gc

from ...parser.errors import AdiffError
from .. import errors
from ..deadline import Writing
from ..decode import decode
from ..diagnostics import report_cache, report_engine
from ..environment import is_terminal
from ..files import decode_text, open_file
from ..formats.records import Record, writer
from ..interrupts import interrupted
from ..request import from_object
from ..words import divide
from . import answer
from .progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Environment
    from ..formats import Style
    from ..formats.records import Writer
    from ..output import Output
    from ..request import Request

LONGEST_LINE = 64 * 2**20  # bytes
COLLECT_AFTER = 20_000  # objects; a line leaves few behind, and looking for them often is a tenth of its time
# What a line takes from the options of the batch itself, where it does not say otherwise.
INHERITED = ("dtype", "kinks", "engine", "max_steps", "max_memory", "timeout", "checkpoint")


def run(request: Request, environment: Environment, output: Output, style: Style) -> bool:
    """Answer every line; whether none failed."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    gc.enable()
    path = request.arguments["file"]
    records = writer(output, style)
    progress = Progress(environment, shown=not is_terminal(environment.stdout) or request.flag("output"))
    answered = failed = 0
    for number, raw in lines(path, environment):
        record = answer_line(number, raw, request, environment, output, style)
        if record is None:
            continue
        tell(record, records)
        answered += record.ok
        failed += not record.ok
        progress.show(answered + failed)
        if record.verbose and record.result is not None:
            progress.clear()
            report_engine(record.result, request, environment, f"line {number}: ")
        if failed and request.flag("fail_fast"):
            break
    records.finish()
    progress.clear()
    if request.flag("verbose"):
        report_cache(environment)
    if not request.flag("quiet"):
        noun = "line" if answered + failed == 1 else "lines"
        environment.write_error(f"{answered + failed} {noun}: {answered} answered, {failed} failed\n")
    return not failed


def tell(record: Record, records: Writer) -> None:
    """Write a record, or that there was no time for it."""
    timings = {} if record.result is None else record.result.timings
    try:
        with Writing(record.timeout, timings):
            records.write(record)
    except AdiffError as error:
        if error.code != "E0603":
            raise
        record.result, record.error = None, error
        records.write(record)


def lines(path: str, environment: Environment) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a file or of standard input. The end of a line that is too long is dropped."""
    if path == "-":
        yield from enumerate(environment.input_lines(), 1)
        return
    with open_file(path, regular=False) as file:
        number = 0
        try:
            while raw := file.readline(LONGEST_LINE):
                number += 1
                yield number, raw
                while raw and len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
                    raw = file.readline(LONGEST_LINE)
        except OSError as error:
            raise errors.unreadable(path, errors.reason(error)) from None


def answer_line(
    number: int, raw: bytes, batch: Request, environment: Environment, output: Output, style: Style
) -> Record | None:
    """The record of a line, None for a blank one or a comment. Whatever the line holds, the batch goes on."""
    record = Record(number)
    try:
        text = decode_text(f"line {number}", raw).strip()
        if not text or text.startswith("#"):
            return None
        if len(raw) >= LONGEST_LINE:
            raise errors.usage("the line is too long")
        request = from_json(text, record) if text.startswith("{") else from_words(text, environment)
        record.command = request.command
        record.verbose = request.flag("verbose") or batch.flag("verbose")
        allow(request)
        for key in INHERITED:
            if key in batch.options:
                request.options.setdefault(key, batch.options[key])
        if "timeout" in request.options:
            record.timeout = float(request.options["timeout"])  # type: ignore[arg-type]
        record.result = answer(request, environment, output, style)
    except Exception as error:
        if interrupted(error):
            raise KeyboardInterrupt from None
        record.error = errors.from_exception(error)
    return record


def from_words(text: str, environment: Environment) -> Request:
    """The request of a line quoted as in a shell."""
    try:
        tokens = divide(text)
    except ValueError as error:
        raise errors.usage(f"the line does not divide into words: {str(error).lower()}") from None
    if tokens[:1] == ["adiff"]:
        raise errors.usage("a line begins with the command, without the word 'adiff'")
    request = decode(tokens)
    if request is None:
        raise mistake(tokens, environment)
    return request


def mistake(tokens: Sequence[str], environment: Environment) -> AdiffError:
    """What is wrong with a line that does not decode."""
    from ..app import interpret, unknown_command
    from ..options import NAMES

    if tokens[0] not in NAMES:
        return unknown_command(tokens[0])
    if "-h" in tokens or "--help" in tokens:
        return errors.usage("a line of a batch cannot ask for help")
    try:
        interpret(tokens, environment)
    except AdiffError as error:
        return error
    return errors.usage("the line cannot be understood")


def from_json(text: str, record: Record) -> Request:
    """The request of a line that is a JSON object; its `id` goes to the record before anything can fail."""
    import json

    try:
        line = json.loads(text)
    except json.JSONDecodeError as error:
        raise errors.usage(f"not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise errors.usage("not JSON that adiff reads: nested too deeply, or a number too long") from None
    record.id = line.get("id")
    return from_object(line)


def allow(request: Request) -> None:
    """Refuse what has no place on a line."""
    if request.command in ("batch", "run"):
        hint = "write value -f FILE" if request.command == "run" else None
        raise errors.usage(f"{request.command!r} cannot be a line of a batch", hint)
    if "-" in (request.arguments.get("expression"), request.options.get("file")):
        raise errors.usage("a line of a batch cannot read standard input")
    if "output" in request.options:
        raise errors.usage("a line of a batch has no file of its own", "give -o FILE to batch itself")
