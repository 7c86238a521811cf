"""One evaluation of a program at a point: its inputs bound, its closures run, its result made one operand."""

from __future__ import annotations

import time

from ..parser.errors import AdiffError
from .autodiff import drivers
from .commands import COMMANDS
from .core.errors import failure, listing, plural
from .core.limits import LIMITS, GivesWay, give_way_after, stay
from .core.operands import as_operand, bare, describe
from .core.state import STATE, Site, end_of
from .core.tensor import shape_of
from .core.wording import elements_summed
from .derivatives import Derivatives
from .eager.structure import one_operand
from .outcome import DERIVED, Notice, Outcome
from .plain import all_finite, bind, to_plain, type_of
from .program.core import UNSET
from .program.names import did_you_mean

# Seconds that the tape may look for the place where a nan of a kernel's result began.
MOMENT = 1.0

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .api import Program


def notices_told() -> list[Notice]:
    """What has been noticed so far: what is noticed while derivatives are found comes first, by its place in the program."""

    def place(notice: Notice) -> tuple[int, int, str]:
        if notice.code[:3] != "N05" or notice.span is None:
            return 1, 0, ""
        return 0, notice.span.start, notice.code

    return sorted(STATE.notices, key=place)


class Evaluation(Derivatives):
    """One evaluation of a program at a point."""

    def __init__(
        self, program: Program, at: Mapping[str, Any], wrt: Sequence[str] | None, options: dict[str, Any]
    ) -> None:
        self.program = program
        self.core = program.core
        self.options = options
        self.command = COMMANDS[options.get("command") or "value"]
        self.outcome = Outcome()
        self.outcome.timings["parse"] = program.parse_seconds
        self.forward_seconds = 0.0
        # What it took to find out about a kernel, and to compile or load it: all but its run.
        self.kernel_seconds = 0.0
        self.finite = False  # whether a kernel's results are known to be finite
        self.write = STATE.write
        self.point = self.bind_all(at)
        self.names = self.choose_sources(wrt)
        self.structured: Any = None
        self.apart: str | None = None  # what a result is whose elements are no tensor: a dict, a list, a tuple
        start = time.perf_counter()
        # A tape shows the program as it is written, without the rewrites that keep digits.
        self.compiled = program.compiled(STATE.weak_float.bits == 64, True, not self.command.as_written)
        self.outcome.timings["compile"] = time.perf_counter() - start

    # --- inputs -----------------------------------------------------------------------------------------------------

    def bind_all(self, at: Mapping[str, Any]) -> dict[str, Any]:
        inputs = self.core.inputs
        held = {} if self.program.session is None else self.program.session.names
        point: dict[str, Any] = {name: held[name] for name in (*inputs, *self.core.optional) if name in held}
        unbound = [name for name in inputs if name not in at and name not in point]
        if unbound:
            from .unbound import first_use, of_python, unbound_hint

            given = ", ".join(f"--at {name}=..." for name in unbound)
            noun = "input" if len(unbound) == 1 else "inputs"
            raise AdiffError(
                "E0801", f"{listing(repr(n) for n in unbound)} {'is' if len(unbound) == 1 else 'are'} not bound",
                first_use(self.program, unbound[0]),
                unbound_hint(self.program, unbound[0])
                or f"bind the {noun}: {given}{self.near_names(at)}{of_python(unbound)}{self.instead(at)}",
            )  # fmt: skip
        for name, value in at.items():
            if name in inputs or name in self.core.optional:
                point[name] = bind(value, name)
            else:
                STATE.notify("N0801", f"'{name}' is bound, and the program has no input of that name")
        return point

    def instead(self, at: Mapping[str, Any]) -> str:
        """What a derivative without a point may have been meant for."""
        command = COMMANDS.called(self.options.get("command", ""))
        asked = command is not None and command.differentiates and not at
        return "; `adiff derive` gives derivatives as formulas, with nothing bound" if asked else ""

    def near_names(self, at: Mapping[str, Any]) -> str:
        spare = [name for name in at if name not in self.core.inputs and name not in self.core.optional]
        return f" ('{spare[0]}' is bound and not used)" if spare else ""

    def choose_sources(self, wrt: Sequence[str] | None) -> list[str]:
        inputs = list(self.core.inputs) + [n for n in self.point if n not in self.core.inputs]
        if wrt is None:
            return inputs
        from ..parser.suggest import suggest

        for name in wrt:
            if name not in inputs:
                close = did_you_mean(suggest(name, inputs))
                raise AdiffError(
                    "E0803", f"'{name}' is not an input of the program", None,
                    close or (f"its inputs are {', '.join(inputs)}" if inputs else "it has no inputs"),
                )  # fmt: skip
        return list(dict.fromkeys(wrt))

    # --- running ----------------------------------------------------------------------------------------------------

    def execute(self, values: Mapping[str, Any]) -> Any:
        """Run the program once on the given inputs; its result, before any conversion."""
        frame = self.compiled.frame(values)
        if LIMITS.patience is None:
            LIMITS.steps = 0  # a limit is one of each run, of which derivatives may need several
        STATE.draws = []  # each run draws the same numbers
        start = time.perf_counter()
        self.frame = frame
        signal = self.compiled.body(frame) if self.program.session is None else self.run_line(frame, values)
        self.forward_seconds += time.perf_counter() - start
        STATE.write = None  # what a program prints is printed once, however often it runs
        if signal is not None:
            result = signal[0] if signal.__class__ is tuple else UNSET
        elif self.options.get("last_statement"):
            result = frame[0] if self.core.ends_with_value else None
        else:
            result = frame[1]
        return result

    def run_line(self, frame: list[Any], values: Mapping[str, Any]) -> Any:
        """Run a line of a prompt, which leaves its variables to the next even where it fails; a derivative leaves nothing."""
        session = self.program.session
        assert session is not None
        session.share(values)
        try:
            return self.compiled.body(frame)
        finally:
            session.share(session.names)
            if not self.command.differentiates:
                session.keep(self.core, frame)

    def result_of(self, values: Mapping[str, Any]) -> Any:
        result = self.execute(values)
        if result is UNSET or result is None:
            raise failure(
                "E0304", "the program has no value: nothing in it is an expression or an assignment with one",
                "end it with the expression to evaluate; `adiff run FILE` runs a program for what it prints", self.end_site(),
            )  # fmt: skip
        return result

    def end_site(self) -> Any:
        return end_of(self.program.source)

    def sources(self) -> list[Any]:
        for name in self.names:
            if self.point[name].__class__ is list:
                raise failure(
                    "E0302", f"'{name}' is bound to a list whose rows differ in length, which has no derivative as a whole",
                    "bind the rows under names of their own, or make them equally long", self.end_site(),
                )  # fmt: skip
            if self.point[name].__class__ is dict:
                others = ",".join(other for other in self.names if self.point[other].__class__ is not dict)
                raise failure(
                    "E0304", f"'{name}' is bound to a dict, which has no derivative as a whole",
                    "bind what it holds under names of their own" + (f", or choose other inputs: --wrt {others}" if others else ""),
                    self.end_site(),
                )  # fmt: skip
            if hasattr(self.point[name], "leaves") and not self.command.takes_kinds:
                raise failure(
                    "E0304", f"'{name}' is bound to {describe(self.point[name])}, by which `grad` alone differentiates",
                    "bind its values, and make it in the program", self.end_site(),
                )  # fmt: skip
        return [x.leaves()[0] if hasattr(x, "leaves") else x for x in (self.point[name] for name in self.names)]

    def differentiated_point(self) -> dict[str, Any]:
        """The inputs as the command's run of the program has them: integers that are differentiated are floats."""
        names = self.names if self.command.differentiates else ()
        integers = [name for name in names if self.point[name].__class__ is int]
        return {**self.point, **{name: drivers.source(self.point[name]) for name in integers}}

    def function(self, inputs: list[Any]) -> Any:
        """The program as a function of the sources, its result one tensor."""
        values = {**self.point, **dict(zip(self.names, inputs))}
        for name, x in self.point.items():
            if hasattr(x, "leaves") and name in self.names:
                values[name] = x.with_leaves([values[name]])
        result = self.result_of(values)
        self.structured = result
        y, self.apart = self.numeric(result)
        return y

    def numeric(self, result: Any) -> tuple[Any, str | None]:
        """A result as one operand, and what it was if its parts are summed."""
        STATE.site = self.end_site()
        return one_operand(result)

    def run(self) -> Outcome:
        outcome, command = self.outcome, self.command
        STATE.site = self.end_site()
        start = time.perf_counter()
        if not self.names and command.differentiates:
            STATE.notify(
                "N0802", "the program reads no input, so there is nothing to differentiate by", self.end_site()
            )
        if self.program.source.passed:
            self.tell_of_passed(self.program.source.passed)
        try:
            command.compute(self)
        except AdiffError as error:
            if error.code == "E0406" and self.program.session is None:
                self.explain_assertion()
            raise
        stay()
        if self.apart is not None and command.of_sum:
            STATE.notify("N0503", elements_summed((), self.apart, command.of_sum), self.end_site())
        total = time.perf_counter() - start - self.kernel_seconds
        outcome.timings["compile"] += self.kernel_seconds
        if outcome.kernel is not None and not command.differentiates:
            self.forward_seconds = outcome.kernel.seconds
        outcome.timings["forward"] = self.forward_seconds
        if command.differentiates:
            outcome.timings["derivative"] = total - self.forward_seconds
        names = self.names if command.differentiates else ()
        differentiated = [name for name in names if not hasattr(self.point[name], "leaves")]
        for name in self.core.inputs:
            value = self.point[name]
            if name in differentiated:  # a bare integer is a float there
                value = bare(value) if value.__class__ is float else drivers.source(value)
            found = type_of(value)
            if found is not None:
                outcome.types[name] = found
        self.explain_non_finite()
        outcome.notices = notices_told()
        return outcome

    def tell_of_passed(self, passed: list[tuple[int, int]]) -> None:
        """Notice what of the text is no part of the program."""
        source = self.program.source
        first, *others = [Site(None, source, *span) for span in sorted(passed)]
        more = f", and {plural(len(others), 'place')} more like it" if others else ""
        STATE.notify("N0805", f"this is for a console or a notebook, and is passed over{more}", first)

    def keep_value(self, value: Any) -> None:
        STATE.site = self.end_site()
        found = type_of(value)
        if found is not None:
            self.outcome.types["value"] = found
        self.outcome.value = to_plain(value)
        if any(map(shape_of, self.point.values())):  # of derivatives none is an array of the caller's, or a part of one
            from copy import deepcopy

            self.outcome.value = deepcopy(self.outcome.value)

    def again(self, work: Callable[[], Any], briefly: bool = True) -> Any:
        """What `work` finds in another run on the tape; None where it is to be done `briefly` and takes more than a moment."""
        self.compiled = self.program.compiled(STATE.weak_float.bits == 64, False)
        max_steps = LIMITS.max_steps
        if briefly:
            give_way_after(MOMENT)
        try:
            return work()
        except GivesWay:
            return None
        finally:
            stay()
            LIMITS.max_steps = max_steps

    def why_unconnected(self, sources: list[int]) -> list[tuple[str, str, Any]]:
        """Why the value does not depend on some sources, and where their paths end: names, reasons and places."""
        from .eager.tapes import unconnected_reason_of

        told, seen = len(STATE.notices), set(STATE.seen)

        def reasons() -> Any:
            tape, tensors, y = drivers.recorded(self.function, self.sources())
            wanted = [tensors[i] for i in sources]
            return [unconnected_reason_of(tape, tape.log.copy(), x, [x], [as_operand(y)]) for x in wanted]

        try:
            found = self.again(reasons)
        except AdiffError:
            found = None
        finally:
            del STATE.notices[told:]
            STATE.seen = seen
        unknown = [("the target does not depend on the source", None)] * len(sources)
        return [(self.names[i], *reason) for i, reason in zip(sources, found or unknown)]

    def explain_assertion(self) -> None:
        """Where the first NaN or infinity came from before an assertion failed, if there was one."""
        from .diagnose import ValueTrace, repeat

        STATE.write = None
        site, trace = STATE.site, ValueTrace()
        self.again(lambda: repeat(self, False, trace))
        trace.tell(None)
        STATE.site = site

    def explain_non_finite(self) -> None:
        """Where the first NaN or infinity came from, if the results hold one: the program is run again, traced."""
        if not self.command.finds_origin or STATE.kinks == "error" or self.finite:
            return
        outcome = self.outcome
        if all_finite(outcome.value) and all(all_finite(getattr(outcome, name)) for name in DERIVED):
            return
        from .diagnose import find_origin

        start = time.perf_counter()
        if not self.again(lambda: find_origin(self, self.command.differentiates), outcome.engine == "kernel"):
            STATE.notify(
                "N0603", "the result holds nan or inf; --engine tape finds where the first one arises", self.end_site()
            )
        outcome.timings["origin"] = time.perf_counter() - start
