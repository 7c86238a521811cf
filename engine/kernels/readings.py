"""The results of a kernel as the value of its program, and as the derivatives that its command asks for."""

from __future__ import annotations

from contextlib import contextmanager
from math import isfinite, prod

from .inputs import Complex, shape_of
from .ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .built import Built
    from .paths import Paths


class Reading:
    """How the results of one kernel are read.

    `sources` are the inputs that are differentiated by, `spec` what the kernel is specialised to, `moved` the sources
    that have a direction, and `mode` that of a Jacobian.
    """

    __slots__ = (
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
            value = reshaped(value, self.built.shape)
        return value, self.derivatives(results[1:], given)

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
        gradients = {"hvp": len(self.sources), "hessian": len(self.sources) - len(self.built.lost)}
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

    def value(self, found: Sequence[Any], given: Sequence[Any]) -> None:
        return None

    def grad(self, found: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The gradients by source."""
        if self.plain:
            gradients = self.in_shape(found)
            for k, name in self.doubtful:
                if is_zero(gradients[k]) and not self.built.surely_connected(name, given):
                    break
            else:
                return gradients
        return connected(self.built, self.sources, found, self.spec, given, self.look)

    vjp = grad

    def jvp(self, found: Sequence[Any], given: Sequence[Any]) -> Any:
        """The tangent of the value."""
        if not found:
            raise Unsupported("a result that depends on its inputs by rounding alone")
        tangent = reshaped(found[0], self.built.shape)
        lost, sure = self.built.lost, self.built.surely_connected
        if is_zero(tangent) and not any(sure(name, given) for name in self.moved if name not in lost):
            if not any(map(doubted(self.look).connected, self.moved)):
                raise Unsupported("a result that the inputs with a tangent do not reach")
        return tangent

    def hvp(self, found: Sequence[Any], given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The gradients and the products by source."""
        n = len(self.sources)
        gradients = self.grad(found[:n], given)
        if self.plain and all_there(gradients):
            return gradients, self.in_shape(found[n:])
        products = [
            None if g is None else reshaped(p, self.shape(name))
            for name, g, p in zip(self.sources, gradients, found[n:])
        ]
        return gradients, products

    def hessian(self, found: Sequence[Any], given: Sequence[Any]) -> tuple[list[Any], dict[str, dict[str, Any]]]:
        """The gradients by source, and the blocks by row and column."""
        lost, sources = self.built.lost, self.sources
        names = [name for name in sources if name not in lost] if lost else sources
        table = found[len(names)]
        if len(sources) == 1 == len(names):
            shape = self.shape(sources[0])
            gradients = self.grad(found, given)
            block = None if gradients[0] is None else reshaped(table, shape + shape)
            return gradients, {sources[0]: {sources[0]: block}}
        flat = dict(zip(names, found))
        gradients = self.grad([flat.get(name) for name in sources], given)
        missing = {name for name, g in zip(sources, gradients) if g is None}
        sizes = [prod(self.shape(name)) for name in names]
        starts = [sum(sizes[:k]) for k in range(len(sizes))]
        table = table.reshape(sum(sizes), sum(sizes))
        blocks: dict[str, dict[str, Any]] = {name: dict.fromkeys(sources) for name in sources}
        for i, row in enumerate(names):
            for j, column in enumerate(names[: i + 1]):
                if row in missing or column in missing:
                    continue
                # A column of the table is a direction: those of the later source serve both blocks.
                part = table[starts[j] : starts[j] + sizes[j], starts[i] : starts[i] + sizes[i]].T
                blocks[row][column] = shaped(part, self.shape(row) + self.shape(column))
                if column != row:
                    blocks[column][row] = shaped(part.T, self.shape(column) + self.shape(row))
        return gradients, blocks

    def jacobian(self, found: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The blocks by source."""
        built = self.built
        size = prod(built.shape)
        blocks: list[Any] = []
        start = k = 0
        for name in self.sources:
            if name in built.lost:
                blocks.append(None)
                continue
            shape = self.shape(name)
            if self.mode == "forward":
                part = found[0].reshape(-1, size)[start : start + prod(shape)].T
                start += prod(shape)
            else:
                part = found[k]
                k += 1
            missing = is_zero(part) and not built.surely_connected(name, given)
            if missing and not doubted(self.look).connected(name):
                blocks.append(None)
                continue
            blocks.append(shaped(part, built.shape + shape))
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
        if spec[name].__class__ is Complex and g is not None:
            g = joined(reshaped(g, spec[name].shape), reshaped(rest.pop(0), spec[name].shape))
        if name in built.lost and (name not in built.unexplained or g is None):
            if name in built.unexplained and doubted(look).connected(name):
                raise Unsupported("an input that reaches the result as a part of a tensor")
            gradients.append(None)
            continue
        g = g if spec[name].__class__ is Complex else reshaped(g, shape_of(spec[name]))
        if is_zero(g) and not built.surely_connected(name, values) and not doubted(look).connected(name):
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
        return complex(re, im)
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


def leave_infinite(x: Any) -> None:
    """Leave a tangent that is nan or infinite to the tape, where a reverse sweep decides."""
    if x.__class__ is float:
        finite = isfinite(x)
    else:
        import numpy as np

        finite = np.isfinite(x).all()
    if not finite:
        raise Unsupported("a tangent that is nan or infinite: the tape says where it begins")
