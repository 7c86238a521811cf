"""One command of a program at many points: what the first point decided is not decided again."""

from __future__ import annotations

from time import perf_counter

from .commands import COMMANDS
from .core.tensor import Tensor
from .kernels.compile.run import Failed
from .kernels.inputs import argument, seed
from .kernels.ir import Unsupported
from .kernels.kernels import Found
from .outcome import Outcome
from .plain import Binding, bind, to_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .api import Program

# A kernel that has taken longer runs where Ctrl-C can stop it.
LONG_SECONDS = 0.05
# The call for which a kernel is compiled, however little time those before it took on the tape.
COMPILING_CALL = 15
# The characters by which NumPy tells dtypes apart, by kind.
DTYPES = {"f": "d", "i": "ql", "b": "?"}
# Options under which every evaluation is looked at as a whole.
WHOLE = ("max_steps", "max_memory", "timeout", "dtype", "write")


class Repeated:
    """Evaluates one command at points like the one that it was made for.

    Where a kernel answered there, a call hands the point to it: a few microseconds beside the kernel's own time. A point of other
    kinds, a singular point, and a result that is not finite are evaluated in full, so that the answers are those of
    `Program.evaluate`.
    """

    def __init__(
        self, program: Program, command: str, at: Mapping[str, Any], wrt: Sequence[str] | None, options: dict[str, Any]
    ) -> None:
        self.program = program
        self.command = command
        self.at = dict(at)
        self.wrt = None if wrt is None else list(wrt)
        self.options = options
        self.calls = 0  # that were evaluated in full
        self.first = self.in_full(at)

    def __reduce__(self) -> tuple[type[Repeated], tuple[Any, ...]]:
        return type(self), (self.program, self.command, self.at, self.wrt, self.options)

    def __call__(self, at: Mapping[str, Any], **directions: Any) -> Outcome:
        """The outcome at a point, from here on in other directions if some are given: `vector`, `tangent`, `cotangent`."""
        self.options.update(directions)
        found = None if self.compiled is None else self.called(at)
        return found or self.in_full(at)

    def in_full(self, at: Mapping[str, Any]) -> Outcome:
        options = self.options
        self.calls += 1
        if self.calls == COMPILING_CALL and options.get("engine") in (None, "auto"):
            options = {**options, "engine": "kernel"}
        outcome = self.program.evaluate(self.command, at, self.wrt, **options)
        self.compiled = outcome.kernel if self.is_alike(outcome) else None
        self.pattern = outcome
        return outcome

    def is_alike(self, outcome: Outcome) -> bool:
        """Whether the outcomes of the kernel at other points differ from this one in nothing but numbers."""
        if (
            outcome.kernel is None
            or outcome.kernel.request.command != self.command  # it takes several calls
            or any(self.options.get(name) is not None for name in WHOLE)
        ):
            return False
        return not any(notice.code != "N0503" for notice in outcome.notices)

    def called(self, at: Mapping[str, Any]) -> Outcome | None:
        """The outcome by the kernel at hand; None where the point is of another kind, or there is more to be said."""
        compiled = self.compiled
        assert compiled is not None
        values: list[Any] = []
        if len(at) != len(compiled.inputs):
            return None
        for name, spec in compiled.inputs.items():
            x: Any = at.get(name)
            if x.__class__ is Binding:
                x = x.value.value if x.value.__class__ is Tensor else x.value
            if not spec.kind:
                if x.__class__ not in (int, bool, str) or x != spec.value or x.__class__ is not spec.value.__class__:
                    return None
                continue
            if spec.shape:
                if getattr(x, "shape", None) != spec.shape or x.dtype.char not in DTYPES[spec.kind]:
                    return None
            elif x.__class__ is not (float if spec.kind == "f" else int):
                return None
            try:
                values.append(x if spec.kind == "f" else argument(name, x, spec))
            except Unsupported:
                return None
        given = self.given(compiled)
        if given is None:
            return None
        start = perf_counter()
        try:
            results, flags = compiled.entry(*values, *given, patient=compiled.seconds < LONG_SECONDS)
        except Failed:
            return None
        compiled.seconds = perf_counter() - start
        found = Found(compiled, results, flags)
        if flags or not (found.is_finite and all(found.reached)):
            return None
        outcome = Outcome()
        pattern = self.pattern
        outcome.types, outcome.notices = pattern.types, pattern.notices
        outcome.engine, outcome.reason, outcome.kernel = "kernel", pattern.reason, compiled
        outcome.emitted = pattern.emitted
        outcome.timings = {"forward": compiled.seconds}
        COMMANDS[self.command].from_kernel(outcome, found, [True] * len(compiled.request.names))
        value = found.value
        outcome.value = value.value if value.__class__ is Tensor else to_plain(value)
        return outcome

    def given(self, compiled: Any) -> list[Any] | None:
        """The tangents or the cotangent of the options, as the kernel takes them."""
        if self.command in ("jvp", "hvp"):
            named = self.options["tangent" if self.command == "jvp" else "vector"]
            names = compiled.request.directions
            return [seed(bind(named[name], name), compiled.inputs[name].shape) for name in names]
        if self.command == "vjp" and self.options.get("cotangent") is not None:
            return [seed(bind(self.options["cotangent"], "cotangent"), compiled.request.cotangent)]
        return []
