"""`tf.debugging`: assertions about tensors, and what TensorFlow asks of values."""

from __future__ import annotations

from ..core.errors import failure
from ..core.operands import as_operand, operand_dtype, plain, shape_text, shown
from ..core.operation import static
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..ops.registry import OPERATOR_ROWS
from ..ops.structure import as_dtype
from .kind import Kind, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from ..core.operation import Operation


def failed(said: Any, what: str) -> Exception:
    prefix = "" if said is None else f"{said if said.__class__ is str else shown(said)}: "
    return failure("E0406", f"assertion failed: {prefix}{what}")


def require(name: str, holds: Any, said: Any, *sides: Any) -> None:
    """Fail at the first element where a truth does not hold, and show what stands there on each side."""
    import numpy as np

    truths = np.asarray(plain(holds), dtype=bool)
    if truths.all():
        return
    place = tuple(int(i[0]) for i in np.nonzero(~truths)) if truths.ndim else ()
    shown = " and ".join(str(np.broadcast_to(np.asarray(plain(x)), truths.shape)[place]) for x in sides)
    raise failed(said, f"{name} does not hold for {shown}" + (f" at {shape_text(place)}" if place else ""))


def comparing(row: Operation) -> Callable[..., None]:
    def check(x: Any, y: Any, message: Any = None, summarize: Any = None) -> None:
        x, y = as_operand(x), as_operand(y)
        require(f"assert_{row.name}", row(x, y), message, x, y)

    return check


def against_zero(name: str, row: Operation) -> Callable[..., None]:
    def check(x: Any, message: Any = None, summarize: Any = None) -> None:
        require(f"assert_{name}", row(as_operand(x), 0), message, as_operand(x))

    return check


def near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: Any = None, summarize: Any = None
) -> None:  # TensorFlow's default is ten times the distance of 1 from the next number of the dtype
    import numpy as np

    x, y = as_operand(x), as_operand(y)
    size = 10 * float(np.finfo(x.dtype.name if x.__class__ is Tensor and x.dtype.kind == "f" else "float64").eps)
    bound = (size if atol is None else atol) + (size if rtol is None else rtol) * np.abs(plain(y))
    distance = OPERATORS.subtract(x, y)
    require("assert_near", np.abs(plain(distance)) <= plain(bound), message, x, y)


def finite(x: Any, message: Any = None) -> Any:
    require("assert_all_finite", OPERATORS.isfinite(as_operand(x)), message, as_operand(x))
    return x


def rank(x: Any, rank: Any, message: Any = None) -> None:
    found, asked = len(shape_of(as_operand(x))), whole("assert_rank", "rank", rank)
    if found != asked:
        raise failed(message, f"the rank is {found}, and not {asked}")


def rank_at_least(x: Any, rank: Any, message: Any = None) -> None:
    found, asked = len(shape_of(as_operand(x))), whole("assert_rank_at_least", "rank", rank)
    if found < asked:
        raise failed(message, f"the rank is {found}, and less than {asked}")


def shapes(shapes: Any, data: Any = None, summarize: Any = None, message: Any = None) -> None:
    """Sizes are numbers, names that stand for the same size everywhere, or None."""
    known: dict[str, int] = {}
    for x, given in shapes.items() if shapes.__class__ is dict else shapes:
        found = shape_of(as_operand(x))
        sizes = list(given) if given.__class__ in (list, tuple) else [given]
        if len(sizes) != len(found):
            raise failed(message, f"the rank of shape {shape_text(found)} is not {len(sizes)}")
        for size, asked in zip(found, sizes):
            wanted = known.setdefault(asked, size) if asked.__class__ is str else static(asked)
            if wanted is not None and wanted != size:
                raise failed(message, f"a size of shape {shape_text(found)} is {size}, and {asked} is {wanted}")


def of_type(tensor: Any, tf_type: Any, message: Any = None) -> None:
    found, asked = operand_dtype(as_operand(tensor)), as_dtype(tf_type)
    if found.strong is not asked:
        raise failed(message, f"the dtype is {found.name}, and not {asked.name}")


def truth(condition: Any, data: Any = None, summarize: Any = None, message: Any = None) -> None:
    require("Assert", as_operand(condition), message, *(data or ()))


class TensorSpec(Kind):
    """The shape and the dtype of a tensor, as signatures name them; nothing is checked by it."""

    __slots__ = ("dtype", "shape")
    description = "a TensorSpec"
    attributes: ClassVar[dict[str, Any]] = {"shape": lambda spec: spec.shape, "dtype": lambda spec: spec.dtype}

    def __init__(self, shape: Any = None, dtype: Any = None) -> None:
        self.shape = shape
        self.dtype = dtype

    def text(self, show: Callable[[Any], str]) -> str:
        return f"TensorSpec(shape={show(self.shape)}, dtype={show(self.dtype)})"


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"debugging.assert_{OPERATOR_ROWS[symbol].name}": comparing(OPERATOR_ROWS[symbol]) for symbol in ("==", ">", ">=", "<", "<=")},
    "debugging.assert_none_equal": comparing(OPERATOR_ROWS["!="]),
    **{
        f"debugging.assert_{name}": against_zero(name, OPERATOR_ROWS[symbol])
        for name, symbol in (("negative", "<"), ("positive", ">"), ("non_negative", ">="), ("non_positive", "<="))
    },
    "debugging.assert_near": near, "debugging.assert_all_finite": finite, "debugging.check_numerics": finite,
    "debugging.assert_rank": rank, "debugging.assert_rank_at_least": rank_at_least, "debugging.assert_shapes": shapes,
    "debugging.Assert": truth, "debugging.assert_type": of_type,
    "is_tensor": lambda x: x.__class__ is Tensor or getattr(x, "read_value", None) is not None,
    "SparseTensorSpec": lambda shape=None, dtype=None: TensorSpec(shape, dtype),
    "TensorSpec": lambda shape=None, dtype=None: TensorSpec(shape, dtype),
}  # fmt: skip
