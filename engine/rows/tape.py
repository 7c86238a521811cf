"""The tape on a table: whole columns where all operations of a program are element-wise, else row by row.

An element-wise operation does not mix rows. So one evaluation on whole columns gives what every row alone gives, and one
reverse sweep from ones the derivative of every row.
"""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..autodiff.tape import Tape, gradient
from ..core.dtypes import WEAK_COUNT, WEAK_FLOAT
from ..core.limits import LIMITS
from ..core.operands import as_operand
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor
from ..ops.operation import UNFIT
from ..plain import bind
from ..program import core as c
from ..program.core import UNSET
from ..program.loops import nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .request import Request
    from .results import Results

# Why rows are evaluated one by one: a branch, a loop, a list, a comparison, a function of the program.
FORM = "a form that is not element-wise"
PARTS = (
    c.Evaluate,
    c.Assign,
    c.Augment,
    c.Store,
    c.Load,
    c.Literal,
    c.Operator,
    c.Prefix,
    c.Apply,
    c.Call,
    c.Intrinsic,
)
# Rows that are evaluated together: enough to hide what an operation costs beside its elements, few enough for the
# processor's caches to hold the columns between two operations.
CHUNK = 32_768
# Rows among which one fails or is at a singular point are halved until they are so few.
FEW = 64
# Errors that end the whole table: no memory, no time.
FINAL = frozenset(("E0602", "E0603"))


class NotElementWise(Exception):
    """Rows have to be evaluated one by one; the message says why, in the language's words."""


class ElementWise:
    """Evaluates rows of a request together. Raises NotElementWise where the program or the request does not allow it."""

    def __init__(self, program: Any, request: Request) -> None:
        core = program.core
        self.request = request
        self.constants = {name: bind(value, name) for name, value in request.constants.items()}
        if request.order == 2:
            raise NotElementWise("second derivatives")
        for name, column in request.columns.items():
            kind = "tensors" if column.ndim > 1 else "strings" if column.dtype.kind in "US" else column.dtype.name
            if kind != "float64" and not (
                kind == "int64" and name in request.names
            ):  # a source that is an integer is a float
                raise NotElementWise(f"a column of {kind}")
        if any(x.__class__ not in (float, int) for x in self.constants.values()):
            raise NotElementWise("a constant that is no number")
        bound = {*request.columns, *self.constants}
        defaults = [node for name, (_, node) in core.optional.items() if name not in bound]
        look([core.body, *[node for node in defaults if getattr(node, "value", None) is not UNSET]])
        self.compiled = program.compiled(True, True)

    def evaluate(self, index: Any) -> tuple[Any, list[Any]]:
        """The values of some rows, and the gradients by each source; None for a source that the result does not depend on.

        Raises NotElementWise where a notice would be about some of the rows only, and an error where one of them fails.
        """
        import numpy as np

        request, size = self.request, len(index)
        STATE.reset()
        STATE.kinks = request.options.get("kinks") or "adiff"
        values: dict[str, Any] = dict(self.constants)
        for name in (*request.columns, *request.names):
            column = request.columns.get(name)
            found = np.full(size, self.constants[name]) if column is None else column[index]
            values[name] = Tensor(found.astype("float64"), WEAK_COUNT if found.dtype.kind == "i" else WEAK_FLOAT)
        sources = [values[name] for name in request.names]
        tape = Tape()
        try:
            if request.order:
                for x in sources:
                    tape.watch(x)
                RECORDERS.append(tape)
            frame = self.compiled.frame(values)
            self.compiled.body(frame)
            y = frame[c.RESULT]
            if y.__class__ is not Tensor or y.dtype.name != "float64" or y.shape != (size,):
                raise NotElementWise("a result that is the same in all rows, or no float")
            RECORDERS.clear()
            ones = [OPERATORS.ones_like(y)]
            gradients = gradient(tape, [y], ones, [[x] for x in sources], consume=True) if request.order else []
        finally:
            RECORDERS.clear()
        if STATE.notices:
            raise NotElementWise("a singular point in some rows")
        return array_of(y, size), [array_of(g, size) for g in gradients]


def array_of(x: Any, size: int) -> Any:
    """A value or derivative as an array of floats, one for each row; a derivative of -0.0 is 0.0."""
    import numpy as np

    if x is None:
        return None
    x = as_operand(x)
    return np.broadcast_to(np.asarray(x.value if x.__class__ is Tensor else x, "float64"), (size,)) + 0.0


def look(code: Any) -> None:
    """Raise NotElementWise where a part of a program is anything but an element-wise operation, whose parameters are known."""
    for node in nodes(code):
        part: Any = node
        cls = node.__class__
        plain = cls in PARTS
        if cls is c.Literal:
            plain = part.value.__class__ in (float, int)
        elif cls is c.Call or cls is c.Intrinsic:  # Python's abs is the row
            plain = getattr(part, "function", part).__class__ is c.Intrinsic and getattr(part, "name", "abs") == "abs"
        if not plain:
            raise NotElementWise(FORM)
        if hasattr(part, "op"):
            op = part.op
            # A row whose samples come from an interval for each input is element-wise, but for a few without a kernel expression.
            by_element = op.domain.__class__ is list and (op.derivative == "composite" or op.kernel.__class__ is str)
            if not by_element or op.dtype == "bool":
                raise NotElementWise(f"{op.name}, which is not element-wise or gives no floats")
        if cls is c.Apply:
            inputs = sum(p.kind == "input" for p in part.op.parameters)
            if any(x.__class__ is c.Load for x in nodes([*part.args[inputs:], *part.keywords])):
                raise NotElementWise(f"a parameter of {part.op.name} that may differ from row to row")


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
