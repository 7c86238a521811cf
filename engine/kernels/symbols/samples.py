"""Whether a row takes operands at all, of which a kernel knows the kinds and shapes: asked of the row itself."""

from __future__ import annotations

from ....parser.errors import AdiffError
from ...core.dtypes import BOOL as TRUTH
from ...core.dtypes import WEAK_FLOAT, WEAK_INT
from ...core.state import STATE
from ...core.tensor import Tensor
from ..ir import BOOL, FLOAT, INT
from .pairs import Pair
from .symbol import Lazy, Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.operation import Operation

DTYPES = {FLOAT: WEAK_FLOAT, INT: WEAK_INT, BOOL: TRUTH}


def refused(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> bool:
    """Whether the tape ends with an error at this row, whatever the numbers are."""
    quiet, STATE.quiet = STATE.quiet, True
    try:
        op.call([sample(x) for x in inputs], attributes)
    except AdiffError:
        return True
    finally:
        STATE.quiet = quiet
    return False


def sample(x: Any) -> Any:
    """A value of an operand's kind and shape: numbers between 0 and 1, of which no matrix is singular."""
    if x.__class__ is Pair:
        return complex(0.5, 0.5) if not x.shape else array(x.shape, FLOAT) * complex(0.5, 0.5)
    if x.__class__ is Lazy:
        return array(x.shape, x.kind)
    if x.__class__ is Sym:
        return {FLOAT: 0.5, INT: 0, BOOL: False}[x.kind]
    if x.__class__ in (list, tuple):
        return x.__class__(map(sample, x))
    return x


def array(shape: tuple[int, ...], kind: str) -> Tensor:
    import numpy as np

    values = np.random.default_rng(0).uniform(0.2, 0.8, shape)
    return Tensor(values if kind == FLOAT else values.astype("int64" if kind == INT else "bool"), DTYPES[kind])


__all__ = ["refused"]
