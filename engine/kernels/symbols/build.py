"""Building IR: symbols that record what is done to them, and arrays as functions from index to element."""

from __future__ import annotations

from ...core.dispatch import as_operand, describe
from ...core.dtypes import BOOL as BOOL_DTYPE
from ...core.dtypes import FLOAT64, INT64, DType
from ...core.operation import Operation
from ...core.state import STATE
from ...core.tensor import OPERATORS, Tensor
from ...ops.registry import ROWS
from .. import ir
from ..inputs import EVERY, SOME
from ..ir import BOOL, FLOAT, INT, LEAST, LIMIT, LONG_CONSTANT, MOST, Array, Unsupported, Var, bytes_of
from ..source.primitives import BITS, FOR_INTEGERS, LOGIC, SHIFTS, TEXT, attributes_covered, kind_of_row
from .watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.state import Site
    from .following import Follower

NUMBERS = (float, int, bool)
DTYPES = {FLOAT: FLOAT64, INT: INT64, BOOL: BOOL_DTYPE}
EVERYTHING = (LEAST, MOST)
COUNTABLE = (-LIMIT, LIMIT)
MAX_STATEMENTS = 20_000
# Rows that choose elements by their values: how many there are is known when the kernel runs, and arrays have shapes before.
SHAPED_BY_DATA = frozenset("nonzero argwhere flatnonzero unique tf.unique tf.unique_with_counts".split())
MAX_CONSTANT = 4_000_000
# Rows that must know which elements belong together.
SEGMENTS = frozenset(
    "segment_sum segment_mean segment_prod segment_max segment_min unsorted_segment_prod unsorted_segment_max "
    "unsorted_segment_min".split()
)
# Rows that give one of their operands as it is.
CHOOSING = frozenset("minimum maximum fmin fmax clip".split())
# Rows that are something else of integers than of floats where an operand is 0, and which one.
AT_ZERO = {"floor_divide": 1, "mod": 1, "power": 0, "negative": 0}
# Rows that give integers of integers alone.
WHOLE_OF_WHOLE = frozenset(
    "add subtract multiply negative abs square minimum maximum fmin fmax floor_divide mod power floor ceil trunc round relu "
    "signum".split()
)


class Sym:
    """A scalar of the program being compiled: a variable of the IR."""

    __slots__ = ("builder", "var")
    description = "a number"
    shape = ()
    ndim = 0
    __array_ufunc__ = None

    def __init__(self, builder: Builder, var: Var) -> None:
        self.builder = builder
        self.var = var

    @property
    def kind(self) -> str:
        return self.var.kind

    @property
    def dtype(self) -> DType:
        return DTYPES[self.var.kind]

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        raise Unsupported("an operation that needs a number known before the program runs")

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return self.builder.apply(op, inputs, attributes)

    def as_static(self) -> Any:
        """The value as a parameter that must be known. Raises Needed or Unsupported where it is not."""
        return self.builder.known_value(self, "a size, axis or option that depends on data")

    def __bool__(self) -> bool:
        raise Unsupported("an operation that decides by a number which depends on data")

    def __hash__(self) -> int:
        return hash(self.var)


class Lazy:
    """An array as a function from an index (a tuple of ints and symbols) to its element.

    Element-wise operations, slices, transposes and the like compose such functions, which is what fuses them.
    `stored` is the IR array when the elements are in memory.
    """

    __slots__ = (
        "block",
        "builder",
        "element",
        "interval",
        "kind",
        "known",
        "shape",
        "stored",
        "strong",
        "uses",
        "volatile",
    )
    description = "a tensor"
    __array_ufunc__ = None  # NumPy's arrays leave their operators to these

    def __init__(
        self,
        builder: Builder,
        kind: str,
        shape: tuple[int, ...],
        element: Callable[[tuple[Any, ...]], Any],
        stored: Array | None = None,
    ) -> None:
        self.builder = builder
        builder.tensors = builder.tensors or bool(shape)
        self.kind = kind
        self.shape = shape
        self.element = element
        self.stored = stored
        # Elements that a loop will change: whoever keeps the array must copy it.
        self.volatile = False
        # How many operations took it, and the block in which it can be put into memory for all of them.
        self.uses = 0
        self.interval: tuple[int, int] | None = None  # bounds of known integers
        self.known: Tensor | None = None  # what it is, where that is known
        self.strong = False  # integers with a dtype of their own, whatever memory they come from
        self.block = builder.block

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        return DTYPES[self.kind]

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        return self.builder.apply(op, inputs, attributes)

    def __bool__(self) -> bool:
        raise Unsupported("an operation that decides by a tensor which depends on data")

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        if self.known is None:
            raise Unsupported("an operation that needs a tensor known before the program runs")
        return self.known.value

    def __iter__(self) -> Any:
        raise Unsupported("an operation on the items of a tensor one by one")


def _operator(name: str, swapped: bool = False) -> Any:
    def method(self: Any, other: Any = None) -> Any:
        if other is None:
            return self.builder.apply(OPERATORS[name], (self,), None)
        return self.builder.apply(OPERATORS[name], (other, self) if swapped else (self, other), None)

    return method


def give_operators(cls: type) -> None:
    """Python's operators on symbols and lazy arrays apply the rows of the table."""
    both = {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "pow": "power",
        "floordiv": "floor_divide",
        "mod": "mod",
    }
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
    cls.__abs__ = _operator("abs")  # type: ignore[attr-defined]
    for name, row in {**both, **logic}.items():
        setattr(cls, f"__r{name}__", _operator(row, swapped=True))


give_operators(Sym)
give_operators(Lazy)


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
    raise Unsupported(f"{describe(x)} as a number")


def join(kinds: list[str]) -> str:
    if FLOAT in kinds:
        return FLOAT
    return INT if INT in kinds else BOOL


class Builder:
    """Emits statements into the current block, sharing what was computed before (within reach of the block).

    `mode` says in what the kernel that is being built computes (widths.py): one is built at a time, by several of these.
    """

    mode = ""

    def __init__(self) -> None:
        self.block: list[ir.Stmt] = []
        self.memos: list[dict[Any, Sym]] = [{}]
        self.ranges: dict[Var, tuple[int, int]] = {}
        # Float inputs that the program counts with (`range(n)`), and where: they must be whole numbers.
        self.counted: dict[Var, Site] = {}
        self.inputs: set[Var] = set()
        # How the specialiser finds the value of a symbol that must be known.
        self.known_value: Callable[[Any, str], Any] = unknown
        # What a scalar was computed from, to find the inputs that decide it.
        self.made: dict[Var, tuple[str, tuple[Any, ...]]] = {}
        # Float inputs whose values are known.
        self.values: dict[Var, int] = {}
        # Floats that were computed from such inputs and bare integers alone.
        self.whole: set[Var] = set()
        # Floats that are integers on some paths of the program, and what they come from (whole.py).
        self.widened: dict[Var, tuple[Any, ...]] = {}
        # Floats that may be integers of the program, on nobody knows which paths.
        self.doubtful: set[Var] = set()
        # Lists as arrays of floats, of which some elements may be integers of the program.
        self.some_whole: set[Array] = set()
        # Loop variables that may be integers in the first iteration, and are none after the loop.
        self.begun: set[Var] = set()
        # The inputs that are float32 where bare floats are not.
        self.singles: set[Any] = set()
        # Integers of a dtype of their own, which do not mix with floats.
        self.strong: set[Any] = set()
        # Arrays of integers that have been read as bare ones.
        self.read_bare: set[Array] = set()
        self.size = 0
        # Where paths from inputs end at rows that take nothing of them but their shape, and which.
        self.ends: dict[Any, tuple[str, Site]] = {}
        # Whether eigenvectors and singular vectors must have LAPACK's signs.
        self.signed = False
        self.in_array = False  # whether an element of an array is being computed
        # Where real and complex numbers meet: the symbols of either side (pairs.py).
        self.meetings: list[tuple[set[Any], set[Any]]] = []
        # Whether the program makes a real, or a complex, number of a dtype of its own.
        self.made_strong = [False, False]
        # Whether there is a tensor in the program.
        self.tensors = False
        # Whether derivatives are taken inside the program, and their singular points.
        self.derives = False
        # Whether what is being compiled may be differentiated in its turn.
        self.outer = True
        self.watch = Watch()
        # The arrays that are known, which stand before everything else; and what is told of a singular point that a
        # row's rule finds in a mask.
        self.constants: dict[Any, Array] = {}
        self.root = self.block
        # How many stores into arrays that loops change in place have been written.
        self.overwritten = 0
        self._arrays: Any = None
        # What notes which inputs a tape would follow, in a kernel that is made for that alone (following.py).
        self.follower: Follower | None = None
        self.meets: Callable[[Any, Any], None] | None = None

    @property
    def arrays(self) -> Any:
        """What the array rows' kernels are written with."""
        if self._arrays is None:
            from ..operations.vocabulary import Vocabulary

            self._arrays = Vocabulary(self)
        return self._arrays

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

    def emit(self, op: str, args: tuple[Any, ...], kind: str, attributes: dict[str, Any] | None = None) -> Sym:
        """`op(args)` as a symbol; what was computed before, within reach, is not computed again."""
        key = self.key(op, args, attributes)
        found = self.known(key)
        if found is not None:
            return found
        var = Var(kind)
        self.append(ir.Set(var, op, tuple(raw(a) for a in args), STATE.site, attributes))
        self.made[var] = (op, args)
        if kind == INT and self.strong and any(a.__class__ is Sym and a.var in self.strong for a in args):
            self.strong.add(var)
        if kind == INT:
            interval = interval_of(op, [self.interval(a) for a in args])
            if interval is not None:
                self.ranges[var] = interval
        return self.remember(key, Sym(self, var))

    def key(self, op: str, args: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """What tells a computation from others."""
        row = ROWS.get(op)
        # A singular point is reported at its own place, so only what has none is shared between places.
        place = (STATE.site.start, STATE.site.end) if row is not None and row.singular else None
        operands = tuple(a.var if a.__class__ is Sym else (a.__class__, a, str(a)) for a in args)
        return op, place, repr(attributes), operands

    def known(self, key: Any) -> Sym | None:
        for memo in reversed(self.memos):
            found: Sym | None = memo.get(key)
            if found is not None:
                return found
        return None

    def remember(self, key: Any, sym: Sym) -> Sym:
        self.memos[-1][key] = sym
        return sym

    def append(self, statement: ir.Stmt) -> None:
        self.size += 1
        if self.size > MAX_STATEMENTS:
            raise Unsupported("a program of this size: it would take longer to compile than to run")
        if self.strong and statement.__class__ in (ir.Store, ir.AddTo) and statement.value in self.strong:
            self.keep_strong(statement.array)
        self.block.append(statement)
        if self.follower is not None and not self.follower.inside:
            self.follower.seen(statement)

    def keep_strong(self, array: Array) -> None:
        """Note that an array is given integers with a dtype of their own."""
        if array not in self.strong and array in self.read_bare:
            raise Unsupported("a tensor of integers without a dtype of their own that is given integers with one")
        self.strong.add(array)

    # --- scalars ----------------------------------------------------------------------------------------------------

    def to_float(self, x: Any) -> Any:
        """A number as the float that it meets. Raises Unsupported for integers that meet none."""
        if self.strong and x.__class__ is Sym and x.var in self.strong:
            raise Unsupported("an integer with a dtype of its own where a float is")
        return self.as_float(x)

    def cast_to_float(self, x: Any) -> Any:
        """A number as the float that the program asks for."""
        if not self.may_be_whole(x):
            return self.as_float(x)
        var = Var(FLOAT)
        self.append(ir.Set(var, "copy", (raw(self.as_float(x)),), STATE.site, None))
        return Sym(self, var)

    def may_be_whole(self, x: Any) -> bool:
        """Whether an operand is an integer of the program, or a float that may be one."""
        if x.__class__ is Sym and x.kind == FLOAT:
            return x.var in self.widened or x.var in self.doubtful
        return kind_of(x) == INT

    def as_float(self, x: Any) -> Any:
        if x.__class__ is Sym:
            if x.kind == INT:
                self.keep_countable(x)
            return x if x.kind == FLOAT else self.emit("to_float", (self.to_int(x),), FLOAT)
        return float(x)

    def keep_countable(self, x: Any) -> None:
        """Leave the kernel where a float would not hold an integer as it is."""
        if x.__class__ is Sym and not self.countable(x):
            self.append(ir.Check(x.var, -LIMIT, LIMIT + 1, STATE.site))

    def countable(self, x: Any) -> bool:
        """Whether a float holds an integer as it is, for certain."""
        low, high = self.interval(x)
        return low >= -LIMIT and high <= LIMIT

    def operand_as_float(self, x: Any) -> Any:
        """An operand of a row that takes floats: an integer is rounded to the nearest one, as the row's own would."""
        if x.__class__ is Sym and x.kind == INT and x.var not in self.strong:
            return self.emit("to_float", (x,), FLOAT)
        return self.to_float(x)

    def to_int(self, x: Any) -> Any:
        """A bool as the integer that arithmetic takes it for."""
        if x.__class__ is Sym:
            return self.emit("int_of_bool", (x,), INT) if x.kind == BOOL else x
        return int(x)

    def to_bool(self, x: Any) -> Any:
        if x.__class__ is Sym:
            return x if x.kind == BOOL else self.aside(lambda: self.emit("not_equal", (x, 0), BOOL))
        return bool(x)

    def interval(self, x: Any) -> tuple[int, int]:
        """Bounds of an integer operand."""
        if x.__class__ is int:
            if not LEAST <= x <= MOST:
                raise Unsupported("an integer beyond int64")
            return (x, x)
        if x.__class__ is bool or (x.__class__ is Sym and x.kind == BOOL):
            return (0, 1)
        if x.__class__ is Sym:
            return self.ranges.get(x.var, EVERYTHING)
        return EVERYTHING

    def scalar(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None = None) -> Any:
        """A primitive on scalars of which at least one is a symbol."""
        name = op.name
        if name not in TEXT:
            raise Unsupported(f"the operation {name}")
        if attributes:
            if not attributes_covered(name, attributes):
                raise Unsupported(f"{name} with these options")
        if name == "where_select":
            return self.select(*inputs)
        if name in LOGIC:
            inputs = tuple(self.to_bool(x) for x in inputs)
            decided = decided_logic(name, inputs)
            return self.emit(name, inputs, BOOL) if decided is None else decided
        joined = join([kind_of(x) for x in inputs])
        if name in BITS and joined == BOOL:
            return self.scalar(OPERATORS[BITS[name]], inputs)
        kind = kind_of_row(name, joined)
        if kind == BOOL:
            if joined != FLOAT:
                inputs = tuple(self.to_int(x) for x in inputs)
            elif name.startswith("is") or name == "signbit":
                inputs = tuple(self.to_float(x) for x in inputs)
            else:
                for x in inputs:  # Python compares integers with floats exactly
                    if kind_of(x) == INT:
                        self.keep_countable(x)
            return self.emit(name, inputs, BOOL, attributes or None)
        if kind == INT:
            if attributes and attributes.get("decimals", 0) < 0:
                raise Unsupported(f"{name} of integers with these options")
            return self.integers(name, tuple(self.to_int(x) for x in inputs))
        if self.strong and any(x.__class__ is Sym and x.var in self.strong for x in inputs):
            raise Unsupported(f"{name} of integers with a dtype of their own and floats")
        # Whole exponents stay integers: their derivatives are other formulas.
        keep = name == "power"
        # Of two integers Python rounds the quotient alone, and of several numbers these may be the result.
        as_float = self.operand_as_float if joined == FLOAT and name not in CHOOSING else self.to_float
        floats = tuple(x if keep and i == 1 and kind_of(x) == INT else as_float(x) for i, x in enumerate(inputs))
        simple = simplified(name, floats)
        if simple is not None and not (simple.__class__ is Sym and self.may_be_whole(simple)):
            return simple
        doubtful = name in WHOLE_OF_WHOLE and all(map(self.may_be_whole, inputs))
        if doubtful and name in AT_ZERO and not (name == "power" and inputs[1].__class__ is int and inputs[1] >= 0):
            # Of integers that is an error, or a zero without a sign.
            zero = self.emit("equal", (floats[AT_ZERO[name]], 0.0), BOOL)
            self.append(ir.Check(raw(zero), 0, 1, STATE.site))
        found = self.emit(name, floats, FLOAT, attributes or None)
        if doubtful:
            self.doubtful.add(found.var)
        if self.values and all(self.is_whole(x) for x in inputs):
            self.whole.add(found.var)
            self.made[found.var] = (name, inputs)
        return found

    def is_whole(self, x: Any) -> bool:
        return x.__class__ is int or (x.__class__ is Sym and (x.var in self.values or x.var in self.whole))

    def integers(self, name: str, inputs: tuple[Any, ...]) -> Any:
        """A row on integers: the exact result, or the tape's turn."""
        if name in ("floor", "ceil", "trunc", "round"):
            return inputs[0]
        if name == "nan_to_num":
            return inputs[0]
        if name == "square":
            name, inputs = "multiply", inputs * 2
        if name == "squared_difference":
            name, inputs = "multiply", (self.integer("subtract", *inputs),) * 2
        if name == "multiply_no_nan":
            name = "multiply"
        if name == "negative":
            name, inputs = "subtract", (0, inputs[0])
        if name in ("add", "subtract", "multiply"):
            return self.integer(name, *inputs)
        if name == "relu":
            name, inputs = "maximum", (inputs[0], 0)
        if name == "invert":
            return self.integer("subtract", -1, inputs[0])
        if name in SHIFTS:
            if inputs[1].__class__ is not int or not 0 <= inputs[1] < 63:
                raise Unsupported("a shift by a number of bits that data decides")
            return self.integers(SHIFTS[name], (inputs[0], 1 << inputs[1]))
        if name == "abs" and self.interval(inputs[0])[0] == LEAST:
            name, inputs = "maximum", (inputs[0], self.integer("subtract", 0, inputs[0]))
        if name == "signum":
            return self.emit("int_sign", inputs, INT)
        if name in ("factorial", "comb"):
            return self.emit("int_" + name, inputs, INT)
        if name in ("floor_divide", "mod", "power", "fmod"):
            if inputs[1].__class__ is int and (inputs[1] < 0 if name == "power" else inputs[1] == 0):
                raise Unsupported("integers for which this operation is an error")
            if name != "power":
                self.refuse_zero(inputs[1])
            for x in inputs if name == "fmod" else ():
                if self.interval(x)[0] == LEAST:
                    self.append(ir.Check(raw(x), LEAST + 1, MOST, STATE.site))
            if name == "floor_divide" and self.interval(inputs[0])[0] == LEAST and self.may_be(inputs[1], -1):
                self.append(ir.Check(raw(inputs[0]), LEAST + 1, MOST, STATE.site))
            return self.emit("int_" + name, inputs, INT)
        if name not in FOR_INTEGERS and name not in BITS:
            raise Unsupported(f"{name} of integers")
        return self.emit(name, inputs, INT)

    def refuse_zero(self, divisor: Any) -> None:
        """Leave the kernel where integers are divided by zero."""
        if self.may_be(divisor, 0):
            zero = self.emit("equal", (divisor, 0), BOOL)
            # Of whole arrays of integers NumPy divides by zero in its own way.
            failure = None if self.in_array else ("integer_division_by_zero",)
            self.append(ir.Check(zero.var, 0, 1, STATE.site, failure))

    def may_be(self, x: Any, value: int) -> bool:
        low, high = self.interval(x)
        return low <= value <= high

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        """`a if condition else b`, both computed."""
        condition = self.to_bool(condition)
        if condition.__class__ is bool:
            joined = join([kind_of(a), kind_of(b)])
            chosen = a if condition else b
            return self.to_float(chosen) if joined == FLOAT else self.to_int(chosen) if joined == INT else chosen
        joined = join([kind_of(a), kind_of(b)])
        whole = self.may_be_whole(a) and self.may_be_whole(b)
        if joined == FLOAT:
            a, b = self.to_float(a), self.to_float(b)
        elif kind_of(a) != kind_of(b):
            a, b = self.to_int(a), self.to_int(b)
        if a.__class__ in NUMBERS and b.__class__ in NUMBERS and str(a) == str(b):
            return a
        doubtful = joined == FLOAT and whole
        found = self.emit("where_select", (condition, a, b), joined)
        if doubtful:
            self.doubtful.add(found.var)
        return found

    def integer(self, op: str, a: Any, b: Any) -> Any:
        """Exact integer arithmetic; checked when the kernel runs where the bounds of the operands do not settle it."""
        if a.__class__ is int and b.__class__ is int:
            result = {"add": a + b, "multiply": a * b, "subtract": a - b}[op]
            self.interval(result)
            return result
        simple = simplified(op, (a, b))
        if simple is not None:
            return simple
        low, high = interval_of(op, [self.interval(a), self.interval(b)])  # type: ignore[misc]
        checked = low < LEAST or high > MOST
        return self.emit("int_" + op if checked else op, (a, b), INT)

    def apply(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """A row applied to symbols and arrays. Raises Unsupported where their dtypes do not meet."""
        from .strength import met, strengthened

        if self.mode == SOME and any(x.__class__ is Tensor and x.dtype is FLOAT64 for x in inputs):
            raise Unsupported("float64 beside float32")
        inputs, dtype = met(self, op, inputs, attributes)
        if self.follower is None or self.follower.inside:
            found = self.applied(op, inputs, attributes)
        else:
            found = self.follower.apply(op, inputs, lambda: self.applied(op, inputs, attributes))
        return found if dtype is None else strengthened(self, found, dtype)

    def indexed(self, x: Lazy, run: Callable[[], Any]) -> Any:
        """The part of a tensor that `run` gives."""
        if self.follower is None or self.follower.inside:
            return run()
        return self.follower.row(list(self.follower.operands(x)), True, run)

    def renewed(self, array: Array) -> None:
        """Note that all of an array is written anew."""
        if self.follower is not None:
            from .following import Renewed

            self.append(Renewed(array))

    def aside(self, run: Callable[[], Any]) -> Any:
        """What `run` gives, no row of which a tape records."""
        return run() if self.follower is None else self.follower.aside(run)

    def refuse_unknown_length(self, op: Operation, inputs: tuple[Any, ...]) -> None:
        """Raise Unsupported for rows whose results are as long as the largest of numbers that are not known."""
        from .values import symbolic

        places = {"bincount": 0, "jax.ops.segment_sum": 1}.get(op.name)
        stated = op.name != "bincount" and len(inputs) > 2 and inputs[2] is not None
        if places is not None and not stated and symbolic(inputs[places]):
            raise Unsupported(f"{op.name} without the length of its result")
        if op.name in SEGMENTS and symbolic(inputs[1]):
            raise Unsupported(f"{op.name} with segments that depend on data")

    def applied(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        from ..operations.array_rows import ARRAY_ROWS
        from ..operations.composites import COMPOSITES
        from .pairs import has_complex
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
        from .arrays import array_of_list, constant_array

        if x.__class__ in (list, tuple):
            return array_of_list(self, list(x))
        x = as_operand(x)
        value = getattr(x, "value", x)
        if value.__class__ in NUMBERS:
            return value
        return constant_array(self, value)

    # --- arrays -----------------------------------------------------------------------------------------------------

    def elementwise(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None = None) -> Lazy:
        shape = broadcast([x.shape if x.__class__ is Lazy else () for x in inputs], op.name)
        if op.name not in TEXT:
            raise Unsupported(f"the operation {op.name}")
        site = STATE.site

        def element(index: tuple[Any, ...]) -> Any:
            values = tuple(pick(x, index, shape) if x.__class__ is Lazy else x for x in inputs)
            asking, STATE.site = STATE.site, site
            if any(v.__class__ is Sym for v in values):
                outer, self.in_array = self.in_array, True
                found = self.scalar(op, values, attributes)
                self.in_array = outer
            else:
                found = self.rounded(op(*values, **(attributes or {})))
            STATE.site = asking
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
            x.stored, x.element = kept.stored, kept.element

    def constant(self, kind: str, shape: tuple[int, ...], values: list[Any]) -> Lazy:
        """An array of known elements."""
        if len(values) > MAX_CONSTANT:
            raise Unsupported("a large constant tensor")
        key = (kind, shape, repr(values) if len(values) < LONG_CONSTANT else bytes_of(kind, values))
        array = self.constants.get(key)
        if array is None:
            array = self.constants[key] = Array(kind, shape, "c", "constant")
            self.root.insert(0, ir.Constant(array, values))
        interval = (min(values), max(values)) if kind == INT and values else None

        def element(index: tuple[Any, ...]) -> Any:
            place = self.flat(index, shape)
            if place.__class__ is int:
                return values[place]
            found = self.load(array, place)
            if interval is not None:
                self.ranges[found.var] = interval
            return found

        known = Lazy(self, kind, shape, element, array)
        known.interval = interval
        return known

    def materialised(self, x: Lazy) -> Lazy:
        """`x` computed into memory of its own."""
        array = Array(x.kind, x.shape)
        self.append(ir.Alloc(array, False))
        self.fill(array, x)
        return self.stored(array)

    def fill(self, array: Array, x: Lazy) -> None:
        """Store the elements of `x`, in the first rows if the array has more."""

        def store(index: tuple[Any, ...]) -> None:
            value = self.of_kind(array.kind, x.element(index))
            self.append(ir.Store(array, raw(self.flat(index, x.shape)), raw(value)))

        self.renewed(array)
        if array.kind == FLOAT and (x.kind == INT or x.stored in self.some_whole) and self.is_list(array):
            self.some_whole.add(array)
        self.each(x.shape, store)

    def is_list(self, array: Array) -> bool:
        """Whether an array stands for a list of the program, whose elements are as they were put there."""
        return array.mixed

    def stored(self, array: Array) -> Lazy:
        """A lazy array that loads from memory."""
        if array.role == "unsigned" and self.meets is None:
            return Lazy(self, array.kind, array.shape, unsigned, array)
        return Lazy(self, array.kind, array.shape, lambda index: self.load(array, self.flat(index, array.shape)), array)

    def load(self, array: Array, place: Any) -> Sym:
        # Loads are shared: arrays are values, written completely before they are read.
        key = ("load", array, raw(place))
        found = self.known(key)
        if found is not None and array.role != "carried":
            return found
        var = Var(array.kind, "x")
        if array in self.strong:
            self.strong.add(var)
        elif array.kind == INT:
            self.read_bare.add(array)
        elif array in self.some_whole:
            self.doubtful.add(var)
        if array.kind == INT and array.role == "input":
            self.ranges[var] = COUNTABLE
        self.append(ir.Load(var, array, raw(place)))
        return self.remember(key, Sym(self, var))

    def carried(self, x: Lazy, kind: str | None = None) -> Lazy:
        """A copy of `x` that a loop may change in place."""
        array = Array(kind or x.kind, x.shape, "w", "carried")
        self.append(ir.Alloc(array, False))
        self.append(ir.OpenLog(array))
        self.fill(array, x)
        found = self.stored(array)
        found.volatile = True
        return found

    def blank(self, kind: str, shape: tuple[int, ...]) -> Lazy:
        """An array of zeros that a loop may change in place."""
        array = Array(kind, shape, "w", "carried")
        self.listed(array)
        array.mixed = True
        self.append(ir.Alloc(array, True))
        self.append(ir.OpenLog(array))
        found = self.stored(array)
        found.volatile = True
        return found

    def listed(self, array: Array) -> None:
        """Note that the elements of an array are values each of its own, as those of a list."""
        if self.follower is not None:
            self.follower.listed.add(array)

    def overwrite(self, x: Lazy, place: Any, value: Any) -> None:
        """Store in an array that a loop carries."""
        assert x.stored is not None
        self.overwritten += 1
        self.append(ir.Keep(x.stored, raw(place)))
        self.append(ir.Store(x.stored, raw(place), raw(self.of_kind(x.kind, value))))

    def of_kind(self, kind: str, value: Any) -> Any:
        """A scalar as an element of an array of a kind."""
        return self.to_float(value) if kind == FLOAT else self.to_int(value) if kind == INT else value

    def flat(self, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
        """The place of an index in row-major order."""
        place: Any = 0
        for i, n in zip(index, shape):
            place = self.integer("add", self.integer("multiply", place, n), i)
        return place

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
        index = self.counter(n)
        body, _ = self.nested(lambda: visit(Sym(self, index)))
        self.append(ir.Loop(index, 0, n, 1, None, None, [], body, None, {}, Var(INT, "t"), None))

    def counter(self, n: int) -> Var:
        index = Var(INT, "i")
        self.ranges[index] = (0, max(n - 1, 0))
        return index

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
        return self.rounded(OPERATORS[op](a, b))

    def rounded(self, x: Any) -> Any:
        """A number that is known, as what the tape would have: where every float is float32, the nearest one."""
        if self.mode != EVERY or x.__class__ is not float:
            return x
        from ..compilation.llvm_writer import rounded

        return rounded(x)

    def reduce(self, n: int, start: Any, step: Callable[[Sym, Sym], Any]) -> Sym:
        """A loop that carries one float."""
        index = self.counter(n)
        phi = Var(FLOAT, "s")
        body, following = self.nested(lambda: self.to_float(step(Sym(self, index), Sym(self, phi))))
        carried = [(phi, raw(self.to_float(start)), raw(following))]
        self.append(ir.Loop(index, 0, n, 1, None, None, carried, body, None, {}, Var(INT, "t"), None))
        return Sym(self, phi)


def makes_complex(op: Operation, attributes: dict[str, Any] | None) -> bool:
    """Whether a row of real operands gives complex numbers: a cast to them."""
    if op.name != "cast":
        return False
    from ...ops.structure import as_dtype

    return bool(as_dtype((attributes or {})["dtype"]).kind == "c")


def unsigned(index: tuple[Any, ...]) -> Any:
    """What a program gets that asks for the elements of eigenvectors or singular vectors found without LAPACK."""
    raise ir.Signed("the signs of eigenvectors or singular vectors, which LAPACK decides")


def unknown(x: Any, why: str) -> Any:
    raise Unsupported(why)


def raw(x: Any) -> Any:
    """An operand as the IR holds it."""
    return x.var if x.__class__ is Sym else x


def interval_of(op: str, operands: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Bounds of an integer result, before any check of it."""
    if op in ("add", "subtract", "multiply"):
        (a, b), (c, d) = operands
        if op == "add":
            return (a + c, b + d)
        if op == "subtract":
            return (a - d, b - c)
        corners = (a * c, a * d, b * c, b * d)
        return (min(corners), max(corners))
    if op == "int_mod" and operands[1][0] > 0:
        return (0, operands[1][1] - 1)
    if op == "int_floor_divide" and operands[1][0] > 0 and operands[0][0] >= 0:
        return (0, operands[0][1])
    if op == "bitwise_and" and any(low >= 0 for low, _ in operands):
        return (0, min(high for low, high in operands if low >= 0))
    if op == "where_select":
        (a, b), (c, d) = operands[1:]
        return (min(a, c), max(b, d))
    if op == "int_of_bool":
        return (0, 1)
    return None


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
