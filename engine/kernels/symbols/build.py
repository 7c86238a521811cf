"""The builder of a kernel's IR: rows of the table applied to symbols, each where it is computed."""

from __future__ import annotations

from ...core.dtypes import FLOAT64
from ...core.operands import as_operand
from ...core.operation import UNFIT, Operation
from ...core.state import STATE
from ...core.tensor import Tensor
from ..inputs import SOME
from ..ir import BOOL, FLOAT, Unsupported
from ..source.primitives import TEXT, kind_of_row
from .memory import Memory
from .pairs import Pair, has_complex
from .strength import met, strengthened
from .symbol import NUMBERS, Lazy, Sym, broadcast, join, kind_of, pick
from .values import symbolic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Rows that choose elements by their values: how many there are is known when the kernel runs, and arrays have shapes before.
SHAPED_BY_DATA = frozenset("nonzero argwhere flatnonzero unique tf.unique tf.unique_with_counts".split())
# Rows that must know which elements belong together.
SEGMENTS = frozenset(
    "segment_sum segment_mean segment_prod segment_max segment_min unsorted_segment_prod unsorted_segment_max "
    "unsorted_segment_min".split()
)


class Builder(Memory):
    """Applies rows to symbols and arrays; what it emits, it shares within reach of the block."""

    @property
    def arrays(self) -> Any:
        """What the array rows' kernels are written with."""
        if self._arrays is None:
            from ..operations.vocabulary import Vocabulary

            self._arrays = Vocabulary(self)
        return self._arrays

    def apply(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """A row applied to symbols and arrays. Raises Unsupported where their dtypes do not meet."""
        if self.mode == SOME and any(x.__class__ is Tensor and x.dtype is FLOAT64 for x in inputs):
            raise Unsupported("float64 beside float32")
        inputs, dtype = met(self, op, inputs, attributes)
        outer, self.application = self.application, object() if self.apart else None
        try:
            if self.follower is None or self.follower.inside:
                found = self.applied(op, inputs, attributes)
            else:
                found = self.follower.apply(
                    op, inputs, lambda: self.applied(op, inputs, attributes), (attributes or {}).get("dtype")
                )
        except UNFIT:
            from .samples import refused

            if refused(op, inputs, attributes):
                raise Unsupported("a part of the program that is an error if it is reached") from None
            raise
        finally:
            self.application = outer
        if found.__class__ is Lazy and not found.shape:
            found = found.element(())  # computed here: branches merge numbers
        if found.__class__ is float and op.derivative != "none":
            found = self.inert(found, inputs)
        return found if dtype is None else strengthened(self, found, dtype)

    def computed_whole(self, op: Operation, inputs: tuple[Any, ...], dtype: Any) -> bool:
        """Whether a row that is made of others is computed in a way of its own, and not by these."""
        from ..operations.array_rows import ARRAY_ROWS
        from ..operations.composites import COMPOSITES

        if op.name in SHAPED_BY_DATA or op.name in ARRAY_ROWS or op.name in COMPOSITES or op.name == "complex":
            return True
        if not any(map(has_complex, inputs)) and (dtype is None or not makes_complex(op, {"dtype": dtype})):
            return False
        from ..operations.complex_rows import computed_whole

        return computed_whole(op)

    def inert(self, x: float, inputs: tuple[Any, ...]) -> Any:
        """A number that a row gives whatever the inputs of the program are, as what a tape may follow all the same: an element
        of `stack([x, 0.0])`, the sum of no elements of x."""
        if not (self.outer or self.derives) or not any(map(may_be_followed, inputs)):
            return x
        return self.emit("inert", (x,), FLOAT)

    def indexed(self, x: Lazy | Pair, run: Callable[[], Any]) -> Any:
        """The part of a tensor that `run` gives."""
        if self.follower is None or self.follower.inside:
            found = run()
            return self.inert(found, (x,)) if found.__class__ is float else found
        return self.follower.row(list(self.follower.operands(x)), True, run)

    def refuse_unknown_length(self, op: Operation, inputs: tuple[Any, ...]) -> None:
        """Raise Unsupported for rows whose results are as long as the largest of numbers that are not known."""
        places = {"bincount": 0, "jax.ops.segment_sum": 1}.get(op.name)
        stated = op.name != "bincount" and len(inputs) > 2 and inputs[2] is not None
        if places is not None and not stated and symbolic(inputs[places]):
            raise Unsupported(f"{op.name} without the length of its result")
        if op.name in SEGMENTS and symbolic(inputs[1]):
            raise Unsupported(f"{op.name} with segments that depend on data")

    def applied(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        from ..operations.array_rows import ARRAY_ROWS
        from ..operations.composites import COMPOSITES
        from .regions import computed

        if op.name in SHAPED_BY_DATA:
            from ..operations.data_shaped import data_shaped

            return data_shaped(self, op.name, inputs, attributes or {})
        self.refuse_unknown_length(op, inputs)
        if op.name == "complex" or any(map(has_complex, inputs)) or makes_complex(op, attributes):
            from ..operations.complex_rows import apply_complex

            return apply_complex(self, op, inputs, attributes or {})
        for x in {id(x): x for x in inputs if x.__class__ is Lazy}.values():
            self.use(x)
        special = ARRAY_ROWS.get(op.name) or COMPOSITES.get(op.name)
        if special is not None:
            return special(self, inputs, attributes or {})
        if op.function is not None:
            return op.function(*inputs, **(attributes or {}))
        if op.kernel is not None and op.kernel.__class__ is not str:
            return computed(self.arrays, op, inputs, attributes or {})
        inputs = tuple(x if x.__class__ in (Sym, Lazy) or x.__class__ in NUMBERS else self.operand(x) for x in inputs)
        if any(x.__class__ is Lazy for x in inputs):
            return self.elementwise(op, inputs, attributes)
        if any(x.__class__ is Sym for x in inputs):
            return self.scalar(op, inputs, attributes)
        if attributes:
            raise Unsupported(f"{op.name} with these options")
        return self.rounded(op(*inputs))

    def operand(self, x: Any) -> Any:
        """A list as an array; a constant tensor as one."""
        from .arrays import constant_array, tensor_of_list

        if x.__class__ in (list, tuple):
            return tensor_of_list(self, list(x))
        x = as_operand(x)
        value = getattr(x, "value", x)
        if value.__class__ in NUMBERS:
            return value
        return constant_array(self, value)

    def elementwise(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None = None) -> Lazy:
        shape = broadcast([x.shape if x.__class__ is Lazy else () for x in inputs], op.name)
        if op.name not in TEXT:
            raise Unsupported(f"the operation {op.name}")
        site, application = STATE.site, self.application

        def element(index: tuple[Any, ...]) -> Any:
            values = tuple(pick(x, index, shape) if x.__class__ is Lazy else x for x in inputs)
            asking, STATE.site = (STATE.site, self.application), site
            self.application = application
            if any(v.__class__ is Sym for v in values):
                outer, self.in_array = self.in_array, True
                found = self.scalar(op, values, attributes)
                self.in_array = outer
            else:
                known = tuple(self.inert(v, (x,)) if v.__class__ is float else v for v, x in zip(values, inputs))
                if op.singular and any(spot.where(*values) is not False for spot in op.singular) and known != values:
                    found = self.scalar(op, known, attributes)
                else:
                    found = self.rounded(op(*values, **(attributes or {})))
            STATE.site, self.application = asking
            return found

        kinds = [x.kind if x.__class__ is Lazy else kind_of(x) for x in inputs]
        joined = join(kinds[op.skip :])
        if joined == BOOL and op.name == "abs":
            return inputs[0]  # type: ignore[no-any-return]  # NumPy's is of truth values, and changes none
        return Lazy(self, joined if op.name == "where_select" else kind_of_row(op.name, joined), shape, element)

    def settle(self, x: Any) -> Any:
        """An array with its elements in memory, so that using it twice computes it once."""
        if x.__class__ is not Lazy:
            return x.settled() if hasattr(x, "settled") else x
        if x.volatile:
            return self.materialised(x)
        if x.stored is not None or getattr(x.element, "view", False):
            return x
        return self.materialised(x)

    def use(self, x: Lazy) -> None:
        """Note that an operation takes an array; what a second one takes is put into memory, for both."""
        x.uses += 1
        if x.uses == 2 and x.stored is None and x.block is self.block and not getattr(x.element, "view", False):
            kept = self.materialised(x)
            self.late.append((x, x.stored, x.element))
            x.stored, x.element = kept.stored, kept.element


def may_be_followed(x: Any) -> bool:
    """Whether an operand is made of floats that are not known."""
    if x.__class__ is Lazy:
        return x.kind == FLOAT and x.known is None
    if x.__class__ in (list, tuple):
        return any(map(may_be_followed, x))
    return (x.__class__ is Sym and x.kind == FLOAT) or x.__class__ is Pair


def makes_complex(op: Operation, attributes: dict[str, Any] | None) -> bool:
    """Whether a row of real operands gives complex numbers: a cast to them."""
    if op.name != "cast":
        return False
    from ...ops.structure import as_dtype

    return bool(as_dtype((attributes or {})["dtype"]).kind == "c")
