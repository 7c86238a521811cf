"""Rows and lines answered by the workers of a Dask cluster (extra `adiff[dask]`), as functions of what is sent to them. A task
whose worker is gone goes to another."""

from __future__ import annotations

from collections import deque
from itertools import islice

from ..parser.errors import AdiffError
from . import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Any

    from .batch.line import Answering, Reply
    from .request import Request
    from .tables.run import Table

PATIENCE = 8  # seconds for the scheduler to answer
LINES = 32  # of a batch in one task
FIRST, LEAST = 64, 256  # rows of a table that are evaluated here, and at least in one task
EACH = 4  # tasks at a time for each thread of the workers


class Cluster:
    """A connection to a scheduler, which is there until the process ends."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise errors.usage("--scheduler needs Dask", 'pip install "adiff[dask]"') from None
        import logging

        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is said below
        hint = "'dask scheduler' starts one, and tells its address; 'dask worker ADDRESS --nthreads 1' a worker"
        try:
            self.client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            said = str(error).partition("\n")[0]
            raise errors.unreadable(f"--scheduler {address}", f"no Dask scheduler answers: {said}", hint) from None
        self.threads = sum(self.client.nthreads().values())
        if not self.threads:
            raise errors.unreadable(f"--scheduler {address}", "the scheduler has no workers", hint)

    def ordered(self, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Generator[Any]:
        """What the work on each task gives, in order."""
        under_way: deque[Any] = deque()
        for task in tasks:
            under_way.append(self.client.submit(work, *task, pure=False))
            if len(under_way) > EACH * self.threads:
                yield result(under_way.popleft())
        while under_way:
            yield result(under_way.popleft())

    def replies(self, answering: Answering, lines: Iterator[tuple[int, bytes]]) -> Generator[Reply]:
        """What the lines of a batch come to."""
        parts = iter(lambda: list(islice(lines, LINES)), [])
        for found in self.ordered(answered, ((answering.batch, answering.style, part) for part in parts)):
            yield from (reply for reply in found if reply is not None)

    def evaluated(
        self, table: Table, columns: dict[str, Any], rows: Any
    ) -> tuple[Any, dict[int, AdiffError], list[int]]:
        """`table.evaluated` in parts. The first is evaluated here, and says what the columns of the results are."""
        import numpy as np

        count = len(rows)
        if not count:
            return table.evaluated(columns, rows)

        def part(start: int, stop: int) -> tuple[Any, Any]:
            return {name: x[start:stop] for name, x in columns.items()}, rows[start:stop]

        first = 0 if table.header else min(FIRST, count)
        parts = [(0, table.evaluated(*part(0, first)))] if first else []
        source = table.program.source
        state = table.request, source.text, source.name, table.constants, table.used, table.header, table.order
        each = max(LEAST, -(-count // (EACH * self.threads)))
        starts = range(first, count, each)
        sent = ((*state, *part(start, start + each)) for start in starts)
        for start, (found, notices, table.by) in zip(starts, self.ordered(rows_evaluated, sent)):
            parts.append((start, found))
            for key, (notice, n) in notices.items():
                table.notices.setdefault(key, [notice, 0])[1] += n
        wrong = {start + row: error for start, (_, failed, _) in parts for row, error in failed.items()}
        # A part without a row that did not fail has a dtype of nothing.
        sound = [found for _, (found, failed, _) in parts if len(failed) < len(found[0][1])] or [parts[0][1][0]]
        kinds = [np.result_type(*(found[i][1].dtype for found in sound)) for i in range(len(table.header))]
        merged = [
            (name, np.concatenate([found[i][1].astype(kinds[i]) for _, (found, _, _) in parts]))
            for i, name in enumerate(table.header)
        ]
        return merged, wrong, [start + row for start, (_, _, disagree) in parts for row in disagree]


def result(future: Any) -> Any:
    """What a task has come to. Raises AdiffError E0611 where the cluster could not do it."""
    from asyncio import CancelledError

    try:
        return future.result()
    except AdiffError:
        raise
    except (Exception, CancelledError) as error:
        said = str(error).partition("\n")[0][:200] or "the connection is lost"
        raise AdiffError("E0611", f"the cluster has failed: {said}") from None


def answered(batch: Request, style: Any, lines: list[tuple[int, bytes]]) -> list[Reply | None]:
    """The replies to lines."""
    from .batch.line import Answering
    from .environment import Environment
    from .formats.records import writer
    from .output import Output

    environment = Environment(None, None, None, {})
    output = Output(environment, None, style=style)
    answering = Answering(batch, output, writer(output))
    return [answering.reply(number, raw) for number, raw in lines]


def rows_evaluated(
    request: Request, text: str, name: str, constants: Any, used: Any, header: Any, order: Any, columns: Any, rows: Any
) -> tuple[Any, ...]:
    """The results of rows, with their notices, and what evaluated them."""
    from .evaluate import parsed
    from .tables.run import Table

    table = Table(request, parsed(text, name), constants)
    table.used, table.header, table.order = used, header, order
    return table.evaluated(columns, rows), table.notices, table.by
