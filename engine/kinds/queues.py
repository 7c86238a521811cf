"""tf.queue: queues of tensors. What TensorFlow would wait for without end is an error here.

A queue carries no tangent: a path that enters one ends there.
"""

from __future__ import annotations

from ..core.dtypes import INT64
from ..core.errors import failure, plural
from ..core.following import path_ends
from ..core.operands import as_operand, describe, operand_dtype, shape_text
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..ops.random import generator
from ..ops.structure import as_dtype
from .kind import Kind, of_dtype, whole
from .tensor_array import shape_given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from .tensor_array import Shape


class Queue(Kind):
    """A queue whose elements are lists of components: `dtypes`, `shapes` and `names` say which."""

    __slots__ = ("capacity", "closed", "dtypes", "items", "kind", "label", "names", "shapes")
    identity = True
    listed = True
    attributes: ClassVar[dict[str, Any]] = {
        "dtypes": lambda q: list(q.dtypes),
        "shapes": lambda q: list(q.shapes),
        "names": lambda q: q.names,
        "name": lambda q: q.label,
    }

    def __init__(self, kind: str, capacity: Any, dtypes: Any, shapes: Any, names: Any, label: Any) -> None:
        self.kind = kind
        self.capacity = whole(kind, "capacity", capacity)
        self.dtypes = [as_dtype(x) for x in (dtypes if dtypes.__class__ in (list, tuple) else [dtypes])]
        given = shapes if shapes is None or is_list_of_shapes(shapes) else [shapes]
        self.shapes: list[Shape] = (
            [None] * len(self.dtypes) if given is None else [shape_given(kind, shape) for shape in given]
        )
        self.names = names if names is None or names.__class__ in (list, tuple) else [names]
        for what, found in (("shapes", self.shapes), ("names", self.names)):
            if found is not None and len(found) != len(self.dtypes):
                raise failure("E0302", f"{kind}: there are {len(self.dtypes)} dtypes and {len(found)} {what}")
        self.items: list[list[Any]] = []
        self.closed = False
        self.label = label or kind

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"a {self.kind}"

    def text(self, show: Callable[[Any], str]) -> str:
        return f"<{self.kind} size={len(self.items)} dtypes=[{', '.join(d.name for d in self.dtypes)}]>"

    def to_plain(self) -> list[Any]:
        return self.items

    # --- what enters ------------------------------------------------------------------------------------------------

    def components(self, vals: Any, batch: bool) -> list[Any]:
        """The components of an element in order: of one value, a list or, where they have names, a dict."""
        if vals.__class__ is dict:
            if self.names is None:
                raise failure("E0304", f"{self.kind}: Queue must have names to enqueue a dictionary")
            if sorted(vals) != sorted(self.names):
                raise failure(
                    "E0304", f"{self.kind}: Keys in dictionary to enqueue do not match names of Queue. Dictionary: "
                    f"{sorted(vals)}, Queue: {sorted(self.names)}",
                )  # fmt: skip
            return [vals[name] for name in self.names]
        if self.names is not None:
            raise failure("E0304", f"{self.kind}: the queue has names, so it takes a dictionary")
        many = vals.__class__ in (list, tuple)
        if many and len(self.dtypes) == 1:  # enqueue([x]) and enqueue_many(([x, y],)), but enqueue_many([x, y])
            many = len(vals) == 1 and not (batch and shape_of(as_operand(vals[0])) == ())
        parts = list(vals) if many else [vals]
        if len(parts) != len(self.dtypes):
            raise failure(
                "E0302", f"{self.kind}: {plural(len(self.dtypes), 'component')} needed, and {len(parts)} given"
            )
        return parts

    def tensors(self, vals: Any, batch: bool) -> list[Any]:
        found = []
        for i, (part, dtype, known) in enumerate(zip(self.components(vals, batch), self.dtypes, self.shapes)):
            given = as_operand(part)
            x = of_dtype(given, dtype)
            if x is None:
                raise failure(
                    "E0301", f"{self.kind}: component {i} is {describe(given)}, and the queue's is {dtype.name}",
                    None if "s" in (dtype.kind, operand_dtype(given).kind) else f"write cast(x, {dtype.name})",
                )  # fmt: skip
            path_ends((x,), f"the {self.kind}")
            shape = shape_of(x)
            if batch and not shape:
                raise failure("E0302", f"{self.kind}: enqueue_many takes components with a first dimension of elements")
            shape = shape[1:] if batch else shape
            if known is not None and not fits(shape, known):
                raise failure(
                    "E0302", f"{self.kind}: shape mismatch in component {i}: expected {shape_text(known)}, "
                    f"got {shape_text(shape)}",
                )  # fmt: skip
            found.append(Tensor(x.value, x.dtype) if x.__class__ is Tensor else x)
        return found

    def put(self, item: list[Any]) -> None:
        self.items.append(item)

    def admit(self, items: list[list[Any]]) -> None:
        if self.closed:
            raise failure("E0410", f"{self.kind} '{self.label}' is closed")
        if len(self.items) + len(items) > self.capacity > 0:
            raise failure(
                "E0410", f"{self.kind} '{self.label}' is full: it has {len(self.items)} of {self.capacity} elements, and "
                f"{len(items)} more would wait for ever", "nothing runs beside a program here: dequeue first",
            )  # fmt: skip
        for item in items:
            self.put(item)

    def method_enqueue(self, vals: Any) -> None:
        self.admit([self.tensors(vals, False)])

    def method_enqueue_many(self, vals: Any) -> None:
        parts = self.tensors(vals, True)
        counts = {shape_of(x)[0] for x in parts}
        if len(counts) > 1:
            raise failure("E0302", f"{self.kind}: the components have {sorted(counts)} elements")
        index = OPERATORS.index
        self.admit([[index(x, index=i) for x in parts] for i in range(counts.pop())])

    # --- what leaves ------------------------------------------------------------------------------------------------

    def next_item(self) -> list[Any]:
        return self.items.pop(0)

    def available(self) -> int:
        return len(self.items)

    def require(self, count: int) -> None:
        if self.available() >= count:
            return
        size = f"requested {count}, current size {len(self.items)}"
        if self.closed:
            raise failure("E0410", f"{self.kind} '{self.label}' is closed and has insufficient elements ({size})")
        raise failure(
            "E0410", f"{self.kind} '{self.label}' has insufficient elements ({size}), and the wait for more would never end",
            "nothing runs beside a program here: enqueue first",
        )  # fmt: skip

    def given(self, parts: list[Any]) -> Any:
        if self.names is not None:
            return dict(zip(self.names, parts))
        return parts[0] if len(parts) == 1 else parts

    def method_dequeue(self) -> Any:
        self.require(1)
        return self.given(self.next_item())

    def method_dequeue_many(self, n: Any) -> Any:
        count = whole(self.kind, "n", n)
        self.check_batches(count)
        self.require(count)
        return self.batch(count)

    def method_dequeue_up_to(self, n: Any) -> Any:
        """Fewer elements than n if the queue is closed."""
        count = whole(self.kind, "n", n)
        self.check_batches(count)
        if self.closed and 0 < self.available() < count:
            count = self.available()
        self.require(count)
        return self.batch(count)

    def check_batches(self, count: int) -> None:
        if count < 0:
            raise failure("E0401", f"{self.kind}: n must be 0 or more, not {count}")
        if any(shape is None or None in shape for shape in self.shapes):
            raise failure(
                "E0302", f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes",
                "give shapes=[[]] where the queue is made, for scalars",
            )  # fmt: skip

    def batch(self, count: int) -> Any:
        items = [self.next_item() for _ in range(count)]
        return self.given([self.stacked(i, [item[i] for item in items]) for i in range(len(self.dtypes))])

    def stacked(self, i: int, parts: list[Any]) -> Any:
        if parts:
            return OPERATORS.stack(parts)
        import numpy as np

        shape = (0, *[size or 0 for size in self.shapes[i] or ()])
        dtype = self.dtypes[i]
        return Tensor(np.empty(shape, dtype=object if dtype.kind == "s" else dtype.name), dtype)

    # --- the rest ---------------------------------------------------------------------------------------------------

    def method_size(self) -> Any:
        return OPERATORS.cast(len(self.items), dtype="int32")

    def method_close(self, cancel_pending_enqueues: Any = False) -> None:
        self.closed = True

    def method_is_closed(self) -> bool:
        return self.closed


class PriorityQueue(Queue):
    """The first component is an int64: the smallest leaves first, and of equals the one that came first."""

    __slots__ = ()

    def put(self, item: list[Any]) -> None:
        from bisect import insort

        insort(self.items, item, key=lambda parts: parts[0].value)


class RandomShuffleQueue(Queue):
    """Elements leave in an order that the seed decides, and while it is open `least` of them stay."""

    __slots__ = ("least", "order")
    least: int
    order: Any

    def next_item(self) -> list[Any]:
        return self.items.pop(int(self.order.integers(len(self.items))))

    def available(self) -> int:
        return len(self.items) if self.closed else len(self.items) - self.least


class PaddingFIFOQueue(Queue):
    """Batches are padded with zeros, or "", where a size of a shape is None."""

    __slots__ = ()

    def check_batches(self, count: int) -> None:
        return

    def stacked(self, i: int, parts: list[Any]) -> Any:
        if not parts:
            return super().stacked(i, parts)
        import numpy as np

        shape = np.max([shape_of(x) for x in parts], axis=0).astype(int).tolist()
        text = self.dtypes[i].kind == "s"
        found = np.full((len(parts), *shape), "" if text else 0, dtype=object if text else self.dtypes[i].name)
        for row, x in zip(found, parts):
            row[tuple([slice(size) for size in shape_of(x)])] = x.value if x.__class__ is Tensor else x
        return Tensor(found, self.dtypes[i])


def is_list_of_shapes(shapes: Any) -> bool:
    """Whether there is a shape for each component: `[[], [2]]`, and no single shape such as `[]` or `[2, 3]`."""
    return shapes.__class__ in (list, tuple) and bool(shapes) and all(s.__class__ in (list, tuple) for s in shapes)


def fits(shape: tuple[int, ...], known: tuple[int | None, ...]) -> bool:
    return len(shape) == len(known) and all(b is None or a == b for a, b in zip(shape, known))


def fifo(
    capacity: Any, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: Any = None, name: Any = None
) -> Queue:
    return Queue("FIFOQueue", capacity, dtypes, shapes, names, name)


def padding_fifo(
    capacity: Any, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: Any = None, name: Any = None
) -> Queue:
    if shapes is None:
        raise failure(
            "E0305", "PaddingFIFOQueue: When providing partial shapes, a list of shapes must be provided.",
            "a size of None may differ from element to element: shapes=[[None]]",
        )  # fmt: skip
    return PaddingFIFOQueue("PaddingFIFOQueue", capacity, dtypes, shapes, names, name)


def priority(
    capacity: Any, types: Any, shapes: Any = None, names: Any = None, shared_name: Any = None, name: Any = None
) -> Queue:
    types = list(types) if types.__class__ in (list, tuple) else [types]
    if shapes is not None:
        shapes = [[], *(shapes if is_list_of_shapes(shapes) or not (shapes or types) else [shapes])]
    return PriorityQueue("PriorityQueue", capacity, [INT64, *types], shapes, names, name)


def random_shuffle_queue(
    capacity: Any, min_after_dequeue: Any, dtypes: Any, shapes: Any = None, names: Any = None, seed: Any = None,
    shared_name: Any = None, name: Any = None,
) -> Queue:  # fmt: skip
    queue = RandomShuffleQueue("RandomShuffleQueue", capacity, dtypes, shapes, names, name)
    queue.least = whole("RandomShuffleQueue", "min_after_dequeue", min_after_dequeue)
    queue.order = generator("RandomShuffleQueue", seed)
    return queue


FUNCTIONS: dict[str, Callable[..., Any]] = {
    prefix + name: run
    for prefix in ("", "queue.")
    for name, run in (
        ("FIFOQueue", fifo),
        ("PaddingFIFOQueue", padding_fifo),
        ("PriorityQueue", priority),
        ("RandomShuffleQueue", random_shuffle_queue),
    )
}
