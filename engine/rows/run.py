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
            outcome.reason = "the tape tier runs every program"
            ByColumns(program, request, results).run(np.arange(request.count))
            outcome.timings["rows"] = time.perf_counter() - start
            return results.into(outcome)
    except MemoryError:
        raise limits.out_of_memory() from None
    finally:
        STATE.running = False
        STATE.tally = None
        RECORDERS.clear()


__all__ = ["rows"]
