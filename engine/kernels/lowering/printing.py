"""What a program prints: text with values from the kernel in it.

A kernel writes what is printed into rows of an array: which `print` it is, and the numbers in its text. The text is put
together when the kernel is done and its answer stands, or when an error or a signal ends it: an array holds at all times
how many lines there are. An answer that is left to the tape has printed nothing. The pieces of a text are plain data: a
str, or (structure, conversion, format).
"""

from __future__ import annotations

import re
from math import prod

from ...core.state import STATE
from ...ops.registry import ROWS
from .. import ir
from ..differentiation.activity import dependencies
from ..inputs import EVERY, SOME
from ..ir import BOOL, FLOAT, INT, SINGLE, Array, Unsupported, Var
from ..passes.statements import everything
from ..symbols.scalars import WHOLE_OF_WHOLE
from ..symbols.symbol import NUMBERS, Lazy, Sym, raw
from ..symbols.values import List, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..symbols.build import Builder
    from .statements import Specialiser

    Pieces = list[Any]

# As many lines as a kernel may print, and numbers in one of them.
MAX_LINES = 10_000
MAX_NUMBERS = 4_096
# The fields of a text before `%`: a width or a precision of more than four digits, or one taken from the values, is none.
FIELD = re.compile(r"%(?:%|[#0\- +]{0,5}\d{0,4}(?:\.\d{0,4})?([dioxXeEfFgGsra])|)")
# The entry of the outermost frame that counts the lines.
LINES = "$lines"


class Text:
    """A str with values in it that the kernel knows: pieces of text, and (value, conversion, format), where the conversion
    "%" says that the format is a field of a text before `%`."""

    description = "a text"
    __slots__ = ("pieces",)

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces


def str_(machine: Specialiser, x: Any = "") -> Any:
    return joined([piece(x)])


def piece(x: Any, conversion: str | None = None, spec: str = "") -> Any:
    """A value, as it is now, as a piece of text."""
    x = at_present(x)
    if x.__class__ is Text and conversion != "r" and not spec:
        return x
    if x.__class__ is str and conversion is None and not spec:
        return x
    if x.__class__ is int and conversion is None and not spec:
        return str(x)
    if spec and not fits(x, conversion, spec):
        raise Unsupported("a text whose fields may not fit its values")
    return (x, conversion, spec)


def fits(x: Any, conversion: str | None, spec: str) -> bool:
    """Whether a format is one for values of this kind."""
    sample: Any = "" if conversion is not None else x
    if conversion is None and x.__class__ is Sym:
        sample = {FLOAT: 0.5, INT: 1, BOOL: True}[x.kind]
    if sample.__class__ not in (str, int, float, bool) or any(len(width) > 4 for width in re.findall(r"\d+", spec)):
        return False
    try:
        format(sample, spec)
    except ValueError:
        return False
    return True


def at_present(x: Any) -> Any:
    """A value that no later statement changes."""
    x = read(x)
    if x.__class__ is Lazy:
        return x.builder.settle(x)
    if x.__class__ is tuple:
        return tuple(map(at_present, x))
    if x.__class__ is not List:
        return x
    copy = List([at_present(item) for item in x.items or ()])
    if x.items is None:
        copy.items, copy.array, copy.length = None, at_present(x.array), x.length
    return copy


def joined(pieces: Pieces) -> Any:
    """Pieces as a str where all of them are known."""
    flat: Pieces = []
    for p in pieces:
        flat.extend(p.pieces if p.__class__ is Text else [p])
    return "".join(flat) if all(p.__class__ is str for p in flat) else Text(flat)


def percent(template: str, values: Any) -> Any:
    """`template % values`. Raises Unsupported where the fields may not fit, and for widths taken from the values."""
    given = list(values) if values.__class__ is tuple else [values]
    pieces: Pieces = []
    place = 0
    for field in FIELD.finditer(template):
        pieces.append(template[place : field.start()])
        place = field.end()
        if field[0] == "%%":
            pieces.append("%")
        elif field[1] is None or not given:
            raise Unsupported("a text whose fields may not fit its values")
        else:
            pieces.append(percent_piece(given.pop(0), field[0], field[1]))
    pieces.append(template[place:])
    if given:
        raise Unsupported("a text whose fields may not fit its values")
    return joined(pieces)


def percent_piece(x: Any, field: str, conversion: str) -> Any:
    x = at_present(x)
    if x.__class__ in (int, bool, str):
        try:
            return field % x
        except (TypeError, ValueError):
            raise Unsupported("a text whose fields may not fit its values") from None
    if x.__class__ is Text:
        if field != "%s":
            raise Unsupported("a text with values in it in a field with a width")
        return x
    number = x.__class__ is Sym or x.__class__ in NUMBERS
    counts = x.__class__ is Sym and x.kind != FLOAT
    if (conversion in "dioxX" and not counts) or (conversion in "eEfFgG" and not number):
        raise Unsupported("a text whose fields may not fit its values")
    return (x, "%", field)


def format_(template: str, values: Sequence[Any], named: dict[str, Any]) -> Any:
    """`template.format(...)`. Raises Unsupported where the fields may not fit."""
    from string import Formatter

    pieces: Pieces = []
    automatic = 0
    try:
        fields = list(Formatter().parse(template))
    except ValueError:
        raise Unsupported("a text whose fields may not fit its values") from None
    for literal, field, spec, conversion in fields:
        pieces.append(literal)
        if field is None:
            continue
        key: Any = automatic if field == "" else int(field) if field.isdigit() else field
        automatic += field == ""
        if (key not in named if key.__class__ is str else key >= len(values)) or "{" in (spec or ""):
            raise Unsupported("a text whose fields may not fit its values")
        pieces.append(piece(named[key] if key.__class__ is str else values[key], conversion, spec or ""))
    return joined(pieces)


def print_(
    machine: Specialiser, *values: Any, sep: Any = " ", end: Any = "\n", flush: Any = False, file: Any = None
) -> None:
    separator, ending = (" " if sep is None else sep), ("\n" if end is None else end)
    if separator.__class__ is not str or ending.__class__ is not str:
        raise Unsupported("'print' with a computed separator")
    pieces: Pieces = []
    for k, x in enumerate(values):
        pieces.extend(([separator] if k else []) + [piece(x)])
    whole = joined([*pieces, ending])
    machine.printed.line(machine, [whole] if whole.__class__ is str else whole.pieces)


class Printed:
    """The lines of one program: the pieces of each `print`, and the array of what was printed."""

    def __init__(self, width: int, telling: bool = False) -> None:
        self.width = width
        # Whether the messages of assertions that fail are printed too.
        self.telling = telling
        self.prints: list[Pieces] = []
        self.rows = Array(FLOAT, (0,), "lines", "printed")
        self.count = Array(INT, (1,), "n", "printed")
        # The variables and arrays that are shown.
        self.shown: list[Any] = []
        # For each number that is shown, if it is an integer where inputs are that are floats here: which all must be, and
        # which it is made of.
        self.counts: list[tuple[list[str], list[str]]] = []

    def line(self, machine: Specialiser, pieces: Pieces) -> None:
        """Print a line."""
        if machine.derived:
            raise Unsupported("'print' in a function that is differentiated")
        if machine.recursion is not None:
            raise Unsupported("'print' in a recursion")
        builder = machine.builder
        numbers: list[Any] = []
        plain = [p if p.__class__ is str else (structure(builder, p[0], numbers), *p[1:]) for p in pieces]
        size = sum(prod(x.shape) if x.__class__ is Lazy else 1 for x in numbers)
        if size > MAX_NUMBERS:
            raise Unsupported("'print' of this many numbers")
        if size + 1 > self.width:
            raise Wider(size + 1)
        frame = machine.frames[0]
        count = frame[LINES]
        if count.__class__ is Sym or count >= MAX_LINES:
            builder.append(ir.Check(raw(count), 0, MAX_LINES))
            known = Sym(builder, Var(INT))
            builder.ranges[known.var] = (0, MAX_LINES - 1)
            builder.append(ir.Set(known.var, "copy", (raw(count),), None, None))
            count = known
        start = builder.integer("multiply", count, self.width)
        builder.append(ir.Store(self.rows, raw(start), float(len(self.prints))))
        place = builder.integer("add", start, 1)
        if builder.mode == SOME and any(x.kind == FLOAT for x in numbers):
            raise Unsupported("'print' of a number that is a float32 on some paths only")
        for x in numbers:
            self.shown.append(x.stored if x.__class__ is Lazy else raw(x))
            if x.__class__ is not Lazy:
                builder.append(ir.Store(self.rows, raw(place), as_float(builder, x)))
                place = builder.integer("add", place, 1)
                continue

            def store(index: tuple[Any, ...], x: Lazy = x, first: Any = place) -> None:
                at = builder.integer("add", builder.flat(index, x.shape), first)
                builder.append(ir.Store(self.rows, raw(at), as_float(builder, x.element(index))))

            builder.each(x.shape, store)
            place = builder.integer("add", place, prod(x.shape))
        self.prints.append(plain)
        frame[LINES] = more = builder.integer("add", count, 1)
        builder.append(ir.Store(self.count, 0, raw(more)))

    def finished(self, machine: Specialiser, block: list[ir.Stmt]) -> None:
        """Take the memory, in the program's statements, which are complete."""
        if self.prints:
            builder = machine.builder
            spread = integers_of(builder, block)
            doubtful = spread([*builder.widened, *builder.doubtful])
            if any(x in doubtful or x in builder.begun for x in self.shown):
                raise Unsupported("'print' of a number that is an integer on some path, and a float on another")
            self.counts = self.made_of(spread, [p for p in builder.parameters if p.kind == FLOAT])
            count = machine.frames[0][LINES]
            lines = count if count.__class__ is int else MAX_LINES
            self.rows.shape = (lines * self.width,)
            block[:0] = [ir.Alloc(self.rows, False), ir.Alloc(self.count, True)]

    def made_of(self, spread: Callable[..., set[Any]], inputs: list[Var]) -> list[tuple[list[str], list[str]]]:
        """What `counts` is, by `integers_of`."""
        found = []
        shown = spread(inputs).intersection(self.shown)
        if shown:
            without = {p.name: spread([q for q in inputs if q is not p]) for p in inputs}
            alone = {p.name: spread([p], True) for p in inputs}
            for x in shown:
                needed = [name for name, left in without.items() if x not in left]
                found.append((needed, [name for name, reached in alone.items() if x in reached]))
        return found

    @property
    def results(self) -> list[Any]:
        """What a kernel must give for the text."""
        return [self.rows, self.count] if self.prints else []

    def plain(self) -> Any:
        """What is known of the text beside the results."""
        return (self.width, self.prints) if self.prints else None


def integers_of(builder: Builder, block: list[ir.Stmt]) -> Callable[..., set[Any]]:
    """A function that finds which floats may be integers of the program, in its statements, where the given ones are; or,
    with `others`, where they are together with others."""
    edges = dependencies(ir.Kernel([], block, []))
    # Floats for certain; those that are integers where all of their operands are, with these; and integers as floats.
    certain, together, made = set(builder.converted), {}, set()
    for store in builder.converting:
        edges.get(store.value, set()).discard(store.array)
    for s in everything(block):
        if s.__class__ is ir.Store and s not in builder.converting and s.value.__class__ is Var:
            edges.setdefault(s.value, set()).add(s.array)
        if s.__class__ is not ir.Set:
            continue
        if s.op == "to_float":
            made.add(s.var)
        elif s.op in WHOLE_OF_WHOLE:
            together[s.var] = [a for a in s.args if a.__class__ is Var and a.kind == FLOAT]
            if any(a.__class__ is float and not a.is_integer() for a in s.args):
                certain.add(s.var)
        elif s.op in ROWS and ROWS[s.op].dtype == "float":
            certain.add(s.var)

    def spread(starts: list[Any], others: bool = False) -> set[Any]:
        found = made.union(starts)
        pending = list(starts)
        while pending:
            for target in edges.get(pending.pop(), ()):
                if target in found or target in certain:
                    continue
                if others or found.issuperset(together.get(target, ())):
                    found.add(target)
                    pending.append(target)
        return found - made

    return spread


class Wider(Exception):
    """A line with more numbers than the rows have room for: the program is compiled again."""

    def __init__(self, width: int) -> None:
        self.width = width


def as_float(builder: Builder, x: Any) -> Any:
    """A number as an element of the rows, which no derivative follows."""
    if builder.mode and x.__class__ is Sym and x.kind != FLOAT:
        return builder.emit("to_double", (builder.to_int(x),), FLOAT).var
    x = builder.cast_to_float(x)
    if x.__class__ is not Sym:
        return x
    var = Var(FLOAT, "o")
    builder.append(ir.Set(var, "stop_gradient", (x.var,), STATE.site, None))
    return var


def structure(builder: Builder, x: Any, numbers: list[Any]) -> Any:
    """How a value in a text is put together from numbers, which are added to `numbers`."""
    x = read(x)
    if x.__class__ is Lazy and not x.shape:
        x = x.element(())
    if x.__class__ is Sym:
        numbers.append(x)
        return "number", SINGLE if x.kind == FLOAT and builder.mode else x.kind
    if x.__class__ is Lazy:
        x = x if x.stored is not None and not x.volatile else builder.materialised(x)
        numbers.append(x)
        return "array", SINGLE if x.kind == FLOAT and builder.mode else x.kind, tuple(x.shape)
    if x.__class__ is List and x.items is not None:
        return "list", [structure(builder, item, numbers) for item in x.items]
    if x.__class__ is List and x.length.__class__ is int and x.array.shape[1:] == ():
        return "list", [structure(builder, x.array.element((k,)), numbers) for k in range(x.length)]
    if x.__class__ is tuple:
        return "tuple", [structure(builder, item, numbers) for item in x]
    if x.__class__ in (*NUMBERS, str) or x is None:
        return ("single" if x.__class__ is float and builder.mode == EVERY else "known"), x
    raise Unsupported("'print' of a value of this kind")


def text_of(rows: Any, count: int, printed: Any, formatted: Callable[[Any, str | None, str], str]) -> list[str]:
    """The lines that a kernel printed; `formatted` gives a value, its conversion and its format as text."""
    width, prints = printed
    found: list[str] = []
    for k in range(count):
        row = rows[k * width : (k + 1) * width]
        taken = [1]
        pieces = prints[int(row[0])]
        found.append(
            "".join([p if p.__class__ is str else formatted(value_of(p[0], row, taken), p[1], p[2]) for p in pieces])
        )
    return found


def value_of(structure: Any, row: Any, taken: list[int]) -> Any:
    """A value from the numbers in a row; `taken` is where the next one is."""
    kind = structure[0]
    if kind == "known":
        return structure[1]
    if kind == "list":
        return [value_of(part, row, taken) for part in structure[1]]
    if kind == "tuple":
        return tuple(value_of(part, row, taken) for part in structure[1])
    if kind in ("number", "single"):
        x = float(structure[1] if kind == "single" else row[taken[0]])
        taken[0] += kind == "number"
        structure = ("number", SINGLE) if kind == "single" else structure
        if structure[1] != SINGLE:
            return int(x) if structure[1] == INT else bool(x) if structure[1] == BOOL else x
    import numpy as np

    from ...core.dtypes import BOOL as BOOLEAN
    from ...core.dtypes import FLOAT32, FLOAT64, INT64
    from ...core.tensor import Tensor

    if kind in ("number", "single"):
        return Tensor(np.array(x, np.float32), FLOAT32)
    shape = tuple(structure[2])
    size = prod(shape)
    part = np.array(row[taken[0] : taken[0] + size], dtype=np.float64)
    taken[0] += size
    dtype = {FLOAT: FLOAT64, INT: INT64, BOOL: BOOLEAN, SINGLE: FLOAT32}[structure[1]]
    return Tensor(part.astype(dtype.name).reshape(shape), dtype)
