"""A program over a table: which tier evaluates its rows."""

from __future__ import annotations

import time

from ...parser.errors import AdiffError
from ..core import limits
from ..core.state import RECORDERS, STATE
from .by_columns import ByColumns, Results
from .outcome import RowsOutcome
from .request import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def rows(
    program: Any,
    columns: Mapping[str, Any],
    at: Mapping[str, Any] | None,
    wrt: Sequence[str] | None,
    order: int,
    options: dict[str, Any],
) -> RowsOutcome:
    """What `Program.rows` gives; its caller holds the lock."""
    if STATE.running:
        raise AdiffError("E0811", "an evaluation cannot start inside another")
    import numpy as np

    outcome = RowsOutcome()
    outcome.timings["parse"] = program.parse_seconds
    STATE.reset()
    STATE.kinks = options.get("kinks") or "adiff"
    request = Request(program.core, columns, at, wrt, order, options)
    results = Results(request)
    start = time.perf_counter()
    try:
        with limits.enforced(options.get("max_steps"), options.get("max_memory"), options.get("timeout")):
            tape = ByColumns(program, request, results)
            if not by_kernel(program, request, results, tape, outcome):
                tape.run(np.arange(request.count))
            outcome.timings["rows"] = time.perf_counter() - start
            return results.into(outcome)
    except MemoryError:
        raise limits.out_of_memory() from None
    finally:
        STATE.running = False
        STATE.tally = None
        RECORDERS.clear()


def by_kernel(program: Any, request: Request, results: Results, tape: ByColumns, outcome: RowsOutcome) -> bool:
    """Evaluate the rows by a compiled loop, if that is asked for, or the sooner way, and can be."""
    engine = request.options["engine"]
    if engine == "tape":
        outcome.reason = "asked for"
        return False
    if request.options.get("kinks") == "error" or any(
        request.options.get(k) is not None for k in ("max_steps", "timeout")
    ):
        outcome.reason = "the kernel tier computes in float64, without limits and without --kinks error"
        return False
    if not request.numeric or not request.columns or not request.count:
        outcome.reason = "no rows of numbers"
        return False
    if engine == "auto":
        outcome.reason = "the tape is done before a kernel would be compiled"
        return False
    from ..kernels.ir import Unsupported
    from .by_kernel import ByKernel

    try:
        done = ByKernel(program, request, results, tape).evaluate(outcome, None)
    except Unsupported as why:
        outcome.reason = f"no kernel for {why}"
        return False
    if done:
        outcome.engine = "kernel"
        outcome.reason = "asked for" if engine == "kernel" else "enough work to repay the compiler"
    return done


__all__ = ["rows"]
