"""Variable: a value that can be assigned. Reads are recorded on tapes, writes are not (TensorFlow's contract)."""

from __future__ import annotations

from ...parser.fields import Record
from ..core.errors import failure
from ..core.following import path_ends
from ..core.operands import as_operand, shape_text, tensor
from ..core.state import RECORDERS
from ..core.tensor import OPERATORS, Tensor
from .access import constant_of, get_item, static_index
from .kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar


def strong_tensor(value: Any, dtype: Any = None) -> Tensor:
    """A tensor of its own, of a strong dtype, that nothing follows."""
    x = tensor(OPERATORS.constant(value, dtype=dtype))
    return Tensor(x.value, x.dtype)


class Variable(Kind):
    """A mutable tensor. `read_value` gives the tensor of its present value, the same one until the next assignment."""

    __slots__ = ("constraint", "dtype", "label", "path", "regularizer", "snapshot", "trainable")
    description = "a Variable"
    methods = "kinds/Variable"
    identity = True  # it is itself, whatever it holds: a key of a dict
    attributes: ClassVar[dict[str, Any]] = {
        "trainable": lambda v: v.trainable,
        "constraint": lambda v: v.constraint,
        "regularizer": lambda v: v.regularizer,
        # TensorFlow numbers the outputs of what makes a Variable; Keras, whose Variables have a path, does not.
        "name": lambda v: v.label if v.path else f"{v.label or 'Variable'}:0",
        "path": lambda v: v.path or v.label or "Variable",
    }

    def __init__(self, value: Any, trainable: bool = True, label: str = "", dtype: Any = None) -> None:
        value = as_operand(value)
        assignment_breaks(value)
        self.snapshot = strong_tensor(value, dtype)
        self.dtype = self.snapshot.dtype
        self.trainable = trainable
        self.label = label
        self.path = ""
        # Functions of the value: what an optimiser applies after a step, and the penalty that a layer adds to a loss.
        self.constraint: Any = None
        self.regularizer: Any = None

    def set_attribute(self, name: str, value: Any) -> None:
        if name not in ("constraint", "regularizer", "path"):
            raise failure(
                "E0304", f"the attribute '{name}' of a Variable cannot be assigned", "v.assign(x) gives it a value"
            )
        setattr(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.snapshot.shape

    def read_value(self) -> Tensor:
        """The present value; tapes that watch what is accessed follow it from here on."""
        snapshot = self.snapshot
        if RECORDERS:
            for recorder in RECORDERS:
                accessed = getattr(recorder, "accessed", None)
                if accessed is not None:
                    accessed(self, snapshot)
        return snapshot

    def assign_value(self, value: Any) -> Variable:
        value = as_operand(value)
        assignment_breaks(value)
        strict = value.__class__ is Tensor and not value.dtype.weak
        new = strong_tensor(value, None if strict else self.dtype)
        if new.dtype is not self.dtype:
            raise failure(
                "E0301", f"assign cannot put {new.dtype.name} into a Variable of dtype {self.dtype.name}",
                f"write cast(x, {self.dtype.name})", exception="ValueError",
            )  # fmt: skip
        if new.shape != self.shape:
            raise failure(
                "E0302",
                f"assign cannot put shape {shape_text(new.shape)} into a Variable of shape {shape_text(self.shape)}",
                exception="ValueError",
            )
        self.snapshot = new
        return self

    def replace(self, update: Any) -> Variable:
        """Assign what `update` makes of the present value, outside every tape."""
        saved = RECORDERS.copy()
        RECORDERS.clear()
        try:
            return self.assign_value(update(self.snapshot))
        finally:
            RECORDERS[:] = saved

    def assign_part(self, index: Any, value: Any, row: Any = None) -> Variable:
        """Assign what an index selects, or what a row makes of that and the value."""
        assignment_breaks(as_operand(value))
        new = _still(value)

        def changed(old: Tensor) -> Any:
            part = new if row is None else row(get_item(old, index), new)
            return OPERATORS.index_update.call((old, part, index), None)

        return self.replace(changed)

    def get_item(self, index: Any) -> VariableSlice:
        index = static_index(index)
        return VariableSlice(self, index, get_item(self.read_value(), index))

    def set_item(self, index: Any, value: Any) -> Any:
        raise failure(
            "E0503",
            "a Variable does not support item assignment",
            "write v[i].assign(...): it changes the Variable in place",
        )

    def text(self, show: Callable[[Any], str]) -> str:
        return f"<Variable shape={self.shape} dtype={self.dtype.name} value={show(self.snapshot)}>"

    # --- methods ----------------------------------------------------------------------------------------------------

    def method_assign(self, value: Any, use_locking: Any = False, read_value: Any = True) -> Variable:
        return self.assign_value(value)

    method_value = method_read_value = read_value

    def method_numpy(self) -> Any:
        return constant_of(self.snapshot)


class VariableSlice(Record, Kind):
    """`v[i]`: reads as the tensor that it was when it was taken, and can be assigned."""

    variable: Variable
    index: Any
    value: Any
    description = "part of a Variable"

    def read_value(self) -> Any:
        return self.value

    def set_item(self, index: Any, value: Any) -> Any:
        return self.variable.set_item(index, value)

    def method_assign(self, value: Any) -> Variable:
        return self.variable.assign_part(self.index, value)

    def method_assign_add(self, delta: Any) -> Variable:
        return self.variable.assign_part(self.index, delta, OPERATORS.add)

    def method_assign_sub(self, delta: Any) -> Variable:
        return self.variable.assign_part(self.index, delta, OPERATORS.subtract)


def _still(value: Any) -> Any:
    """An operand that no tape follows."""
    value = as_operand(value)
    return Tensor(value.value, value.dtype) if value.__class__ is Tensor and value.on is not None else value


def assignment_breaks(value: Any) -> None:
    """Tell the tapes that follow `value` that its path ends in an assignment."""
    path_ends((value,), "the assignment to a Variable")
