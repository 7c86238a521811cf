"""Targets of assignment to closures: each takes the frame and the value, and puts it into its place."""

from __future__ import annotations

from sys import getrefcount

from ..core.errors import failure
from ..core.state import STATE
from ..core.tensor import Tensor
from ..kinds.access import set_item, unpack
from ..program import core as c
from .attributes import set_attribute
from .element_writes import GONE, OWN, may_change, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .compile import Compiler

    Run = Callable[[list[Any]], Any]
    Assigner = Callable[[list[Any], Any], None]


def assigner(compiler: Compiler, node: c.Target) -> Assigner:
    if node.__class__ is c.Store:
        depth, slot = node.depth, node.slot
        if depth == 0:

            def put(f: list[Any], value: Any) -> None:
                f[slot] = value

            return put

        def put_outer(f: list[Any], value: Any) -> None:
            for _ in range(depth):
                f = f[0]
            f[slot] = value

        return put_outer
    if node.__class__ is c.Unpack:
        puts = [compiler.target(t) for t in node.targets]
        star, site = node.star, node.site

        def put_all(f: list[Any], value: Any) -> None:
            STATE.site = site
            for put, item in zip(puts, unpack(value, len(puts), star)):
                put(f, item)

        return put_all
    if node.__class__ is c.StoreAttribute:
        holder, name, place = compiler.expression(node.value), node.name, node.site

        def put_attribute(f: list[Any], value: Any) -> None:
            x = holder(f)
            STATE.site = place
            set_attribute(x, name, value)

        return put_attribute
    assert node.__class__ is c.StoreItem
    container = compiler.expression(node.container)
    index = compiler.expression(node.index)
    write, item_site = compiler.writer(node), node.site

    def put_item(f: list[Any], value: Any) -> None:
        x = container(f)
        i = index(f)
        STATE.site = item_site
        write(f, x, i, value)

    return put_item


def writer(compiler: Compiler, node: c.StoreItem) -> Callable[[list[Any], Any, Any, Any], Any]:
    """`container[index] = value`, of the frame first: the container as it is then, put back where it came from if it is another one."""
    back = None if node.back is None else compiler.target(node.back)
    again = compiler.expression(node.container) if node.container.__class__ is c.Load else None

    def write(f: list[Any], x: Any, index: Any, value: Any) -> Any:
        # References to x beside those of the frame, of this function and of its caller (element_writes.py).
        others = getrefcount(x) - OWN - 1 if again is not None and again(f) is x else GONE
        if x.__class__ is Tensor and written(x, index, value, others):
            return x
        updated = set_item(x, index, value)
        if updated is not x:
            if back is None:
                raise failure("E0304", "an item can be replaced only in a variable", "give the tensor a name first")
            back(f, updated)
            others = getrefcount(updated) - OWN
            may_change(updated, others)
        return updated

    return write
