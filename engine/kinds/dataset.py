"""tf.data.Dataset: a pipeline of elements, each a tensor or a tuple or dict of tensors. Nothing is computed before it is
read, and every reading starts anew.
"""

from __future__ import annotations

from itertools import islice

from ..core import limits
from ..core.dtypes import INT64
from ..core.errors import failure
from ..core.limits import LIMITS
from ..core.operation import static
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..ops.random import generator
from ..ops.tensorflow import TENSORFLOW
from .access import iterate, unpack
from .kind import Kind, call, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MOST_STAGES = 500  # each holds a frame of Python's while elements pass


class Dataset(Kind):
    """`make` gives an iterator over the elements; `count` is how many there are: inf, or None where only reading tells."""

    __slots__ = ("count", "make", "stages")
    description = "a Dataset"
    listed = True

    def __init__(self, make: Callable[[], Iterator[Any]], count: float | None, stages: int = 1) -> None:
        if stages > MOST_STAGES:
            raise failure(
                "E0605", f"a Dataset of more than {MOST_STAGES} steps", "map once with all that is to be done"
            )
        self.make = make
        self.count = count
        self.stages = stages

    def then(self, step: Callable[[Iterator[Any]], Iterator[Any]], count: float | None) -> Dataset:
        return Dataset(lambda: step(self.make()), count, self.stages + 1)

    # --- the protocol -----------------------------------------------------------------------------------------------

    def iterate(self) -> Iterator[Any]:
        return self.make()

    def length(self) -> int:
        if self.count is None or self.count == float("inf"):
            raise failure(
                "E0304", f"the length of this Dataset is {'infinite' if self.count else 'unknown'}",
                "take(n) ends one; sum(1 for x in dataset) counts",
            )  # fmt: skip
        return int(self.count)

    def text(self, show: Callable[[Any], str]) -> str:
        size = {None: "unknown", float("inf"): "infinite"}.get(self.count)
        return f"<Dataset size={size or int(self.count or 0)}>"

    def to_plain(self) -> list[Any]:
        if self.count is not None:
            limits.allocate(self.length(), 36)  # an endless one is no result
        found = []
        for element in self.make():
            found.append(element)
            if len(found) % 100_000 == 0:  # one whose length is unknown may be endless
                limits.allocate(len(found), 500)
        return found

    # --- steps ------------------------------------------------------------------------------------------------------

    def method_batch(self, batch_size: Any, drop_remainder: Any = False, num_parallel_calls: Any = None) -> Dataset:
        size = positive("batch", "batch_size", batch_size)
        count = self.count
        if count is not None and count != float("inf"):
            count = count // size if drop_remainder else -(-count // size)
        return self.then(lambda elements: groups(elements, size, drop_remainder, joined), count)

    def method_unbatch(self) -> Dataset:
        return self.then(lambda elements: (row for batch in elements for row in slices(batch)), None)

    def method_shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True) -> Dataset:
        """TensorFlow's way: a buffer of elements, of which one at random leaves as the next enters."""
        size = positive("shuffle", "buffer_size", buffer_size)
        draws = [generator("Dataset.shuffle", static(seed))]

        def step(elements: Iterator[Any]) -> Iterator[Any]:
            if reshuffle_each_iteration is False:
                draws[0] = generator("Dataset.shuffle", static(seed))
            buffer: list[Any] = []
            for element in elements:
                if len(buffer) == size:
                    i = int(draws[0].integers(size))
                    buffer[i], element = element, buffer[i]
                    yield element
                else:
                    buffer.append(element)
            for i in draws[0].permutation(len(buffer)):
                yield buffer[i]

        return self.then(step, self.count)

    def method_repeat(self, count: Any = None) -> Dataset:
        times = -1 if count is None else whole("Dataset.repeat", "count", count)

        def make() -> Iterator[Any]:
            done = 0
            while times < 0 or done < times:
                done += 1
                found = False
                if LIMITS.max_steps is not None:
                    limits.step()
                for element in self.make():
                    found = True
                    yield element
                if not found:
                    return

        endless = times < 0 and self.count != 0
        total = float("inf") if endless else None if self.count is None else self.count * max(times, 0)
        return Dataset(make, total, self.stages + 1)

    def method_map(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None) -> Dataset:
        return self.then(lambda elements: (applied(map_func, element) for element in elements), self.count)

    def method_filter(self, predicate: Any) -> Dataset:
        def step(elements: Iterator[Any]) -> Iterator[Any]:
            for element in elements:
                if static(applied(predicate, element)):
                    yield element

        return self.then(step, None)

    def method_flat_map(self, map_func: Any) -> Dataset:
        def step(elements: Iterator[Any]) -> Iterator[Any]:
            for element in elements:
                found = applied(map_func, element)
                if found.__class__ is not Dataset:
                    raise failure(
                        "E0304", "Dataset.flat_map needs a function that returns a Dataset", "map takes others"
                    )
                yield from found.make()

        return self.then(step, None)

    def method_window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False) -> Dataset:
        """Datasets of `size` elements each, every `stride`-th, of which the next begins `shift` elements later."""
        width, step_in = positive("window", "size", size), positive("window", "stride", stride)
        ahead = width if shift is None else positive("window", "shift", shift)
        span = (width - 1) * step_in + 1

        def step(elements: Iterator[Any]) -> Iterator[Any]:
            held: list[Any] = []
            while True:
                held += islice(elements, max(span - len(held), 0))
                window = held[:span:step_in]
                if not window or (drop_remainder and len(window) < width):
                    return
                yield parts(lambda *items: Dataset(lambda: iter(items), len(items)), *window)
                for _ in islice(elements, max(ahead - len(held), 0)):
                    pass
                held = held[ahead:]

        return self.then(step, None)

    def method_padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: Any = False
    ) -> Dataset:
        """Batches whose tensors are filled up to the longest, or to the sizes of `padded_shapes`."""
        batched = self.method_batch(batch_size, drop_remainder)

        def together(rows: list[Any]) -> Any:
            return padded(rows, padded_shapes, padding_values)

        return Dataset(lambda: groups(self.make(), batch_size, drop_remainder, together), batched.count, batched.stages)

    def method_take(self, count: Any) -> Dataset:
        most = whole("Dataset.take", "count", count)

        def step(elements: Iterator[Any]) -> Iterator[Any]:
            left = most
            while left != 0:
                for element in elements:
                    yield element
                    break
                else:
                    return
                left -= 1

        total = None if self.count is None else self.count if most < 0 else min(self.count, most)
        return self.then(step, total)

    def method_skip(self, count: Any) -> Dataset:
        least = whole("Dataset.skip", "count", count)

        def step(elements: Iterator[Any]) -> Iterator[Any]:
            for i, element in enumerate(elements):
                if 0 <= least <= i:
                    yield element

        total = None if self.count is None else 0 if least < 0 else max(self.count - least, 0)
        return self.then(step, total)

    def method_enumerate(self, start: Any = 0) -> Dataset:
        first = whole("Dataset.enumerate", "start", start)
        return self.then(
            lambda elements: ((Tensor(i, INT64), element) for i, element in enumerate(elements, first)), self.count
        )

    def method_concatenate(self, dataset: Any) -> Dataset:
        def make() -> Iterator[Any]:
            yield from self.make()
            yield from dataset.make()

        total = None if None in (self.count, dataset.count) else self.count + dataset.count
        return Dataset(make, total, max(self.stages, dataset.stages) + 1)

    def method_prefetch(self, buffer_size: Any = None) -> Dataset:
        """There is nothing to run ahead of: no effect."""
        return self

    def method_cache(self, filename: Any = "") -> Dataset:
        """Nothing is kept: elements are computed again."""
        return self

    def method_with_options(self, options: Any = None) -> Dataset:
        return self

    def method_reduce(self, initial_state: Any, reduce_func: Any) -> Any:
        state = initial_state
        for element in self.make():
            state = call(reduce_func, state, element)
        return state

    def method_cardinality(self) -> Tensor:
        """-1 where it is infinite, -2 where it is unknown, as in TensorFlow."""
        return Tensor(-2 if self.count is None else -1 if self.count == float("inf") else int(self.count), INT64)

    def method_as_numpy_iterator(self) -> Iterator[Any]:
        return self.make()


# --- elements -------------------------------------------------------------------------------------------------------


def positive(name: str, what: str, x: Any) -> int:
    value = whole(f"Dataset.{name}", what, x)
    if value < 1:
        raise failure("E0401", f"Dataset.{name}: {what} must be 1 or more, not {value}")
    return value


def applied(function: Any, element: Any) -> Any:
    """A function of an element; one of a tuple takes its parts."""
    return call(function, *element) if element.__class__ is tuple else call(function, element)


def parts(change: Callable[..., Any], *elements: Any) -> Any:
    """`change` of the tensors of elements that have one structure."""
    first = elements[0]
    for other in elements[1:]:
        if other.__class__ is not first.__class__ or (first.__class__ in (tuple, dict) and len(other) != len(first)):
            raise failure("E0302", "the elements of the dataset differ in structure, so they make no batch")
    if first.__class__ is tuple:
        return tuple([parts(change, *items) for items in zip(*elements)])
    if first.__class__ is dict:
        if any(element.keys() != first.keys() for element in elements):
            raise failure("E0302", "the elements of the dataset differ in their keys, so they make no batch")
        return {key: parts(change, *[element[key] for element in elements]) for key in first}
    return change(*elements)


def joined(elements: list[Any]) -> Any:
    return parts(lambda *tensors: OPERATORS.stack(list(tensors)), *elements)


def groups(elements: Iterator[Any], size: int, drop_remainder: Any, join: Callable[[list[Any]], Any]) -> Iterator[Any]:
    """`size` elements at a time, as one."""
    while held := list(islice(elements, size)):
        if len(held) == size or not drop_remainder:
            yield join(held)


def padded(rows: list[Any], shapes: Any, fill: Any) -> Any:
    """Elements as one, with tensors filled up; `shapes` and `fill` have the structure of an element, or are None."""
    first = rows[0]
    if first.__class__ in (tuple, dict):
        keys = first.keys() if first.__class__ is dict else range(len(first))
        fills = fill if fill.__class__ is first.__class__ else dict.fromkeys(keys, fill)
        found = [padded([row[k] for row in rows], None if shapes is None else shapes[k], fills[k]) for k in keys]
        return tuple(found) if first.__class__ is tuple else dict(zip(keys, found))
    longest = [max(sizes) for sizes in zip(*map(shape_of, rows))]
    if shapes is not None:
        longest = [n if wanted in (None, -1) else wanted for n, wanted in zip(longest, shapes)]
    value = 0 if fill is None else static(fill)
    widths = [[(0, wanted - n) for n, wanted in zip(shape_of(row), longest)] for row in rows]
    if any(after < 0 for width in widths for _, after in width):
        raise failure("E0302", f"Dataset.padded_batch: an element is larger than padded_shapes, {longest}")
    return joined(
        [OPERATORS.pad(row, pad_width=w, constant_values=value) if w else row for row, w in zip(rows, widths)]
    )


def tensors(structure: Any) -> Any:
    """A structure with tensors at its leaves: tuples and dicts are structure, a list is a tensor."""
    return parts(lambda x: x if hasattr(x, "operate") else TENSORFLOW["constant"](x), structure)


def leaves(structure: Any) -> list[Any]:
    found: list[Any] = []
    parts(found.append, structure)
    return found


def first_size(structure: Any) -> int:
    """The length of the first axis, which all tensors must share."""
    sizes = [x.attributes["shape"](x) if hasattr(x, "operate") else shape_of(x) for x in leaves(structure)]
    counts = {shape[0] if shape else None for shape in sizes}
    if len(counts) != 1 or None in counts:
        shapes = " and ".join(str(list(shape)) for shape in sizes)
        raise failure("E0302", f"Dataset: tensors of shapes {shapes} have no common first size to slice along")
    return int(sizes[0][0])


def slices(structure: Any) -> Iterator[Any]:
    """The elements along the first axis of tensors."""
    index = OPERATORS.index
    for i in range(first_size(structure)):
        if LIMITS.max_steps is not None:
            limits.step()
        yield parts(lambda x, i=i: index(x, index=i), structure)


# --- sources --------------------------------------------------------------------------------------------------------


def from_tensor_slices(tensors_: Any) -> Dataset:
    structure = tensors(tensors_)
    return Dataset(lambda: slices(structure), first_size(structure))


def from_tensors(tensors_: Any) -> Dataset:
    structure = tensors(tensors_)
    return Dataset(lambda: iter((structure,)), 1)


def range_(*bounds: Any) -> Dataset:
    values = [whole("Dataset.range", "a bound", x) for x in bounds]
    if not 1 <= len(values) <= 3 or values[2:] == [0]:
        raise failure("E0305", "Dataset.range takes (stop), (start, stop) or (start, stop, step), and step is not 0")
    span = range(*values)

    def make() -> Iterator[Any]:
        for i in span:
            if LIMITS.max_steps is not None:
                limits.step()
            yield Tensor(i, INT64)

    return Dataset(make, len(span))


def from_generator(
    generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = (), output_signature: Any = None
) -> Dataset:
    """The items of what `generator(*args)` gives, as tensors of the dtypes that are named."""
    kinds = output_types if output_signature is None else output_signature

    def make() -> Iterator[Any]:
        for item in iterate(call(generator, *args)):
            yield typed(item, kinds)

    return Dataset(make, None)


def typed(item: Any, kinds: Any) -> Any:
    if kinds.__class__ in (tuple, list):
        return tuple([typed(x, kind) for x, kind in zip(unpack(item, len(kinds), None), kinds)])
    if kinds.__class__ is dict:
        return {key: typed(item[key], kind) for key, kind in kinds.items()}
    dtype = kinds.dtype if hasattr(kinds, "shape") else kinds
    return tensors(item) if dtype is None or hasattr(item, "operate") else TENSORFLOW["constant"](item, dtype=dtype)


def zip_(*datasets: Any) -> Dataset:
    given = datasets[0] if len(datasets) == 1 and datasets[0].__class__ in (tuple, list) else datasets
    for x in given:
        if x.__class__ is not Dataset:
            raise failure("E0304", "Dataset.zip needs Datasets", "write tf.data.Dataset.zip((a, b))")
    counts = [x.count for x in given]
    return Dataset(
        lambda: zip(*[x.make() for x in given]),
        None if None in counts else min(counts),
        max(x.stages for x in given) + 1,
    )


def abstract(*args: Any) -> Dataset:
    raise failure("E0304", "tf.data.Dataset makes no Dataset", "write tf.data.Dataset.from_tensor_slices(values)")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "data.Dataset": abstract,
    "data.Dataset.from_tensor_slices": from_tensor_slices, "data.Dataset.from_tensors": from_tensors,
    "data.Dataset.from_generator": from_generator, "data.Dataset.range": range_, "data.Dataset.zip": zip_,
}  # fmt: skip
