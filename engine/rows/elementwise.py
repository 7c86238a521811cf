"""Programs whose operations are all element-wise: one evaluation on whole columns gives what every row alone gives.

An element-wise operation does not mix rows. So the gradient of the sum of a column of results by a column of inputs holds
the derivative of every row, and one reverse sweep from ones finds it.
"""

from __future__ import annotations

from ..autodiff.tape import Tape, gradient
from ..core.dtypes import WEAK_COUNT, WEAK_FLOAT
from ..core.operands import as_operand
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor
from ..program import core as c
from ..program.core import UNSET
from ..program.loops import nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .request import Request

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


class NotElementWise(Exception):
    """Rows have to be evaluated one by one; the message says why, in the language's words."""


class ElementWise:
    """Evaluates rows of a request together. Raises NotElementWise where the program or the request does not allow it."""

    def __init__(self, program: Any, request: Request) -> None:
        core = program.core
        self.request = request
        self.constants = request.bound_constants()
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
        plain = cls in PARTS and not (cls is c.Assign and part.dtype is not None)
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
