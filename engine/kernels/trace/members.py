"""Attributes, methods, items and iteration of symbols, in the form in which the interpreter looks for those of values."""

from __future__ import annotations

from ...core.errors import failure
from ...core.operands import as_operand
from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...eager import attributes as eager
from ...kinds import access
from ...ops.registry import METHODS
from ..ir import INT, Unsupported
from ..symbols import Sym
from .sequences import fits_together
from .values import MOST_UNROLLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


def get_item(value: Any, index: Any) -> Any:
    """`value[index]`."""
    if index.__class__ is Sym and value.__class__ in (list, tuple):
        if not fits_together(value):
            raise Unsupported("an item of a list that data choose", STATE.site)
        value = as_operand(list(value))
    return access.get_item(value, index)


def places(index: Any) -> Any:
    """An index in which symbols are integers. The bounds of a slice must be known, unless it is the whole index."""
    if index.__class__ is slice:
        bounds = index.start, index.stop, index.step
        return slice(*[x.as_index() if x.__class__ is Sym else x for x in bounds])
    return access.static_index(index)


def item_of(x: Sym, index: Any) -> Any:
    return OPERATORS.index.call((x, places(index)), None)


def with_item(x: Sym, index: Any, value: Any) -> Any:
    return OPERATORS.index_update.call((x, as_operand(value), places(index)), None)


def rows(x: Sym) -> Iterator[Any]:
    """The items of an array, one by one."""
    if not x.shape:
        raise failure("E0304", "a number cannot be iterated over")
    if x.shape[0] > MOST_UNROLLED:
        raise Unsupported(f"a list of the rows of an array of {x.shape[0]}", STATE.site)
    return iter([item_of(x, i) for i in range(x.shape[0])])


def no_count(x: Sym) -> None:
    """An integer that is multiplied with a list repeats it: it must be known."""
    if not x.shape and x.as_index().kind == INT:
        x.builder.known(x.as_index())


def no_text(x: Sym, representation: Any = None) -> Any:
    raise Unsupported("a text of numbers that depend on data", STATE.site)


def constant_of(x: Sym) -> Any:
    """`.numpy()`: the value as a constant."""
    found = OPERATORS.stop_gradient(x)
    return x.builder.sym(found.var) if not x.shape else found


def item(x: Sym) -> Any:
    return OPERATORS.stop_gradient(OPERATORS.reshape(x, shape=()))


def to_list(x: Any) -> Any:
    return [to_list(row) for row in access.iterate(x)] if getattr(x, "shape", ()) else x


def row_method(row: Any) -> Callable[..., Any]:
    def method(x: Sym, *args: Any, **keywords: Any) -> Any:
        return row.call([x, *args], keywords)

    return method


METHODS_OF_SYMBOLS = {
    **{name: row_method(row) for name, row in METHODS.items()}, **eager.TENSOR_METHODS,
    "numpy": constant_of, "eval": constant_of, "item": item, "tolist": to_list,
}  # fmt: skip
PROTOCOL = {
    "attributes": {**eager.TENSOR_ATTRIBUTES, "dtype": lambda x: x.dtype.strong},
    "get_item": item_of, "set_item": with_item, "iterate": rows, "length": Sym.__len__, "no_count": no_count,
    "text": no_text, "__format__": no_text,
    **{f"method_{name}": run for name, run in METHODS_OF_SYMBOLS.items()},
}  # fmt: skip
for _name, _member in PROTOCOL.items():
    setattr(Sym, _name, _member)
