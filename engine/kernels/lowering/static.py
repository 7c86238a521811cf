"""Functions of the language on what is known while compiling, and on symbols where they have a meaning there."""

from __future__ import annotations

from ...core.operands import describe
from ...core.state import STATE
from ...ops.registry import NAMES
from ...program import core as c
from .. import ir
from ..ir import BOOL, FLOAT, INT, LIMIT, Needed, Unsupported
from ..symbols.pairs import Pair
from ..symbols.strength import bare, is_strong
from ..symbols.symbol import NUMBERS, Lazy, Sym, kind_of, raw
from ..symbols.values import Each, Grid, List, Range, Records, Rounded, Selected, plain, read, static_index, symbolic
from .custom_rules import custom_gradient
from .functional import FUNCTIONALS
from .printing import Text, at_present, print_, str_
from .selected import length
from .statements import Specialiser
from .tapes import gradient_tape
from .variables import variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Powers of ten that an integer holds.
MOST_TENS = 17
# Smaller numbers that are known may be rounded to digits without leaving the floats.
LARGEST_ROUNDED = 1e200
# Digits to which a number is rounded in one step, and units of the last one in which that is exact far from a tie.
MOST_DIGITS = 22
MOST_UNITS = 2.0**40
NEAR_TIE = 2.0**-10


def compare_static(op: Any, symbol: str, x: Any, y: Any) -> bool:
    if symbol in ("is", "is not") and x.__class__ is Grid and y.__class__ is Grid:
        raise Unsupported(f"'{symbol}' on lists of lists")  # each names a place: two of them may name the same list
    if symbol in ("is", "is not") and x.__class__ is List and y.__class__ is List and x.frozen and y.frozen:
        raise Unsupported(f"'{symbol}' on lists that may stand for one another")
    if symbol == "is":
        return x is y
    if symbol == "is not":
        return x is not y
    if Text in (x.__class__, y.__class__):
        raise Unsupported(f"'{symbol}' on texts that hold what depends on data")
    x, y = plain(x), plain(y)
    if symbolic(x) or symbolic(y):
        raise Unsupported(f"'{symbol}' on lists or tensors that depend on data")
    if symbol in ("in", "not in"):
        return (x in y) == (symbol == "in")
    if x.__class__ in (list, tuple, dict) or y.__class__ in (list, tuple, dict):
        raise Unsupported(f"'{symbol}' on lists")
    result = op.scalar(x, y)
    if result.__class__ is not bool:
        raise Unsupported("a comparison of these values")
    return result


def range_(machine: Specialiser, start: Any, stop: Any = None, step: Any = 1) -> Range | Each:
    if stop is None:
        start, stop = 0, start
    bounds = []
    for x in (start, stop, step):
        if x.__class__ is Sym and x.kind != INT:
            x = machine.builder.counted_index(x)
            if x.kind != INT:
                raise Unsupported("a range to a float")
        if x.__class__ is Lazy and x.shape == () and x.kind == INT:
            x = x.element(())
        if x.__class__ is not int and x.__class__ is not Sym:
            raise Unsupported("a range with bounds that are no integers")
        if x.__class__ is Sym and is_strong(machine.builder, x):
            known = machine.value_of(x)
            x = bare(machine.builder, x) if known is None else known
        machine.builder.keep_countable(x)
        bounds.append(x)
    try:
        bounds[2] = machine.whole(bounds[2], "a range with a step that depends on data")
    except Needed:
        raise
    except Unsupported:
        return stepped(machine, *bounds)
    if bounds[2] == 0:
        raise Unsupported("a range whose step is 0")
    return Range(*bounds)


def stepped(machine: Specialiser, start: Any, stop: Any, step: Any) -> Each:
    """The numbers of a range whose step is known when the kernel runs."""
    builder = machine.builder
    low, high = builder.interval(step)
    sign = 1 if low > 0 else -1 if high < 0 else builder.apply(NAMES["sign"], (step,), None)
    if low <= 0 <= high:
        builder.append(ir.Check(raw(builder.apply(NAMES["abs"], (step,), None)), 1, LIMIT))  # of 0 the tape tells
    span = builder.integer("add", builder.integer("subtract", stop, start), builder.integer("subtract", step, sign))
    length = builder.apply(NAMES["maximum"], (builder.apply(NAMES["floor_divide"], (span, step), None), 0), None)
    return Each(length, lambda i: builder.integer("add", builder.integer("multiply", i, step), start), True)


def len_(machine: Specialiser, x: Any) -> Any:
    if x.__class__ is Selected:
        return length(machine.builder, x)
    if x.__class__ in (Lazy, Pair) and x.shape:
        return x.shape[0]
    if x.__class__ in (tuple, dict, str):
        return len(x)
    if x.__class__ is List:
        return x.length
    if x.__class__ is Grid:
        return x.shape[0]
    if x.__class__ is Records:
        return x.columns[0].length
    if x.__class__ is Range:
        return machine.range_length(x)
    if x.__class__ is Each and not x.once:
        return x.length
    raise Unsupported(f"len of {describe(x)}")


def abs_(machine: Specialiser, x: Any) -> Any:
    if x.__class__ in (int, bool):
        return abs(x)
    if x.__class__ is Sym and x.kind == BOOL:
        return machine.builder.to_int(x)  # Python's; NumPy's is a truth value
    return machine.apply_row(NAMES["abs"], [x], {})


def is_truth(x: Any) -> bool:
    return x.__class__ is bool or (x.__class__ is Sym and x.kind == BOOL)


def extreme(row: str, reduction: str) -> Callable[..., Any]:
    def pick(machine: Specialiser, *xs: Any, **options: Any) -> Any:
        if len(xs) == 1 and (xs[0].__class__ in (Lazy, Selected) or "axis" in options) and "key" not in options:
            return machine.apply_row(NAMES[reduction], [xs[0]], options)
        if options.keys() == {"key"}:
            from .choosing import best_by

            return best_by(
                machine, "<" if row == "minimum" else ">", machine.items(xs[0] if len(xs) == 1 else xs), options["key"]
            )
        if options:
            raise Unsupported("min or max with these options")
        items: Any = xs[0] if len(xs) == 1 else tuple(xs)
        each = machine.each_of(items)
        count = each.length
        if count.__class__ is Sym:
            machine.builder.append(ir.Check(raw(count), 1, LIMIT))  # the tape says what is wrong with an empty one
        elif not count:
            raise Unsupported("min or max of a list that may be empty")
        first = each.item(0)
        if first.__class__ is List or (first.__class__ is Grid and len(xs) == 1):
            raise Unsupported("min or max of lists")
        rest = count - 1 if count.__class__ is int else machine.builder.integer("subtract", count, 1)
        others = Each(rest, lambda i: each.item(machine.builder.integer("add", i, 1)), each.loopable)
        return machine.fold(others, first, lambda best, x: better(machine, best, x))

    def better(machine: Specialiser, best: Any, x: Any) -> Any:
        if best.__class__ is tuple and x.__class__ is tuple:
            from .choosing import tuple_ordered

            beyond = tuple_ordered(machine, "<" if row == "minimum" else ">", x, best)
            if beyond.__class__ is bool:
                return x if beyond else best
            return machine.choice(beyond, lambda: x, lambda: best)
        if is_truth(best) and is_truth(x):
            beyond = machine.builder.apply(NAMES["less" if row == "minimum" else "greater"], (x, best), None)
            return machine.builder.select(beyond, x, best)
        if symbolic(best) or symbolic(x):
            builder = machine.builder
            found = builder.apply(NAMES[row], (plain(best), plain(x)), None)
            # One of the two it is, an integer too: the row would make it a float.
            if found.__class__ is Sym and found.kind == FLOAT and found is not best and found is not x:
                if any(kind_of(side) != FLOAT or builder.may_be_whole(side) for side in (best, x)):
                    builder.doubtful.add(found.var)
            return found
        if best.__class__ not in NUMBERS or x.__class__ not in NUMBERS or x != x or best != best:
            raise Unsupported("min or max of these values")
        return (min if row == "minimum" else max)(best, x)

    return pick


def folded_call(machine: Specialiser, name: str, node: c.Call, frame: Any) -> Any:
    """`sum`, `any` or `all` of a comprehension, whose list is not made; None for any other call."""
    if (
        len(node.args) != 1
        or node.keywords
        or node.args[0].__class__ is not c.Comprehension
        or node.args[0].kind != "list"
    ):
        return None

    def step(found: Any, item: Any) -> Any:
        STATE.site = node.site
        return added(machine, found, item) if name == "sum" else STEPS[name](machine, found, item)

    first = {"sum": 0, "any": False, "all": True}[name]
    return machine.folded_comprehension(node.args[0], frame, first, step)


def added(machine: Specialiser, total: Any, item: Any) -> Any:
    if item.__class__ not in (*NUMBERS, Sym, Lazy, Pair, complex):
        raise Unsupported("a sum of lists")
    return machine.combine(NAMES["add"], "+", total, item, STATE.site)


def sum_(machine: Specialiser, x: Any, start: Any = None, axis: Any = None, **options: Any) -> Any:
    if x.__class__ in (List, tuple, Range, Each) and axis is None and not options:
        return machine.fold(x, 0 if start is None else start, lambda total, item: added(machine, total, item))
    if x.__class__ is Grid and start is not None:
        raise Unsupported("a sum of lists")
    return machine.apply_row(NAMES["reduce_sum"], [x], {"axis": start if axis is None else axis, **options})


def decided(name: str, stop: bool) -> Callable[..., Any]:
    """`any` and `all`."""

    def run(machine: Specialiser, x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        if x.__class__ in (Lazy, Selected) or axis is not None:
            return machine.apply_row(NAMES[name], [x], {"axis": axis, "keepdims": keepdims})
        return machine.fold(x, not stop, lambda found, item: STEPS[name](machine, found, item))

    return run


def joining(stop: bool) -> Callable[..., Any]:
    """One more item of `any` or `all`."""

    def both(machine: Specialiser, found: Any, item: Any) -> Any:
        here = machine.truth(item)
        if found is stop or here is stop:
            return stop
        if found is not stop and found.__class__ is bool:
            return here
        if here.__class__ is bool:
            return found
        return machine.builder.apply(NAMES["logical_or" if stop else "logical_and"], (found, here), None)

    return both


STEPS = {"any": joining(True), "all": joining(False)}


def zip_(machine: Specialiser, *xs: Any) -> Each:
    parts = [machine.each_of(x) for x in xs]
    length = machine.shortest([each.length for each in parts]) if parts else 0
    return Each(
        length, lambda i: tuple(each.item(i) for each in parts), all(each.loopable for each in parts),
        tuple(x for each in parts for x in each.sources), machine.dynamic,
    )  # fmt: skip


def enumerate_(machine: Specialiser, x: Any, start: Any = 0) -> Each:
    each = machine.each_of(x)
    return Each(
        each.length, lambda i: (machine.builder.integer("add", i, start), each.item(i)), each.loopable, each.sources,
        machine.dynamic, each.along,
    )  # fmt: skip


def list_(machine: Specialiser, x: Any = ()) -> List:
    return machine.collected(x, lambda item, add: add(item))


def tuple_(machine: Specialiser, x: Any = ()) -> tuple[Any, ...]:
    return tuple(machine.builder.settle(item) for item in machine.items(x))


def dict_(machine: Specialiser, x: Any = None, **named: Any) -> dict[Any, Any]:
    if x is None or x.__class__ is dict:
        return {**(x or {}), **named}
    found: dict[Any, Any] = {}
    for pair in machine.items(x):
        parts = machine.items(pair)
        if len(parts) != 2:
            raise Unsupported("a dict made of what are no pairs")
        found[static_index(parts[0])] = machine.builder.settle(parts[1])
    return {**found, **named}


def map_(machine: Specialiser, f: Any, *xs: Any) -> List:
    items = zip_(machine, *xs)
    return machine.collected(items, lambda item, add: add(machine.invoke(f, list(item), {})))


def filter_(machine: Specialiser, f: Any, x: Any) -> List:
    def keep(item: Any, add: Callable[[Any], None]) -> None:
        kept = machine.truth(item if f is None else machine.invoke(f, [item], {}))
        machine.where_it_holds(kept, machine.frames[-1], lambda: add(item))

    return machine.collected(x, keep)


def sorted_(machine: Specialiser, x: Any, **options: Any) -> List:
    from .choosing import in_order

    reverse = machine.truth(options.get("reverse", False))
    if options.keys() - {"reverse", "key"} or reverse.__class__ is not bool:
        raise Unsupported("sorting with these options")
    return in_order(machine, machine.items(x), options.get("key"), reverse)


def float_(machine: Specialiser, x: Any = 0.0) -> Any:
    if x.__class__ is str:
        return of_text(float, x)
    if x.__class__ is not Sym and x.__class__ not in NUMBERS:
        raise Unsupported(f"float of {describe(x)}")
    return machine.builder.cast_to_float(x)


def of_text(kind: type[float] | type[int], x: str) -> Any:
    """The number that a text says: `float("inf")`."""
    try:
        return kind(x)
    except ValueError:
        raise Unsupported(f"{kind.__name__} of a text that is no number") from None


def int_(machine: Specialiser, x: Any = 0) -> Any:
    if x.__class__ is str:
        return of_text(int, x)
    x = x.found if x.__class__ is Rounded else read(x)
    if x.__class__ is Sym:
        if x.kind == FLOAT:
            machine.builder.note_end(x.var, "int(), where it counts as an integer")
            if machine.builder.follower is not None:
                machine.builder.follower.end([x.var], "int(), where it counts as an integer")
            return machine.builder.aside(lambda: whole_number(machine, x))
        return bare(machine.builder, machine.builder.to_int(x))
    if x.__class__ in (int, bool) or (x.__class__ is float and x - x == 0.0):
        return int(x)
    raise Unsupported(f"int of {describe(x)}")


def whole_number(machine: Specialiser, x: Sym) -> Any:
    """The integer of a float, which nan and infinity have not."""
    finite = machine.builder.apply(NAMES["isfinite"], (x,), None)
    machine.builder.append(ir.Check(finite.var, 1, 2, STATE.site, ("no_integer_value",), x.var))
    return machine.builder.emit("to_int", (x,), INT)


def whole_part(name: str) -> Callable[..., Any]:
    def round_to_integer(machine: Specialiser, x: Any) -> Any:
        if x.__class__ is int or (x.__class__ is Sym and x.kind == INT):
            return x
        if x.__class__ not in (Sym, float):
            raise Unsupported(f"{name} of {describe(x)} as an integer")
        return int_(machine, machine.apply_row(NAMES[name], [x], {}))

    return round_to_integer


def bool_(machine: Specialiser, x: Any = False) -> Any:
    return machine.truth(x)


def round_(machine: Specialiser, x: Any, ndigits: Any = None) -> Any:
    if x.__class__ in (Lazy, Pair):
        return machine.apply_row(NAMES["round"], [x], {} if ndigits is None else {"decimals": ndigits})
    if ndigits is None and (x.__class__ in (int, bool) or (x.__class__ is Sym and x.kind != FLOAT)):
        return machine.builder.to_int(x)
    if ndigits is None and x.__class__ is float and x - x == 0.0:
        return round(x)
    if ndigits is None and x.__class__ is Sym:
        return Rounded(machine.apply_row(NAMES["round"], [x], {}), x)
    digits = ndigits if ndigits.__class__ is int and abs(ndigits) <= MOST_DIGITS else None
    if x.__class__ is Sym and x.kind == FLOAT and digits is not None:
        return to_digits(machine, x, digits)
    if x.__class__ is float and digits is not None and abs(x) < LARGEST_ROUNDED and not machine.builder.mode:
        found, unit = round(x, digits), 10.0 ** abs(digits)
        # Python rounds a bare number as it is, NumPy what is a tensor in units of the last digit.
        if found == (round(x * unit) / unit if digits >= 0 else round(x / unit) * unit):
            return found
    if x.__class__ is Sym and x.kind == INT and ndigits.__class__ is int and x.var not in machine.builder.strong:
        return x if ndigits >= 0 else to_tens(machine, x, ndigits)
    raise Unsupported("round of what has no such integer" if ndigits is None else "round of a number to digits")


def to_tens(machine: Specialiser, x: Sym, digits: int) -> Any:
    """An integer rounded to tens, hundreds, ..., a half to the even number of them."""
    if -digits > MOST_TENS:
        raise Unsupported("round of a number to digits")
    unit = 10**-digits
    apply = machine.builder.apply
    rest = apply(NAMES["mod"], (x, unit), None)
    whole = apply(NAMES["floor_divide"], (x, unit), None)
    odd = apply(NAMES["mod"], (whole, 2), None)
    up = apply(
        NAMES["greater"], (apply(NAMES["add"], (apply(NAMES["multiply"], (rest, 2), None), odd), None), unit), None
    )
    return apply(NAMES["multiply"], (apply(NAMES["add"], (whole, up), None), unit), None)


def to_digits(machine: Specialiser, x: Sym, digits: int) -> Any:
    """A float rounded to digits. Python rounds a bare number as it is, NumPy what is differentiated in units of the last
    digit: the tape takes the step where these may not be the same."""
    builder = machine.builder

    def near() -> tuple[Any, ...]:
        name, unit = ("multiply", 10.0**digits) if digits >= 0 else ("divide", 10.0**-digits)
        units = builder.apply(NAMES[name], (x, unit), None)
        apart = abs(units - builder.apply(NAMES["floor"], (units,), None) - 0.5)
        return apart < NEAR_TIE, abs(units) > MOST_UNITS

    for condition in builder.aside(near):
        builder.arrays.leave_if(condition)
    return machine.apply_row(NAMES["round"], [x], {"decimals": digits})


def pow_(machine: Specialiser, base: Any, exponent: Any) -> Any:
    return machine.combine(NAMES["power"], "**", base, exponent, STATE.site)


def divmod_(machine: Specialiser, a: Any, b: Any) -> tuple[Any, Any]:
    site = STATE.site
    return (
        machine.combine(NAMES["floor_divide"], "//", a, b, site),
        machine.combine(NAMES["mod"], "%", a, b, site),
    )


def reversed_(machine: Specialiser, x: Any) -> Each:
    x = read(x)
    if x.__class__ is List and x.items is not None:
        # The list as it is now; the lists in it stay those that they are.
        now: Any = List([item if item.__class__ is List else at_present(item) for item in x.items])
    else:
        now = at_present(x)
    each = machine.each_of(now)
    last = machine.longer(each.length, -1)
    return Each(each.length, lambda i: each.item(machine.builder.integer("subtract", last, i)), each.loopable)


def no_op(machine: Specialiser, *args: Any, **named: Any) -> None:
    return None


INTRINSICS: dict[str, Callable[..., Any]] = {
    "range": range_, "len": len_, "abs": abs_, "min": extreme("minimum", "reduce_min"),
    "max": extreme("maximum", "reduce_max"), "sum": sum_, "any": decided("any", True), "all": decided("all", False),
    "zip": zip_, "enumerate": enumerate_, "list": list_, "tuple": tuple_, "dict": dict_, "map": map_, "filter": filter_,
    "sorted": sorted_, "float": float_, "int": int_, "bool": bool_, "round": round_, "pow": pow_, "divmod": divmod_,
    "reversed": reversed_, "math.floor": whole_part("floor"), "math.ceil": whole_part("ceil"),
    "math.trunc": whole_part("trunc"), "no_op": no_op, "GradientTape": gradient_tape, "Variable": variable,
    "custom_gradient": custom_gradient, "print": print_, "str": str_,
    **FUNCTIONALS,
}  # fmt: skip
