"""The inputs of a kernel: what it is specialised to, and the arguments that it is called with."""

from __future__ import annotations

from math import prod

from ..core.operands import describe
from ..core.state import STATE
from ..core.tensor import Tensor
from ..program.core import CoreProgram
from .ir import DTYPES, FLOAT, INT, LIMIT, SINGLE, Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

# What in a specification stands for no input: whether every float is float32, or some are (widths.py).
MODE = ""
EVERY, SOME = "every float is float32", "some floats are float32"
# What in a specification stands for the sizes that data decides (lowering/sizes.py).
SIZES = "#"
# What stands for the room that lists have which grow in loops of unknown length, by the places of the loops (loops.py).
ROOMS = "+"
# What in a specification says that every product of the reverse sweep is to be formed as a tape forms it (Slopes), and that
# derivatives inside the program are to be found by such sweeps.
CAREFUL = "!"
# What in a specification says that the kernel tells which elements of a gradient depend on which inputs, so that derivatives
# inside the program are to be found by sweeps too: tangents along several inputs depend on all of them alike.
PATTERN = "?"
# What in a specification says that loops are written out that could stay loops, where that is possible (unrolling.py).
WRITTEN = "="
KINDS = {dtype: kind for kind, dtype in DTYPES.items()}
# What the parts of a complex source are called, after its name.
REAL, IMAGINARY = ".re", ".im"
# So many integers of one input may be a part of a kernel.
MOST_KNOWN = 65_536


class Discrete:
    """The kind and shape of an array of integers or of booleans, or () of an integer; `dtype` is that of integers which do
    not mix with floats."""

    __slots__ = ("dtype", "kind", "shape")

    def __init__(self, kind: str, shape: tuple[int, ...], dtype: str) -> None:
        self.kind = kind
        self.shape = shape
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"{self.kind}{self.shape}{self.dtype}"


class Single:
    """The shape of an input of float32, () for a number, where other floats are not."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __repr__(self) -> str:
        return f"single{self.shape}"


class Complex:
    """The shape of a complex input: two parameters hold its real and imaginary parts."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __repr__(self) -> str:
        return f"complex{self.shape}"


class KnownTensor:
    """A tensor of integers that is known as well, because it decides the shapes of others: told apart by its bytes."""

    __slots__ = ("digest", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        from hashlib import sha256

        self.tensor = tensor
        content = tensor.value.tobytes() if tensor.shape else str(int(tensor.value)).encode()
        self.digest = sha256(content).hexdigest()

    def __repr__(self) -> str:
        return f"{self.tensor.dtype!r}{self.tensor.shape}{self.digest}"


class Known(str):
    """The kind of a float input whose value is known as well, because the program counts with it."""

    __slots__ = ("value",)
    value: int

    def __repr__(self) -> str:
        return f"{self!s}={self.value}"


class OfInteger(float):
    """The float that stands for a bare integer which is differentiated: it may count as well (`range(n)`)."""

    __slots__ = ()


def known(value: int) -> Known:
    made = Known(FLOAT)
    made.value = value
    return made


def specification(
    values: dict[str, Any], sources: Sequence[str], fixed: Collection[str] = (), single: bool = False
) -> dict[str, Any]:
    """What a kernel is specialised to: the kind or shape of every input, or its value where that is no number.

    `fixed` are the inputs whose values must be known; `single` says that others, which are not here, are float32. Raises
    Unsupported for inputs that kernels do not take.
    """
    found: dict[str, Any] = {}
    every = STATE.weak_float.bits == 32
    if every:
        found[MODE] = EVERY
    elif single or any(x.__class__ is Tensor and x.dtype.name == "float32" for x in values.values()):
        found[MODE] = SOME
    for name, value in values.items():
        cls = value.__class__
        if MODE in found:
            refuse_beside_float32(value, every)
        if every and name in fixed and name in sources:
            raise Unsupported(f"'{name}', which is differentiated in float32 and must be an integer")
        if name in fixed:
            found[name] = whole(name, value, name in sources)
        elif cls is complex or (cls is Tensor and value.dtype.name == "complex128"):
            found[name] = Complex(() if cls is complex else value.shape)
        elif cls is Tensor:
            kind = INT if value.dtype.name == "int32" else KINDS.get(value.dtype.name)
            if kind is None:
                raise Unsupported(f"an input of dtype {value.dtype.name}")
            weak = value.dtype.weak
            if kind == INT and weak and name in sources:
                kind = FLOAT
            if kind == SINGLE and not every:
                found[name] = Single(value.shape)
            elif kind in (FLOAT, SINGLE):
                found[name] = value.shape if value.shape else FLOAT
            elif name in sources:
                raise Unsupported(f"a derivative by an input of dtype {value.dtype.name}")
            elif value.shape or (kind == INT and not weak):
                found[name] = Discrete(kind, value.shape, value.dtype.name if kind == INT and not weak else "")
            else:
                found[name] = kind if kind == INT else [bool(value.value)]
        elif cls is float or (cls is int and name in sources):
            found[name] = FLOAT
        elif cls is int:
            found[name] = INT
        elif cls is bool or cls is str or value is None:
            found[name] = [value]
        else:
            raise Unsupported(f"an input that is {describe(value)}")
    return found


def refuse_beside_float32(value: Any, every: bool) -> None:
    """Raises Unsupported for an input that a kernel of float32 does not take; the tape refuses what does not mix."""
    name = value.dtype.name if value.__class__ is Tensor else value.__class__.__name__
    if name in ("complex", "complex64", "complex128"):
        raise Unsupported("complex numbers beside float32")
    if name == "float64" and (every or not value.dtype.weak):
        raise Unsupported("an input of float64 beside float32")


def whole(name: str, value: Any, source: bool) -> Any:
    """What stands for an input whose value must be known: a bare integer, differentiated or not, integers, or a bare float
    that is not differentiated (`leaky_relu(x, alpha=s)`)."""
    if value.__class__ is float and not source:
        return [value]
    own = value.__class__ is Tensor and value.dtype.kind == "i" and bool(value.shape or not value.dtype.weak)
    if own and not source:
        if prod(value.shape) > MOST_KNOWN:
            raise Unsupported(f"'{name}', which are too many integers to be a part of a kernel")
        return [KnownTensor(value)]
    if value.__class__ is Tensor:
        if value.shape or not value.dtype.weak or value.dtype.kind != "i":
            raise Unsupported(f"'{name}', which must be a bare number")
        value = int(value.value)
    if value.__class__ is not int or abs(value) > LIMIT:
        why = "is differentiated and must be known" if value.__class__ is float else "must be a bare number"
        raise Unsupported(f"'{name}', which {why}")
    return known(value) if source else [value]


def source_of(part: str) -> str:
    """The name of the source that a part belongs to."""
    return part.partition(".")[0]


def shape_of(kind: Any) -> tuple[int, ...]:
    """The shape of an input of floats or complex numbers by what stands for it in a specification."""
    if kind.__class__ in (Single, Complex):
        return kind.shape
    return kind if kind.__class__ is tuple else ()


def width_of(kind: Any, spec: dict[str, Any]) -> str:
    """In what the kernel takes a float input."""
    return SINGLE if kind.__class__ is Single or spec.get(MODE) == EVERY else FLOAT


def within_limit(array: Any) -> bool:
    """Whether integers are such as kernels compute with: at most 2**53 in size."""
    return not array.size or (bool(array.min() >= -LIMIT) and bool(array.max() <= LIMIT))


def is_integer(value: Any) -> bool:
    """Whether a number, an element of an array perhaps, is an integer."""
    return value.__class__ is int or (hasattr(value, "dtype") and value.dtype.kind == "i")


def arguments(program: CoreProgram, values: dict[str, Any], spec: dict[str, Any]) -> list[Any]:
    """The inputs in the order of the kernel's parameters, arrays flat."""
    found: list[Any] = []
    for name in [*program.inputs, *(n for n in program.optional if n in spec)]:
        kind = spec[name]
        value = values[name]
        value = value.value if value.__class__ is Tensor else value
        if kind.__class__ is Complex and not kind.shape:
            found.extend((complex(value).real, complex(value).imag))
        elif kind.__class__ is Complex:
            import numpy as np

            found.extend(np.array(part, dtype="float64").reshape(-1) for part in (value.real, value.imag))
        elif isinstance(kind, tuple | Discrete) or (kind.__class__ is Single and kind.shape):
            import numpy as np

            dtype = DTYPES[kind.kind if isinstance(kind, Discrete) else width_of(kind, spec)]
            found.append(np.ascontiguousarray(value, dtype=dtype).reshape(-1))
            if dtype == "int64" and not within_limit(found[-1]):
                raise Unsupported("an integer beyond 2**53")
            if isinstance(kind, Discrete) and not kind.shape:
                found[-1] = int(found[-1][0])
        elif kind == FLOAT or kind.__class__ is Single:
            found.append(OfInteger(value) if is_integer(value) else float(value))
        elif kind == INT:
            if abs(value) > LIMIT:
                raise Unsupported("an integer beyond 2**53")
            found.append(int(value))
    return found
