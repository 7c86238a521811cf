"""`minimize`: the inputs at which a program's value is least, and with --trace every iteration on the way there."""

from __future__ import annotations

from time import perf_counter

from ...engine.command import CHECKPOINT, EVALUATE, EVALUATED, INPUTS, METHOD, OUTPUT, Command, Option
from ...parser.errors import AdiffError
from .. import errors
from ..bindings import bind, divide, plain_value, split_at_commas, value_of
from ..evaluate import inputs, limits, options, program_of
from ..formats.json import document, dumps
from ..progress import Progress
from ..result import Evaluated, Result, attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...engine import minimize as engine
    from ...engine.api import Program
    from ..output import Output
    from ..request import Request

RATE = "learning_rate"
# Options of the command that the engine takes by the same name.
GIVEN = ("method", "max_iterations", "tolerance", RATE)


def answer(request: Request, output: Output) -> Result:
    """Minimise the request's program."""
    from ...engine.core.limits import enforced
    from ...engine.minimize import minimize

    start_of_work = perf_counter()
    parsed = program_of(request, output.environment)
    at = inputs(request, parsed)
    start = start_of(request, parsed, at)
    check_method(request)
    bounds = dict(bound_of(request, part, start) for text in request.texts("bounds") for part in split_at_commas(text))
    given: dict[str, Any] = {key: request.options[key] for key in GIVEN if key in request.options}
    trace = Trace(request, output)
    engine_options = options(request)
    with enforced(None, None, engine_options.pop("timeout", None)):
        found = minimize(
            parsed,
            start,
            at,
            bounds=bounds,
            constraints=request.texts("subject_to"),
            report=trace.report,
            **given,
            **engine_options,
        )
    trace.finish()
    result = result_of(found)
    result.subject = Evaluated(parsed.source.text, {}, found)
    result.timings = {"minimize": perf_counter() - start_of_work}
    return result


def start_of(request: Request, parsed: Program, at: dict[str, Any]) -> dict[str, Any]:
    """The start of each variable. What is fixed is none, and an input that is read must be one or the other."""
    read = {*parsed.inputs, *parsed.optional}
    given = bind("--start", request.texts("start"), request.bound.get("start", {}), read, limits(request))
    if not given:
        free = [name for name in parsed.inputs if name not in at]
        example = ",".join(f"{name}=1" for name in free) or "x=1"
        raise AdiffError("E0804", "minimize needs a start", None, f"write --start {example}")
    for name in given:
        if name in at:
            raise errors.bad_binding(f"'{name}' has a start and is fixed by --at too", "leave one of them out")
    return given


def check_method(request: Request) -> None:
    """Refuse what the method cannot take."""
    from ...engine.minimize import DESCENTS, WITH_BOUNDS

    constrained = "subject_to" in request.options
    method = request.text("method", "slsqp" if constrained else "l-bfgs-b")
    if constrained and method != "slsqp":
        raise errors.usage(f"{method} takes no constraints", "leave --method out, or write --method slsqp")
    if "bounds" in request.options and method not in WITH_BOUNDS:
        raise errors.usage(f"{method} takes no bounds", f"these do: {', '.join(WITH_BOUNDS)}")
    if RATE in request.options and method not in DESCENTS:
        raise errors.usage(f"{method} has no learning rate", f"these have: {', '.join(DESCENTS)}")


def bound_of(request: Request, text: str, start: dict[str, Any]) -> tuple[str, tuple[Any, Any]]:
    """The name in `x=0:1`, and the two values, None where a side is empty."""
    name, given = divide("--bounds", text)
    low, colon, high = given.partition(":")
    if not colon or ":" in high or not (low + high).strip():
        raise errors.bad_binding(f"--bounds: {given!r} is no range", f"write {name}=0:1, {name}=0: or {name}=:1")
    if name not in start:
        raise errors.bad_binding(f"--bounds: '{name}' has no start", f"those that have: {', '.join(start)}")
    ends = [
        plain_value(value_of(f"--bounds {name}", side, limits(request))) if side.strip() else None
        for side in (low, high)
    ]
    return name, (ends[0], ends[1])


class Trace:
    """The iterations as they come: written with --trace, else a count on a terminal after a second."""

    def __init__(self, request: Request, output: Output) -> None:
        self.shown = request.flag("trace")
        self.progress = Progress(output.environment, not self.shown, "iterations")
        self.output = output
        self.style = output.style
        self.begun = False
        if self.shown and self.style.format not in ("table", "ndjson"):
            raise errors.usage(f"--trace has no form in {self.style.format}", "--format ndjson, or table")

    def report(self, iteration: int, value: float, norm: float, point: dict[str, Any]) -> None:
        """Take one iteration."""
        self.progress.show(iteration)
        if not self.shown:
            return
        if self.style.format == "table":
            from ..formats.numbers import scalar_text

            head = "" if self.begun else f"{'iteration':>11}   {'value':<24}   gradient norm\n"
            shown, norm_shown = (scalar_text(x, self.style.precision) for x in (value, norm))
            self.output.write(f"{head}{iteration:>11}   {shown:<24}   {norm_shown}\n")
        else:
            row = {"iteration": iteration, "value": value, "gradient_norm": norm, "point": point}
            self.output.write(dumps(document("minimize", row), self.style.ascii) + "\n")
        self.begun = True

    def finish(self) -> None:
        """Leave a line free between a table and the answer."""
        self.progress.clear()
        if self.begun and self.style.format == "table":
            self.output.write("\n")


def result_of(found: engine.Minimum) -> Result:
    """The answer."""
    keys = ("value", "gradient_norm", "iterations", "evaluations", "method", "converged", "verdict")
    facts = {key: getattr(found, key) for key in keys}
    result = Result({"optimum": found.optimum, **facts})
    result.lines = result.columns = [*found.optimum.items(), *facts.items()]
    result.ok = found.converged
    attach(result, found.outcome)
    return result


def draw(drawing: Any, result: Result) -> None:
    """Each variable's start and optimum, and the verdict."""
    from ...engine.core.errors import plural

    found = result.subject.outcome
    drawing.title(result.subject, found.value)
    names = [drawing.label(name, value) for name, value in found.optimum.items()]
    drawing.columns(("variable", "start", "optimum"), names, list(found.start.values()), list(found.optimum.values()))
    verdict, _, why = found.verdict.partition(":")
    drawing.verdict(found.converged, verdict, f":{why}")
    counts = f"{plural(found.iterations, 'iteration')}, {plural(found.evaluations, 'evaluation')}"
    drawing.remark(f"{found.method}: {counts}, gradient norm {found.gradient_norm:.3g}")


COMMAND = Command(
    "minimize", EVALUATE,
    "The inputs at which a program's value is least; exit 1 where the method does not converge.",
    (
        'adiff minimize "(1 - x)**2 + 100*(y - x**2)**2" --start x=-1.2,y=1',
        'adiff minimize "x**2 + y**2" --start x=1,y=1 --subject-to "x + y >= 1"',
        'adiff minimize "sum((v-a)**2)" --start v=[0,0] --at a=2 --bounds v=0:1 --trace',
    ),
    (
        *EVALUATED, CHECKPOINT,
        Option(
            "--start", "bindings", "NAME=VALUE", INPUTS,
            "Minimize over these inputs, from here on; those of --at stay as they are.", repeat=True,
        ),
        Option(
            "--bounds", "text", "NAME=LOW:HIGH", INPUTS,
            "Keep an input between two values, one of which may be left out: x=0:1, x=0:, v=[0,1]:2.", repeat=True,
        ),
        Option(
            "--subject-to", "text", "COMPARISON", INPUTS, 'Keep to a constraint by <=, >= or ==: "x + y <= 1".',
            repeat=True,
        ),
        Option(
            "--method", "choice", "METHOD", METHOD,
            "How to minimize (default l-bfgs-b and then Newton's method; with constraints slsqp).",
            choices=(
                "l-bfgs-b", "bfgs", "newton-cg", "trust-ncg", "tnc", "slsqp", "gradient-descent", "momentum", "adam",
            ),
            page="[methods](minimize.md#methods)",
        ),
        Option("--learning-rate", "positive", "RATE", METHOD, "Of the last three methods (default 0.01)."),
        Option("--max-iterations", "count", "N", METHOD, "Stop after N iterations (default 10000)."),
        Option(
            "--tolerance", "positive", "SIZE", METHOD,
            "How small the gradient's largest entry is to be (default 1e-8).",
        ),
        Option(
            "--trace", "flag", "", OUTPUT,
            "Write each iteration as it comes: in a table on a terminal, otherwise in ndjson.",
        ),
    ),
    answer=answer, draw=draw,
)  # fmt: skip
