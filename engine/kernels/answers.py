"""What the kernels of the commands answer: arguments for them, and their results as values in their shapes."""

from __future__ import annotations

from math import prod

from ..core.tensor import Tensor
from .inputs import EVERY, MODE, PATTERN, SOME, Complex, arguments, shape_of
from .ir import Unsupported
from .readings import Reading, leave_infinite
from .running import Compiled, run
from .runtime import Kernels
from .work import COMMAND_WORK, OF_FLOAT32, derivative_work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .built import Built
    from .construction.construct import Lowered

    Found = tuple[Any, Any, Compiled]


def derivatives() -> Any:
    """The module that makes these kernels: one that was kept does without."""
    from .construction import derivatives

    return derivatives


class Derivatives:
    """The derivatives of one program by kernels. Every method gives None where the tape is the sooner way."""

    def __init__(self, kernels: Kernels, values: dict[str, Any], sources: Sequence[str], always: bool) -> None:
        self.kernels = kernels
        self.values = values
        self.spec = kernels.specified(values, sources)
        self.given = arguments(kernels.program, values, self.spec)
        self.sources = sources
        self.always = always

    def prepared(
        self, command: str, make: Callable[[Lowered], Built], given: list[Any], kind: Any = None
    ) -> Compiled | None:
        """The kernel of a command of some `kind` for the arguments `given`."""
        key = (command, sorted(self.spec.items()), tuple(self.sources), kind)

        def build() -> Built:
            from . import ir
            from .construction.construct import Lowered
            from .outline import outline
            from .passes.dead_code import without_dead_code

            spec = {**self.spec, PATTERN: True} if command == "sparse hessian" else self.spec
            lowered = Lowered(self.kernels.program, spec, self.sources)
            plain = without_dead_code(ir.Kernel(lowered.kernel.parameters, list(lowered.kernel.body), [lowered.value]))
            built = make(lowered)
            built.outline = outline(plain, OF_FLOAT32 if lowered.builder.mode else 1.0)
            self.kernels.explicable(built, self.spec, self.sources)
            if command in ("jvp", "vjp", "hvp", "sparse hessian"):
                built.passes = COMMAND_WORK[command]
            return built

        compiled = self.kernels.prepared(key, build, given, self.always)
        if compiled is not None:
            compiled.built.settle_dtypes(self.values)
        return compiled

    def shape(self, name: str) -> tuple[int, ...]:
        return shape_of(self.spec[name])

    def seeds(self, given: dict[str, Any]) -> list[Any]:
        """Tangents as a kernel takes them."""
        found: list[Any] = []
        for name, x in given.items():
            if self.spec[name].__class__ is Complex:
                found.extend(as_complex_seed(x, self.shape(name)))
            else:
                found.append(self.seed(x, self.shape(name)))
        return found

    def seed(self, given: Any, shape: tuple[int, ...]) -> Any:
        """A tangent or cotangent as a kernel takes it."""
        return as_seed(given, shape, self.spec.get(MODE, ""))

    def read(
        self, compiled: Compiled, command: str, given: list[Any], moved: Sequence[str] = (), mode: str = ""
    ) -> tuple[Any, Any]:
        """The value and the derivatives from a kernel's run."""
        results = run(compiled, given)
        compiled.reading = Reading(compiled.built, command, self.sources, self.spec, moved, mode)
        for x in compiled.reading.tangents(results):
            leave_infinite(x)
        with compiled.reading.looking(lambda: self.kernels.paths(self.spec, self.sources, self.given)):
            value, derivatives = compiled.reading(results, self.given)
            return self.kernels.own_type(compiled, value, derivatives, self.spec, self.given), derivatives

    def jvp(self, tangents: dict[str, Any]) -> Found | None:
        """The value and its tangent."""
        moved = tuple(tangents)
        given = self.given + self.seeds(tangents)
        compiled = self.prepared("jvp", lambda lowered: derivatives().jvp(lowered, moved), given, moved)
        if compiled is None:
            return None
        if 0 in compiled.built.shape:
            raise Unsupported("the tangent of a result without elements")
        value, tangent = self.read(compiled, "jvp", given, moved)
        return value, None if tangent is None else of_dtype(tangent, value), compiled

    def vjp(self, cotangent: Any) -> Found | None:
        """The value and the cotangents of the sources."""
        shape, complex_shape = self.result_form()
        if 0 in shape:
            raise Unsupported("the cotangents of a result without elements")
        cotangent = 1.0 if cotangent is None else cotangent
        if complex_shape is None:
            given = [*self.given, self.seed(cotangent, shape)]
        else:
            import numpy as np

            parts = as_complex_seed(cotangent, complex_shape)
            given = [*self.given, np.concatenate([np.reshape(part, -1) for part in parts])]
        compiled = self.prepared("vjp", lambda lowered: derivatives().vjp(lowered), given)
        return None if compiled is None else (*self.read(compiled, "vjp", given), compiled)

    def hvp(self, vectors: dict[str, Any]) -> Found | None:
        """The value, and gradients and products."""
        moved = tuple(vectors)
        given = self.given + self.seeds(vectors)
        compiled = self.prepared("hvp", lambda lowered: derivatives().hvp(lowered, moved), given, moved)
        return None if compiled is None else (*self.read(compiled, "hvp", given, moved), compiled)

    def hessian(self) -> Found | None:
        """The value, and gradients and blocks by row and column."""
        compiled = self.prepared("hessian", lambda lowered: derivatives().hessian(lowered), self.given)
        return None if compiled is None else (*self.read(compiled, "hessian", self.given), compiled)

    def derivative(self, order: int) -> Found | None:
        """The value, and the derivatives up to an order."""

        def make(lowered: Lowered) -> Built:
            from .construction.series import derivative

            built = derivative(lowered, order)
            built.passes = derivative_work(order)
            return built

        compiled = self.prepared("derivative", make, self.given, order)
        return None if compiled is None else (*self.read(compiled, "derivative", self.given), compiled)

    def jacobian(self, mode: str) -> Found | None:
        """The value, and blocks and the mode that was used."""
        shape, complex_shape = self.result_form()
        size, inputs = prod(shape), sum(prod(self.shape(name)) for name in self.sources)
        if not size or not inputs:
            raise Unsupported("a Jacobian without elements")
        if complex_shape is not None:
            mode = "forward"  # of a holomorphic function
        elif any(self.spec[name].__class__ is Complex for name in self.sources):
            mode = "reverse"  # the directions of steepest ascent
        elif mode == "auto":
            mode = "forward" if 2 * inputs < size else "reverse"

        def make(lowered: Lowered) -> Built:
            built: Built = getattr(derivatives(), mode + "_jacobian")(lowered)
            return built

        compiled = self.prepared("jacobian", make, self.given, mode)
        if compiled is None:
            return None
        value, blocks = self.read(compiled, "jacobian", self.given, mode=mode)
        return value, (blocks, mode), compiled

    def result_form(self) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        """The shape of what the kernel has for the program's value, and of that value where it is complex."""

        def make() -> tuple[Any, ...]:
            from .construction.construct import Lowered

            lowered = Lowered(self.kernels.program, self.spec, self.sources)
            return lowered.shape, lowered.complex

        shape, complex_shape = self.kernels.form(("form", sorted(self.spec.items()), tuple(self.sources)), make)
        return shape, complex_shape


def of_dtype(tangent: Any, value: Any) -> Any:
    """A tangent that is zero whatever the kernel computes, as one of a value of float32 is."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.name != "float32":
        return tangent
    return tangent.astype(dtype) if hasattr(tangent, "astype") else dtype.type(tangent)


def as_complex_seed(given: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The real and imaginary parts of a tangent or cotangent for a complex value of a shape."""
    if given.__class__ is Tensor and given.dtype.name == "complex128":
        given = given.value
    if given.__class__ is complex or getattr(getattr(given, "dtype", None), "kind", "") == "c":
        return as_seed(given.real, shape), as_seed(given.imag, shape)
    if given.__class__ is Tensor and not given.dtype.weak:
        raise Unsupported(f"a tangent of dtype {given.dtype.name} beside complex numbers")
    return as_seed(given, shape), as_seed(0.0, shape)


def as_seed(given: Any, shape: tuple[int, ...], mode: str = "") -> Any:
    """A tangent or cotangent for a value of a shape; what does not fit is the tape's to explain."""
    seeds = {"": ("float64",), EVERY: ("float32",), SOME: ("float32", "float64")}[mode]
    x = given.value if given.__class__ is Tensor else given
    if (
        given.__class__ is Tensor
        and given.dtype.name not in seeds
        and not (given.dtype.kind == "i" and given.dtype.weak)
    ):
        raise Unsupported(f"a tangent of dtype {given.dtype.name}")
    if mode and given.__class__ is Tensor and given.dtype.name == "float64" and not given.dtype.weak:
        raise Unsupported("a tangent of float64 beside float32")
    if x.__class__ not in (int, float) and not hasattr(x, "shape"):
        raise Unsupported("a tangent that is no number and no tensor")
    if not shape:
        if getattr(x, "shape", ()) != ():
            raise Unsupported("a tangent of another shape")
        return float(x)
    import numpy as np

    dtype = np.float32 if mode else np.float64
    if getattr(x, "shape", ()) not in ((), shape):
        raise Unsupported("a tangent of another shape")
    return np.ascontiguousarray(np.broadcast_to(x, shape), dtype=dtype).reshape(-1)
