"""A program over a table: which tier evaluates its rows."""

from __future__ import annotations

import time

from ...parser.errors import AdiffError
from ..core import limits
from ..core.errors import span_of
from ..core.state import RUNNING, STATE
from ..plain import bind
from ..program.loops import outermost_loop
from .by_columns import CHUNK, ByColumns
from .outcome import RowsOutcome
from .request import Request
from .results import Results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..kernels.ir import Unsupported


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
    STATE.kinks = options.get("kinks") or "adiff"
    request = Request(program.core, columns, at, wrt, order, options)
    results = Results(request)
    for notice in STATE.notices:
        results.notices.add(notice.code, notice.message, None, request.count)
    start = time.perf_counter()
    enforced = limits.enforced(options.get("max_steps"), options.get("max_memory"), options.get("timeout"))
    try:
        with enforced:
            if order == 2:
                limits.allow_table(request.numbers(), request.count)
            evaluate(program, request, results, outcome)
            outcome.timings["rows"] = time.perf_counter() - start
            return results.into(outcome)
    except MemoryError:
        # Where in the loop it ran out is chance; a kernel names the loop too.
        STATE.site = outermost_loop(program.core.body, STATE.site) or STATE.site
        raise limits.out_of_memory(limit=options.get("max_memory")) from None
    finally:
        enforced.lift()
        STATE.end()
        STATE.tally = None


# Each set of rows with the same strings has a loop of its own: more are not compiled.
MOST_KERNELS = 32


def evaluate(program: Any, request: Request, results: Results, outcome: RowsOutcome) -> None:
    """Evaluate a request, the rows with the same strings together."""
    whole = Run(program, request, results, outcome)
    if request.numeric or not request.count:
        whole.run()
        return
    from .alike import groups

    parts, alone, missing = groups(request)
    refused = ""
    if len(parts) > MOST_KERNELS and request.options["engine"] == "kernel":
        refused = f"no kernel for {len(parts)} sets of rows, each with strings of its own"
    most = 0
    for rows, part in parts:
        if refused:
            part.options = {**part.options, "engine": "tape"}
        found, single = Results(part), RowsOutcome()
        found.explained = results.explained
        run = Run(program, part, found, single)
        run.tape.table, run.tape.body = whole.tape.table, whole.tape.body
        run.run()
        whole.tape.body = run.tape.body
        results.take(found, rows)
        if (single.engine == "kernel", part.count) > (outcome.engine == "kernel", most):
            most = part.count
            outcome.engine, outcome.emitted = single.engine, single.emitted
            outcome.reason, outcome.reason_span = refused or single.reason, single.reason_span
    # They all fail where the sources are bound, before anything else is looked at.
    if missing.size and not whole.tape.alike(missing):
        whole.tape.row_by_row(missing, "a source that is None")
    if alone.size:
        whole.tape.row_by_row(alone, "a column that is not of numbers")
        outcome.reason = outcome.reason or whole.why_no_kernel(request.options["engine"])


# Rows that the tape evaluates before it is measured, and then: a few rows say what the others take at least, since what
# an operation costs beside its elements weighs so much more there, and a chunk says what they take.
WARMING, FEW = 64, 1_024
FEW_DEARER = 10.0


class Run:
    """Evaluates a request: by the tape, by a compiled loop, or first by the one and then by the other."""

    def __init__(self, program: Any, request: Request, results: Results, outcome: RowsOutcome) -> None:
        self.program = program
        self.request = request
        self.results = results
        self.outcome = outcome
        self.tape = ByColumns(program, request, results)
        self.loop: Any = None

    def run(self) -> None:
        engine, count = self.request.options["engine"], self.request.count
        self.outcome.reason = self.why_no_kernel(engine)
        if not self.outcome.reason:
            if engine == "auto":
                if not (self.at_hand() and self.by_kernel(0, "its loop is compiled")):
                    self.measured()
                return
            if self.by_kernel(0, "asked for"):
                return
        self.by_tape(0, count)

    def why_no_kernel(self, engine: str) -> str:
        request = self.request
        if engine == "tape":
            return "asked for"
        if not request.numeric or not request.columns or not request.count:
            return "no rows of numbers"
        return ""

    def at_hand(self) -> bool:
        """Whether the loop is there and needs nothing but to be called."""
        if self.program.kernels is None:
            return False
        from ..kernels.ir import Unsupported

        try:
            return bool(self.described().seconds_if_kept() == 0.0)
        except Unsupported:
            return False

    def described(self) -> Any:
        from .by_kernel import ByKernel

        if self.loop is None:
            self.loop = ByKernel(self.program, self.request, self.results, self.tape)
        return self.loop

    def by_tape(self, start: int, stop: int) -> float:
        """Evaluate rows on the tape; the seconds that it took."""
        import numpy as np

        begin = time.perf_counter()
        self.tape.run(np.arange(start, stop))
        taken = time.perf_counter() - begin
        self.program.table_seconds += taken
        return taken

    def by_kernel(self, start: int, reason: str) -> bool:
        """Evaluate the rows from `start` on in a compiled loop, if there is one."""
        from ..kernels.ir import Unsupported

        try:
            self.described().run(start, self.outcome)
        except Unsupported as why:
            self.refused(why)
            return False
        self.outcome.engine = "kernel"
        self.outcome.reason = reason
        return True

    def refused(self, why: Unsupported) -> None:
        """Note why the rows have no kernel, and where that stands."""
        from ..kernels.ir import Fault

        if isinstance(why, Fault):
            self.results.notices.add("N0911", why.notice, None, self.request.count)
        self.outcome.reason = f"no kernel for {why}"
        self.outcome.reason_span = None if why.site is None else span_of(why.site)

    def measured(self) -> None:
        """Begin on the tape, and go on in a compiled loop if the rows that are left repay it."""
        count = self.request.count
        self.outcome.reason = "the tape is done before a kernel would be compiled"
        done, size, seconds, rows = 0, WARMING, 0.0, 0
        possible = True
        promised = self.promised()
        if promised:
            choice = self.repaid(promised)
            if choice and self.by_kernel(0, "enough work to repay the compiler"):
                return
            possible = choice is False
        while done < count:
            stop = min(done + size, count)
            alone = sum(self.results.one_by_one.values())
            taken = self.by_tape(done, stop)
            # Rows that are evaluated one by one cost the same however many there are.
            known = sum(self.results.one_by_one.values()) - alone == stop - done
            left = taken / size * (count - stop)
            if size == FEW and not known:
                left /= FEW_DEARER
            elif size == CHUNK:
                seconds, rows = seconds + taken, rows + stop - done
                left = seconds / rows * (count - stop)
            done = stop
            if possible and (known or size != WARMING) and done < count:
                choice = self.repaid(left)
                if choice and self.by_kernel(done, "enough work to repay the compiler"):
                    return
                possible = choice is False
            size = FEW if size == WARMING else CHUNK

    def promised(self) -> float:
        """The seconds that the tape takes at least, as the text tells for the first row; 0 where those are soon over."""
        from ..kernels.survey import Survey
        from ..kernels.work import LEFT_EARLY, LOOK_SECONDS, PROMISE, START_SECONDS, columns_seconds

        request = self.request
        try:
            point = {name: bind(x, name) for name, x in request.point(0).items()}
        except AdiffError:
            return 0.0  # the tape says what is wrong
        survey = Survey(self.program.core, point)
        seconds = columns_seconds(survey.work, request.order, request.numbers()) if survey.bounded else 0.0
        ready = LOOK_SECONDS + START_SECONDS + survey.compile
        return seconds if seconds > ready * (LEFT_EARLY if survey.breaks else PROMISE) else 0.0

    def repaid(self, left: float) -> bool | None:
        """Whether a loop is the sooner way for what takes the tape `left` seconds; None if there can be none."""
        from ..kernels.work import START_SECONDS, load_seconds, loop_worthwhile

        spent = self.program.table_seconds
        if left < load_seconds():
            return False
        from ..kernels.ir import Unsupported

        try:
            ready = self.described().seconds_if_kept()
            if ready is None:
                if left + spent < START_SECONDS:
                    return False
                ready = self.loop.seconds_to_compile()
        except Unsupported as why:
            self.refused(why)
            return None
        return loop_worthwhile(left, spent, ready)


__all__ = ["rows"]
