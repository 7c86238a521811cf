"""Which tier finds a value and its derivatives: a kernel where there is one that pays, and else the tape."""

from __future__ import annotations

import time
from math import inf

from .core.errors import span_of
from .core.limits import LIMITS, give_way_after
from .core.state import STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..parser.errors import AdiffError
    from .api import Program
    from .kernels.ir import Told
    from .kernels.running import Compiled
    from .kernels.runtime import Kernels
    from .outcome import Outcome
    from .program.core import CoreProgram


# Seconds that the tape has spent in this process on evaluations of programs, by text and command, where these have taken
# longer than a kernel that was kept takes to be loaded after others: more of them will come.
SPENT: dict[tuple[str, str], float] = {}
MOST_SPENDERS = 1_000
WORTH_COUNTING = 8.0e-3


def spend(text: str, command: str, seconds: float) -> None:
    """Note that the tape has taken so many seconds for a command."""
    if seconds > WORTH_COUNTING:
        if len(SPENT) >= MOST_SPENDERS:
            SPENT.clear()
        SPENT[text, command] = SPENT.get((text, command), 0.0) + seconds


class Tiers:
    """The part of an evaluation that asks the kernels."""

    program: Program
    core: CoreProgram
    options: dict[str, Any]
    outcome: Outcome
    point: dict[str, Any]
    write: Any
    stacked: tuple[int, ...] | None
    apart: str | None
    kernel_seconds: float

    def kernel(
        self, sources: list[str] | None, last: bool = False, work: float = 1
    ) -> tuple[Any, list[Any]] | None:  # fmt: skip
        """The value (that of the `last` statement) and the gradients of `sources` from the kernel tier, or None where
        the tape is to run, for which these and what comes after them are the work of so many gradients."""
        found: tuple[Any, list[Any]] | None = self.by_kernel(
            lambda kernels, always: kernels.evaluate(self.point, sources, always, last),
            None if sources is None else work,
        )
        return found

    def by_kernel(
        self,
        run: Callable[[Kernels, bool], tuple[Any, Any, Compiled] | None],
        repeats: float | None = 1,
        second: bool = False,
        order: int | None = None,
    ) -> Any:
        """The value and the derivatives that `run` finds with kernels, or None where the tape is to run.

        `repeats` is the tape's work, in gradients; None is the value alone; `second` says that there are second derivatives;
        `order` that of the derivatives of one input that are wanted.
        """
        start = time.perf_counter()
        before = self.outcome.kernel
        try:
            return self.found_by_kernel(run, repeats, second, order)
        finally:
            kernel = self.outcome.kernel
            ran = kernel.seconds if kernel is not before else 0.0
            self.kernel_seconds += time.perf_counter() - start - ran

    def found_by_kernel(
        self,
        run: Callable[[Kernels, bool], tuple[Any, Any, Compiled] | None],
        repeats: float | None,
        second: bool,
        order: int | None,
    ) -> Any:
        engine = self.options.get("engine") or "auto"
        program = self.program
        if engine == "tape":
            self.outcome.reason = "asked for"
            return None
        # The seconds after which the tape was left for a kernel: then there is nothing to be asked.
        tape_left: float | None = self.options.get("awaited")
        always = engine == "kernel" or tape_left is not None
        forecast = None
        if not always:
            from .kernels.outlook import Forecast

            spent = SPENT.get((program.source.text, self.options["command"]), 0.0)
            forecast = Forecast(self.core, self.point, program.has_loops, repeats, second, order, spent)
            if program.kernels is None and forecast.tape_is_sooner():
                self.outcome.reason = (
                    "the tape is done before a kernel would be loaded"
                    if program.has_loops
                    else "no loop that would repay a compiler"
                )
                self.hurry(forecast.patience)
                return None
        from .kernels.ir import Fault, Told, TooLate, Unsupported
        from .kernels.runtime import Kernels

        if program.kernels is None:
            program.kernels = Kernels(self.core, program.source)
        kernels = program.kernels
        kernels.expect(forecast)
        kernels.waits, kernels.ready_seconds = self.may_give_way(), None
        try:
            found = kernels.answered(lambda: run(kernels, always))
        except TooLate:
            found = None
        except Unsupported as why:
            why.__traceback__ = None
            if why.__class__ is Fault:
                why.tell()
            if why.__class__ is Told:
                raise self.assertion(kernels, why) from None
            self.outcome.reason = f"no kernel for {why}"
            self.outcome.reason_span = None if why.site is None else span_of(why.site)
            program.gives_way = False
            return None
        except BaseException:
            if self.write is not None:
                from .eager.text import formatted

                kernels.write_unfinished(self.write, formatted)
            raise
        finally:
            kernels.budget = inf
        if found is None:
            assert forecast is not None
            self.outcome.reason = "the tape is done before a kernel would be compiled"
            if kernels.ready_seconds is not None:
                self.outcome.reason = "the tape is done before a kernel would be loaded"
                forecast.wait_for(kernels.ready_seconds, kernels.patience(kernels.ready_seconds))
            # What is recorded tells how much there is to do where the program does not.
            self.hurry(forecast.patience, None if forecast.bounded else forecast.kernel_is_sooner)
            return None
        value, derivatives, compiled = found
        if tape_left is not None:
            kernels.learn_duration(tape_left, compiled.seconds)
        self.outcome.engine = "kernel"
        self.outcome.reason = (
            "asked for"
            if engine == "kernel"
            else "the tape had not done in a moment"
            if always
            else "enough work to repay the compiler"
        )
        self.outcome.emitted = compiled.source
        self.outcome.kernel = compiled
        if self.write is not None and compiled.lines is not None:
            from .eager.text import formatted

            compiled.write(self.write, formatted)
            self.write = STATE.write = None  # what a program prints is printed once, however often it runs
        if compiled.built.structure is not None:
            from .kernels.lowering.structures import stacked_shape

            self.stacked = stacked_shape(compiled.built.structure)
        self.apart = compiled.built.apart
        return value, derivatives

    def assertion(self, kernels: Kernels, told: Told) -> AdiffError:
        """The error of an assertion whose message a kernel has told; what was printed before it is written."""
        from .core.wording import assertion_failed
        from .eager.text import formatted

        error = assertion_failed(told.teller.last_line(formatted), told.site)
        if self.write is not None:
            kernels.write_unfinished(self.write, formatted)
        return error

    def hurry(self, patience: float, ahead: Callable[[list[Any], float | None], bool] | None = None) -> None:
        """Let the tape give way to a kernel where it takes longer than `patience` seconds, or will (core/limits.py)."""
        if self.may_give_way():
            give_way_after(patience, ahead)

    def may_give_way(self) -> bool:
        return self.program.gives_way and self.options.get("awaited") is None and LIMITS.max_steps is None


__all__ = ["Tiers"]
