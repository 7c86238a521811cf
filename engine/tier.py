"""Which tier evaluates: the tape starts, and gives way to a kernel once it has taken as long as a kernel takes to be ready."""

from __future__ import annotations

import time
from math import inf

from .core.errors import span_of
from .core.limits import LIMITS, give_way_after
from .core.state import STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .api import Program
    from .evaluation import Evaluation
    from .kernels.inputs import Request
    from .kernels.ir import Unsupported
    from .kernels.kernels import Found, Kernels
    from .outcome import Outcome

# Seconds that a kernel takes to be ready: kept from an earlier run, and compiled.
READY_KEPT, READY_COMPILED = 0.02, 0.35
# Seconds that the tape has spent in this process, by program and command: more evaluations of it will come.
SPENT: dict[tuple[str, str], float] = {}
MOST_PROGRAMS = 1_000


def spend(text: str, command: str, seconds: float) -> None:
    """Count the seconds that the tape took for a command."""
    if len(SPENT) >= MOST_PROGRAMS:
        SPENT.clear()
    SPENT[text, command] = SPENT.get((text, command), 0.0) + seconds


def by_kernel(evaluation: Any, request: Request, given: Callable[[], Sequence[Any]] | None) -> Found | None:
    """What a kernel finds, or None where the tape is to run. `given` makes the tangents or the cotangent."""
    start = time.perf_counter()
    found = None
    try:
        found = tried(evaluation, request, given)
    finally:
        evaluation.kernel_seconds += time.perf_counter() - start - (0.0 if found is None else found.compiled.seconds)
    return found


def tried(evaluation: Evaluation, request: Request, given: Callable[[], Sequence[Any]] | None) -> Found | None:
    outcome, program = evaluation.outcome, evaluation.program
    reason = "asked for" if evaluation.options.get("engine") == "kernel" else why_now(evaluation, request)
    if not reason:
        outcome.reason = "the tape was done before a kernel would have been ready"
        return None
    if LIMITS.max_steps is not None:
        outcome.reason = "no kernel under a limit of steps, which the tape counts"
        return None
    from .kernels.compile.run import Failed, OutOfMemory
    from .kernels.ir import Fault, Unsupported

    kernels, point = kernels_of(program), evaluation.point
    try:
        compiled = kernels.find(point, request)
        values = () if given is None else given()
        found = compiled(point, values)
        if request.command != "value" and not kernels.careful and not found.is_finite:
            # Perhaps a zero has met an infinity, where a zero cotangent is to win.
            kernels.careful = True
            compiled = kernels.find(point, request)
            found = compiled(point, values)
        evaluation.finite = found.is_finite
    except Unsupported as why:
        if why.__class__ is Fault:
            STATE.notify("N0911", f"no kernel for {why}; please report it")
        decline(outcome, why)
    except OutOfMemory:
        raise MemoryError from None  # the tape would need more
    except Failed:
        outcome.reason = "the kernel stopped at an error, or at a number that it does not hold"
    else:
        outcome.engine, outcome.reason = "kernel", reason
        outcome.kernel, outcome.emitted = compiled, compiled.text
        for text, site in found.singular_points(program.source):
            STATE.notify("N0501", text, site)
        return found
    program.gives_way = False
    return None


def decline(outcome: Outcome, why: Unsupported) -> None:
    """Say why there is no kernel."""
    outcome.reason = f"no kernel for {why}"
    outcome.reason_span = None if why.site is None else span_of(why.site)


def kernels_of(program: Program) -> Kernels:
    """The program's kernels."""
    from .kernels.kernels import Kernels

    if program.kernels is None:
        program.kernels = Kernels(program.core)
    return program.kernels


def why_now(evaluation: Evaluation, request: Request) -> str:
    """Why a kernel is to be tried before the tape; "" where the tape is to start."""
    program, waited = evaluation.program, evaluation.options.get("awaited")
    if waited is not None:
        return f"the tape had not finished after {waited:.2g} s"
    if not program.gives_way:
        return ""
    spent = SPENT.get((program.source.text, evaluation.options["command"]), 0.0)
    if spent > READY_COMPILED:
        return f"the tape has spent {spent:.2g} s on this program"
    if program.kernels is not None and program.kernels.at_hand(evaluation.point, request) is not None:
        return "its kernel is in memory"
    if LIMITS.max_steps is None:
        be_patient(evaluation, request, max(READY_COMPILED - READY_KEPT - spent, 0.0))
    return ""


def be_patient(evaluation: Evaluation, request: Request, patience: float) -> None:
    """Let the tape give way: to a kept kernel after READY_KEPT seconds, to one that is compiled after some more."""

    def more() -> float:
        kernels = kernels_of(evaluation.program)
        if kernels.kept(evaluation.point, request) is not None:
            return 0.0
        why = kernels.refusal(evaluation.point, request)
        if why is None:
            return patience
        decline(evaluation.outcome, why)
        return inf

    give_way_after(READY_KEPT, more)
