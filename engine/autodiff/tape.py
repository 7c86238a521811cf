"""The tape: operations as they were executed, and the reverse sweep over them.

A tape keeps one flat list, four entries a record, in two forms:

    site, a, b, out               a row of one (b is None) or two inputs, all scalars: the case loops consist of
    site, (inputs...), static, out   everything else; `out` is a tuple for a row of several results

Only the site (which knows the row and its place in the source) and the tensors themselves are referred to, so a
recorded scalar operation costs four references and its result. The sweep pops what it has passed.
"""

from __future__ import annotations

from ...parser.fields import Record
from ..core.dtypes import FLOAT32
from ..core.errors import ARITHMETIC_FAULTS
from ..core.following import CONDITION, add_mark, follows
from ..core.operands import plain, tensor
from ..core.state import RECORDERS, STATE, Site
from ..core.tensor import OPERATORS, Tensor, Token, shape_of
from ..ops.registry import OPERATOR_ROWS
from .collecting import COLLECTING, Buffer, Elements, bare_beside, collecting, flat_place
from .pullback import pullback, singular_partial, zeros_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..ops.operation import Operation

    # By the place of a record: the partials of its inputs, and whether they are finite.
    Partials = dict[int, dict[int, tuple[Any, bool]]]


# So many places where paths end are enough to explain, and bounded in loops; those of comparisons are counted apart.
MAX_BREAKS = 1000


class Break(Record):
    """A place where the path of a followed tensor ended: an operation without a tangent, an assignment, ..."""

    site: Site
    inputs: Sequence[Tensor]
    reason: str


class OutsideLog(list[object]):
    """The log of a tape that is shown: what the library records has the place of the program's call of it."""

    def __iadd__(self, record: Any) -> OutsideLog:  # type: ignore[misc]
        site, *rest = record
        self.extend((STATE.outward(site), *rest))
        return self


class Tape:
    """A recorder for reverse mode. It is active while it is in `RECORDERS`."""

    __slots__ = ("breaks", "changing", "log", "room", "token")

    def __init__(self, changing: bool = False) -> None:
        self.token = Token()
        self.log: list[Any] = []
        self.breaks: list[Break] = []
        # For how many more breaks there is room, and for how many comparisons and the like among them.
        self.room = [MAX_BREAKS, MAX_BREAKS]
        # The tensors that element writes change in place, with the references to them that are known: those of this
        # dictionary and of records of single elements (eager/element_writes.py). None where each write is to be a copy.
        self.changing: dict[Tensor, int] | None = {} if changing else None

    def watch(self, x: Tensor) -> None:
        add_mark(x, self.token)

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, out: Any) -> Any:
        site = STATE.site
        if site.op is not op:
            site = STATE.site.of(op)
        token = self.token
        if (
            op.derivative == "none"
            or (out.__class__ is Tensor and not out.dtype.differentiable)
            or out.__class__ is bool
        ):
            followed = [x for x in inputs if follows(x, token)]
            self.broken(site, followed, describe_break(op, out))
            return out
        if out.__class__ is tuple:
            out = tuple(tensor(part) for part in out)
            for part in out:
                add_mark(part, token)
        else:
            out = tensor(out)
            add_mark(out, token)
        if attributes is None and op.direct and len(inputs) <= 2:
            self.log += (site, inputs[0], inputs[1] if len(inputs) == 2 else None, out)
        else:
            self.log += (site, inputs, attributes, out)
            if self.changing and op.name == "index" and inputs[0] in self.changing and self.log.__class__ is list:
                self.changing[inputs[0]] += 1
        return out

    def broken(self, site: Site, inputs: Sequence[Tensor], reason: str) -> None:
        """Note that paths end, if there is room to."""
        kind = reason in ASIDE
        if self.room[kind]:
            self.room[kind] -= 1
            self.breaks.append(Break(site, inputs, reason))


def describe_break(op: Operation, out: Any) -> str:
    if op is OPERATORS.cast:
        return f"the cast to {out.dtype.name if out.__class__ is Tensor else 'bool'}"
    if op.derivative == "none" and op.reason and op.name not in ASIDE:
        return f"{op.name} ({op.reason})"
    return op.name


def sweep(
    tape: Tape, adjoints: dict[Any, Any], sources: Iterable[Tensor], consume: bool, partials: Partials | None = None
) -> dict[Any, Any]:
    """Walk the tape backwards from the cotangents in `adjoints`; the cotangents of `sources` that were reached.

    `consume` frees every record once it is passed. While outer recorders are active the sweep runs on tensors, and
    is recorded; otherwise scalars are plain floats. `partials` keeps those of tensors from one sweep to the next, where
    nothing is recorded or noticed.
    """
    wanted = set(sources)
    results: dict[Any, Any] = {}
    log = tape.log
    token = tape.token
    tape.changing = None  # what is counted there goes with the records
    if not consume:
        log = log.copy()
    tape_log = log
    pop = tape_log.pop
    recorded = bool(RECORDERS) or STATE.trace_adjoint is not None
    saved_site = STATE.site
    # What a derivative rule computes on its way is no result of the program's.
    saved_trace, STATE.trace = STATE.trace, None
    adjoint_pop = adjoints.pop
    adjoint_get = adjoints.get
    try:
        while tape_log:
            out = pop()
            b = pop()
            a = pop()
            site = pop()
            if out.__class__ is tuple:
                parts = [adjoint_pop(part, None) for part in out]
                parts = [part.tensor() if part.__class__ in COLLECTING else part for part in parts]
                if all(part is None for part in parts):
                    continue
                for part, g in zip(out, parts):
                    if part in wanted and g is not None:
                        results[part] = g
                g = tuple(zeros_like(part) if c is None else c for part, c in zip(out, parts))
            else:
                g = adjoint_pop(out, None)
                if g is None:
                    continue
                if a.__class__ is tuple and a[0] is out:
                    before_write(adjoints, g, a, b, site, token, recorded)
                    continue
                if g.__class__ in COLLECTING:
                    g = g.tensor()
                if out in wanted:
                    results[out] = g
            STATE.site = site
            op = site.op
            if a.__class__ is not tuple:
                if g.__class__ is float and not recorded and out.value.__class__ is float:
                    # Scalars with nobody watching: plain floats all the way.
                    u = a.value if a.__class__ is Tensor else a
                    values = (u,) if b is None else (u, b.value if b.__class__ is Tensor else b)
                    for k, x in ((0, a), (1, b)):
                        if x.__class__ is Tensor and (x.on is token or follows(x, token)):
                            if g == 0.0:
                                c = 0.0
                            else:
                                p = op.partials[k]
                                p = p if p.__class__ is int else scalar_slope(op, k, p, out.value, values, g)
                                # A real cotangent multiplies both parts, either of which may be infinite.
                                c = g * p if p.__class__ is not complex else complex(g * p.real, g * p.imag)  # type: ignore[assignment]
                            old = adjoint_get(x)
                            if old.__class__ is Tensor:
                                old = collecting(x, old, False)
                            adjoints[x] = c if old is None else old + c
                    continue
                inputs: tuple[Any, ...] = (a,) if b is None else (a, b)
                attributes = None
            else:
                inputs, attributes = a, b
            needs = [follows(x, token) for x in inputs]
            if op.accumulate is not None and not recorded:
                # Reading one element of a tensor must not cost a tensor of zeros: add into a buffer that we own.
                x = inputs[0]
                old = adjoint_get(x)
                if old.__class__ is not Buffer:
                    adjoints[x] = old = Buffer(x, old)
                op.accumulate(old.array, plain(g), **(attributes or {}))
                continue
            if recorded and op.accumulate is not None and g.__class__ is Tensor and g.shape == ():
                # The same for a sweep that is recorded: the elements are joined by one row in the end.
                x = inputs[0]
                place = flat_place(x.shape, **(attributes or {}))
                if place is not None:
                    old = adjoint_get(x)
                    if old.__class__ is not Elements:
                        adjoints[x] = old = Elements(x, old)
                    old.add(place, g)
                    continue
            known = None if partials is None else partials.setdefault(len(tape_log), {})
            cotangents = pullback(op, g, out, inputs, attributes, needs, known)
            for x, c, need in zip(inputs, cotangents, needs):
                if need and c is not None:
                    if STATE.trace_adjoint is not None:
                        STATE.trace_adjoint(op, g, c)
                    if c.__class__ is Tensor:
                        if c.on is None and c.value.__class__ is float:
                            c = c.value
                        elif c.dtype is FLOAT32 and x.dtype is not FLOAT32:
                            c = bare_beside(x, c, recorded)
                    old = adjoint_get(x)
                    if old is not None:
                        old = collecting(x, old, recorded)
                        if STATE.trace_adjoint is not None and old.__class__ not in COLLECTING:
                            STATE.trace_adjoint(op, (old, c), old + c, "one of the other sign")
                    adjoints[x] = c if old is None else old + c
    finally:
        STATE.site = saved_site
        STATE.trace = saved_trace
    for source in wanted:
        g = adjoint_get(source)
        if g is not None:
            if g.__class__ in COLLECTING:
                g = g.tensor()
            results[source] = g if source not in results else results[source] + g
    return results


def before_write(
    adjoints: dict[Any, Any], g: Any, inputs: tuple[Any, ...], attributes: Any, site: Site, token: Any, recorded: bool
) -> None:
    """Pass the record of an element that was written in place: its cotangent goes to what was written there."""
    x, value = inputs
    kind = Elements if recorded else Buffer
    if g.__class__ is not kind:
        g = kind(x, g.tensor() if g.__class__ in COLLECTING else g)
    adjoints[x] = g
    STATE.site = site
    c = g.taken(**attributes)
    if follows(value, token):
        if STATE.trace_adjoint is not None:
            STATE.trace_adjoint(site.op, c, c)
        if c.__class__ is Tensor and c.dtype is FLOAT32 and value.dtype is not FLOAT32:
            c = bare_beside(value, c, recorded)
        old = adjoints.get(value)
        adjoints[value] = c if old is None else collecting(value, old, recorded) + c


def backwards(p: Any) -> Any:
    """A scalar partial as it multiplies a cotangent: conjugate where it is complex (a real function of a complex z)."""
    p = plain(p)
    return p.conjugate() if p.__class__ is complex else p


def scalar_slope(op: Operation, index: int, formula: Any, y: float, values: tuple[Any, ...], g: float) -> Any:
    """A partial on plain floats, singular points resolved."""
    try:
        p = formula(y, *values)
    except ARITHMETIC_FAULTS:
        # Python's own division raises where IEEE arithmetic goes on: the tensors' rows do.
        p = formula(tensor(y), *map(tensor, values))
    for spot in op.singular:
        if spot.input == index and spot.where(*values) is not False:
            p = singular_partial(op, spot, p, values, g)
    return p if p.__class__ is float else backwards(p)


def gradient(
    tape: Tape, targets: Sequence[Any], cotangents: Sequence[Any], sources: Sequence[Sequence[Tensor]], consume: bool,
    partials: Partials | None = None,
) -> list[Any]:  # fmt: skip
    """The sums over targets of cotangent times derivative, for each source; None for an unconnected one.

    A source is the list of the tensors that stand for it (a Variable is one tensor for every value it had).
    """
    adjoints: dict[Any, Any] = {}
    for target, cotangent in zip(targets, cotangents):
        if target.__class__ is Tensor and follows(target, tape.token):
            old = adjoints.get(target)
            adjoints[target] = cotangent if old is None else old + cotangent
    flat = [x for tensors in sources for x in tensors]
    # A target that is a source has its cotangent before any record is passed.
    found = sweep(tape, adjoints, flat, consume, partials) if adjoints else {}
    results: list[Any] = []
    for tensors in sources:
        total: Any = None
        for x in dict.fromkeys(tensors):
            c = found.get(x)
            if c is not None:
                total = c if total is None else total + c
        if total.__class__ is float and tensors[0].dtype.kind == "c":
            total = complex(total)  # a strong zero is real all the way
        results.append(total)
    return results


def seed_for(target: Any) -> Any:
    """The cotangent of a target whose elements are summed: ones."""
    if target.__class__ is not Tensor:
        return 1.0
    if shape_of(target) == () and target.value.__class__ is float:
        return 1.0
    return OPERATORS.ones_like(target)


# Ends of paths that are no mistake: comparisons, and values that are looked at.
ASIDE = frozenset(
    (*[row.name for row in OPERATOR_ROWS.values() if row.dtype == "bool"], "numpy()", "item()", CONDITION)
)


def unconnected_reason(tape: Tape, log: list[Any], sources: Sequence[Tensor]) -> tuple[str, Site | None]:
    """Why no path leads from the sources to the target: the first place where one broke, or that there is no use."""
    reached: set[Any] = set(sources)
    used = False
    for i in range(0, len(log), 4):
        a, b, out = log[i + 1], log[i + 2], log[i + 3]
        inputs = a if a.__class__ is tuple else (a, b)
        if any(x.__class__ is Tensor and x in reached for x in inputs):
            used = True
            if out.__class__ is tuple:
                reached.update(out)
            else:
                reached.add(out)
    on_the_way = [place for place in tape.breaks if any(x in reached for x in place.inputs)]
    if on_the_way:
        # A comparison steers a program and `.numpy()` often only prints; any other break is likelier to be the reason.
        place = next((place for place in on_the_way if place.reason not in ASIDE), on_the_way[0])
        return place.reason, place.site
    return ("used" if used else "unused"), None
