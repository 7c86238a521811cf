"""GradientTape as programs use it: TensorFlow's contract, with reasons where TensorFlow answers None."""

from __future__ import annotations

from ..autodiff.drivers import fit_seed, handed_back
from ..autodiff.tape import OutsideLog, Tape, gradient, seed_for, unconnected_reason
from ..core.dtypes import WEAK_COUNT
from ..core.errors import failure
from ..core.following import add_mark, follows
from ..core.operands import as_operand, describe, operand_dtype, shape_text, tensor
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..kinds.functions import Derived
from .structure import flatten, located, rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.state import Site
    from ..kinds.variable import Variable


def beyond_tensorflow(called: str, site: Site) -> None:
    """Say where TensorFlow's tape would end, in a program that is written with it."""
    if site.source is not None and "tf.GradientTape" in site.source.text:
        STATE.notify(
            "N0507",
            f"TensorFlow's tape ends at {called}: its gradient by what is inside is None; here it goes on",
            site,
        )


class GradientTape(Tape):
    """The value of `GradientTape(...)` in a program: a tape that follows the Variables it sees being read."""

    __slots__ = ("active", "automatic", "entered", "numbers", "persistent", "used", "variables")
    description = "a GradientTape"
    methods = "kinds/GradientTape"

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent = persistent
        self.automatic = watch_accessed_variables
        self.active = self.entered = False
        self.forget()

    def forget(self) -> None:
        """Begin anew, with nothing recorded and watched."""
        super().__init__()
        if STATE.last_tape is not None:
            self.log = OutsideLog()
        # Every tensor that a Variable was while the tape followed it.
        self.variables: dict[Variable, list[Tensor]] = {}
        # The bare numbers that it watches.
        self.numbers: list[Tensor] = []
        self.used = False

    def accessed(self, variable: Variable, snapshot: Tensor) -> None:
        if variable in self.variables:
            if not follows(snapshot, self.token):
                self.follow(variable, snapshot)
        elif self.automatic and variable.trainable:
            self.follow(variable, snapshot)

    def follow(self, variable: Variable, snapshot: Tensor) -> None:
        if snapshot.dtype.differentiable:
            self.variables.setdefault(variable, []).append(snapshot)
            add_mark(snapshot, self.token)

    def __enter__(self) -> GradientTape:
        if self.active:
            raise failure("E0504", "this tape is already recording", "enter it again after its block has ended")
        if not self.persistent and self.used:
            # A second block starts a new recording.
            self.log.clear()
            self.used = False
        RECORDERS.append(self)
        self.active = True
        self.entered = True
        return self

    def __exit__(self, *error: Any) -> None:
        if self.active:
            if self in RECORDERS:  # it is not while stop_recording suspends it
                RECORDERS.remove(self)
            self.active = False

    method___enter__ = __enter__
    method___exit__ = __exit__

    # --- watching ---------------------------------------------------------------------------------------------------

    def watch(self, x: Any) -> Any:
        """Follow a tensor, a Variable or a structure of them; the watched structure is returned."""
        cls = x.__class__
        if cls is list:
            x[:] = [self.watch(item) for item in x]
            return x
        if cls is tuple:
            return tuple(self.watch(item) for item in x)
        if cls is dict:
            for key in x:
                x[key] = self.watch(x[key])
            return x
        if hasattr(x, "snapshot"):
            if not x.dtype.differentiable:
                not_watched(x.dtype.name)
            else:
                self.follow(x, x.snapshot)
            return x
        leaves = getattr(x, "leaves", None)
        if leaves is not None:
            return x.with_leaves([self.watch(leaf) for leaf in leaves()])
        x = as_operand(x)
        if x.__class__ is int:
            x = Tensor(float(x), WEAK_COUNT)
        elif x.__class__ is Tensor and x.dtype.weak and x.dtype.kind == "i":
            x = OPERATORS.cast(x, dtype="float64")
        dtype = operand_dtype(x)
        if not dtype.differentiable:
            not_watched(dtype.name)
            return x
        x = tensor(x)
        if x.dtype.weak and not x.shape:
            x = self.by_name(x)
        add_mark(x, self.token)
        return x

    def by_name(self, x: Tensor) -> Tensor:
        """A bare number as a tensor of its own, whose other names stay what they are, in every command alike; one that
        a tape around this watches has become that already."""
        around = [tape for tape in RECORDERS if tape.__class__ is GradientTape]
        if not any(x is known for tape in around for known in tape.numbers):
            x = tensor(OPERATORS.identity(x))
        self.numbers.append(x)
        return x

    # --- derivatives ------------------------------------------------------------------------------------------------

    def claim(self) -> bool:
        """Check that the tape may be asked once more; whether its records may be freed."""
        if not self.persistent:
            if self.used:
                raise failure(
                    "E0505",
                    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)",
                    "write GradientTape(persistent=True)",
                )
            self.used = True
            self.__exit__()
        return not self.persistent

    def method_gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = "none"
    ) -> Any:
        zero = wants_zero(unconnected_gradients)
        targets = [self.target(t) for t in flatten(target)]
        leaves = flatten(sources)
        consume = self.claim()
        if output_gradients is None:
            cotangents = [seed_for(t) for t in targets]
            for t in targets:
                if t.__class__ is Tensor and t.shape != () and follows(t, self.token):
                    STATE.notify("N0503", f"the target has shape {shape_text(t.shape)}: its elements are summed")
        else:
            single = len(targets) == 1 and target.__class__ not in (list, tuple, dict)
            if single and shape_of(targets[0]) != () and not hasattr(output_gradients, "leaves"):
                # One tensor and a plain list: the list is the tensor's cotangent.
                output_gradients = operand(output_gradients)
            given = flatten(output_gradients)
            if len(given) != len(targets):
                raise failure(
                    "E0506", f"{len(targets)} targets need as many output_gradients, and {len(given)} were given"
                )
            cotangents = [
                seed_for(t) if g is None else fit_seed(operand(g), t, "an item of output_gradients", "its target")
                for g, t in zip(given, targets)
            ]
        results, log = self.differentiate(targets, cotangents, leaves, consume)
        self.explain(sources, results, targets, log, zero)
        filled = [zeros_for(leaf) if g is None and zero else g for leaf, g in zip(leaves, results)]
        return rebuild(sources, filled)

    def target(self, x: Any) -> Any:
        """A target as an operand; a Variable that is one is read by this tape, as TensorFlow does."""
        if hasattr(x, "snapshot"):
            self.accessed(x, x.snapshot)
            return x.snapshot
        return operand(x)

    def differentiate(
        self, targets: Sequence[Any], cotangents: Sequence[Any], leaves: Sequence[Any], consume: bool
    ) -> tuple[list[Any], list[Any] | None]:
        """The gradients of the leaves (None where unconnected), and the log if it is still there to be read."""
        stand_ins = [self.tensors_of(leaf) for leaf in leaves]
        if STATE.last_tape is not None:
            STATE.last_tape[:] = [
                self.log.copy(),
                self.token,
                list(zip(targets, cotangents)),
                list(zip(leaves, stand_ins)),
            ]
        # The reason why a source is unconnected is read off the log, so it must outlive the sweep while it may be needed.
        if not consume:
            log: list[Any] | None = self.log
        else:
            log = self.log.copy() if self.breaks or len(self.log) < 4000 else None
        results = gradient(self, targets, cotangents, stand_ins, consume)
        y = next((y for y in targets if y.__class__ is Tensor and y.dtype.name == "float32"), None)
        return [None if g is None else as_result(handed_back(g, y, x), x) for g, x in zip(results, leaves)], log

    def explain(
        self, sources: Any, results: Sequence[Any], targets: Sequence[Any], log: list[Any] | None,
        zero: bool = False,
    ) -> None:  # fmt: skip
        """Say of every unconnected source why it is so, pointing at the place where the path broke."""
        for (place, leaf), g in zip(located(sources), results):
            if g is None:
                reason, where = unconnected_reason_of(self, log, leaf, self.tensors_of(leaf), targets)
                if not self.entered:
                    reason, where = "the tape never recorded; compute the target inside 'with tape:'", None
                given = "zero, as unconnected_gradients asks" if zero else "None"
                STATE.notify(
                    "N0502", f"the gradient{f' of sources{place}' if place else ''} is {given}: {reason}", where
                )
            elif log:
                numpys = (site for site in log[::4] if site.source and site.source.text.startswith("np.", site.start))
                for site in numpys:
                    beyond_tensorflow("a function of NumPy", site)

    def tensors_of(self, leaf: Any) -> list[Tensor]:
        if hasattr(leaf, "snapshot"):
            return self.variables.get(leaf, [])
        return [leaf] if leaf.__class__ is Tensor else []

    # --- the rest ---------------------------------------------------------------------------------------------------

    def method_reset(self) -> None:
        """Forget what was recorded and watched."""
        active = self.active
        self.__exit__()
        self.forget()
        if active:
            self.__enter__()

    def method_watched_variables(self) -> tuple[Variable, ...]:
        return tuple(self.variables)

    def method_watch(self, x: Any) -> None:
        self.watch(x)


def operand(x: Any) -> Any:
    return None if x is None else as_operand(x)


def wants_zero(unconnected: Any) -> bool:
    name = str(getattr(unconnected, "value", unconnected)).lower().rsplit(".", 1)[-1]
    if name not in ("none", "zero"):
        raise failure("E0305", f"unconnected_gradients must be 'none' or 'zero', not {unconnected!r}")
    return name == "zero"


def as_result(g: Any, leaf: Any) -> Any:
    """A gradient with the dtype of its source."""
    if g.__class__ is float and hasattr(leaf, "dtype") and not leaf.dtype.weak:
        return Tensor(g, leaf.dtype) if leaf.dtype.name == "float64" else OPERATORS.constant(g, dtype=leaf.dtype)
    return g


def zeros_for(leaf: Any) -> Any:
    if hasattr(leaf, "snapshot"):
        leaf = leaf.snapshot
    if leaf.__class__ is Tensor:
        return as_result(0.0, leaf) if leaf.shape == () else OPERATORS.zeros_like(Tensor(leaf.value, leaf.dtype))
    return 0.0


def sweeps(tape: GradientTape, unconnected_gradients: Any) -> tuple[Derived, Derived]:
    """The one use of a tape, for Jacobians: a function that gives the gradients of leaves along a `direction`, and one that
    says why sources are unconnected, and returns whether those are to be zeros."""
    zero = wants_zero(unconnected_gradients)
    tape.claim()

    def sweep(args: list[Any], keywords: dict[str, Any]) -> Any:
        target = tape.target(args[0])
        return tape.differentiate([target], [args[2]], args[1], False)[0]

    def explain(args: list[Any], keywords: dict[str, Any]) -> bool:
        target, sources, found = args
        tape.explain(sources, found, [tape.target(target)], tape.log, zero)
        return zero

    return Derived("sweep", sweep), Derived("explain", explain)


def suspend(tape: GradientTape) -> int:
    """Let a tape record nothing; where it stood, and -1 where it recorded nothing already."""
    if not tape.active:
        raise failure("E0504", "stop_recording needs a tape that is recording")
    if tape not in RECORDERS:
        return -1
    place = RECORDERS.index(tape)
    RECORDERS.remove(tape)
    return place


def resume(tape: GradientTape, place: int) -> None:
    """Let a tape record again; one that was read in the meantime stays off."""
    if place >= 0 and tape.active and tape not in RECORDERS:
        RECORDERS.insert(place, tape)


FUNCTIONS: dict[str, Any] = {"internal.sweeps": sweeps, "internal.suspend": suspend, "internal.resume": resume}


def not_watched(dtype: str) -> None:
    STATE.notify(
        "N0504", f"a tensor of dtype {dtype} cannot be differentiated: gradients with respect to it are None; "
        "write cast(x, float64) before watching it",
    )  # fmt: skip


def unconnected_reason_of(
    tape: Tape, log: list[Any] | None, leaf: Any, stand_ins: Sequence[Tensor], targets: Sequence[Any]
) -> tuple[str, Site | None]:
    """Why a source has no gradient, and the place where its path broke if it did; `log` is None if it is gone."""
    if hasattr(leaf, "snapshot") and not stand_ins:
        if not leaf.dtype.differentiable:
            return f"the Variable has dtype {leaf.dtype.name}; cast it to float64", None
        if not leaf.trainable:
            return "the Variable is not trainable, so it was not watched; t.watch(v) watches it", None
        if not getattr(tape, "automatic", True):
            return "the tape was made with watch_accessed_variables=False; t.watch(v) watches the Variable", None
        return "the Variable was not read while the tape recorded", None
    if leaf.__class__ is not Tensor and not hasattr(leaf, "snapshot"):
        return f"the source is {describe(leaf)} that was never watched; write t.watch(x) first", None
    if leaf.__class__ is Tensor and not follows(leaf, tape.token):
        if not leaf.dtype.differentiable:
            return f"the source has dtype {leaf.dtype.name}; write cast(x, float64)", None
        return "the source was not watched and does not come from a watched value; write t.watch(x) first", None
    if not tape.breaks and not any(follows(t, tape.token) for t in targets):
        return "the target does not depend on anything that was watched", None
    if log is None:
        return "the target does not depend on the source", None
    reason, where = unconnected_reason(tape, log, stand_ins)
    if where is not None:
        return f"the path from the source ends at {reason}, which carries no derivative", where
    if reason == "unused":
        return "the source is never used", None
    return "the target does not depend on the source", None
