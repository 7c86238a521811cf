"""Checkpointed functions: `checkpoint(f)` forgets what f computes on its way, and computes it again in the reverse sweep."""

from __future__ import annotations

from ..autodiff.tape import Tape, describe_break, ends_path, gradient
from ..core.following import add_mark, at_row, follows
from ..core.operands import tensor
from ..core.operation import Operation
from ..core.state import RECORDERS, STATE
from ..core.tensor import Tensor, Token
from .custom_rules import apply_custom
from .derived import Derived, callable_of, invoke
from .structure import flatten, rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Connections:
    """Which tensors a checkpointed function takes its derivatives from, and what they lead to: nothing is recorded.

    What it closes over (tensors, Variables it reads) takes part in its derivative as its arguments do.
    """

    __slots__ = ("log", "recorders", "sources", "token")

    def __init__(self, recorders: list[Any]) -> None:
        self.recorders = recorders
        self.sources: dict[Tensor, None] = {}
        self.token = Token()
        self.log = None

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: Any, out: Any) -> Any:
        if ends_path(op, out):
            self.broken(at_row(op), (), describe_break(op, out))
            return out
        return self.mark(out)

    def mark(self, out: Any) -> Any:
        """Results that the sources lead to."""
        if out.__class__ is tuple:
            return tuple([self.mark(part) for part in out])
        out = tensor(out)
        add_mark(out, self.token)
        return out

    def broken(self, site: Any, inputs: Any, reason: str) -> bool:
        """A path from the sources has ended, which is told to those who record outside."""
        told = False
        for recorder in self.recorders:
            followed = [x for x in self.sources if follows(x, recorder.token)]
            if followed and recorder.log is not None:
                told = recorder.broken(site, followed, reason) or told
        return told

    def moves(self, *applied: Any) -> bool:
        """Nothing takes the short way past `record`."""
        return False

    moves_one = moves


class Entrance:
    """Stands in for a recorder outside a checkpointed function: what that recorder follows are sources here."""

    __slots__ = ("connections", "log", "recorder", "token")

    def __init__(self, recorder: Any, connections: Connections) -> None:
        self.recorder = recorder
        self.token = recorder.token
        self.connections = connections
        self.log = None

    def accessed(self, variable: Any, snapshot: Tensor) -> None:
        accessed = getattr(self.recorder, "accessed", None)
        if accessed is not None:
            accessed(variable, snapshot)

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: Any, out: Any) -> Any:
        followed = [x for x in inputs if follows(x, self.token)]
        if ends_path(op, out):
            self.broken(at_row(op), followed, describe_break(op, out))
            return out
        self.connections.sources.update(dict.fromkeys(followed))
        return self.connections.mark(out)

    def broken(self, site: Any, inputs: Any, reason: str) -> bool:
        return self.recorder.log is not None and self.recorder.broken(site, inputs, reason)

    def moves(self, *applied: Any) -> bool:
        return False

    moves_one = moves


def checkpoint(f: Any) -> Any:
    """`f`, its intermediate values forgotten and computed again in the reverse sweep."""
    callable_of(f, "checkpoint")

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        if all(recorder.log is None for recorder in RECORDERS):
            return invoke(f, args, keywords)  # nobody keeps what could be forgotten
        from .situation import Situation

        # What f reads may be another by the time of the sweep, and what it changes is not to be changed twice.
        before = Situation([f, *args, *keywords.values()])
        saved, draws = RECORDERS.copy(), STATE.draws
        STATE.draws = None  # they could not be drawn again
        connections = Connections(saved)
        RECORDERS[:] = [*[Entrance(recorder, connections) for recorder in saved], connections]
        try:
            value = invoke(f, args, keywords)
        finally:
            RECORDERS[:] = saved
            STATE.draws = draws
        leaves = flatten(value)
        places = [k for k, x in enumerate(leaves) if follows(x, connections.token)]
        if not places:
            return value
        sources = list(connections.sources)

        def vjp_rule(g: Any, y: Any, *xs: Any) -> tuple[Any, ...]:
            from .long_loops import with_limits_off

            tape = Tape()
            for x in sources:
                tape.watch(x)
            found: list[Any] = []

            def again() -> None:
                RECORDERS.append(tape)
                try:
                    found[:] = flatten(invoke(f, list(args), keywords))
                finally:
                    RECORDERS.remove(tape)

            with_limits_off(lambda: before.again(again))
            cotangents = list(g) if len(places) > 1 else [g]
            return tuple(gradient(tape, [found[k] for k in places], cotangents, [[x] for x in sources], consume=True))

        row = Operation("checkpoint", "x", "rule", vjp=vjp_rule)
        results = apply_custom(row, tuple(sources), [leaves[k] for k in places])
        for k, result in zip(places, results):
            leaves[k] = result
        return rebuild(value, leaves)

    return Derived("checkpoint", run)
