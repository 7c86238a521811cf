"""The results of a kernel as the value of its program, and as the derivatives that its command asks for."""

from __future__ import annotations

from contextlib import contextmanager
from math import isfinite, prod

from .inputs import Complex, Single, shape_of
from .ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .built import Built
    from .construction.paths import Paths


class Reading:
    """How the results of one kernel are read.

    `sources` are the inputs that are differentiated by, `spec` what the kernel is specialised to, `moved` the sources
    that have a direction, and `mode` that of a Jacobian.
    """

    __slots__ = (
        "as_they_come",
        "built",
        "command",
        "derivatives",
        "doubtful",
        "look",
        "mode",
        "moved",
        "plain",
        "shapes",
        "sources",
        "spec",
    )

    def __init__(
        self, built: Built, command: str, sources: Sequence[str], spec: dict[str, Any], moved: Sequence[str] = (),
        mode: str = "",
    ) -> None:  # fmt: skip
        self.built = built
        self.command = command
        self.sources = sources
        self.spec = spec
        self.moved = moved
        self.mode = mode
        # Whether every source is real and may be reached; then their shapes, () for vectors, which results are as they
        # come, and None for numbers; and those on which the value may depend or not, with their places.
        self.plain = built.lost.keys().isdisjoint(sources) and not any(spec[n].__class__ is Complex for n in sources)
        self.shapes: list[Any] = []
        if self.plain:
            shapes = [shape_of(spec[name]) for name in sources]
            self.shapes = [None if not shape else shape if len(shape) > 1 else () for shape in shapes]
        # Whether all of them are vectors.
        self.as_they_come = self.plain and all(shape == () for shape in self.shapes)
        self.doubtful = [(k, name) for k, name in enumerate(sources) if name not in built.sure]
        self.derivatives: Callable[[Sequence[Any], Sequence[Any]], Any] = getattr(self, command)
        # What tells, while `looking`, which sources the value depends on where that is doubtful.
        self.look: Callable[[], Paths] | None = None

    def __call__(self, results: Sequence[Any], given: Sequence[Any]) -> tuple[Any, Any]:
        """The value, and the derivatives, from the results without flags and the arguments that gave them.

        Raises Unsupported where it is the tape's to say whether the value is connected.
        """
        value = results[0]
        if value.__class__ is not float:
            value = self.like_value(value)
        return value, self.derivatives(results[1:], given)

    def as_they_are(self) -> list[tuple[int, ...] | None] | None:
        """Where the results are the value and its derivatives by source, if all of these are connected: the shapes of the
        results, None for a number. Else None."""
        if self.command not in ("value", "grad", "vjp") or not self.plain or self.built.structure:
            return None
        shapes = [shape_of(self.spec[name]) for name in self.sources]
        return [shape or None for shape in (self.built.shape, *shapes)]

    def surely_connected(self, given: Sequence[Any]) -> bool:
        """Whether the value depends on every source, whatever its derivative is."""
        return all(self.built.surely_connected(name, given) for _, name in self.doubtful)

    def like_value(self, found: Any) -> Any:
        """A value of the program, or the tangent of one, from the result of a kernel that holds it."""
        structure = self.built.structure
        if structure is None or structure[0] != "complex":
            return reshaped(found, self.built.shape)
        return joined(*(reshaped(half, structure[2]) for half in halves(found)))

    @contextmanager
    def looking(self, look: Callable[[], Paths]) -> Iterator[None]:
        """Let `look` tell, once, which sources the value depends on; elsewhere a doubt is Unsupported."""
        known: list[Paths] = []

        def asked() -> Paths:
            if not known:
                known.append(look())
            return known[0]

        self.look = asked
        try:
            yield
        finally:
            self.look = None

    def reasons(self, missing: Sequence[str]) -> dict[str, tuple[str, Any]]:
        """Why the value does not depend on sources, in the tape's words, and where. Raises Unsupported."""
        known = {name: lost for name, lost in self.built.lost.items() if lost[0]}
        return known if known.keys() >= set(missing) else {**doubted(self.look).reasons, **known}

    def shape(self, name: str) -> tuple[int, ...]:
        return shape_of(self.spec[name])

    def tangents(self, results: Sequence[Any]) -> Sequence[Any]:
        """Those of the results that forward mode made."""
        if self.command in ("value", "grad", "vjp"):
            return ()
        gradients = {"hvp": len(self.parts), "hessian": len(self.connected_parts)}
        return results[1 + gradients.get(self.command, 0) :]

    def in_shape(self, found: Sequence[Any]) -> list[Any]:
        """Results for the sources, one for each, in their shapes."""
        parts: list[Any] = []
        for shape, x in zip(self.shapes, found):  # a comprehension is a call
            if shape is None:
                parts.append(x if x.__class__ is float else reshaped(x, ()))
            else:
                parts.append(x.reshape(shape) if shape else x)
        return parts

    @property
    def parts(self) -> list[tuple[str, bool]]:
        """The parts of the sources, with whether each is the imaginary part of one."""
        return [part for name in self.sources for part in parts_of(name, self.spec[name])]

    @property
    def connected_parts(self) -> list[tuple[str, bool]]:
        """The parts of those that a path leads from to the result."""
        return [part for part in self.parts if part[0] not in self.built.lost]

    def value(self, found: Sequence[Any], given: Sequence[Any]) -> None:
        return None

    def grad(self, found: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The gradients by source."""
        if self.plain:
            gradients = list(found) if self.as_they_come else self.in_shape(found)
            for k, name in self.doubtful:
                if not self.built.surely_connected(name, given) and is_zero(gradients[k]):
                    break
            else:
                return gradients
        return connected(self.built, self.sources, found, self.spec, given, self.look)

    vjp = grad

    def jvp(self, found: Sequence[Any], given: Sequence[Any]) -> Any:
        """The tangent of the value; None where no input with a tangent reaches it."""
        tangent = self.like_value(found[0]) if found else 0.0
        lost, sure = self.built.lost, self.built.surely_connected
        if is_zero(tangent) and not any(sure(name, given) for name in self.moved if name not in lost):
            unsure = [name for name in self.moved if name not in lost or name in self.built.unexplained]
            if not unsure or not any(map(doubted(self.look).connected, unsure)):
                return None
        return tangent if found else self.like_value(zeros(self.built.shape))

    def hvp(self, found: Sequence[Any], given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The gradients and the products by source."""
        n = len(self.parts)
        gradients = self.grad(found[:n], given)
        if self.plain and all_there(gradients):
            return gradients, self.in_shape(found[n:])
        rest = list(found[n:])
        products = []
        for name, g in zip(self.sources, gradients):
            each = [reshaped(rest.pop(0), self.shape(name)) for _ in parts_of(name, self.spec[name])]
            products.append(None if g is None else each[0] if len(each) == 1 else joined(*each))
        return gradients, products

    def hessian(self, found: Sequence[Any], given: Sequence[Any]) -> tuple[list[Any], dict[str, dict[str, Any]]]:
        """The gradients by source, and the blocks by row and column."""
        sources, parts = self.sources, self.connected_parts
        if not parts:
            gradients = self.grad([None for _ in self.parts], given)
            return gradients, {name: dict.fromkeys(sources) for name in sources}
        table = found[len(parts)]
        if len(sources) == 1 == len(parts):
            shape = self.shape(sources[0])
            gradients = self.grad(found, given)
            block = None if gradients[0] is None else reshaped(table, shape + shape)
            return gradients, {sources[0]: {sources[0]: block}}
        flat = dict(zip(parts, found))
        gradients = self.grad([flat.get(part) for part in self.parts], given)
        names = [name for name, g in zip(sources, gradients) if g is not None]
        places: dict[tuple[str, bool], slice] = {}
        start = 0
        for name, imaginary in parts:
            places[name, imaginary] = slice(start, start + prod(self.shape(name)))
            start += prod(self.shape(name))
        table = table.reshape(start, start)
        blocks: dict[str, dict[str, Any]] = {name: dict.fromkeys(sources) for name in sources}
        for i, row in enumerate(names):
            for column in names[: i + 1]:
                # A column of the table is a direction: those of the later source serve both blocks.
                part = table[places[column, False], places[row, False]].T
                parts_of_row, parts_of_column = (
                    joined(side, table[along, places[name, True]].T) if (name, True) in places else side
                    for name, side, along in ((row, part, places[column, False]), (column, part.T, places[row, False]))
                )
                if Single in (self.spec[row].__class__, self.spec[column].__class__):
                    # Beside bare numbers the table may hold float64.
                    parts_of_row, parts_of_column = map(narrowed, (parts_of_row, parts_of_column))
                blocks[row][column] = shaped(parts_of_row, self.shape(row) + self.shape(column))
                if column != row:
                    blocks[column][row] = shaped(parts_of_column, self.shape(column) + self.shape(row))
        return gradients, blocks

    def jacobian(self, found: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The blocks by source."""
        built = self.built
        size = prod(built.shape)
        value_shape = built.structure[2] if built.structure is not None else built.shape
        blocks: list[Any] = []
        rest = list(found)
        start = 0
        for name in self.sources:
            if name in built.lost:
                if name in built.unexplained and doubted(self.look).connected(name):
                    raise Unsupported("an input that reaches the result as a part of a whole")
                blocks.append(None)
                continue
            shape = self.shape(name)
            if self.mode == "forward":
                part = found[0].reshape(-1, size)[start : start + prod(shape)].T
                start += prod(shape)
                if built.structure is not None:
                    part = joined(*halves(part))
            else:
                each = [rest.pop(0) for _ in parts_of(name, self.spec[name])]
                part = each[0] if len(each) == 1 else joined(*each)
            missing = not built.surely_connected(name, given) and is_zero(part)
            if missing and not doubted(self.look).connected(name):
                blocks.append(None)
                continue
            blocks.append(shaped(part, value_shape + shape))
        return blocks

    def derivative(self, found: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The derivatives by order. Where one is no number, what is singular may be so in a higher order alone."""
        if not all(isfinite(x) for x in found):
            raise Unsupported("a derivative that is nan or inf: the tape says where it begins")
        return list(found)


def all_there(found: Sequence[Any]) -> bool:
    """Whether none of the derivatives is None."""
    for x in found:  # noqa: SIM110 -- a generator is a call for each
        if x is None:
            return False
    return True


def parts_of(name: str, kind: Any) -> list[tuple[str, bool]]:
    """A source, or the two parts of a complex one, with whether that is the imaginary part."""
    return [(name, False), (name, True)] if kind.__class__ is Complex else [(name, False)]


def halves(x: Any) -> tuple[Any, Any]:
    """The real and the imaginary parts of what holds them one after the other, along its first axis."""
    if hasattr(x, "_length_"):
        import numpy as np

        x = np.array(x)
    middle = len(x) // 2
    return x[:middle], x[middle:]


def zeros(shape: tuple[int, ...]) -> Any:
    """A derivative that is 0 throughout, as a kernel gives it."""
    if not shape:
        return 0.0
    import numpy as np

    return np.zeros(prod(shape))


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """A result as a plain value of a shape: a number where that is (), of NumPy if it is a float32."""
    if hasattr(x, "_length_"):
        import numpy as np

        x = np.array(x)
    if hasattr(x, "reshape") and shape:
        return x.reshape(shape)
    if x.__class__ in (float, int, bool):
        return x
    return x.reshape(-1)[0] if x.dtype.name == "float32" else x.item()


def shaped(part: Any, shape: tuple[int, ...]) -> Any:
    """A block of a table in its own memory."""
    import numpy as np

    found = np.ascontiguousarray(part).reshape(shape)
    return found if shape else reshaped(found, ())


def narrowed(x: Any) -> Any:
    """Real numbers of an array as float32."""
    return x.astype("float32") if x.dtype.kind == "f" else x


def connected(
    built: Built, sources: Sequence[str], found: Sequence[Any], spec: dict[str, Any], values: Sequence[Any],
    look: Callable[[], Paths] | None = None,
) -> list[Any]:  # fmt: skip
    """The derivatives by source in their shapes, None for one that the result does not depend on.

    Where it is doubtful whether it does, `look` tells. Raises Unsupported where nothing does.
    """
    gradients: list[Any] = []
    rest = list(found)
    for name in sources:
        g = rest.pop(0)
        if spec[name].__class__ is Complex:
            im = rest.pop(0)
            g = None if g is None else joined(reshaped(g, spec[name].shape), reshaped(im, spec[name].shape))
        if name in built.lost and (name not in built.unexplained or g is None):
            if name in built.unexplained and doubted(look).connected(name):
                raise Unsupported("an input that reaches the result as a part of a tensor")
            gradients.append(None)
            continue
        g = g if spec[name].__class__ is Complex else reshaped(g, shape_of(spec[name]))
        if not built.surely_connected(name, values) and is_zero(g) and not doubted(look).connected(name):
            g = None
        gradients.append(g)
    return gradients


def doubted(look: Callable[[], Paths] | None) -> Paths:
    """What `look` says of inputs that may not reach the result. Raises Unsupported where nothing does."""
    why = Unsupported("an input that reaches the result on some paths of the program only")
    if look is None:
        raise why
    try:
        return look()
    except Unsupported:
        raise why from None


def joined(re: Any, im: Any) -> Any:
    """A complex number or array from its parts."""
    if re.__class__ is float:
        return complex(re, im)  # whose zeros keep their signs
    import numpy as np

    found = np.empty(re.shape, dtype=np.complex128)
    found.real, found.imag = re, im
    return found


def is_zero(g: Any) -> bool:
    """Whether a derivative is zero throughout."""
    cls = g.__class__
    if cls is float or cls is complex:
        return not g
    return not (g.size and g.item(0)) and not g.any()  # most often the first element tells


def is_finite(x: Any) -> bool:
    """Whether a number is finite, or all elements of an array are."""
    if x.__class__ is float:
        return isfinite(x)
    import numpy as np

    return bool(np.isfinite(x).all())


def leave_infinite(x: Any) -> None:
    """Leave a tangent that is nan or infinite to the tape, where a reverse sweep decides."""
    if not is_finite(x):
        raise Unsupported("a tangent that is nan or infinite: the tape says where it begins")
