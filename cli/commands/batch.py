"""`batch`: a file of command lines, answered one record a line, in order, as they come."""

from __future__ import annotations

import gc
import os

from ...engine import command as of
from ...engine.command import Argument, Command, Option
from .. import errors
from ..batch.incoming import Incoming
from ..batch.line import Answering
from ..diagnostics import report_cache
from ..environment import is_terminal
from ..formats.records import writer
from ..progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from ..batch.line import Reply
    from ..formats import Style
    from ..output import Output
    from ..request import Request

COLLECT_AFTER = 20_000  # objects; a line leaves few behind, and looking for them often is a tenth of its time


def run(request: Request, output: Output) -> bool:
    """Answer every line; whether none failed."""
    environment = output.environment
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    gc.enable()
    path = request.arguments["file"]
    records = writer(output)
    answering = Answering(request, output, records)
    progress = Progress(environment, shown=not is_terminal(environment.stdout) or request.flag("output"))
    answered = failed = after = 0
    if "resume" in request.options:
        from ..batch.resume import resume

        answered, failed, after = resume(path, answering)
    if output.path is not None and not request.flag("quiet"):
        output.advice = advice(path, output.path, output.style)
    answers = replies(path, request.number("jobs") or 1, answering, after)
    try:
        for reply in answers:
            records.write(reply.text)
            answered += reply.ok
            failed += not reply.ok
            progress.show(answered + failed)
            if reply.told:
                progress.clear()
                environment.write_error(reply.told)
            if not reply.ok and request.flag("fail_fast"):
                break
    except KeyboardInterrupt:
        records.finish()
        raise
    finally:
        answers.close()
    records.finish()
    progress.clear()
    if request.flag("verbose"):
        report_cache(environment)
    if not request.flag("quiet"):
        noun = "line" if answered + failed == 1 else "lines"
        environment.write_error(f"{answered + failed} {noun}: {answered} answered, {failed} failed\n")
    return not failed


def advice(path: str, output: str, style: Style) -> str:
    """What to say of the output of a batch that ends before its lines do."""
    from shlex import quote

    resumed = f"; to go on: adiff batch {quote(path)} --resume {quote(output)}" if path != "-" else ""
    return f"{output} holds the whole records{resumed if style.format == 'ndjson' else ''}\n"


def replies(path: str, jobs: int, answering: Answering, after: int) -> Generator[Reply]:
    """What the lines `after` one of a file or of standard input come to, in order, answered here or by so many processes: by one where
    all have a limit of time, which a line that hears no alarm is held to by the end of its process."""
    incoming = Incoming(path, answering.environment, after)
    if answering.batch.flag("scheduler"):
        from ..cluster import Cluster

        yield from Cluster(answering.batch.text("scheduler")).replies(answering, iter(incoming))
        return
    forks = hasattr(os, "fork")  # not on Windows
    if jobs > 1 and not forks:
        raise errors.usage("--jobs needs a system whose processes fork, and this one's do not")
    if jobs == 1 and not (forks and answering.batch.flag("timeout")):
        yield from (reply for line in incoming if (reply := answering.reply(*line)) is not None)
        return
    from ..batch.jobs import Jobs

    with Jobs(jobs, answering, incoming) as processes:
        yield from processes.replies()


COMMAND = Command(
    "batch", of.EVALUATE, "Answer a file of command lines, one record a line, in order.",
    ("adiff batch lines.txt", "adiff batch lines.txt --fail-fast --format csv", "adiff batch lines.txt --jobs 2",
     "adiff batch lines.txt --resume answers.ndjson"),
    (
        of.KINKS, *of.CLUSTER, *of.COMPUTED, of.CHECKPOINT, of.JOBS,
        Option("--fail-fast", "flag", "", of.COMPUTING, "Stop at the first line that fails."),
        Option(
            "--resume", "text", "FILE", of.OUTPUT,
            "Go on after the records that an interrupted run left in FILE (default: begin it).",
        ),
    ),
    (Argument("file", "FILE", "A file of command lines ('-' is standard input)."),),
)  # fmt: skip
