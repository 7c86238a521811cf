"""The builder: rows applied to symbols, appended to the block at hand.

An application that the block, or one around it, holds already is not repeated (common subexpressions).
"""

from __future__ import annotations

from contextlib import contextmanager

from ...parser.errors import AdiffError
from ..core.dtype_rules import result_dtypes
from ..core.dtypes import BOOL as BOOL_DTYPE
from ..core.dtypes import WEAK_COUNT, WEAK_FLOAT, WEAK_INT, DType
from ..core.operands import as_operand, counts, operand_dtype
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from ..ops.operation import Operation
from .ir import BOOL, FLOAT, INT, PRODUCTS, Apply, Check, Constant, Flag, SingularPoint, Unsupported, Var, kind_of
from .symbols import NUMBERS, Sym, frozen, kind_of_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .ir import Block


def power_of_integers(x: Any, y: Any) -> tuple[Any, Any]:
    """The operands of a power. Of integers it is one only if the exponent is not negative; Python's is a float otherwise."""
    if operand_dtype(as_operand(x)).kind == "i":
        if y.__class__ is int and y < 0 and x.dtype.weak:
            x = OPERATORS.cast(x, dtype="float64")
        elif y.__class__ is Sym and y.kind == INT and y.builder.bounds.get(y.var, (-1, 0))[0] < 0:
            y.builder.check(OPERATORS.greater_equal(y, 0))
    return x, y


class Scope:
    """A block that is being built, and the applications that it holds."""

    __slots__ = ("block", "known")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.known: dict[Any, Any] = {}


def unknown(x: Sym) -> Any:
    raise Unsupported("a size, axis or option that depends on data", STATE.site)


class Builder:
    """Applies rows to symbols.

    `careful` products of cotangents keep zeros zero beside infinities. Others are plain products, which are the same unless a
    derivative is not finite.
    """

    careful = True
    # Set while a tangent is found: at a singular point the kernel stops, since only a reverse sweep tells whether it matters.
    stops = False

    def __init__(self) -> None:
        self.scopes = [Scope([])]
        self.preamble: Block = []
        self.flags: list[SingularPoint] = []
        # Which singular points have a flag, by place and text.
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.constants: dict[tuple[Any, ...], tuple[Any, Var]] = {}
        # The applications that define variables, and the least and largest values of integers.
        self.definitions: dict[Var, Apply] = {}
        self.bounds: dict[Var, tuple[int, int]] = {}
        # What gives the value of a symbol that must be known, such as a size, or raises Unsupported.
        self.known: Callable[[Sym], Any] = unknown

    # --- blocks -----------------------------------------------------------------------------------------------------

    @property
    def block(self) -> Block:
        """The block at hand."""
        return self.scopes[-1].block

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Append to `block`, which is inside the block at hand."""
        self.scopes.append(Scope(block))
        try:
            yield block
        finally:
            self.scopes.pop()

    def sym(self, x: Any, dtype: DType | None = None) -> Any:
        """An operand of the IR as a symbol; a number as itself."""
        if x.__class__ is not Var:
            return x
        if dtype is None:
            # Inside derivatives every dtype mixes with every other.
            dtype = {FLOAT: WEAK_FLOAT, INT: WEAK_INT, BOOL: BOOL_DTYPE}[x.kind]
        return Sym(self, x, dtype)

    def symbol(self, x: Any) -> Any:
        """An array that is known as a symbol, so that whatever is done to it is IR; anything else as it is."""
        return self.sym(self.operand(x)) if x.__class__ is Tensor else x

    def operand(self, x: Any, kind: str = "") -> Any:
        """A symbol, a number or a tensor that is known as an operand of the IR, of a kind if one is asked for."""
        x = as_operand(x)
        if x.__class__ is Sym:
            return x.var if kind in ("", x.var.kind) else self.cast(x.var, kind)
        value = x.value if x.__class__ is Tensor else x
        if value.__class__ not in NUMBERS and not hasattr(value, "dtype"):
            raise Unsupported(
                {str: "strings", complex: "complex numbers"}.get(value.__class__, "such an operand"), STATE.site
            )
        if x.__class__ is Tensor:
            kind_of(x.dtype)
        if value.__class__ not in NUMBERS:
            if value.ndim:
                return self.constant(value, kind)
            value = value.item()
        try:
            return {"": value.__class__, FLOAT: float, INT: int, BOOL: bool}[kind](value)
        except OverflowError:
            raise Unsupported("an integer that is too large for a float", STATE.site) from None

    def cast(self, x: Var, kind: str) -> Var:
        """A variable as one of another kind."""
        dtype = {FLOAT: "float64", INT: "int64", BOOL: "bool"}[kind]
        return self.emit(OPERATORS.cast, (x,), {"dtype": dtype}, [kind], [x.shape])[0]

    def constant(self, values: Any, kind: str = "") -> Var:
        """A known array. It stands before the outermost block, so that every block sees it."""
        import numpy as np

        kind = kind or {"f": FLOAT, "i": INT, "b": BOOL}[values.dtype.kind]
        key = id(values), kind
        if key not in self.constants:
            array = np.ascontiguousarray(values, {FLOAT: "float64", INT: "int64", BOOL: "bool"}[kind])
            bits = array.reshape(-1).view("uint8" if kind == BOOL else "int64")
            if array.size and (bits == bits[0]).all():  # all alike, the signs of zeros too
                out = self.uniform(array.flat[0].item(), kind, array.shape)
            else:
                out = Var(kind, values.shape, "constant")
                self.preamble.append(Constant(out, array))
            self.constants[key] = (values, out)  # which keeps the array, and so its id
        return self.constants[key][1]

    def uniform(self, value: Any, kind: str, shape: tuple[int, ...]) -> Var:
        """An array that is one number everywhere, before the outermost block."""
        key = repr(value), kind, shape
        if key not in self.constants:
            out = Var(kind, shape, "constant")
            made = self.definitions[out] = Apply((out,), OPERATORS.broadcast_to, (value,), {"shape": shape}, None)
            self.preamble.append(made)
            self.constants[key] = (value, out)
        return self.constants[key][1]

    def full(self, value: Any, shape: tuple[int, ...]) -> Any:
        """A number everywhere in a shape, as a symbol; the number itself for the shape ()."""
        return self.sym(self.uniform(value, kind_of_number(value), shape)) if shape else value

    def zero(self, kind: str, shape: tuple[int, ...]) -> Any:
        """An operand in the place of a value that is never read."""
        return self.operand(self.full({FLOAT: 0.0, INT: 0, BOOL: False}[kind], shape))

    def number_in(self, x: Sym) -> Any:
        """The number that a symbol is everywhere, or None."""
        made = self.definitions.get(x.var)
        uniform = made is not None and made.row.name == "broadcast_to" and made.inputs[0].__class__ is not Var
        return made.inputs[0] if made is not None and uniform else None

    # --- rows -------------------------------------------------------------------------------------------------------

    def apply(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """The result of a row for operands of which one is a symbol. Raises Unsupported for rows that kernels do not take."""
        from .operations import result_shapes, simplified

        attributes = attributes or {}
        if op is OPERATORS.power:
            inputs = power_of_integers(*inputs)
        if not self.careful:
            op, attributes = plain_product(op, attributes)
        try:
            inputs = tuple([as_operand(x, op) for x in inputs])
            computed, dtype = result_dtypes(op, [operand_dtype(x) for x in inputs], attributes)
        except AdiffError as error:
            raise Unsupported(f"what is an error if it is reached ({error.message})", STATE.site) from None
        dtypes = dtype if isinstance(dtype, tuple) else (dtype,)
        if dtypes[0] is WEAK_COUNT and not all(
            counts(x) or (x.__class__ is Sym and x.dtype in (WEAK_COUNT, WEAK_INT)) for x in inputs
        ):
            dtypes = (WEAK_FLOAT,)
        known = simplified(self, op, inputs, attributes, dtypes)
        if known is not None:
            return known
        kinds = [kind_of(d) for d in dtypes]
        kind = BOOL if op.truth and op.dtype == "bool" else "" if computed is None else kind_of(computed)
        operands = tuple([self.operand(x, kind_of_input(op, i, x, kind)) for i, x in enumerate(inputs)])
        attributes = {name: self.attribute(value) for name, value in attributes.items()}
        shapes = result_shapes(op, operands, attributes)
        found = self.emit(op, operands, attributes, kinds, shapes)
        result = tuple([self.sym(out, d) for out, d in zip(found, dtypes * (len(found) // len(dtypes)))])
        return result[0] if len(result) == 1 else result

    def attribute(self, value: Any) -> Any:
        if value.__class__ is Sym:
            return value.var
        if value.__class__ is tuple:
            return tuple([entry.var if entry.__class__ is Sym else entry for entry in value])
        return value

    def emit(
        self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any], kinds: list[str],
        shapes: list[tuple[int, ...]], floor: int = 0,
    ) -> tuple[Var, ...]:  # fmt: skip
        """The variables of an application: those of an equal one that is seen from here, or new ones.

        An equal one in a scope before `floor` does not count.
        """
        if op.name == "broadcast_to" and inputs[0].__class__ is not Var:
            return (self.uniform(inputs[0], kinds[0], shapes[0]),)
        key = key_of(op, inputs, attributes, kinds)
        for scope in reversed(self.scopes[floor:]):
            if key in scope.known:
                return scope.known[key]  # type: ignore[no-any-return]
        if len(kinds) < len(shapes):
            kinds = kinds * len(shapes)
        outs = tuple([Var(kind, shape) for kind, shape in zip(kinds, shapes)])
        made = Apply(outs, op, inputs, attributes, STATE.outward(STATE.site))
        self.block.append(made)
        for out in outs:
            self.definitions[out] = made
        if kinds[0] == INT:
            self.bound(made)
        self.scopes[-1].known[key] = outs
        return outs

    def know(self, block: Block) -> None:
        """Let the applications of a block, which is the one at hand, be found."""
        for stmt in block:
            if stmt.__class__ is Apply:
                kinds = [out.kind for out in stmt.outs]
                self.scopes[-1].known[key_of(stmt.row, stmt.inputs, stmt.attributes, kinds)] = stmt.outs

    def bound(self, made: Apply) -> None:
        """Note between which values the integers of an application are."""
        from .operations import interval

        found = interval(made, self.bounds)
        if found is not None:
            self.bounds[made.outs[0]] = found

    def check(self, condition: Any) -> None:
        """Stop the kernel unless a condition, a symbol or a truth value, holds everywhere."""
        known = self.number_in(condition) if condition.__class__ is Sym else condition
        if known is None or not known:
            self.block.append(Check(self.operand(condition) if known is None else False))

    # --- singular points ----------------------------------------------------------------------------------------------

    def flag(self, text: str, condition: Any) -> None:
        """Let a flag be set where a condition holds: a derivative is taken at a singular point with this notice."""
        known = self.number_in(condition) if condition.__class__ is Sym else condition
        if known is not None and not known:
            return
        site = STATE.site
        if site.source is not None and site.source.library:
            site = STATE.outside
        key = (text, site.start, site.end)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.flags)
            self.flags.append(SingularPoint(text, site))
        self.block.append(Flag(self.operand(condition), number))

    def singular_partial(self, spot: Any, p: Any, mask: Any, inputs: tuple[Any, ...], g: Any) -> Any:
        """A partial with the value that is chosen where it is singular; a flag is set where what it meets, `g`, is not zero there."""
        from ..autodiff.pullback import singular_notice
        from ..ops.support import mask_tensor

        if mask.__class__ is not Sym and not getattr(mask, "any", lambda: mask)():
            return p
        mask = mask_tensor(mask)
        choice = spot.choice(STATE.kinks)
        if self.stops:
            # A tangent passes through branches that are not taken: only a reverse sweep tells whether the point matters.
            self.check(OPERATORS.logical_not(mask))
        elif not STATE.quiet and not (g.__class__ in NUMBERS and g == 0):
            hit = mask if g.__class__ in NUMBERS else OPERATORS.logical_and(mask, OPERATORS.not_equal(g, 0.0))
            if STATE.kinks == "error":
                self.check(OPERATORS.logical_not(hit))
            else:
                self.flag(singular_notice(spot, choice, inputs), hit)
        if choice is None:
            return p
        if callable(choice):
            choice = choice(*inputs)
        if choice.__class__ is float and choice != choice:
            choice = p * choice
        return OPERATORS.where(mask, choice, p)

    def meets(self, spot: Any, at: Any, matters: Any) -> None:
        """A singular point that a rule finds itself (ops/support.py)."""
        from ..ops.support import mask_tensor

        text = spot.message + (f": {spot.subgradients}" if spot.subgradients else "")
        at, matters = mask_tensor(at), mask_tensor(matters)
        # While a rule is transposed its cotangent is no value: whatever it is, the point may matter.
        condition = at if matters is True or STATE.transposing else OPERATORS.logical_and(at, matters)
        if STATE.kinks == "error" or self.stops:
            self.check(OPERATORS.logical_not(condition))
        else:
            self.flag(text, condition)


def kind_of_input(op: Operation, i: int, x: Any, computed: str) -> str:
    """In which kind input `i` of a row that computes in a kind is taken; "" for its own."""
    if i < op.skip:
        return BOOL if op is OPERATORS.where_select else ""
    # An exponent stays the integer that it is: 0 and 1 are special to derivatives.
    return "" if op is OPERATORS.power and i == 1 and x.__class__ is int else computed


def key_of(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any], kinds: list[str]) -> tuple[Any, ...]:
    """What equal applications have alike."""
    return (op.name, *[x if x.__class__ is Var else (x.__class__, repr(x)) for x in inputs], frozen(attributes), *kinds)


def plain_product(op: Operation, attributes: dict[str, Any]) -> tuple[Operation, dict[str, Any]]:
    """A row and its attributes without strong zeros."""
    if op.name in PRODUCTS.values():
        return OPERATORS.multiply, {}
    if "strong" in attributes:
        return op, {**attributes, "strong": "" if attributes["strong"].__class__ is str else False}
    return op, attributes
