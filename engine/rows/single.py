"""Single rows of a table, as an evaluation of each alone has them: what columns cannot do, and the errors that rows share."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.limits import LIMITS
from ..eager.row_sets import FINAL
from .outcome import Gathered, stacked
from .request import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .results import Results


class SingleRows:
    """Evaluates rows of a request one by one."""

    def __init__(self, program: Any, request: Request, results: Results) -> None:
        self.program = program
        self.request = request
        self.results = results

    def evaluate(self, row: int, command: str = "") -> Any:
        """One row, as `Program.evaluate` has it for a command, by default the one that gives what is asked for."""
        request = self.request
        command = command or ("value", "grad", "hessian")[request.order]
        memory = LIMITS.max_memory
        options = {key: request.options.get(key) for key in ("kinks", "max_steps")}
        try:
            return self.program._evaluate(
                command, request.point(row), request.names if request.order else None, {**options, "engine": "tape"}
            )
        finally:
            LIMITS.max_memory = memory
            LIMITS.max_steps = request.options.get("max_steps")

    def row_by_row(self, index: Any, reason: str) -> None:
        """Evaluate rows one by one; the error of a row is its own."""
        import numpy as np

        request, results = self.request, self.results
        results.one_by_one[reason] = results.one_by_one.get(reason, 0) + len(index)
        kept: list[int] = []
        outcomes = []
        for row in index.tolist():
            try:
                found = self.evaluate(row)
            except AdiffError as error:
                if error.code in FINAL:
                    raise
                results.errors[row] = error
                continue
            for notice in found.notices:
                if notice.code == "N0502":
                    name = notice.message.partition(":")[0]
                    results.unconnected_by(name, (notice.code, notice.message, notice.span))
                elif notice.code != "N0801":
                    results.notices.add(notice.code, notice.message, notice.span, 1)
            kept.append(row)
            outcomes.append(found)
        if not kept:
            return
        rows = np.array(kept, np.int64)
        results.value.add(rows, stacked([found.value for found in outcomes]))
        for name in request.names:
            add_optional(results.gradients[name], rows, [found.gradients[name] for found in outcomes])
            if request.order == 2:
                for other in request.names:
                    add_optional(results.hessian[name][other], rows, [f.hessian[name][other] for f in outcomes])

    def alike(self, rows: Any) -> bool:
        """Give rows that all fail for a reason that no number of theirs decides the error of the first and the last one;
        False if those have not one error."""
        found = []
        for row in (int(rows[0]), int(rows[-1])):
            try:
                self.evaluate(row)
            except AdiffError as error:
                if error.code in FINAL:
                    raise
                found.append(error)
        if len(found) < 2 or described_by(found[0]) != described_by(found[1]):
            return False
        self.results.errors.update(dict.fromkeys(rows.tolist(), found[0]))
        return True


def described_by(error: AdiffError) -> tuple[Any, ...]:
    return error.code, error.message, error.hint, error.span and (error.span.start, error.span.end)


def add_optional(column: Gathered, rows: Any, values: list[Any]) -> None:
    """Add derivatives of which some may be None."""
    import numpy as np

    there = np.array([value is not None for value in values])
    if there.any():
        column.add(rows[there], stacked([value for value in values if value is not None]))
    if not there.all():
        column.add(rows[~there], None)


__all__ = ["SingleRows"]
