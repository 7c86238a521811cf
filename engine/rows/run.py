"""A program over a table: which tier evaluates its rows."""

from __future__ import annotations

import sys
import time
from math import prod

from ...parser.errors import AdiffError
from ..core import limits
from ..core.errors import span_of
from ..core.state import RUNNING, STATE
from ..program.loops import outermost_loop
from .request import Request
from .results import Results, RowsOutcome
from .tape import CHUNK, TapeRows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# The tape evaluates so many rows before it looks at the clock, and twice as many each time that took less than a moment.
FIRST = 64
MOMENT = 0.05  # seconds
# Before the tape has taken so long, no kernel is looked for, unless in memory: one that is kept takes as long to load.
LOADED = 0.1


def rows(
    program: Any,
    columns: Mapping[str, Any],
    at: Mapping[str, Any] | None,
    wrt: Sequence[str] | None,
    order: int,
    options: dict[str, Any],
) -> RowsOutcome:
    """What `Program.rows` gives; its caller holds the lock."""
    if RUNNING.locked():
        raise AdiffError("E0811", "an evaluation cannot start inside another")
    outcome = RowsOutcome()
    outcome.timings["parse"] = program.parse_seconds
    STATE.reset()
    request = Request(program.core, columns, at, wrt, order, options)
    results = Results(request)
    for notice in STATE.notices:
        results.notify(notice.code, notice.message, None, request.count)
    start = time.perf_counter()
    enforced = limits.enforced(options.get("max_steps"), options.get("max_memory"), options.get("timeout"))
    try:
        with enforced:
            if order == 2:
                limits.allow_table(sum(prod(request.shape(name)) for name in request.names), request.count)
            evaluate(program, request, results, outcome)
            outcome.timings["rows"] = time.perf_counter() - start
            return results.into(outcome)
    except MemoryError:
        # Where in the loop it ran out is chance; a kernel names the loop too.
        STATE.site = outermost_loop(program.core.body, STATE.site) or STATE.site
        raise limits.out_of_memory(options.get("max_memory")) from None
    finally:
        enforced.lift()
        STATE.end()


def evaluate(program: Any, request: Request, results: Results, outcome: RowsOutcome) -> None:
    """Evaluate all rows of a request: on the tape, and from where it has taken as long as a kernel takes on in a kernel."""
    import numpy as np

    tape, engine = TapeRows(program, request, results), request.options["engine"]
    possible = engine != "tape" and bool(request.numeric and request.columns and request.count)
    outcome.reason = "the tape is done before a kernel would be compiled" if possible else "no rows of numbers"
    if engine == "tape":
        outcome.reason = "asked for"
    done, size = 0, FIRST
    while done < request.count:
        if possible and (engine == "kernel" or program.row_seconds >= LOADED or kernels_in_memory()):
            from .kernel import Unsupported

            try:
                left = by_kernel(program, request, results, outcome, done)
            except Unsupported as why:
                possible = False
                outcome.reason = f"no kernel for {why}"
                outcome.reason_span = None if why.site is None else span_of(why.site)
            else:
                if left is not None:
                    tape.run(left)
                    return
        begin = time.perf_counter()
        stop = min(done + size, request.count)
        tape.run(np.arange(done, stop))
        done = stop
        taken = time.perf_counter() - begin
        program.row_seconds += taken
        if taken < MOMENT:
            size = min(2 * size, CHUNK)


def by_kernel(program: Any, request: Request, results: Results, outcome: RowsOutcome, first: int) -> Any:
    """Evaluate the rows from `first` on in a kernel; those that are left to the tape, or None where it goes on, since it has not
    yet taken as long as the kernel takes to be ready. Raises Unsupported."""
    from .kernel import KernelRows

    STATE.reset()  # the rows before have left their own
    STATE.kinks = request.options.get("kinks") or "adiff"
    rows = KernelRows(program, request)
    asked = request.options["engine"] == "kernel"
    if not asked and program.row_seconds < rows.ready_seconds():
        return None
    left = rows.run(first, results)
    outcome.engine, outcome.emitted = "kernel", rows.source
    outcome.reason = "asked for" if asked else "enough work to repay the compiler"
    return left


def kernels_in_memory() -> bool:
    """Whether this process has run rows in a kernel, so that to look for one costs nothing."""
    module = sys.modules.get(f"{__package__}.kernel")
    return module is not None and bool(module.MADE)
