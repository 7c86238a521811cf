"""The part of an evaluation that commands share: what a kernel finds, and derivatives as the outside sees them."""

from __future__ import annotations

from ..parser.errors import AdiffError
from .autodiff import drivers
from .core.operands import as_operand, tensor
from .core.state import STATE
from .core.tensor import OPERATORS, Tensor
from .plain import bind, to_plain
from .tier import by_kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .command import Command
    from .kernels.kernels import Found
    from .outcome import Outcome

# Rows of a Hessian from which on its pattern is looked for: that takes the time of a few sweeps.
SOME = 8


class Derivatives:
    """What the commands ask of an evaluation."""

    options: dict[str, Any]
    outcome: Outcome
    point: dict[str, Any]
    names: list[str]
    function: Callable[[list[Any]], Any]
    sources: Callable[[], list[Any]]
    keep_value: Callable[[Any], None]
    end_site: Callable[[], Any]
    apart: str | None

    # --- kernels ----------------------------------------------------------------------------------------------------

    def kernel_result(
        self, command: Command, kind: str = "", directions: Sequence[str] = (),
        given: Callable[[], Sequence[Any]] | None = None, **request: Any,
    ) -> Found | None:  # fmt: skip
        """What a kernel finds for a command, its outcome filled in; None where the tape is to answer."""
        if command.differentiates:
            without = [n for n, x in zip(self.names, self.sources()) if not drivers.source(x).dtype.differentiable]
            if without or not self.names:
                reason = f"'{without[0]}' has no derivative" if without else "there is no input to differentiate by"
                self.outcome.reason = reason
                return None
        if (self.options.get("engine") or "auto") == "tape":
            self.outcome.reason = "asked for"
            return None
        from .kernels.inputs import Request

        names = self.names if command.differentiates else ()
        found = by_kernel(self, Request(kind or command.name, names, directions, **request), given)
        if found is not None:
            self.apart = found.compiled.facts["apart"]
            self.keep_value(found.value)
            command.from_kernel(self.outcome, found, found.reached)
        return found

    def seeds(self, directions: Sequence[Any]) -> tuple[list[str], Callable[[], list[Any]]]:
        """The sources that have a direction, and what makes the directions as a kernel takes them."""
        moved = {name: x for name, x in zip(self.names, directions) if x is not None}

        def given() -> list[Any]:
            from .kernels.inputs import seed

            return [seed(x, drivers.shape_of(drivers.source(self.point[name]))) for name, x in moved.items()]

        return list(moved), given

    def elements(self) -> int:
        """How many numbers the sources hold."""
        return sum(drivers.count(drivers.shape_of(x)) for x in self.sources())

    def by_pattern(self) -> bool:
        """Whether the tape looks for the zeros of a Hessian first."""
        return any(map(drivers.shape_of, self.sources())) and self.elements() >= SOME

    # --- derivatives for the outside --------------------------------------------------------------------------------

    def shaped(self, derivatives: Sequence[Any], y: Any) -> dict[str, Any]:
        """Derivatives of `y` by source, each in the dtype and of the kind of its input; a notice for each source that can
        have none."""
        tensors = [drivers.source(x) for x in self.sources()]
        self.warn_sources(tensors)
        return {n: shaped(g, x, y, self.point[n]) for n, g, x in zip(self.names, derivatives, tensors)}

    def warn_sources(self, tensors: Sequence[Tensor]) -> None:
        for name, x in zip(self.names, tensors):
            if not x.dtype.differentiable:
                STATE.notify(
                    "N0504", f"'{name}' has dtype {x.dtype.name} and cannot be differentiated: its gradient is None"
                    + (": bind floats, or a plain list" if x.dtype.kind == "i" else ""),
                )  # fmt: skip

    def explain_missing(self, found: Mapping[str, Any] | None) -> None:
        """Notice the sources that the result does not depend on."""
        for name, x in (found or {}).items():
            # An input that cannot be differentiated has its own notice.
            if x is None and drivers.tangentless(self.point[name]) is None:
                STATE.notify("N0502", f"{name}: the result does not depend on it", self.end_site())

    def quietly(self, derive: Callable[[], Any]) -> Any:
        """What `derive` finds in forward mode, with the notices that the reverse sweep gives.

        A tangent passes through both sides of `where`, and only a sweep knows which singular points take part.
        """
        with drivers.raised("quiet"):
            found = derive()
        with drivers.raised("several"):
            drivers.value_and_gradients(self.function, self.sources())
        return found

    def directions(self, option: str) -> list[Any]:
        """A direction for each source, None where the option gives none."""
        given = self.options.get(option) or {}
        if not given:
            raise AdiffError("E0804", "a direction is needed", None, f"give one per input: --{option} x=1,y=0")
        for name in given:
            if name not in self.point:
                raise AdiffError(
                    "E0803", f"'{name}' of the {option} is not an input of the program", None,
                    f"its inputs are {', '.join(self.point)}",
                )  # fmt: skip
        return [bind(given[name], name) if name in given else None for name in self.names]


def shaped(g: Any, x: Tensor, y: Any, given: Any = None) -> Any:
    """A derivative of `y` for the outside: in the dtype of its input `x`, or in that of `y` where `x` is a bare number.

    It is of the kind of the input as it was `given`, where that is no tensor.
    """
    if g is None:
        return None
    g = as_operand(g) + 0.0  # a derivative of -0.0 is 0.0 to everybody
    g = drivers.in_width(g, y, x)
    if x.dtype.name in ("float32", "complex64") and (g.__class__ is float or g.dtype.name == "float64"):
        g = OPERATORS.cast(tensor(g), dtype="float32")
    return to_plain(given.with_leaves([g]) if hasattr(given, "leaves") else g)


def block(rows: Any, start: int, size: int, columns: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Rows by the elements of a source, as a derivative of shape `columns + shape`."""
    found = rows[start : start + size].T.reshape(columns + shape)
    return found if found.ndim else float(found)
