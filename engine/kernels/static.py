"""Functions of the language on what is known while compiling, and on symbols where they have a meaning there."""

from __future__ import annotations

from ..core.state import STATE
from ..ops.registry import NAMES
from .build import NUMBERS, Lazy, Sym
from .ir import FLOAT, INT, Unsupported
from .specialise import Specialiser
from .values import Range, symbolic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def compare_static(op: Any, symbol: str, x: Any, y: Any) -> bool:
    if symbol == "is":
        return x is y
    if symbol == "is not":
        return x is not y
    if symbol in ("in", "not in"):
        return (x in y) == (symbol == "in")
    result = op.scalar(x, y)
    if result.__class__ is not bool:
        raise Unsupported("a comparison of this kind")
    return result


def range_(machine: Specialiser, start: Any, stop: Any = None, step: Any = 1) -> Range:
    if stop is None:
        start, stop = 0, start
    bounds = []
    for x in (start, stop, step):
        if x.__class__ is Sym and x.kind != INT:
            x = counted_input(machine, x)
        if x.__class__ is not int and x.__class__ is not Sym:
            raise Unsupported("a range of this kind")
        bounds.append(x)
    if bounds[2].__class__ is not int or bounds[2] == 0:
        raise Unsupported("a range with a computed step")
    return Range(*bounds)


def counted_input(machine: Specialiser, x: Sym) -> Sym:
    """An input that is differentiated and counts as the integer it is (`--at n=5` and `range(n)`)."""
    builder = machine.builder
    if x.var not in builder.inputs or x.kind != FLOAT:
        raise Unsupported("a range of a float")
    builder.counted.setdefault(x.var, STATE.site)
    return builder.emit("to_int", (x,), INT)


def len_(machine: Specialiser, x: Any) -> int:
    if x.__class__ is Lazy and x.shape:
        return x.shape[0]
    if x.__class__ in (list, tuple, dict, str):
        return len(x)
    raise Unsupported("len of this")


def abs_(machine: Specialiser, x: Any) -> Any:
    return machine.apply_row(NAMES["abs"], [x], {})


def extreme(row: str) -> Callable[..., Any]:
    def pick(machine: Specialiser, *xs: Any, **options: Any) -> Any:
        if options:
            raise Unsupported("min or max with options")
        items = list(xs)
        if len(items) == 1:
            if items[0].__class__ is Lazy:
                raise Unsupported("the largest or smallest element of an array")
            items = machine.items(items[0])
        best = items[0]
        for x in items[1:]:
            if symbolic(best) or symbolic(x):
                best = machine.builder.apply(NAMES[row], (best, x), None)
            elif best.__class__ not in NUMBERS or x.__class__ not in NUMBERS or x != x or best != best:
                raise Unsupported("min or max of these")
            else:
                best = (min if row == "minimum" else max)(best, x)
        return best

    return pick


def sum_(machine: Specialiser, x: Any, axis: Any = None, **options: Any) -> Any:
    if x.__class__ in (list, tuple, Range) and axis is None and not options:
        total: Any = 0
        for item in machine.items(x):
            if item.__class__ not in (*NUMBERS, Sym, Lazy):
                raise Unsupported("a sum of lists")
            total = machine.combine(NAMES["add"], "+", total, item, STATE.site)
        return total
    return machine.apply_row(NAMES["reduce_sum"], [x], {"axis": axis, **options})


def zip_(machine: Specialiser, *xs: Any) -> list[Any]:
    return list(zip(*[machine.items(x) for x in xs]))


def enumerate_(machine: Specialiser, x: Any, start: Any = 0) -> list[Any]:
    return [(i + start, item) for i, item in enumerate(machine.items(x))]


def list_(machine: Specialiser, x: Any = ()) -> list[Any]:
    return machine.items(x)


def tuple_(machine: Specialiser, x: Any = ()) -> tuple[Any, ...]:
    return tuple(machine.items(x))


def float_(machine: Specialiser, x: Any) -> Any:
    if x.__class__ is not Sym and x.__class__ not in NUMBERS:
        raise Unsupported("float of this")
    return machine.builder.to_float(x)


def int_(machine: Specialiser, x: Any) -> Any:
    if x.__class__ is Sym:
        return machine.builder.emit("to_int", (x,), INT) if x.kind == FLOAT else machine.builder.to_int(x)
    if x.__class__ in NUMBERS:
        return int(x)
    raise Unsupported("int of this")


def pow_(machine: Specialiser, base: Any, exponent: Any) -> Any:
    return machine.combine(NAMES["power"], "**", base, exponent, STATE.site)


def reversed_(machine: Specialiser, x: Any) -> list[Any]:
    return machine.items(x)[::-1]


INTRINSICS: dict[str, Callable[..., Any]] = {
    "range": range_, "len": len_, "abs": abs_, "min": extreme("minimum"), "max": extreme("maximum"), "sum": sum_,
    "zip": zip_, "enumerate": enumerate_, "list": list_, "tuple": tuple_, "float": float_, "int": int_, "pow": pow_,
    "reversed": reversed_,
}  # fmt: skip
