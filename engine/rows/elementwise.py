"""Programs whose operations are all element-wise: one evaluation on whole columns gives what every row alone gives.

An element-wise operation does not mix rows. So the gradient of the sum of a column of results by a column of inputs holds
the derivative of every row, and one reverse sweep from ones finds it.
"""

from __future__ import annotations

from ..autodiff import drivers
from ..autodiff.tape import Tape, gradient
from ..core.dtypes import BOOL, WEAK_COUNT, WEAK_FLOAT
from ..core.following import follows
from ..core.operands import as_operand
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor
from ..ops.arithmetic import where
from ..program import core as c
from ..program.core import UNSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.operation import Operation
    from .request import Request

# What an expression is: a float of each row, a truth value of each row, or a number that is the same in all rows.
FLOATS, TRUTHS, CONSTANT = "floats", "truth values", "constant"
NUMBERS = (float, int, bool)
# Why rows are evaluated one by one: a branch, a loop, a list, a function of the program.
FORM = "a form that is not element-wise"


class NotElementWise(Exception):
    """Rows have to be evaluated one by one; the message says why, in the language's words."""


class ElementWise:
    """Evaluates rows of a request together. Raises NotElementWise where the program or the request does not allow it."""

    def __init__(self, program: Any, request: Request) -> None:
        self.core = program.core
        self.request = request
        self.constants = request.bound_constants()
        kinds: dict[int, str] = {}
        for name, slot in self.core.inputs.items():
            kinds[slot] = self.kind_of_input(name)
        for name, (slot, node) in self.core.optional.items():
            bound = name in request.columns or name in self.constants
            if bound or getattr(node, "value", None) is not UNSET:
                kinds[slot] = self.kind_of_input(name) if bound else kind_of(node, kinds)
        if kind_of_result(self.core.body, kinds) != FLOATS:
            raise NotElementWise("a result that is the same in all rows, or no float")
        self.compiled = program.compiled(True, True)

    def kind_of_input(self, name: str) -> str:
        column = self.request.columns.get(name)
        if column is None:
            if self.constants[name].__class__ not in NUMBERS:
                raise NotElementWise("a constant that is no number")
            if name in self.request.names and self.constants[name].__class__ is bool:
                raise NotElementWise("a source that is a truth value")
            return FLOATS if name in self.request.names else CONSTANT
        if column.ndim > 1:
            raise NotElementWise("a column of tensors")
        kind: str = column.dtype.name
        source = name in self.request.names
        if kind == "float64" or (kind == "int64" and source):  # an integer that is differentiated is a float
            return FLOATS
        if kind == "bool" and not source:
            return TRUTHS
        said = {"U": "strings", "S": "strings", "O": "objects", "c": "complex numbers", "b": "truth values"}
        raise NotElementWise(f"a column of {said.get(column.dtype.kind, column.dtype)}")

    # --- evaluation -------------------------------------------------------------------------------------------------

    def evaluate(self, index: Any) -> tuple[Any, list[Any], list[list[Any]]]:
        """The values of some rows, the gradients by each source, and the blocks of the Hessians on and above the diagonal;
        None for a derivative by a source that the result does not depend on.

        Raises NotElementWise where a notice would be about some of the rows only, and an error where one of them fails.
        """
        request = self.request
        STATE.reset()
        STATE.kinks = request.options.get("kinks") or "adiff"
        try:
            sources = [self.source(name, index) for name in request.names]
            tape, outer = Tape(), Tape()
            if request.order:
                recorders = [outer, tape][2 - request.order :]
                for recorder in recorders:
                    for x in sources:
                        recorder.watch(x)
                RECORDERS.extend(recorders)
            y = self.result(index, sources)
            RECORDERS.clear()
            gradients: list[Any] = []
            blocks: list[list[Any]] = []
            if request.order == 1:
                gradients = slopes(tape, y, sources)
            elif request.order == 2:
                RECORDERS.append(outer)
                with drivers.several_directions():
                    gradients = slopes(tape, y, sources)
                RECORDERS.clear()
                blocks = second_derivatives(outer, gradients, sources)
        finally:
            RECORDERS.clear()
        if STATE.notices:
            raise NotElementWise("a singular point in some rows")
        size = len(index)
        return (
            array_of(y, size),
            [array_of(g, size) for g in gradients],
            [[array_of(h, size) for h in row] for row in blocks],
        )

    def source(self, name: str, index: Any) -> Tensor:
        """A fresh tensor for a source."""
        import numpy as np

        column = self.request.columns.get(name)
        values = np.full(len(index), self.constants[name]) if column is None else column[index]
        if values.dtype.kind == "i":
            return Tensor(values.astype("float64"), WEAK_COUNT)
        return Tensor(values, WEAK_FLOAT)

    def result(self, index: Any, sources: Sequence[Tensor]) -> Tensor:
        """The program's result for some rows."""
        values: dict[str, Any] = dict(self.constants)
        for name, column in self.request.columns.items():
            values[name] = Tensor(column[index], BOOL if column.dtype.kind == "b" else WEAK_FLOAT)
        values.update(zip(self.request.names, sources))
        frame = self.compiled.frame(values)
        self.compiled.body(frame)
        y = frame[c.RESULT]
        if y.__class__ is not Tensor or y.dtype.name != "float64" or y.shape != (len(index),):
            raise NotElementWise("a result that is no float")
        return y


def slopes(tape: Tape, y: Tensor, sources: Sequence[Tensor]) -> list[Any]:
    return gradient(tape, [y], [OPERATORS.ones_like(y)], [[x] for x in sources], consume=True)


def second_derivatives(outer: Tape, gradients: list[Any], sources: Sequence[Tensor]) -> list[list[Any]]:
    """Row i: the derivatives of the gradient by source i, by the sources from i on."""
    rows: list[list[Any]] = []
    for i, g in enumerate(gradients):
        found: list[Any] = [None] * (len(sources) - i)
        if g is not None and follows(g, outer.token):
            with drivers.without_notices():
                found = gradient(outer, [g], [OPERATORS.ones_like(g)], [[x] for x in sources[i:]], consume=False)
        rows.append(
            [
                None if g is None or gradients[i + j] is None else 0.0 if h is None else h  # linear in one of them
                for j, h in enumerate(found)
            ]
        )
    return rows


def array_of(x: Any, size: int) -> Any:
    """A value or derivative as an array of floats, one for each row; a derivative of -0.0 is 0.0."""
    import numpy as np

    if x is None:
        return None
    x = as_operand(x)
    return np.broadcast_to(np.asarray(x.value if x.__class__ is Tensor else x, "float64"), (size,)) + 0.0


# --- what is element-wise -------------------------------------------------------------------------------------------


def kind_of_result(body: list[Any], kinds: dict[int, str]) -> str:
    """The kind of the program's result; `kinds` holds the kinds of its variables by slot."""
    result = CONSTANT
    for node in body:
        cls = node.__class__
        targets = node.targets if cls is c.Assign else [node.target] if cls is c.Augment else []
        stores = all(target.__class__ is c.Store and target.depth == 0 for target in targets)
        if cls is c.Evaluate or (cls is c.Assign and stores and node.dtype is None):
            kind = kind_of(node.value, kinds)
        elif cls is c.Augment and stores:
            kind = applied(node.op, [known(node.target.slot, kinds), kind_of(node.value, kinds)])
        else:
            raise NotElementWise(FORM)
        kinds.update((target.slot, kind) for target in targets)
        if node.result:
            result = kind
    return result


def kind_of(node: Any, kinds: dict[int, str]) -> str:
    """The kind of an expression. Raises NotElementWise where it is anything but an element-wise operation."""
    cls = node.__class__
    if cls is c.Literal and node.value.__class__ in NUMBERS:
        return CONSTANT
    if cls is c.Load and node.depth == 0:
        return known(node.slot, kinds)
    if cls is c.Operator:
        return applied(node.op, [kind_of(node.left, kinds), kind_of(node.right, kinds)])
    if cls is c.Prefix:
        return applied(node.op, [kind_of(node.operand, kinds)])
    if cls is c.Comparison and len(node.ops) == 1 and node.ops[0] is not None:
        return applied(node.ops[0], [kind_of(node.left, kinds), kind_of(node.rights[0], kinds)])
    if cls is c.Call and node.function.__class__ is c.Intrinsic and node.function.name == "abs":  # Python's is the row
        return applied(OPERATORS.abs, [kind_of(x, kinds) for x in node.args])
    if cls is c.Apply:
        given = [kind_of(x, kinds) for x in node.args]
        named = [kind_of(x, kinds) for _, x in node.keywords]
        inputs = sum(p.kind == "input" for p in node.op.parameters)
        if any(kind != CONSTANT for kind in [*given[inputs:], *named]):
            raise NotElementWise(f"a parameter of {node.op.name} that differs from row to row")
        return applied(node.op, given)
    raise NotElementWise(FORM)


def known(slot: int, kinds: dict[int, str]) -> str:
    if slot not in kinds:
        raise NotElementWise("a name without a value")
    return kinds[slot]


def applied(op: Operation, kinds: list[str]) -> str:
    """The kind of an operation's result."""
    # A row whose samples come from an interval for each input is element-wise, but for a few that have no kernel expression.
    by_element = op.domain.__class__ is list and (op.derivative == "composite" or op.kernel.__class__ is str)
    if not by_element and not (op is where and len(kinds) == 3):
        raise NotElementWise(f"{op.name}, which is not element-wise")
    if set(kinds) <= {CONSTANT}:
        return CONSTANT
    if op.dtype == "bool":
        return TRUTHS
    if TRUTHS in (kinds[1:] if op is where else kinds) or FLOATS not in kinds[op is where :]:
        raise NotElementWise(f"{op.name} of truth values or of constants")  # integers, whose overflow is an error
    return FLOATS
