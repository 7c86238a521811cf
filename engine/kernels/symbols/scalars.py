"""Rows on numbers: the statement of each, its operands converted, and integers as exact as the tape's."""

from __future__ import annotations

from ...core.operation import Operation
from ...core.state import STATE
from ...core.tensor import OPERATORS
from .. import ir
from ..inputs import EVERY
from ..ir import BOOL, FLOAT, INT, LEAST, LIMIT, MOST, Unsupported, Var
from ..source.primitives import BITS, FOR_INTEGERS, LOGIC, SHIFTS, TEXT, attributes_covered, kind_of_row
from .blocks import Blocks
from .foreseen import decided_logic, interval_of, simplified
from .symbol import NUMBERS, Sym, join, kind_of, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Integers are shifted by fewer bits.
MOST_BITS = 63
# Rows that give one of their operands as it is.
CHOOSING = frozenset("minimum maximum fmin fmax clip".split())
# Rows that are something else of integers than of floats where an operand is 0, and which one.
AT_ZERO = {"floor_divide": 1, "mod": 1, "power": 0, "negative": 0}
# Rows of floats that may give zeros with signs where their operands are whole and have none.
SIGNING = frozenset("multiply floor_divide mod".split())
# Rows whose results may be larger than the whole numbers that floats hold, where their operands are not.
GROWING = frozenset("add subtract multiply square power".split())
# Rows that give integers of integers alone.
WHOLE_OF_WHOLE = frozenset(
    "add subtract multiply negative abs square minimum maximum fmin fmax floor_divide mod power floor ceil trunc round relu "
    "signum".split()
)

# Operations that have integers of integers.
COUNTING = frozenset(
    "add subtract multiply negative mod floor_divide minimum maximum abs square power squared_difference multiply_no_nan "
    "nan_to_num relu round signum fmin fmax fmod clip_between".split()
)


class Scalars(Blocks):
    """The part of the builder that computes with numbers."""

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
        self.converted.add(var)
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
        if name == "abs" and joined == BOOL:
            return inputs[0]  # as NumPy's
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
        if simple is not None and not self.of_its_own(simple, inputs):
            return simple
        doubtful = name in WHOLE_OF_WHOLE and all(self.may_be_whole(x) or kind_of(x) == BOOL for x in inputs)
        certain = (name == "power" and inputs[1].__class__ is int and inputs[1] >= 0) or (
            name == "negative" and self.chosen(inputs)
        )
        if doubtful and name in AT_ZERO and not certain:
            # Of integers that is an error, or a zero without a sign.
            zero = self.emit("equal", (floats[AT_ZERO[name]], 0.0), BOOL)
            self.append(ir.Check(raw(zero), 0, 1, STATE.site))
        found = self.emit(name, floats, FLOAT, attributes or None)
        if doubtful:
            self.doubtful.add(found.var)
            self.as_whole(name, inputs, found)
        # Of an integer `nan_to_num` is that integer, whatever is asked for, and so is its rounding behind the point.
        plainly = not attributes or name == "nan_to_num" or (name == "round" and attributes.get("decimals", 0) >= 0)
        if self.values and plainly and all(self.is_whole(x) for x in inputs):
            self.whole.add(found.var)
            self.made[found.var] = (name, inputs)
        if name in COUNTING and plainly and found.__class__ is Sym and all(map(self.counts, inputs)):
            self.counting[found.var] = (name, inputs)
        return found

    def of_its_own(self, simple: Any, inputs: tuple[Any, ...]) -> bool:
        """Whether a result is another number of the program than the operand that it equals: `n*True` and `n*1.0` do not
        count as n does."""
        if simple.__class__ is not Sym:
            return False
        return self.may_be_whole(simple) or (self.counts(simple) and not all(map(self.counts, inputs)))

    def as_whole(self, name: str, inputs: tuple[Any, ...], found: Sym) -> None:
        """Leave the kernel where a row of integers would give another number than the row of floats has."""
        differ = []
        signing = inputs if name == "multiply" else inputs[1:]
        if name in SIGNING and not any(x.__class__ is int and x > 0 for x in signing) and not self.chosen(inputs):
            zero = self.emit("equal", (found, 0.0), BOOL)
            differ.append(self.emit("logical_and", (zero, self.emit("signbit", (found,), BOOL)), BOOL))
        if name in GROWING:
            differ.append(self.emit("greater_equal", (self.emit("abs", (found,), FLOAT), float(LIMIT)), BOOL))
        for condition in differ:
            self.append(ir.Check(raw(condition), 0, 1, STATE.site))

    def chosen(self, inputs: tuple[Any, ...]) -> bool:
        """Whether the one float is `max(x[i], 0)` or the like: of an element of a tensor, so that it is a float for certain."""
        made = [self.made.get(x.var, ("", ())) for x in inputs if x.__class__ is Sym]
        if len(made) != 1 or made[0][0] not in ("maximum", "minimum"):
            return False
        return any(part.__class__ is Sym and part.var in self.elements for part in made[0][1])

    def counts(self, x: Any) -> bool:
        """Whether the tape may take a number for a bare integer, if the inputs that it is made of are some."""
        if x.__class__ is not Sym:
            return x.__class__ is int
        if x.kind == FLOAT:
            return x.var in self.inputs or x.var in self.counting
        return x.kind == INT and x.var not in self.strong

    def counted_index(self, x: Any) -> Any:
        """An index with the integers that differentiated bare integers in it are (`--at n=5`, `x[n]`, `x[i % n]`)."""
        if x.__class__ is tuple:
            return tuple([self.counted_index(part) for part in x])
        if x.__class__ is not Sym or x.kind != FLOAT or not self.counts(x):
            return x
        if self.follower is not None:
            self.follower.counted(x.var)
        return self.aside(lambda: self.as_counted(x))

    def take_for_float(self, x: Any) -> None:
        """Note that a number is taken for a float here, which counts as an integer if the inputs do that it is made of."""
        if x.__class__ is not Sym or x.kind != FLOAT or not self.counts(x):
            return
        found: dict[Var, None] = {}
        pending = [x]
        while pending:
            part = pending.pop()
            if part.var in self.counting:
                pending += [y for y in self.counting[part.var][1] if y.__class__ is Sym]
            elif part.kind == FLOAT:
                found[part.var] = None
        self.uncounted.append(list(found))

    def as_counted(self, x: Any) -> Any:
        """The integer that a number is which counts."""
        if x.__class__ is not Sym or x.kind != FLOAT:
            return x
        if x.var in self.counting:
            name, inputs = self.counting[x.var]
            parts = tuple(map(self.as_counted, inputs))
            if name in ("mod", "floor_divide", "fmod") and parts[1].__class__ is Sym:
                # The tape divides floats, and has an error of its own for an index that is nan.
                zero = self.emit("equal", (parts[1], 0), BOOL)
                self.append(ir.Check(raw(zero), 0, 1, STATE.site))
            return self.integers(name, parts)
        self.note_counted(x.var)
        return self.emit("to_int", (x,), INT)

    def note_counted(self, x: Var) -> None:
        """Note that an input counts as an integer here, if it is the first place where it does."""
        self.counted.setdefault(x, (STATE.site, self.block))

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
            return self.shifted(name, *inputs)
        if name == "abs" and self.interval(inputs[0])[0] == LEAST:
            name, inputs = "maximum", (inputs[0], self.integer("subtract", 0, inputs[0]))
        if name == "signum":
            return self.emit("int_sign", inputs, INT)
        if name in ("gcd", "lcm"):
            return self.emit(name, tuple(self.integers("abs", (x,)) for x in inputs), INT)
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

    def shifted(self, name: str, x: Any, bits: Any) -> Any:
        """`x << bits` or `x >> bits`; by fewer than none, or by more than an integer has, is the tape's."""
        if bits.__class__ is int:
            if not 0 <= bits < MOST_BITS:
                raise Unsupported("a shift by this number of bits")
            return self.integers(SHIFTS[name], (x, 1 << bits))
        low, high = self.interval(bits)
        if low < 0 or high >= MOST_BITS:
            self.append(ir.Check(raw(bits), 0, MOST_BITS, STATE.site))
        if name == "right_shift":
            return self.emit(name, (x, bits), INT)
        power = self.emit(name, (1, bits), INT)
        self.ranges[power.var] = (1, 1 << min(max(high, 0), MOST_BITS - 1))
        return self.integer("multiply", x, power)

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
