"""The kernels of one program as the engine asks for them: values and gradients, paths of sources, choices, source text."""

from __future__ import annotations

from ..core.state import STATE, end_of
from .inputs import arguments, is_integer
from .ir import Unsupported
from .learning import Learning
from .readings import Reading, reshaped
from .running import called, run, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .built import Built
    from .construction.paths import Paths
    from .running import Compiled


def without_derivative(derivatives: Any) -> bool:
    """Whether derivatives, in whatever structure, are None or numbers that are zero."""
    if derivatives.__class__ in (list, tuple):
        return all(map(without_derivative, derivatives))
    if derivatives.__class__ is dict:
        return all(map(without_derivative, derivatives.values()))
    return derivatives is None or (derivatives.__class__ is float and derivatives == 0.0)


class Kernels(Learning):
    """The kernels of one program, by what they are specialised to; `evaluate` is what the engine calls."""

    def evaluate(
        self, values: dict[str, Any], sources: Sequence[str] | None, always: bool, last: bool = False
    ) -> tuple[Any, list[Any], Compiled] | None:
        """The value (that of the `last` statement) and the gradients of `sources`, and the kernel that gave them.

        None where the tape is the sooner way (unless `always`). Raises Unsupported for programs outside this tier.
        """
        spec = self.specified(values, sources or ())
        given = arguments(self.program, values, spec)
        command = "gradient" if sources is not None else "run" if last else "value"
        key = (command, sorted(spec.items()), sources)

        def make() -> Built:
            from .construction.construct import build

            built = build(self.program, spec, sources, True, last)
            self.explicable(built, spec, sources or ())
            return built

        compiled = self.prepared(key, make, given, always)
        if compiled is None:
            return None
        built = compiled.built
        built.settle_dtypes(values)
        integers = {name for name in sources or () if is_integer(values[name])}
        if any(integers.issuperset(needed) and not integers.isdisjoint(of) for needed, of in built.printed_counts):
            raise Unsupported("'print' of an integer that is differentiated")  # it is printed as the integer that it is
        reading = compiled.reading = Reading(built, "value" if sources is None else "grad", sources or (), spec)
        value, *found = run(compiled, given)
        with reading.looking(lambda: self.paths(spec, sources or (), given)):
            gradients = reading.derivatives(found, given) or []
            value = self.own_type(compiled, value, gradients, spec, given)
            missing = [name for name, g in zip(sources or (), gradients) if g is None]
            reasons = reading.reasons(missing) if missing else {}
        for name in missing:
            reason, site = reasons[name]
            STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site or end_of(self.source))
        if built.structure is not None:
            from .lowering.structures import unpacked

            return unpacked(value, built.structure), gradients, compiled
        return reshaped(value, built.shape), gradients, compiled

    def own_type(self, compiled: Compiled, value: Any, derivatives: Any, spec: dict[str, Any], given: list[Any]) -> Any:
        """The value beside its derivatives, an integer where it is one of the program's: then it depends on no source,
        and the kernel of the value alone tells. Raises Unsupported where that one cannot."""
        if not compiled.built.mixed or not float(value).is_integer() or not without_derivative(derivatives):
            return value

        def make() -> Built:
            from .construction.construct import build

            return build(self.program, spec, None, True)

        key = self.key(("type", sorted(spec.items())))
        if not self.find(key) and key not in self.built:
            self.built[key] = self.attempt(make)
        plain = self.ready(key, make)
        return typed(plain, called(plain, given))[0]

    def write_unfinished(
        self, write: Callable[[str], object], formatted: Callable[[Any, str | None, str], str]
    ) -> None:
        """Write what the kernel that an error or a signal has ended had printed by then."""
        for compiled in self.compiled.values():
            if compiled.unfinished:
                compiled.write(write, formatted)

    def paths(self, spec: dict[str, Any], sources: Sequence[str], given: list[Any]) -> Paths:
        """Which sources the result depends on for these arguments, and why it does not on the others.

        Raises Unsupported where that is the tape's to find out.
        """
        key = self.key(("paths", sorted(spec.items()), tuple(sources)))
        if not self.find(key):
            self.describe_paths(key, spec, sources)
        compiled = self.ready(key, lambda: self.connection(spec, sources))
        from .construction.paths import Paths

        return Paths(compiled.built, sources, called(compiled, given)[0])

    def connection(self, spec: dict[str, Any], sources: Sequence[str]) -> Built:
        from .construction.connection import build_connection

        return build_connection(self.program, spec, sources)

    def describe_paths(self, key: str, spec: dict[str, Any], sources: Sequence[str]) -> None:
        if key not in self.built:
            self.built[key] = self.attempt(lambda: self.connection(spec, sources))

    def choices(self, values: dict[str, Any], sources: Sequence[str]) -> tuple[Any, Any, dict[str, bool]]:
        """What a run chooses, how far it is from singular points, and by which sources something in it is not analytic
        (construction/choices.py). Raises Unsupported, also for more of them than are noted."""
        spec = self.specified(values, sources)
        given = arguments(self.program, values, spec)

        def make() -> Built:
            from .construction.choices import build_choices

            return build_choices(self.program, spec, sources)

        compiled = self.prepared(("choices", sorted(spec.items()), tuple(sources)), make, given, True)
        assert compiled is not None
        chosen, distant, notes = called(compiled, given)
        if max(notes[:2]) > len(chosen):
            raise Unsupported("more choices than are compared")
        analytic = {name: not flag for name, flag in zip(sources, notes[2:])}
        return chosen[: notes[0]].copy(), distant[: notes[1]].copy(), analytic

    def explicable(self, built: Built, spec: dict[str, Any], sources: Sequence[str]) -> None:
        """Raise Unsupported where sources do not reach the result, and no kernel can tell why."""
        if built.unexplained:
            key = self.key(("paths", sorted(spec.items()), tuple(sources)))
            self.describe_paths(key, spec, sources)
            if isinstance(self.built[key], Unsupported):
                why = self.built[key]
                raise Unsupported(f"an input that the result does not depend on: {why}", why.site)

    def source_text(self, values: dict[str, Any], sources: Sequence[str] | None) -> str:
        """The source of the kernel of the value, or of value and gradient, with what it calls. Raises Unsupported."""
        from .construction.construct import build
        from .source.emit import emit
        from .source.legend import legend

        spec = self.specified(values, sources or ())
        arguments(self.program, values, spec)
        built = self.attempt(lambda: build(self.program, spec, sources))
        if isinstance(built, Unsupported):
            raise built
        emitted = emit(built.kernel, built.precision)
        return legend(emitted) + emitted.text
