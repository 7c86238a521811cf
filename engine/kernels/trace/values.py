"""Values of a program that is traced, beside numbers, tensors, containers and symbols; and what two of them have in common."""

from __future__ import annotations

from ....parser.fields import Record
from ...core.dtypes import BOOL as BOOL_DTYPE
from ...core.dtypes import FLOAT64, INT64, WEAK_COUNT, WEAK_FLOAT, WEAK_INT, DType
from ...core.tensor import Tensor
from ...kinds.functions import Function
from ..ir import FLOAT, INT, Unsupported, kind_of
from ..symbols import Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ...core.state import Site

# How many items of a list, or iterations of a loop, are written out one by one.
MOST_UNROLLED = 64
# The cells at the end of a frame: how a loop or the function is left, and the returned value.
BREAK, CONTINUE, RETURN, VALUE = -4, -3, -2, -1
# In the place of a returned value while there is none.
NOTHING: Any = type("Nothing", (), {"__repr__": lambda self: "NOTHING"})()
# How the reasons begin for which a branch is replaced by a stop of the kernel.
ERROR = "what is an error if it is reached"
ERRORS = (ERROR, "an index that is out of range")


class NeedsValue(Unsupported):
    """The kernel must be made for one value of the input `name`, which decides a size."""

    def __init__(self, name: str, site: Site | None = None) -> None:
        super().__init__(f"a size that the input '{name}' decides", site)
        self.name = name


class Clash(Exception):
    """Two values have no form in common."""


class Frame(list):  # type: ignore[type-arg]
    """The variables of a running function, and the cells that say how it is left. `place` is where it was called."""

    __slots__ = ("code", "place")

    def __init__(self, cells: Iterable[Any], code: Any = None, place: Any = None) -> None:
        super().__init__((*cells, False, False, False, NOTHING))
        self.code = code
        self.place = place


class Maybe(Record):
    """The value of a variable that has one only if `assigned`, a symbol, holds."""

    value: Any
    assigned: Any


class Conflict(Record):
    """The content of a variable to which data give values of different forms. It must not be read."""

    reason: str
    description = "a value that depends on data"


def is_numeric(x: Any) -> bool:
    """Whether a value is a number or an array that kernels take."""
    cls = x.__class__
    return cls in (float, int, bool, Sym) or (cls is Tensor and x.dtype.name in ("float64", "int64", "bool"))


def holds_symbol(x: Any) -> bool:
    """Whether a symbol is somewhere in a value."""
    cls = x.__class__
    if cls is list or cls is tuple:
        return any(map(holds_symbol, x))
    if cls is dict:
        return any(map(holds_symbol, x.values()))
    return cls is Sym or (cls is slice and any(map(holds_symbol, (x.start, x.stop, x.step))))


def common_dtype(a: DType, b: DType) -> DType:
    """The dtype of a variable that holds one or the other."""
    if a is b:
        return a
    if WEAK_COUNT in (a, b) and WEAK_INT in (a, b):
        return WEAK_COUNT
    weak = all(d.weak or d.kind == "b" for d in (a, b))
    kinds = kind_of(a), kind_of(b)
    if FLOAT in kinds:
        return WEAK_FLOAT if weak else FLOAT64
    if INT in kinds:
        return WEAK_INT if weak else INT64
    return BOOL_DTYPE


def same(a: Any, b: Any) -> bool:
    """Whether two values are one, or the same number, text or function."""
    if a is b:
        return True
    cls = a.__class__
    if cls is not b.__class__:
        return False
    if cls in (float, int, bool, str, range):
        return repr(a) == repr(b)
    if cls is Function:
        return a.code is b.code and a.frame is b.frame and not a.defaults
    return cls is Sym and a.var is b.var
