"""The protocol of value kinds: what a value that is no number, tensor or container of Python's says of itself.

A kind is one file of this folder with a class that derives from `Kind`, and a table `FUNCTIONS` of the functions that make
and take its values, by the names under which TensorFlow has them ("ragged.constant", "RaggedTensor.from_row_splits").
`names.py` lists which file holds which names. The rest of the engine asks values for these attributes and never for their
class:

    description           what messages call a value
    hint                  how they say to make a tensor of it
    attributes            `x.name`: name -> function of the value
    method_NAME           `x.NAME(...)`
    methods               the file of engine/library/ with those methods that are written in the language
    get_item, set_item    `x[i]`, `x[i] = v`
    length, iterate       `len(x)`, `for row in x`
    leaves, with_leaves   the numeric tensors that a tape follows, and the same value made of others
    operate               a row of the table applied to operands of which one is of this kind
    text                  what print shows; `show` is the text of an inner value
    to_plain              lists, dicts and arrays for the output formats
    listed                whether a result of the kind is the list that to_plain gives, whose items may be values
    read_value            the tensor that stands for the value wherever a tensor is needed
    dense                 what makes the tensor of which operations take the elements; None where there is none
    snapshot              of a value that is assigned, what it is now: the tensor by which tapes follow it
    identity              whether a value is itself whatever it holds, and may be a key of a dict
"""

from __future__ import annotations

from ..core.errors import failure
from ..core.operands import as_operand, operand_dtype
from ..core.tensor import OPERATORS, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from ..core.dtypes import DType
    from ..ops.operation import Operation

# How the executor calls a function of the program, which it sets itself: kinds know no executor.
INVOKE: list[Callable[[Any, list[Any], dict[str, Any] | None], Any]] = []
ORDER = "bifc"


def call(function: Any, *args: Any, **named: Any) -> Any:
    """What a function of the program returns."""
    return INVOKE[0](function, list(args), named)


def of_dtype(x: Any, dtype: DType) -> Any:
    """An operand in a dtype: bare numbers adopt it, others have it. None where it has another."""
    x = as_operand(x)
    given = operand_dtype(x)
    if given.strong is dtype and not given.weak:
        return x
    if given.weak and dtype.kind in ORDER:
        if ORDER.index(given.kind) <= ORDER.index(dtype.kind) or (x.__class__ is Tensor and 0 in x.shape):
            return OPERATORS.cast(x, dtype=dtype)
    return None


class Kind:
    """A value kind. One that stands for a single tensor, as a Variable does, has `read_value`."""

    __slots__ = ()
    description: ClassVar[str] = "a value"
    hint: ClassVar[str | None] = None
    attributes: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    listed: ClassVar[bool] = False

    def __repr__(self) -> str:
        return self.text(repr)

    def text(self, show: Callable[[Any], str]) -> str:
        return f"<{self.description.removeprefix('a ').removeprefix('an ')}>"


class Compound(Kind):
    """A value kind with leaves, of which there are none unless it says so; no row of the table takes it unless `operate` does."""

    __slots__ = ()

    def leaves(self) -> list[Any]:
        return []

    def with_leaves(self, leaves: list[Any]) -> Any:
        return self

    def operate(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """The row `op` on `inputs`, one of which, or an item of a list among which, is of this kind.

        NotImplemented for a composite row that may apply its own rows to the operands as they are.
        """
        raise failure("E0304", f"{op.name} does not take {self.description}")

    def to_plain(self) -> Any:
        raise failure("E0304", f"the result is {self.description}, which has no value to show")


class Context:
    """What `with` can enter, and does nothing (`tf.device`, `tf.name_scope`)."""

    __slots__ = ()
    description = "a context"

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        return None
