"""Rows of the table applied to symbols, and to what is known: tensors that are known become constants of the kernel."""

from __future__ import annotations

from ...core.dtypes import FLOAT32, WEAK_FLOAT, WEAK_FLOAT32
from ...core.operands import wrap
from ...core.operation import Operation
from ...core.state import STATE
from ...core.tensor import Tensor
from ...ops.registry import NAMES
from ...program import core as c
from ...program.rewrite import rewrite
from .. import ir
from ..inputs import EVERY, SOME
from ..ir import BOOL, FLOAT, INT, Unsupported, Var
from ..operations.array_rows import to_single
from ..symbols.arrays import constant_array
from ..symbols.pairs import marked, pair_of, unchanged
from ..symbols.strength import any_strong, own
from ..symbols.symbol import Lazy, Sym
from ..symbols.values import Frame, List, Selected, plain, symbolic
from .items import Items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .heap import Heap


STITCHES = frozenset(("dynamic_stitch", "parallel_dynamic_stitch"))
# Rows that must know an operand, and which one; unless another one says how long the result is, if that is not 0.
SHAPING = {
    "segment_sum": (1, 0), "segment_mean": (1, 0), "segment_prod": (1, 0), "segment_max": (1, 0), "segment_min": (1, 0),
    "unsorted_segment_prod": (1, 0), "unsorted_segment_max": (1, 0), "unsorted_segment_min": (1, 0),
    "bincount": (0, 0), "jax.ops.segment_sum": (1, 2),
}  # fmt: skip


KINDS = {f"unsorted_segment_{kind}": kind for kind in ("prod", "max", "min")}


class Applying(Items):
    """The part of the specialiser that applies rows."""

    dynamic: int
    around: list[Heap]
    tensors_apart: bool

    def arguments(self, node: Any, frame: Frame) -> tuple[list[Any], dict[str, Any]]:
        raise NotImplementedError

    def apply(self, node: c.Apply, frame: Frame) -> Any:
        stable = rewrite(node)
        if stable is not None:
            return self.expression(stable, frame)
        args, keywords = self.arguments(node, frame)
        STATE.site = node.site
        return self.apply_row(node.op, args, keywords)

    def apply_row(self, op: Operation, args: list[Any], keywords: dict[str, Any]) -> Any:
        args, keywords = [plain(x) for x in args], {name: plain(x) for name, x in keywords.items()}
        if not any(map(symbolic, [*args, *keywords.values()])):
            return self.constant(self.evaluated(lambda: op.call(args, keywords)))
        if op.name == "stack" and len(args) == 1 and not keywords and args[0].__class__ is Lazy and args[0].shape:
            return self.builder.indexed(args[0], lambda: args[0])  # a list that is an array already
        known = self.folded(
            lambda *values: op.call(list(values[: len(args)]), dict(zip(keywords, values[len(args) :]))),
            [*args, *keywords.values()],
        )
        if known is not None:
            return known
        if any(x.__class__ is Selected for x in args):
            from .selected import row

            return row(self, op, args, keywords)
        if op.name == "roll" and len(args) < 4:
            from .stitching import rolled

            given = {**dict(zip(("x", "shift", "axis"), args)), **keywords}
            if given.get("shift").__class__ is Sym and given.keys() <= {"x", "shift", "axis"}:
                x = given["x"]
                return self.builder.indexed(x, lambda: rolled(self.builder, x, given["shift"], given.get("axis")))
        inputs, attributes = op.bind(args, keywords)
        if op.name in SHAPING:
            inputs = self.shaping(op, inputs)
            if inputs.__class__ is Lazy:
                return inputs
            if op.name == "jax.ops.segment_sum" and inputs[2] is not None:
                op = NAMES["unsorted_segment_sum"]
        if op.name.startswith("unsorted_segment_") and symbolic(inputs[2]):
            inputs = (*inputs[:2], self.whole(inputs[2], f"{op.name} with a number of segments that depends on data"))
        if op.name in STITCHES:
            from .stitching import by_data, stitched

            if by_data(inputs[0]) and self.sizes.may_ask():
                inputs = (self.sizes.places_known(inputs[0]), *inputs[1:])
            if by_data(inputs[0]):
                return stitched(self.builder, *inputs)
        if op.name == "arange":
            found = self.sizes.ramp(op, inputs, (attributes or {}).get("dtype"))
            if found is not None:
                return found
            start, stop, step = inputs
            if stop is not None and any(x.__class__ is Sym and x.kind == FLOAT for x in (start, step)):
                raise Unsupported("arange whose start or step carries a derivative, or depends on data")
            own_dtype = self.builder.own_integers if any_strong(self.builder, inputs) else None
            inputs = tuple(self.whole(x, "arange with bounds that depend on data") for x in inputs)
            if own_dtype is not None and all(x.__class__ is int or x is None for x in inputs):
                inputs = (*(x if x is None else wrap(x, own_dtype) for x in inputs[:2]), inputs[2])
        if op.name in ("boolean_mask", "dynamic_partition"):
            inputs = tuple(
                x.known if k == 1 and x.__class__ is Lazy and x.known is not None else x for k, x in enumerate(inputs)
            )
            found = self.parts(op.name, list(inputs), attributes or {})
            if found is None and op.name == "boolean_mask":
                found = self.sizes.masked(inputs[0], inputs[1], (attributes or {}).get("axis"))
            if found is not None:
                return self.sizes.settled(found)
        if any(map(symbolic, (attributes or {}).values())):
            why = f"{op.name} with an option that depends on data"
            attributes = {name: self.whole(value, why) for name, value in (attributes or {}).items()}
        if not any(map(symbolic, inputs)):
            return self.constant(self.evaluated(lambda: op(*inputs, **(attributes or {}))))
        found = self.sizes.settled(self.of_program(lambda: self.builder.apply(op, inputs, attributes)))
        if self.dynamic and found.__class__ in (list, tuple):
            # In a loop, what they are made of may change in place.
            found = found.__class__([self.builder.settle(part) for part in found])
        return List(found) if found.__class__ is list else found

    def of_program(self, run: Callable[[], Any]) -> Any:
        """What `run` gives for a row that the program names."""
        outer, self.builder.named = self.builder.named, True
        try:
            return run()
        finally:
            self.builder.named = outer

    def shaping(self, op: Operation, inputs: Any) -> Any:
        """The operands of a row that must know some of them, for how long its result is or which elements belong together;
        or the result, where it is found without.

        Raises Needed, or Unsupported, where they are not known.
        """
        place, stated = SHAPING[op.name]
        x = inputs[place]
        if stated and len(inputs) > stated and inputs[stated] is not None:
            return inputs
        if x.__class__ is Lazy and x.known is not None:
            return (*inputs[:place], x.known, *inputs[place + 1 :])
        if symbolic(x):
            if op.name in KINDS and inputs[0].__class__ is Lazy and x.__class__ is Lazy:
                from .stitching import in_segments

                found = in_segments(self, KINDS[op.name], *inputs)
                if found is not None:
                    return found
            known = self.sizes.integers(x, f"{op.name} with integers that depend on data")
            if known is not None and known.known is not None:
                return (*inputs[:place], known.known, *inputs[place + 1 :])
            raise self.needed([x], f"{op.name} with integers that depend on data and decide how long its result is")
        return inputs

    def needed(self, x: Any, why: str) -> Unsupported:
        raise NotImplementedError

    def parts(self, name: str, inputs: list[Any], attributes: dict[str, Any]) -> Any:
        """The part of a tensor for a mask, or the parts for a partition, which data decide; None for other operands."""
        if len(inputs) < 2 or inputs[0].__class__ is not Lazy or inputs[1].__class__ is not Lazy:
            return None
        from .selected import by_mask, partitioned

        x, places = inputs[:2]
        if name == "boolean_mask" and places.kind == BOOL and attributes.get("axis") in (None, 0):
            return by_mask(self.builder, x, places)
        count = attributes.get("num_partitions", inputs[2] if len(inputs) > 2 else None)
        if name == "dynamic_partition" and places.kind == INT and count.__class__ is int:
            return partitioned(self.builder, x, places, count)
        return None

    def folded(self, run: Callable[..., Any], operands: list[Any]) -> Any:
        """What `run` gives for operands all of which are known; None where they are not, or what it gives is no
        constant of a kernel."""
        values = known_values(operands)
        if values is None:
            return None
        try:
            return self.constant(self.evaluated(run, *values))
        except Unsupported:
            return None

    def constant(self, value: Any) -> Any:
        """A tensor that is known now: scalars as numbers, arrays as constants of the kernel."""
        if value.__class__ is list:
            return List([self.constant(item) for item in value])
        if value.__class__ is tuple:
            return tuple(self.constant(item) for item in value)
        if value.__class__ is Tensor:
            single = value.dtype.name == "float32"
            if self.builder.mode:
                value = self.constant_beside_float32(value)
            if single and self.builder.mode == SOME:
                return to_single(self.builder, self.constant(value))
            if value.dtype.name == "complex128" and not self.builder.mode:
                return pair_of(self.builder, value)
            if value.dtype.name not in ("float64", "int64", "int32", "bool"):
                raise Unsupported(f"the dtype {value.dtype.name}")
            strong = value.dtype.kind == "i" and not value.dtype.weak
            self.builder.made_strong[0] |= not value.dtype.weak
            noted = marked if value.dtype.kind == "f" and not value.dtype.weak else unchanged
            if value.shape == ():
                return self.own_number(value) if strong else noted(self.builder, self.number_of(value))
            found = noted(self.builder, constant_array(self.builder, value.value))
            if not self.apart(value):
                found.known = value
            return own(self.builder, found, value.dtype) if strong else found
        return self.builder.rounded(value)

    def apart(self, value: Tensor) -> bool:
        """Whether a tensor that is known may go by several names of which one is watched: what is computed of it is followed,
        whichever name it is read by."""
        return self.tensors_apart and not value.dtype.weak and value.dtype.kind == "f"

    def number_of(self, value: Tensor) -> Any:
        """A number that is known."""
        if not self.apart(value):
            return value.value
        var = Var(FLOAT)
        self.builder.append(ir.Set(var, "copy", (value.value,), STATE.site, None))
        return Sym(self.builder, var)

    def own_number(self, value: Tensor) -> Any:
        """An integer with a dtype of its own that is known: `constant(50)`."""
        number = int(value.value)  # of int32 it is an array without axes
        found = own(self.builder, number, value.dtype)
        self.builder.made[found.var] = ("copy", (number,))
        return found

    def constant_beside_float32(self, value: Tensor) -> Tensor:
        """A tensor that is known now, in a kernel of float32: what is a float32 in float64, which every one of them is.

        Raises Unsupported for one of float64, which mixes with none of float32.
        """
        name, every = value.dtype.name, self.builder.mode == EVERY
        if name == "float64" and not value.dtype.weak:
            raise Unsupported("float64 beside float32")
        if name == "float32":
            value = wrap(value.value.astype("float64"), WEAK_FLOAT)
        elif name == "float64" and every and value.shape:
            value = wrap(value.value.astype("float32").astype("float64"), WEAK_FLOAT)
        return value

    def evaluated(self, run: Callable[..., Any], *values: Any) -> Any:
        """What `run` gives for known values on the tape, in the floats of the evaluation."""
        if self.builder.mode != EVERY:
            return run(*values)
        kept = STATE.weak_float, STATE.default_float
        STATE.weak_float, STATE.default_float = WEAK_FLOAT32, FLOAT32
        try:
            return run(*values)
        finally:
            STATE.weak_float, STATE.default_float = kept


def known_values(xs: list[Any]) -> list[Any] | None:
    """Values with constant arrays as the tensors that they are; None where something is not known."""

    def value_of(x: Any) -> Any:
        if x.__class__ is Lazy:
            if x.known is None:
                raise LookupError
            return x.known
        if x.__class__ in (list, tuple):
            return x.__class__([value_of(item) for item in x])
        if x.__class__ is slice:
            return slice(value_of(x.start), value_of(x.stop), value_of(x.step))
        if symbolic(x):
            raise LookupError
        return x

    try:
        return [value_of(x) for x in xs]
    except LookupError:
        return None
