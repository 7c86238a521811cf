"""One command of a program at many points: what the first point decided is not decided again."""

from __future__ import annotations

import time

from .direct import Direct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .api import Program
    from .outcome import Outcome


class Repeated:
    """Evaluates one command at points like the one that it was made for.

    Where a kernel answered there, a call hands the point to it and does no more than must be done each time: a few
    microseconds. What the kernel cannot be handed, and what it leaves to the tape, is evaluated in full, so that the
    answers are those of `Program.evaluate`.
    """

    def __init__(
        self, program: Program, command: str, at: Mapping[str, Any], wrt: Sequence[str] | None, options: dict[str, Any]
    ) -> None:
        self.program = program
        self.command = command
        self.at = dict(at)
        self.wrt = None if wrt is None else list(wrt)
        self.options = options
        # Seconds that the tape has spent on calls, until a kernel is tried: None once it has been.
        self.spent: float | None = 0.0 if options.get("engine") in (None, "auto") else None
        self.first = program.evaluate(command, at, wrt, **options)
        self.direct: Direct | None = None
        self.adopt(self.first, at)

    def __reduce__(self) -> tuple[type[Repeated], tuple[Any, ...]]:
        return type(self), (self.program, self.command, self.at, self.wrt, self.options)

    def adopt(self, outcome: Outcome, at: Mapping[str, Any]) -> None:
        """Use the kernel that gave an outcome from now on, if one did."""
        if outcome.kernel is not None:
            self.spent = None
        direct = Direct(self.program, self.command, at, self.wrt, self.options, outcome)
        self.direct = direct if direct.usable else None

    def __call__(self, at: Mapping[str, Any]) -> Outcome:
        """The outcome at a point."""
        found = None if self.direct is None else self.direct(at, self.options)
        return found or self.in_full(at)

    def in_full(self, at: Mapping[str, Any]) -> Outcome:
        """The evaluation as a whole. What the tape has spent what a compiler takes is compiled: more calls will come."""
        if self.spent is None:
            return self.program.evaluate(self.command, at, self.wrt, **self.options)
        from .kernels.work import START_SECONDS

        if self.spent > START_SECONDS:
            self.spent = None
            outcome = self.program.evaluate(self.command, at, self.wrt, **{**self.options, "engine": "kernel"})
            if outcome.engine == "kernel":
                outcome.reason = "called often enough to repay the compiler"
                self.adopt(outcome, at)
            return outcome
        start = time.perf_counter()
        outcome = self.program.evaluate(self.command, at, self.wrt, **self.options)
        self.spent += time.perf_counter() - start
        if outcome.kernel is not None:
            self.adopt(outcome, at)
        return outcome
