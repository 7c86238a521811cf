"""What an evaluation answers: values by name, and the notices that go with them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..parser.source import Span


class Notice:
    """Something worth knowing about a result that is right; `span` is its place, or None."""

    __slots__ = ("code", "message", "span")

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        self.code = code
        self.message = message
        self.span = span

    def __repr__(self) -> str:
        return f"Notice({self.code!r}, {self.message!r})"


class Outcome:
    """What one evaluation gave; attributes that the command does not give are None."""

    __slots__ = (
        "check", "cotangents", "derivatives", "emitted", "engine", "gradients", "hessian", "jacobian", "kernel", "mode",
        "notices", "product", "reason", "reason_span", "tangent", "tape", "timings", "types", "value",
    )  # fmt: skip

    value: Any
    gradients: dict[str, Any] | None
    jacobian: dict[str, Any] | None
    hessian: dict[str, dict[str, Any]] | None
    tangent: Any
    cotangents: dict[str, Any] | None
    product: dict[str, Any] | None
    derivatives: list[Any] | None
    tape: list[Any] | None
    check: Any
    types: dict[str, tuple[str, tuple[int, ...]]]
    notices: list[Notice]
    emitted: str | None
    kernel: Any
    engine: str
    mode: str | None
    reason: str
    # Where in the program that stands which the reason names, or None.
    reason_span: Span | None
    timings: dict[str, float]

    def __init__(self) -> None:
        self.check = self.cotangents = self.derivatives = self.emitted = self.gradients = self.hessian = None
        self.jacobian = self.kernel = self.mode = self.product = self.tangent = self.tape = self.value = None
        self.types = {}
        self.notices = []
        self.timings = {}
        self.reason_span = None
        self.engine = "tape"
        self.reason = "the tape tier runs every program"
