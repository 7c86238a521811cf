"""The tape on a table: whole columns where the program is element-wise, else row by row."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.limits import LIMITS
from ..core.operation import UNFIT
from .elementwise import ElementWise, NotElementWise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .request import Request
    from .results import Results

# Rows that are evaluated together: enough to hide what an operation costs beside its elements, few enough for the
# processor's caches to hold the columns between two operations.
CHUNK = 32_768
# Rows among which one fails or is at a singular point are halved until they are so few.
FEW = 64
# Errors that end the whole table: no memory, no time.
FINAL = frozenset(("E0602", "E0603"))


class TapeRows:
    """Evaluates rows of a request on the tape."""

    def __init__(self, program: Any, request: Request, results: Results) -> None:
        self.program = program
        self.request = request
        self.results = results
        self.columns: ElementWise | None = None
        self.reason = ""
        try:
            self.columns = ElementWise(program, request)
        except NotElementWise as why:
            self.reason = str(why)
        except AdiffError:  # a constant that cannot be bound: every row says so
            self.reason = "an error in some rows"

    def run(self, index: Any) -> None:
        """Evaluate the rows `index`, in ascending order."""
        if self.columns is None:
            self.one_by_one(index, self.reason)
            return
        for start in range(0, len(index), CHUNK):
            self.together(self.columns, index[start : start + CHUNK])

    # --- whole columns ----------------------------------------------------------------------------------------------

    def together(self, columns: ElementWise, index: Any) -> None:
        """Evaluate rows at once; those that have a notice or an error of their own one by one."""
        import numpy as np

        try:
            value, gradients = columns.evaluate(index)
        except (NotElementWise, AdiffError, MemoryError, *UNFIT) as fault:
            if getattr(fault, "code", "") == "E0603":
                raise
            if len(index) > FEW:
                half = len(index) // 2
                self.together(columns, index[:half])
                self.together(columns, index[half:])
            else:
                self.one_by_one(index, str(fault) if isinstance(fault, NotElementWise) else "an error in some rows")
            return
        finite = np.ones(len(index), bool)
        for array in (value, *gradients):
            if array is not None:
                finite &= np.isfinite(array)
        rows = index[finite]

        def keep(column: Any, array: Any) -> None:
            column.add(rows, None if array is None else array[finite])

        results, names = self.results, self.request.names
        keep(results.value, value)
        for name, g in zip(names, gradients):
            keep(results.gradients[name], g)
        if len(rows) and any(g is None and name not in results.unconnected for name, g in zip(names, gradients)):
            missing = [notice for notice in self.evaluate(int(rows[0])).notices if notice.code == "N0502"]
            results.take_notices(missing)
        if len(rows) < len(index):
            self.one_by_one(index[~finite], "nan or infinity")

    # --- single rows ------------------------------------------------------------------------------------------------

    def evaluate(self, row: int) -> Any:
        """Evaluate one row as `Program.evaluate` does."""
        request = self.request
        command = ("value", "grad", "hessian")[request.order]
        options = {
            "kinks": request.options.get("kinks"),
            "max_steps": request.options.get("max_steps"),
            "engine": "tape",
        }
        memory = LIMITS.max_memory
        try:
            return self.program._evaluate(
                command, request.point(row), request.names if request.order else None, options
            )
        finally:
            LIMITS.max_memory = memory  # the evaluation has ended its limits, and those of the table hold on

    def one_by_one(self, index: Any, reason: str) -> None:
        """Evaluate rows one by one; the error of a row is its own."""
        results = self.results
        if len(index):
            results.one_by_one[reason] = results.one_by_one.get(reason, 0) + len(index)
        for row in index.tolist():
            try:
                found = self.evaluate(row)
            except AdiffError as error:
                if error.code in FINAL:
                    raise
                results.errors[row] = error
            else:
                results.add_outcome(row, found)
