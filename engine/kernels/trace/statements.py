"""Statements in which symbols need more than the interpreter does. How one leaves its block is told by cells of the frame."""

from __future__ import annotations

from ...core.errors import failure
from ...core.state import STATE
from ...core.tensor import Tensor
from ...core.wording import assertion_failed
from ...eager import statements, targets
from ...kinds.access import set_item
from ...program import core as c
from ..ir import Unsupported
from ..symbols import Sym
from .loops import for_, while_
from .merge import branch
from .values import BREAK, CONTINUE, RETURN, VALUE, holds_symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .tracer import Tracer

    Run = Callable[[Any], Any]

ASSIGNED = "attributes that are assigned"


def writer(t: Tracer, target: c.StoreItem) -> Callable[[Any, Any, Any, Any], Any]:
    """`container[index] = value`, of the frame first: a new array goes back to where the old one came from."""
    back = None if target.back is None else t.target(target.back)

    def write(f: Any, container: Any, index: Any, value: Any) -> Any:
        if container.__class__ is Tensor and (holds_symbol(index) or holds_symbol(value)):
            container = Sym(t.builder, t.builder.constant(container.value), container.dtype)
        updated = set_item(container, index, value)
        if updated is not container:
            if back is None:
                raise failure("E0304", "an item can be replaced only in a variable", "give the tensor a name first")
            back(f, updated)
        return updated

    return write


def target_of(t: Tracer, target: c.Target) -> Callable[[Any, Any], None]:
    if target.__class__ is c.StoreAttribute:
        refuse = declined(ASSIGNED)(t, target)
        return lambda f, value: refuse(f)
    return targets.assigner(t, target)


def augment(t: Tracer, node: c.Augment) -> Run:
    return declined(ASSIGNED)(t, node) if node.target.__class__ is c.StoreAttribute else statements.augment(t, node)


def if_(t: Tracer, node: c.If) -> Run:
    test, body, orelse = t.expression(node.test), t.block(node.body), t.block(node.orelse)

    def run(f: Any) -> None:
        x = test(f)
        STATE.site = node.site
        branch(t, t.truth(x), lambda: body(f), lambda: orelse(f))

    return run


def leave(flag: int) -> Callable[[Any, Any], Run]:
    return lambda t, node: lambda f: f.__setitem__(flag, True)


def return_(t: Tracer, node: c.Return) -> Run:
    value = None if node.value is None else t.expression(node.value)

    def run(f: Any) -> None:
        f[VALUE] = None if value is None else value(f)
        f[RETURN] = True

    return run


def assert_(t: Tracer, node: c.Assert) -> Run:
    test = t.expression(node.test)

    def run(f: Any) -> None:
        x = test(f)
        STATE.site = node.site
        holds = t.truth(x)
        if holds is False:
            raise assertion_failed(None, node.site)
        t.builder.check(holds)

    return run


def raise_(t: Tracer, node: c.Raise) -> Run:
    def run(f: Any) -> None:
        raise failure("E0412", "an exception is raised", site=node.site)

    return run


def declined(what: str) -> Callable[[Any, Any], Run]:
    def refuse(t: Tracer, node: Any) -> Run:
        def run(f: Any) -> None:
            raise Unsupported(what, node.site)

        return run

    return refuse


STATEMENTS: dict[type, Callable[[Any, Any], Run]] = {
    c.Augment: augment, c.If: if_, c.For: for_, c.While: while_, c.Break: leave(BREAK), c.Continue: leave(CONTINUE),
    c.Return: return_, c.Assert: assert_, c.Try: declined("exceptions"),
    c.Raise: raise_, c.Yield: declined("generators"),
}  # fmt: skip
