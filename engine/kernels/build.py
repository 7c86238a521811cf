"""Building IR: symbols that record what is done to them, and arrays as functions from index to element."""

from __future__ import annotations

from ..core.dispatch import as_operand
from ..core.operation import Operation
from ..core.state import STATE
from ..core.tensor import OPERATORS
from . import ir
from .ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from .primitives import TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NUMBERS = (float, int, bool)


class Sym:
    """A scalar of the program being compiled: a variable of the IR."""

    __slots__ = ("builder", "var")
    description = "a compiled number"

    def __init__(self, builder: Builder, var: Var) -> None:
        self.builder = builder
        self.var = var

    @property
    def kind(self) -> str:
        return self.var.kind

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return self.builder.apply(op, inputs, attributes)

    def __bool__(self) -> bool:
        raise Unsupported("a condition that is decided while compiling depends on the data")

    def __hash__(self) -> int:
        return hash(self.var)


class Lazy:
    """An array as a function from an index (a tuple of ints and symbols) to its element.

    Element-wise operations, slices, transposes and the like compose such functions, which is what fuses them.
    `stored` is the IR array when the elements are in memory.
    """

    __slots__ = ("builder", "element", "kind", "shape", "stored")
    description = "a compiled array"

    def __init__(
        self,
        builder: Builder,
        kind: str,
        shape: tuple[int, ...],
        element: Callable[[tuple[Any, ...]], Any],
        stored: Array | None = None,
    ) -> None:
        self.builder = builder
        self.kind = kind
        self.shape = shape
        self.element = element
        self.stored = stored

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return self.builder.apply(op, inputs, attributes)

    def __bool__(self) -> bool:
        raise Unsupported("the truth of an array")


def _operator(name: str, swapped: bool = False) -> Any:
    def method(self: Any, other: Any = None) -> Any:
        if other is None:
            return self.builder.apply(OPERATORS[name], (self,), None)
        return self.builder.apply(OPERATORS[name], (other, self) if swapped else (self, other), None)

    return method


def _give_operators(cls: type) -> None:
    """Python's operators on symbols and lazy arrays apply the rows of the table."""
    both = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power"}
    logic = {"and": "logical_and", "or": "logical_or"}
    comparisons = {
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
        "eq": "equal",
        "ne": "not_equal",
    }
    for name, row in {**both, **logic, **comparisons, "neg": "negative", "invert": "logical_not"}.items():
        setattr(cls, f"__{name}__", _operator(row))
    for name, row in {**both, **logic}.items():
        setattr(cls, f"__r{name}__", _operator(row, swapped=True))


_give_operators(Sym)
_give_operators(Lazy)


def kind_of(x: Any) -> str:
    """The kind of a scalar operand."""
    if x.__class__ is Sym:
        return x.kind
    if x.__class__ is bool:
        return BOOL
    if x.__class__ is int:
        return INT
    if x.__class__ is float:
        return FLOAT
    raise Unsupported(f"a value of type {x.__class__.__name__}")


def join(kinds: list[str]) -> str:
    if FLOAT in kinds:
        return FLOAT
    return INT if INT in kinds else BOOL


class Builder:
    """Emits statements into the current block, sharing what was computed before (within reach of the block)."""

    def __init__(self) -> None:
        self.block: list[ir.Stmt] = []
        self.memos: list[dict[Any, Sym]] = [{}]

    # --- blocks -----------------------------------------------------------------------------------------------------

    def nested(self, fill: Callable[[], Any]) -> tuple[list[ir.Stmt], Any]:
        """Run `fill` with a new block as the current one."""
        outer, self.block = self.block, []
        self.memos.append({})
        try:
            result = fill()
            return self.block, result
        finally:
            self.block = outer
            self.memos.pop()

    def emit(self, op: str, args: tuple[Any, ...], kind: str) -> Sym:
        key = (op, tuple(a.var if a.__class__ is Sym else (a.__class__, a, str(a)) for a in args))
        found: Sym | None
        for memo in reversed(self.memos):
            found = memo.get(key)
            if found is not None:
                return found
        var = Var(kind)
        self.block.append(ir.Set(var, op, tuple(a.var if a.__class__ is Sym else a for a in args), STATE.site))
        sym = Sym(self, var)
        self.memos[-1][key] = sym
        return sym

    # --- scalars ----------------------------------------------------------------------------------------------------

    def to_float(self, x: Any) -> Any:
        if x.__class__ is Sym:
            return x if x.kind == FLOAT else self.emit("to_float", (x,), FLOAT)
        return float(x)

    def scalar(self, op: Operation, inputs: tuple[Any, ...]) -> Any:
        """A primitive on scalars of which at least one is a symbol."""
        text = TEXT.get(op.name)
        if text is None:
            raise Unsupported(f"{op.name} has no kernel")
        kinds = [kind_of(x) for x in inputs]
        if op.name == "where_select":
            joined = join(kinds[1:])
            inputs = (inputs[0], *[self.to_float(x) if joined == FLOAT else x for x in inputs[1:]])
            if inputs[1].__class__ in NUMBERS and inputs[2].__class__ in NUMBERS and inputs[1] == inputs[2]:
                return inputs[1]
            return self.emit(op.name, inputs, joined)
        joined = join(kinds)
        decided = decided_logic(op.name, inputs)
        if decided is not None:
            return decided
        if text[1] == BOOL and joined != FLOAT:
            return self.emit(op.name, inputs, BOOL)
        if joined == BOOL:
            joined = INT
        if op.dtype == "float" or text[1] == FLOAT or joined == FLOAT:
            # Whole exponents stay integers: a**2 is a product, and exact.
            keep = op.name == "power"
            inputs = tuple(
                x if keep and i == 1 and x.__class__ is int else self.to_float(x) for i, x in enumerate(inputs)
            )
            joined = FLOAT
        elif op.name == "power":
            raise Unsupported("a power of integers")
        elif op.name in ("floor_divide", "mod"):
            raise Unsupported("division of integers")
        simple = simplified(op.name, inputs)
        if simple is not None:
            return simple
        return self.emit(op.name, inputs, joined if text[1] == "=" else text[1])

    def apply(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """A row applied to symbols and arrays."""
        from .arrays import ARRAY_ROWS

        special = ARRAY_ROWS.get(op.name)
        if special is not None:
            return special(self, inputs, attributes or {})
        if op.function is not None:
            return op.function(*[self.settle(x) for x in inputs], **(attributes or {}))
        inputs = tuple(x if x.__class__ in (Sym, Lazy) or x.__class__ in NUMBERS else self.operand(x) for x in inputs)
        if attributes:
            raise Unsupported(f"{op.name} has no kernel")
        if any(x.__class__ is Lazy for x in inputs):
            return self.elementwise(op, inputs)
        if any(x.__class__ is Sym for x in inputs):
            return self.scalar(op, inputs)
        return op(*inputs)

    def operand(self, x: Any) -> Any:
        """A list as an array; a constant tensor as one."""
        from .arrays import array_of_list, constant_array

        if x.__class__ in (list, tuple):
            return array_of_list(self, list(x))
        x = as_operand(x)
        value = getattr(x, "value", x)
        if value.__class__ in NUMBERS:
            return value
        return constant_array(self, value)

    # --- arrays -----------------------------------------------------------------------------------------------------

    def elementwise(self, op: Operation, inputs: tuple[Any, ...]) -> Lazy:
        shape = broadcast([x.shape if x.__class__ is Lazy else () for x in inputs], op.name)
        if op.name not in TEXT:
            raise Unsupported(f"{op.name} has no kernel")

        def element(index: tuple[Any, ...]) -> Any:
            values = tuple(pick(x, index, shape) if x.__class__ is Lazy else x for x in inputs)
            if any(v.__class__ is Sym for v in values):
                return self.scalar(op, values)
            return op(*values)

        kinds = [x.kind if x.__class__ is Lazy else kind_of(x) for x in inputs]
        text = TEXT[op.name]
        joined = join(kinds[1:] if op.name == "where_select" else kinds)
        kind = text[1] if text[1] != "=" else (FLOAT if op.dtype == "float" else joined)
        return Lazy(self, kind, shape, element)

    def settle(self, x: Any) -> Any:
        """An array with its elements in memory, so that using it twice computes it once."""
        if x.__class__ is not Lazy or x.stored is not None or getattr(x.element, "view", False):
            return x
        array = Array(x.kind, x.shape)
        self.block.append(ir.Alloc(array, False))

        def store(index: tuple[Any, ...]) -> None:
            value = x.element(index)
            if x.kind == FLOAT:
                value = self.to_float(value)
            self.block.append(ir.Store(array, raw(self.flat(index, x.shape)), raw(value)))

        self.each(x.shape, store)
        return self.stored(array)

    def stored(self, array: Array) -> Lazy:
        """A lazy array that loads from memory."""

        def element(index: tuple[Any, ...]) -> Sym:
            flat = self.flat(index, array.shape)
            # A load may be shared only while the array cannot change: locals are written before they are read.
            key = ("load", array, flat.var if flat.__class__ is Sym else flat)
            for memo in reversed(self.memos):
                known: Sym | None = memo.get(key)
                if known is not None:
                    return known
            var = Var(array.kind, "x")
            self.block.append(ir.Load(var, array, raw(flat)))
            sym = Sym(self, var)
            self.memos[-1][key] = sym
            return sym

        return Lazy(self, array.kind, array.shape, element, array)

    def flat(self, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
        """The place of an index in row-major order."""
        place: Any = 0
        for i, n in zip(index, shape):
            place = self.integer("add", self.integer("multiply", place, n), i)
        return place

    def integer(self, op: str, a: Any, b: Any) -> Any:
        if a.__class__ is int and b.__class__ is int:
            return {"add": a + b, "multiply": a * b, "subtract": a - b}[op]
        simple = simplified(op, (a, b))
        return self.emit(op, (a, b), INT) if simple is None else simple

    def each(self, shape: tuple[int, ...], visit: Callable[[tuple[Any, ...]], None]) -> None:
        """Nested loops over all indices of a shape."""

        def level(k: int, index: tuple[Any, ...]) -> None:
            if k == len(shape):
                visit(index)
            elif shape[k] == 1:
                level(k + 1, (*index, 0))
            else:
                self.count(shape[k], lambda i: level(k + 1, (*index, i)))

        level(0, ())

    def count(self, n: int, visit: Callable[[Sym], None]) -> None:
        """`for i in range(n)` with nothing carried."""
        index = Var(INT, "i")
        body, _ = self.nested(lambda: visit(Sym(self, index)))
        self.block.append(ir.Loop(index, 0, n, 1, None, None, [], body, None, {}, Var(INT, "t"), False))

    def total(self, shape: tuple[int, ...], element: Callable[[tuple[Any, ...]], Any]) -> Any:
        """The sum of the elements of a shape, in row-major order."""

        def level(k: int, index: tuple[Any, ...], start: Any) -> Any:
            if k == len(shape):
                return self.scalar_or_static("add", start, element(index))
            if shape[k] == 0:
                return start
            if shape[k] == 1:
                return level(k + 1, (*index, 0), start)
            return self.reduce(shape[k], start, lambda i, acc: level(k + 1, (*index, i), acc))

        return level(0, (), 0.0)

    def scalar_or_static(self, op: str, a: Any, b: Any) -> Any:
        if a.__class__ is Sym or b.__class__ is Sym:
            return self.scalar(OPERATORS[op], (a, b))
        return OPERATORS[op](a, b)

    def reduce(self, n: int, start: Any, step: Callable[[Sym, Sym], Any]) -> Sym:
        """A loop that carries one float."""
        index = Var(INT, "i")
        phi = Var(FLOAT, "s")
        body, following = self.nested(lambda: self.to_float(step(Sym(self, index), Sym(self, phi))))
        carried = [(phi, raw(self.to_float(start)), raw(following))]
        self.block.append(ir.Loop(index, 0, n, 1, None, None, carried, body, None, {}, Var(INT, "t"), False))
        return Sym(self, phi)


def raw(x: Any) -> Any:
    """An operand as the IR holds it."""
    return x.var if x.__class__ is Sym else x


def simplified(op: str, args: tuple[Any, ...]) -> Any:
    """Identities that hold for every value: x + 0 is left alone for the sign of zero, x * 1 is x."""
    if op == "multiply":
        for a, b in (args, args[::-1]):
            if a.__class__ in (int, float) and a == 1 and b.__class__ is Sym:
                return b
            if a.__class__ is int and a == 0 and b.__class__ is Sym and b.kind == INT:
                return 0
    if op == "add":
        for a, b in (args, args[::-1]):
            if a.__class__ is int and a == 0 and b.__class__ is Sym and b.kind == INT:
                return b
    if op == "strong_multiply":
        g, p = args
        if p.__class__ in (int, float) and p == 1:
            return g
    return None


def decided_logic(op: str, args: tuple[Any, ...]) -> Any:
    """`and` and `or` with an operand that is known."""
    if op in ("logical_and", "logical_or"):
        decisive = op == "logical_or"
        for a, b in (args, args[::-1]):
            if a.__class__ is bool:
                return decisive if a is decisive else b
    return None


def broadcast(shapes: list[tuple[int, ...]], name: str) -> tuple[int, ...]:
    """The common shape by NumPy's rules."""
    rank = max(map(len, shapes))
    common: list[int] = []
    for axis in range(-rank, 0):
        sizes = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        if len(sizes) > 1:
            raise Unsupported(f"{name}: shapes do not broadcast")  # the tape words the error
        common.append(sizes.pop() if sizes else 1)
    return tuple(common)


def pick(x: Lazy, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """The element of `x` that broadcasting to `shape` puts at `index`."""
    own = index[len(shape) - len(x.shape) :]
    return x.element(tuple(0 if n == 1 else i for i, n in zip(own, x.shape)))
