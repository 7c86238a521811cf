"""What is asked of a kernel: a command, what it is specialised to in each input, and the arguments that it is called with."""

from __future__ import annotations

from ...parser.fields import Record
from ..autodiff import drivers
from ..core.dtypes import WEAK_COUNT, WEAK_FLOAT, WEAK_INT, DType
from ..core.operands import describe
from ..core.tensor import Tensor
from .ir import BOOL, FLOAT, INT, LIMIT, Unsupported, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Request:
    """What a kernel is to give: a command, its sources, for `jvp` and `hvp` which sources have a direction, for `jacobian` the mode,
    and whether `vjp` has a cotangent (its shape, or None)."""

    __slots__ = ("command", "cotangent", "directions", "mode", "names")

    def __init__(
        self, command: str, names: Sequence[str] = (), directions: Sequence[str] = (), mode: str = "auto",
        cotangent: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        self.command = command
        self.names = tuple(names)
        self.directions = tuple(directions)
        self.mode = mode
        self.cotangent = cotangent

    def key(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])


class Input(Record):
    """What a kernel is specialised to in one input: a parameter of a kind and shape, or a value that is known (`kind` is "")."""

    kind: str
    shape: tuple[int, ...]
    dtype: DType | None
    value: Any

    def key(self) -> tuple[Any, ...]:
        """What tells kernels apart."""
        if self.kind:
            assert self.dtype is not None
            return self.kind, self.shape, self.dtype.name, self.dtype.weak, self.dtype is WEAK_COUNT
        value = self.value
        if value.__class__ is Tensor:
            return "known", repr(value.dtype), value.shape, repr(getattr(value.value, "tobytes", lambda: value.value)())
        return "known", repr(value)


def described(name: str, value: Any, source: bool, known: bool) -> Input:
    """The specification of an input; `known` says that its value decides sizes. Raises Unsupported."""
    if known:
        if source:
            raise Unsupported(f"'{name}', which is differentiated and decides a size (choose other inputs with --wrt)")
        if value.__class__ is not int and not (value.__class__ is Tensor and value.dtype.kind in "ib"):
            raise Unsupported(f"'{name}', which decides a size and is no integer")
        return Input("", (), None, value)
    if source and not hasattr(value, "leaves"):
        value = drivers.source(value)
    if value.__class__ is Tensor:
        return Input(kind_of(value.dtype), value.shape, value.dtype, None)
    if value.__class__ is float:
        return Input(FLOAT, (), WEAK_FLOAT, None)
    if value.__class__ is int:
        return Input(INT, (), WEAK_INT, None)
    if value.__class__ in (bool, str) or value is None:
        return Input("", (), None, value)
    raise Unsupported(f"an input that is {describe(value)}")


def argument(name: str, value: Any, spec: Input) -> Any:
    """The value of an input as the kernel takes it: a Python number or a contiguous array. Raises Unsupported."""
    value = value.value if value.__class__ is Tensor else value
    if spec.shape:
        import numpy as np

        array = np.ascontiguousarray(value, dtype={FLOAT: "float64", INT: "int64", BOOL: "bool"}[spec.kind])
        if spec.kind == INT and array.size and not (array.min() >= -LIMIT and array.max() <= LIMIT):
            raise Unsupported(f"'{name}', which holds integers beyond 2**53")
        return array
    if spec.kind == FLOAT:
        return float(value)
    if spec.kind == INT:
        if abs(value) > LIMIT:
            raise Unsupported(f"'{name}', which is an integer beyond 2**53")
        return int(value)
    return bool(value)


def seed(x: Any, shape: tuple[int, ...]) -> Any:
    """A tangent or cotangent for a value of a shape, as a kernel takes it. Raises Unsupported for what the tape has words for."""
    value = x.value if x.__class__ is Tensor else x
    if x.__class__ is Tensor and x.dtype.name != "float64" and not (x.dtype.kind == "i" and x.dtype.weak):
        raise Unsupported(f"a tangent of dtype {x.dtype.name}")
    if value.__class__ not in (int, float) and not hasattr(value, "shape"):
        raise Unsupported("a tangent that is no number and no tensor")
    if getattr(value, "shape", ()) not in ((), shape):
        raise Unsupported("a tangent of another shape")
    if not shape:
        return float(value)
    import numpy as np

    return np.ascontiguousarray(np.broadcast_to(value, shape), dtype="float64")
