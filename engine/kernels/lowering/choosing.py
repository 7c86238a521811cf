"""Choices among items by data: `in`, dicts whose key is computed, the largest by a key, lists in order, letters of a text."""

from __future__ import annotations

from math import isnan

from ...core.state import STATE
from ...ops.registry import NAMES
from .. import ir
from ..ir import FLOAT, INT, Unsupported
from ..symbols.arrays import array_of_list, from_front, get, known_integers, lazy, note_integers, wrapped
from ..symbols.strength import is_strong
from ..symbols.symbol import NUMBERS, Lazy, Sym
from ..symbols.values import FUNCTIONS, Chosen, Letter, List, Range, read
from .carried import COMPLEX
from .printing import Text
from .records import form_of_all, freeze, numbers_of, put_together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Lists are put in order, and dicts changed at a computed key, up to this length.
MAX_ORDERED = 10
MAX_KEYS = 32
# Of so many functions in a list data may decide which one is called.
MAX_FUNCTIONS = 16
# A key with no more values than these is one that a loop counts.
COUNTED = 1 << 20


def contains(machine: Any, container: Any, x: Any) -> Any:
    """`x in container`, a bool or a symbol."""
    builder = machine.builder
    if container.__class__ is str and x.__class__ is Letter:
        found: Any = False
        words = dict.fromkeys(container) if x.words is None else [word for word in x.words if word in container]
        for code in map(x.number, words):
            found = either(machine, found, equals(machine, x.code, code))
        return found
    if x.__class__ is Letter and container.__class__ is not dict:
        container, x = codes_among(x, container), x.code
    if container.__class__ is Range:
        return within(machine, container, x)
    if container.__class__ is Lazy and container.shape:
        if x.__class__ not in (Sym, *NUMBERS):
            raise Unsupported("'in' with tensors on both sides")
        return builder.aside(
            lambda: machine.apply_row(NAMES["any"], [builder.apply(NAMES["equal"], (container, x), None)], {})
        )
    if container.__class__ is dict:
        x, known = codes_of(container, x)
        container = tuple(known.values())
    if container.__class__ not in (List, tuple):
        raise Unsupported("'in' of these values")
    return builder.aside(
        lambda: machine.fold(container, False, lambda found, item: either(machine, found, equals(machine, item, x)))
    )


def codes_among(x: Letter, container: Any) -> tuple[int, ...]:
    """The codes of what a text may be equal to among the items of a container."""
    items = container.items if container.__class__ is List else container
    if items.__class__ not in (list, tuple) or any(item.__class__ is not str for item in items):
        raise Unsupported("'in' with a letter and values that are no texts")
    return tuple(code for code in map(x.number, items) if code is not None)


def either(machine: Any, a: Any, b: Any) -> Any:
    if a is True or b is True:
        return True
    if a is False:
        return b
    return a if b is False else machine.builder.apply(NAMES["logical_or"], (a, b), None)


def equals(machine: Any, x: Any, y: Any) -> Any:
    """Whether two numbers are equal, as Python finds it inside lists."""
    if x.__class__ in NUMBERS and y.__class__ in NUMBERS:
        return bool(x == y)
    if x.__class__ not in (Sym, *NUMBERS) or y.__class__ not in (Sym, *NUMBERS):
        raise Unsupported("'in' with values that are no numbers")
    if is_strong(machine.builder, x) or is_strong(machine.builder, y):
        raise Unsupported("'in' with integers that have a dtype of their own")
    return machine.builder.apply(NAMES["equal"], (x, y), None)


def within(machine: Any, numbers: Range, x: Any) -> Any:
    """Whether an integer is one of a range."""
    builder = machine.builder
    if x.__class__ is not Sym and x.__class__ is not int:
        raise Unsupported("'in' a range for a value that is no integer")
    if x.__class__ is Sym and (x.kind != INT or is_strong(builder, x)):
        raise Unsupported("'in' a range for an integer with a dtype of its own")
    first, step = numbers.start, numbers.step
    low, high = (first, numbers.stop) if step > 0 else (numbers.stop, first)
    above = builder.apply(NAMES["greater_equal" if step > 0 else "greater"], (x, low), None)
    below = builder.apply(NAMES["less" if step > 0 else "less_equal"], (x, high), None)
    found = machine.both(above, below)
    if abs(step) > 1:
        rest = builder.apply(NAMES["mod"], (builder.integer("subtract", x, first), abs(step)), None)
        found = machine.both(found, builder.apply(NAMES["equal"], (rest, 0), None))
    return found


# --- letters --------------------------------------------------------------------------------------------------------


def letter_of(machine: Any, text: str, index: Sym) -> Letter:
    """`text[index]`."""
    builder = machine.builder
    if index.kind != INT or not text:
        raise Unsupported("this value as an index")
    low, high = builder.interval(index)
    if low < -len(text) or high >= len(text):
        builder.append(ir.Check(index.var, -len(text), len(text), STATE.site, None))
    place = index if low >= 0 else from_front(builder, index, len(text))
    return Letter(known_integers(builder, [ord(letter) for letter in text]).element((place,)))


def same_letter(machine: Any, x: Any, y: Any) -> Any:
    """Whether a text that depends on data is another one, or one that is known."""
    if x.__class__ is str:
        x, y = y, x
    if y.__class__ is Letter:
        if x.words != y.words:
            raise Unsupported("texts of several lists compared with one another")
        return equals(machine, x.code, y.code)
    if y.__class__ is not str:
        raise Unsupported("a letter of a text compared with what is no text")
    code = x.number(y)
    return False if code is None else equals(machine, x.code, code)


def same(machine: Any, x: Any, y: Any) -> Any:
    """Whether two values are equal of which one is a list or a tuple, or is in one: a bool or a symbol."""
    x, y = read(x), read(y)
    if List in (x.__class__, y.__class__) or tuple in (x.__class__, y.__class__):
        if x is y:
            return True
        if x.__class__ is not y.__class__:
            return same_class(x, y)
        mine, theirs = (each.items if each.__class__ is List else each for each in (x, y))
        if mine is None or theirs is None:
            raise Unsupported("'==' on lists or tensors that depend on data")
        found: Any = len(mine) == len(theirs)
        for a, b in zip(mine, theirs) if found else ():
            found = machine.both(found, same(machine, a, b))
            if found is False:
                break
        return found
    if Letter in (x.__class__, y.__class__):
        return same_letter(machine, x, y)
    if Sym in (x.__class__, y.__class__) and str not in (x.__class__, y.__class__) and x is not None and y is not None:
        return machine.builder.aside(lambda: equals(machine, x, y))
    if any(each.__class__ not in (Sym, str, complex, type(None), *NUMBERS) for each in (x, y)):
        raise Unsupported("'==' on lists of what is no number and no text")
    return Sym not in (x.__class__, y.__class__) and bool(x == y)


def same_class(x: Any, y: Any) -> bool:
    """Whether a list or a tuple equals a value of another class, which it does not unless that is a tensor."""
    if any(each.__class__ not in (List, tuple, str, complex, type(None), *NUMBERS) for each in (x, y)):
        raise Unsupported("'==' with a list and what is none")
    return False


# --- items that are no numbers --------------------------------------------------------------------------------------


def one_of(machine: Any, items: list[Any], index: Any, what: str) -> Any:
    """`items[index]` of texts, of functions, of complex numbers, or of tuples of one form; None of anything else."""
    builder, count = machine.builder, len(items)
    if index.kind != INT or not items:
        return None
    if all(item.__class__ is str for item in items):
        words = tuple(dict.fromkeys(items))
        place = wrapped(builder, index, count, ("index_in", what, count))
        return Letter(known_integers(builder, [words.index(item) for item in items]).element((place,)), words)
    if all(item.__class__ in FUNCTIONS for item in items) and count <= MAX_FUNCTIONS:
        place = wrapped(builder, index, count, ("index_in", what, count))
        found = items[-1]
        for k in reversed(range(count - 1)):
            condition = equals(machine, place, k)
            if condition.__class__ is not bool:
                found = Chosen(condition, items[k], found)
            elif condition:
                found = items[k]
        return found
    form = form_of_all(tuple(items)) if items[0].__class__ in (tuple, *COMPLEX) else None
    if form is None:
        return None
    rows = [list(numbers_of(item)) for item in items]
    for item in items:
        freeze(item)
    return put_together(machine, form, iter([machine.item_of(List(list(column)), index) for column in zip(*rows)]))


# --- dicts ----------------------------------------------------------------------------------------------------------


def codes_of(container: dict[Any, Any], key: Any) -> tuple[Any, dict[Any, int]]:
    """A computed key as an integer, and which keys of a dict are which."""
    keys = list(container)
    if key.__class__ is Letter:
        return key.code, {k: code for k in keys if k.__class__ is str and (code := key.number(k)) is not None}
    if key.__class__ is Text:
        return numbered(keys, key)
    if key.__class__ is Sym and key.kind == INT and all(k.__class__ is int for k in keys):
        return key, {k: k for k in keys}
    raise Unsupported("a key that depends on data")


def numbered(keys: list[Any], key: Text) -> tuple[Any, dict[Any, int]]:
    """The integer in a key such as `f"w{i}"`, and that in each key of its kind."""
    computed = [k for k, piece in enumerate(key.pieces) if piece.__class__ is not str]
    if len(computed) == 1:
        value, conversion, form = key.pieces[computed[0]]
        if value.__class__ is Sym and value.kind == INT and conversion is None and form == "":
            before, after = "".join(key.pieces[: computed[0]]), "".join(key.pieces[computed[0] + 1 :])
            found: dict[Any, int] = {}
            for k in keys:
                number = k.removeprefix(before).removesuffix(after) if k.__class__ is str else ""
                if number.removeprefix("-").isdecimal() and before + str(int(number)) + after == k:
                    found[k] = int(number)
            return value, found
    raise Unsupported("a key that depends on data")


def value_at(machine: Any, container: dict[Any, Any], key: Any) -> Any:
    """`container[key]` for a computed key."""
    builder = machine.builder
    key, known = codes_of(container, key)
    values, codes = [container[name] for name in known], list(known.values())
    numeric = all(value.__class__ in (*NUMBERS, Sym, Lazy) for value in values)
    alike = all(value.__class__ is str or value.__class__ in FUNCTIONS for value in values)
    if not values or not (numeric or alike or form_of_all(tuple(values))):
        raise Unsupported("a key that depends on data")
    place = place_of(machine, key, codes)
    if place.__class__ is not Sym:
        return values[place]
    if not numeric:
        found = one_of(machine, values, place, "a dict")
        if found is None:
            raise Unsupported("a key that depends on data")
        return found
    rows = lazy(builder, array_of_list(builder, values, "list"))
    if rows.stored is not None:
        note_integers(builder, rows.stored, values)
    return get(builder, rows, place)


def place_of(machine: Any, key: Any, codes: list[int]) -> Any:
    """The position of a key that must be there: the tape says what is wrong where it is not."""
    builder = machine.builder
    low, high = builder.interval(key)
    if codes == list(range(len(codes))):
        if low < 0 or high >= len(codes):
            builder.append(ir.Check(key.var, 0, len(codes), STATE.site, None))
            within = Sym(builder, ir.Var(INT))
            builder.append(ir.Set(within.var, "copy", (key.var,), STATE.site, None))
            builder.ranges[within.var] = (0, len(codes) - 1)
            return within
        return key
    if len(codes) > MAX_KEYS:
        raise Unsupported("a key that depends on data, in a dict of this size")
    place: Any = -1
    for k, code in enumerate(codes):
        place = builder.select(equals(machine, key, code), k, place)
    builder.append(ir.Check(place.var, 0, len(codes), STATE.site, None))
    builder.ranges[place.var] = (0, len(codes) - 1)
    return place


def put_at(machine: Any, container: dict[Any, Any], key: Any, value: Any) -> None:
    """`container[key] = value` for a computed key, which must be there already: what is new would depend on data."""
    key, known = codes_of(container, key)
    if not known or len(known) > MAX_KEYS:
        raise Unsupported("a key that depends on data, in a dict of this size")
    low, high = machine.builder.interval(key)
    if high - low < COUNTED and not set(known.values()) >= set(range(low, high + 1)):
        raise Unsupported("a dict that grows in a loop")
    place_of(machine, key, list(known.values()))
    for name, code in known.items():
        condition = equals(machine, key, code)
        if condition is False:
            continue
        old = container[name]
        new = value if condition is True else machine.choice(condition, lambda: value, lambda old=old: old)
        machine.put_item(container, name, new, None, machine.frames[-1])


# --- order ----------------------------------------------------------------------------------------------------------


def best_by(machine: Any, symbol: str, items: list[Any], key: Any) -> Any:
    """The first of the items with the least, or the largest, key."""
    if not items:
        raise Unsupported("min or max of a list that may be empty")
    best, best_key = items[0], machine.invoke(key, [items[0]], {})
    for item in items[1:]:
        item_key = machine.invoke(key, [item], {})
        better = ordered(machine, symbol, item_key, best_key)
        if better.__class__ is bool:
            best, best_key = (item, item_key) if better else (best, best_key)
            continue
        pair, other = (item, item_key), (best, best_key)
        best, best_key = machine.choice(better, lambda pair=pair: pair, lambda other=other: other)
    return best


def ordered(machine: Any, symbol: str, x: Any, y: Any) -> Any:
    """`x < y` or `x > y`, as the condition of a branch."""
    op = NAMES["less" if symbol == "<" else "greater"]
    if x.__class__ in NUMBERS and y.__class__ in NUMBERS:
        return x < y if symbol == "<" else x > y
    if x.__class__ is str and y.__class__ is str:
        return x < y if symbol == "<" else x > y
    if x.__class__ not in (Sym, *NUMBERS) or y.__class__ not in (Sym, *NUMBERS):
        raise Unsupported("an order of values that are no numbers")
    return machine.linked(2, op, x, y)


def tuple_ordered(machine: Any, symbol: str, x: tuple[Any, ...], y: tuple[Any, ...]) -> Any:
    """`x < y` or `x > y` of tuples of numbers: the first items that differ decide."""
    if len(x) != len(y):
        raise Unsupported("an order of tuples of several lengths")

    def decided(k: int) -> Any:
        if k + 1 == len(x):
            return ordered(machine, symbol, x[k], y[k])
        # Python looks for the first items that differ, and compares these.
        same = machine.builder.aside(lambda: equals(machine, x[k], y[k]))
        if same.__class__ is bool:
            return decided(k + 1) if same else ordered(machine, symbol, x[k], y[k])
        return machine.choice(same, lambda: decided(k + 1), lambda: ordered(machine, symbol, x[k], y[k]))

    return decided(0) if x else False


def in_order(machine: Any, items: list[Any], key: Any, reverse: bool) -> List:
    """The items in the order of their keys, equal ones in the order in which they came."""
    builder = machine.builder
    keys = items if key is None else [machine.invoke(key, [item], {}) for item in items]
    known = {k.__class__ for k in keys} <= {int, float, bool} or {k.__class__ for k in keys} <= {str}
    if known and not any(k.__class__ is float and isnan(k) for k in keys):
        places = sorted(range(len(items)), key=lambda k: keys[k], reverse=reverse)
        return List([items[k] for k in places])
    if len(items) > MAX_ORDERED or any(k.__class__ not in (Sym, *NUMBERS) for k in keys):
        raise Unsupported("sorting a list whose length depends on data")
    for k in keys:
        if k.__class__ is Sym and k.kind == FLOAT:
            # Where there is no order, the tape's way through the list decides.
            missing = builder.aside(lambda k=k: builder.apply(NAMES["isnan"], (k,), None))
            builder.append(ir.Check(missing.var, 0, 1, STATE.site, None))
        elif k.__class__ is float and isnan(k):
            raise Unsupported("sorting a list with nan")
    pairs = list(zip(keys, items))
    for end in range(1, len(pairs)):
        for k in range(end, 0, -1):
            a, b = pairs[k - 1], pairs[k]
            swap = ordered(machine, "<", a[0], b[0]) if reverse else ordered(machine, "<", b[0], a[0])
            if swap.__class__ is bool:
                pairs[k - 1], pairs[k] = (b, a) if swap else (a, b)
                continue
            chosen = machine.choice(swap, lambda a=a, b=b: (*b, *a), lambda a=a, b=b: (*a, *b))
            pairs[k - 1], pairs[k] = chosen[:2], chosen[2:]
    return List([item for _, item in pairs])


# --- places of items ------------------------------------------------------------------------------------------------


def count_of(machine: Any, x: List, value: Any) -> Any:
    """`list.count(value)`."""
    builder = machine.builder

    def add(total: Any, item: Any) -> Any:
        same = equals(machine, item, value)
        return builder.integer("add", total, int(same) if same.__class__ is bool else builder.to_int(same))

    return builder.aside(lambda: machine.fold(x, 0, add))


def index_of(machine: Any, x: List, value: Any) -> Any:
    """`list.index(value)`: the tape says what is wrong where it is not there."""
    builder = machine.builder
    items = machine.items(x)

    def run() -> Any:
        place: Any = -1
        for k in reversed(range(len(items))):
            same = equals(machine, items[k], value)
            place = (k if same else place) if same.__class__ is bool else builder.select(same, k, place)
        return place

    place = builder.aside(run)
    if place.__class__ is int and place < 0:
        raise Unsupported("index of an item that is not in the list")
    if place.__class__ is Sym:
        builder.append(ir.Check(place.var, 0, len(items), STATE.site, None))
        builder.ranges[place.var] = (0, len(items) - 1)
    return place
