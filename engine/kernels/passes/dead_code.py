"""Dead-code elimination: statements, carried values, heads, loops and branches that no result needs.

What results need is marked first, control included, so that a loop that feeds only itself goes too (Cytron, Ferrante,
Rosen, Wegman and Zadeck, Efficiently computing static single assignment form and the control dependence graph, TOPLAS
1991).
"""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stack, Stmt, Var
from .statements import VALUED, everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


NAMED: frozenset[Any] = frozenset((Var, Array, Stack, tuple))
STORING: frozenset[Any] = frozenset((ir.Store, ir.Routine, ir.AddTo))
UNDOING: frozenset[Any] = frozenset((ir.TakeBack, ir.Rewind))
CHANGING: frozenset[Any] = frozenset((ir.Alloc, ir.Constant, *STORING, *UNDOING))
LOGGING: frozenset[Any] = frozenset((ir.OpenLog, ir.Keep))


def without_dead_code(kernel: ir.Kernel, logs: bool = False) -> ir.Kernel:
    """The kernel without dead code; with `logs`, those of overwritten elements stay for an adjoint to come."""
    undone = after_undoing(kernel.body)
    needed = live(kernel, logs, undone)
    body = sweep(kernel.body, needed, undone)
    return ir.Kernel(kernel.parameters, without_reruns(body) if undone and not logs else body, kernel.results)


def after_undoing(block: list[Stmt]) -> set[int]:
    """The statements (by id) that find an array as it was before: from the first on that takes back a store in it.

    Where nothing reads the array from there on, nothing need be taken back.
    """
    arrays: set[Array] = set()
    found: set[int] = set()

    for s in everything(block):
        if s.__class__ in UNDOING:
            arrays.add(s.array)
        if arrays and getattr(s, "array", None) in arrays:
            found.add(id(s))
    return found


def content(s: Any, undone: set[int]) -> Any:
    """What stands for the content of an array that a statement reads or writes."""
    return ("undone", s.array) if id(s) in undone else s.array


def live(kernel: ir.Kernel, logs: bool, undone: set[int]) -> set[Any]:
    """Everything that a result depends on, control included."""
    edges: dict[Any, list[Any]] = {}
    roots: list[Any] = list(kernel.results)
    marked: dict[Var, Array] = {}

    def need(target: Any, *sources: Any) -> None:
        known = edges.get(target)
        if known is None:
            known = edges[target] = []
        known += [x for x in sources if x.__class__ in NAMED]

    def walk(block: list[Any], control: list[Any], again: bool = False) -> None:
        for s in block:
            if s.__class__ is ir.Set:
                if s.args or control:
                    need(s.var, *s.args, *control)
            elif s.__class__ is ir.Load:
                need(s.var, content(s, undone), s.index, *control)
            elif s.__class__ is ir.Check:
                roots.extend(x for x in (s.index, s.value, *control) if x.__class__ is Var)
            elif s.__class__ is ir.Alloc:
                need(s.array, *control)
            elif s.__class__ in STORING:
                need(content(s, undone), s.index, s.value, *control)
            elif s.__class__ is ir.Keep:
                need(("log", s.array), s.array, s.index, *control)
                if logs:
                    need(s.array, ("log", s.array))
            elif s.__class__ is ir.Mark:
                need(s.var, ("log", s.array))
                marked[s.var] = s.array
            elif s.__class__ in UNDOING:
                need(("undone", s.array), s.array, ("log", s.array), getattr(s, "value", None), *control)
            elif s.__class__ is ir.Accumulate:
                need(s.var, s.value, *control)
            elif s.__class__ is ir.Region:
                # A rule takes all operands and results, whatever the statements use.
                for result in s.results:
                    need(result, *s.operands, *s.results)
                walk(s.body, control, again)
            elif s.__class__ is ir.Loop:
                inner = [*control, s.trips]
                steering = [x for x in (s.start, s.stop, s.step, s.condition, s.stop_when) if x.__class__ is Var]
                need(s.trips, *steering, *control)
                if s.test is not None:
                    walk(s.test, control, again)
                    if s.own and not again:
                        roots.append(s.trips)  # nobody knows that it ends: to go on for ever is an answer too
                if s.index is not None:
                    need(s.index, s.start, s.step)
                for phi, initial, following in s.carried:
                    need(phi, initial, following, *inner)
                for held, stack in s.stacks.items():
                    need(stack, held, *inner)
                walk(s.body, inner, again)
                if logs:
                    for phi, _, following in s.carried:
                        if following.__class__ is Var and following in marked:
                            need(marked[following], phi)
            elif s.__class__ is ir.ReverseLoop:
                inner = [*control, s.trips]
                if s.index is not None:
                    need(s.index, s.start, s.step)
                for phi, stack in s.restore:
                    need(phi, stack)
                walk(s.body, inner, True)
            elif s.__class__ is ir.If:
                inner = [*control, s.condition]
                walk(s.then, inner, again)
                walk(s.orelse, inner, again)
                for var, a, b in s.merges:
                    need(var, a, b, *inner)

    walk(kernel.body, [])
    found: set[Any] = set()
    pending = roots + [("undone", r) for r in roots if r.__class__ is Array]
    while pending:
        x = pending.pop()
        if x.__class__ in NAMED and x not in found:
            found.add(x)
            pending.extend(edges.get(x, ()))
    return found


def sweep(block: list[Any], needed: set[Any], undone: set[int]) -> list[Stmt]:
    kept: list[Stmt] = []
    for s in block:
        if s.__class__ in VALUED:
            if s.var in needed:
                kept.append(s)
        elif s.__class__ in CHANGING:
            if content(s, undone) in needed:
                kept.append(s)
        elif s.__class__ in LOGGING:
            if ("log", s.array) in needed:
                kept.append(s)
        elif s.__class__ is ir.Loop:
            body = sweep(s.body, needed, undone)
            carried = [entry for entry in s.carried if entry[0] in needed]
            if body or carried or s.trips in needed:
                stacks = {phi: stack for phi, stack in s.stacks.items() if stack in needed}
                test = None if s.test is None else sweep(s.test, needed, undone)
                kept.append(s.replace(carried=carried, body=body, stacks=stacks, test=test))
        elif s.__class__ is ir.ReverseLoop:
            body = sweep(s.body, needed, undone)
            if body:
                restore = [(phi, stack) for phi, stack in s.restore if phi in needed]
                # Where an index that nobody reads would start is of no interest.
                index, start, step = (s.index, s.start, s.step) if s.index in needed else (None, 0, 1)
                kept.append(s.replace(index=index, start=start, step=step, restore=restore, body=body))
        elif s.__class__ is ir.Region:
            if not any(x in needed for x in s.results):
                kept += sweep(s.body, needed, undone)  # what may end the kernel
            else:
                kept.append(s.replace(body=sweep(s.body, needed, undone)))
        elif s.__class__ is ir.If:
            then, orelse = sweep(s.then, needed, undone), sweep(s.orelse, needed, undone)
            merges = [entry for entry in s.merges if entry[0] in needed]
            if then or orelse or merges:
                kept.append(ir.If(s.condition, then, orelse, merges))
        else:
            kept.append(s)
    return kept


# --- stores that are taken back ---------------------------------------------------------------------------------------


def without_reruns(block: list[Stmt]) -> list[Stmt]:
    """A reverse loop's body without the stores of its forward part that it takes back before anything reads them."""
    found: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.ReverseLoop:
            body = without_reruns(s.body)
            for array in {x.array for x in everything(body) if x.__class__ is ir.Keep}:
                if unread(body, array):
                    body = without_stores(body, array)
            s = s.replace(body=body)
        else:
            s = with_blocks(s, without_reruns)
        found.append(s)
    return found


def unread(body: list[Stmt], array: Array) -> bool:
    """Whether a body stores in an array, and takes that back, with nothing between that reads the array."""
    parts = [[x for x in everything([s]) if getattr(x, "array", None) is array] for s in body]
    if any(x.__class__ in (ir.Alloc, ir.OpenLog, ir.Region) for part in parts for x in part):
        return False
    stores = [k for k, part in enumerate(parts) if any(x.__class__ in (ir.Store, ir.AddTo, ir.Keep) for x in part)]
    undos = [k for k, part in enumerate(parts) if any(x.__class__ is ir.TakeBack for x in part)]
    if not stores or not undos or stores[-1] >= undos[0]:
        return False
    for k in range(stores[0], undos[-1] + 1):
        for x in parts[k]:
            if x.__class__ in (ir.Rewind, ir.Mark, ir.Load):
                return False  # what is read between two that are undone is neither the first nor the last
    return all(any(x.__class__ is ir.Keep for x in parts[k]) or kept_before(body, k) for k in stores)


def kept_before(body: list[Stmt], k: int) -> bool:
    """Whether a statement stores in an element that the one before it has noted."""
    s: Any = body[k]
    before: Any = body[k - 1] if k else None
    return (
        s.__class__ is ir.Store and before.__class__ is ir.Keep and (s.array, s.index) == (before.array, before.index)
    )


def without_stores(block: list[Stmt], array: Array) -> list[Stmt]:
    """A block that neither stores in an array nor takes back."""
    return [
        with_blocks(s, lambda inner: without_stores(inner, array))
        for s in block
        if not (isinstance(s, ir.Store | ir.Keep | ir.TakeBack) and s.array is array)
    ]
