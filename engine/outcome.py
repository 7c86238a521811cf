"""What an evaluation answers: values by name, and the notices that go with them."""

from __future__ import annotations

from .core.state import Notice as Notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..parser.source import Span
    from .check import Check


# What an outcome may have beside its value: arrays of numbers.
DERIVED = (
    "gradients", "jacobian", "hessian", "laplacian", "tangent", "cotangents", "product", "derivatives",
)  # fmt: skip


class Outcome:
    """What one evaluation gave; attributes that the command does not give are None."""

    value: Any = None
    gradients: dict[str, Any]
    jacobian: dict[str, Any]
    hessian: dict[str, dict[str, Any]]
    laplacian: Any
    tangent: Any
    cotangents: dict[str, Any]
    product: dict[str, Any]
    derivatives: list[Any]
    tape: list[Any]
    check: Check
    types: dict[str, tuple[str, tuple[int, ...]]]
    notices: list[Notice]
    timings: dict[str, float]
    emitted: str | None = None
    kernel: Any = None
    engine = "tape"
    mode: str | None = None
    reason = "the tape tier runs every program"
    # Where in the program that stands which the reason names, or None.
    reason_span: Span | None = None

    def __init__(self) -> None:
        vars(self).update(dict.fromkeys((*DERIVED, "tape", "check")))
        self.types = {}
        self.notices = []
        self.timings = {}

    def __repr__(self) -> str:
        names = ("value", *DERIVED, "check")
        given = [f"{name}={x!r}" for name in names if (x := getattr(self, name)) is not None]
        notices = [f"notices={self.notices!r}"] if self.notices else []
        return f"Outcome({', '.join([*given, f'engine={self.engine!r}', *notices])})"

    def __getstate__(self) -> dict[str, Any]:
        # The kernel is machine code of this process.
        return {name: x for name, x in vars(self).items() if name != "kernel"}
