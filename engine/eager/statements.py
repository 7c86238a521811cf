"""Statements to closures: each takes the frame and gives None, or a signal.

A signal is BREAK, CONTINUE, or a one-tuple holding the value of a `return`.
"""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.errors import failure
from ..core.operands import describe
from ..core.state import STATE
from ..core.tensor import OPERATORS
from ..core.wording import assertion_failed
from ..kinds.access import delete_item, iterate
from ..kinds.classes import ABSENT, Class
from ..kinds.exceptions import raise_value
from ..kinds.functions import in_library, invoke
from ..kinds.operators import binary
from ..kinds.text import text
from ..program import core as c
from ..program.core import UNSET
from ..program.expressions import FIRST
from .attributes import get_attribute, invoke_method, refuse_private, set_attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .compile import Compiler

    Run = Callable[[list[Any]], Any]

BREAK: Any = type("Break", (), {})()
CONTINUE: Any = type("Continue", (), {})()


def one_by_one(statements: list[Run]) -> Run:
    """Statements one after the other, until one of them leaves the block."""

    def run(f: list[Any]) -> Any:
        for statement in statements:
            signal = statement(f)
            if signal is not None:
                return signal
        return None

    return run


def watch(compiler: Compiler, node: c.Watch) -> Run:
    tape = compiler.expression(node.tape)
    value = compiler.expression(node.value)
    put = None if node.target is None else compiler.target(node.target)
    several = node.target.__class__ is c.Unpack  # a display of names is a new list, and each name takes its part
    site = node.site

    def run(f: list[Any]) -> None:
        t = tape(f)
        x = value(f)
        STATE.site = site
        watch = getattr(t, "watch", None)
        if watch is None:
            invoke_method(t, "watch", [x], {})
            return
        watched = watch(x)
        if put is not None and (several or watched is not x):
            put(f, watched)

    return run


def evaluate(compiler: Compiler, node: c.Evaluate) -> Run:
    value = compiler.expression(node.value)
    result = node.result

    def run(f: list[Any]) -> None:
        x = value(f)
        if result:
            f[0] = x
            if x is not None:
                f[1] = x

    return run


def assign(compiler: Compiler, node: c.Assign) -> Run:
    value = compiler.expression(node.value)
    dtype = node.dtype
    if dtype is not None:
        inner = value

        def value(f: list[Any]) -> Any:
            return OPERATORS.cast(inner(f), dtype=dtype)

    result = node.result
    if len(node.targets) == 1 and node.targets[0].__class__ is c.Store and node.targets[0].depth == 0:
        slot = node.targets[0].slot

        def store(f: list[Any]) -> None:
            f[slot] = value(f)
            if result:
                f[0] = f[1] = f[slot]

        return store
    puts = [compiler.target(t) for t in node.targets]
    by_first = is_by_first(node.value)

    def run(f: list[Any]) -> None:
        x = value(f)
        if result:
            f[0] = f[1] = None  # which may hold the tensor that is written to
        try:
            for put in puts:
                put(f, x)
        except AdiffError as error:
            if error.code == "E0304" and by_first:
                error.advice = "the derivative is by the first argument alone: argnums=(0, 1) gives one by each"
            raise
        if result:
            f[0] = f[1] = x

    return run


# Functions whose derivative is by the first argument where nothing else is said.
BY_FIRST = frozenset("grad jacobian jacfwd jacrev hessian".split())


def is_by_first(node: Any) -> bool:
    """Whether an expression is such as `grad(f)(a, b)`."""
    made = node.function if node.__class__ is c.Call else None
    if made.__class__ is not c.Call or len(made.args) != 1 or made.keywords or len(node.args) < 2:
        return False
    return made.function.__class__ is c.LibraryName and made.function.name in BY_FIRST


def augment(compiler: Compiler, node: c.Augment) -> Run:
    target = node.target
    if target.__class__ is c.StoreItem:
        return augment_item(compiler, node)
    value = compiler.expression(node.value)
    if target.__class__ is c.Store:
        holder: Run = lambda f: f  # noqa: E731
        read = compiler.expression(c.Load(target.depth, target.slot, target.name, target.site))
        put = compiler.target(target)
    else:
        assert target.__class__ is c.StoreAttribute
        holder, name = compiler.expression(target.value), target.name
        read, put = lambda x: get_attribute(x, name), lambda x, new: set_attribute(x, name, new)

    def run(f: list[Any]) -> None:
        x = holder(f)
        STATE.site = target.site
        changed = read(x)
        changed = updated(node, changed, value(f))
        STATE.site = target.site
        put(x, changed)
        if node.result:
            f[0] = f[1] = changed

    return run


def augment_item(compiler: Compiler, node: c.Augment) -> Run:
    target: Any = node.target
    container, index, value = compiler.expressions([target.container, target.index, node.value])
    write, get_item = compiler.writer(target), compiler.get_item

    def run(f: list[Any]) -> None:
        x = container(f)
        i = index(f)
        STATE.site = node.site
        changed = get_item(x, i)
        changed = updated(node, changed, value(f))
        if node.result:
            f[0] = f[1] = None  # where the last statement's value was, this one's will be
        x = write(f, x, i, changed)
        if node.result:
            f[0] = f[1] = x

    return run


def updated(node: c.Augment, old: Any, value: Any) -> Any:
    """What `old op= value` puts into the place of `old`.

    `items += value` and `items *= 2` change the list that every name of it sees; by what does not repeat it, it is multiplied as
    a tensor, which takes the list's place under this name alone.
    """
    STATE.site = node.site
    if old.__class__ is not list or node.op.symbol not in ("+", "*"):
        return binary(node.op, old, value)
    if node.op.symbol == "+":
        old.extend(list(iterate(value)))
        return old
    product = binary(node.op, old, value)
    if product.__class__ is not list:
        return product
    old[:] = product
    return old


def if_(compiler: Compiler, node: c.If) -> Run:
    test = compiler.condition(node.test, node.site)
    body, orelse = compiler.block(node.body), compiler.block(node.orelse)
    return lambda f: body(f) if test(f) else orelse(f)


def break_(compiler: Compiler, node: c.Break) -> Run:
    return lambda f: BREAK


def continue_(compiler: Compiler, node: c.Continue) -> Run:
    return lambda f: CONTINUE


def return_(compiler: Compiler, node: c.Return) -> Run:
    if node.value is None:
        return lambda f: (None,)
    value = compiler.expression(node.value)
    return lambda f: (value(f),)


def assert_(compiler: Compiler, node: c.Assert) -> Run:
    test = compiler.condition(node.test, node.site)
    message = None if node.message is None else compiler.expression(node.message)

    def run(f: list[Any]) -> None:
        if not test(f):
            raise assertion_failed(None if message is None else text(message(f)), node.site)

    return run


def make_class(compiler: Compiler, node: c.MakeClass) -> Run:
    bases = compiler.expressions(node.bases)
    code = node.body
    body, site, name = compiler.block(code.body), code.site, code.name

    def run(f: list[Any]) -> Class:
        parents = [base(f) for base in bases]
        STATE.site = site
        for parent in parents:
            if parent.__class__ is not Class:
                raise failure("E0304", f"the base of {name} is {describe(parent)}, and no class")
        made = Class(name, parents, {"_annotated": node.annotated}, library=in_library(site))
        frame: list[Any] = [UNSET] * len(code.slot_names)
        frame[0], frame[FIRST] = f, made
        body(frame)
        made.members.update({member: frame[slot] for member, slot in node.members if frame[slot] is not UNSET})
        begin = made.lookup("__init_subclass__", made)
        if begin is not ABSENT:
            invoke(begin, [made], {})
        return made

    return run


def raise_(compiler: Compiler, node: c.Raise) -> Run:
    value = compiler.expression(node.value)
    site = node.site

    def run(f: list[Any]) -> None:
        x = value(f)
        STATE.site = site
        raise raise_value(x)

    return run


def delete(compiler: Compiler, target: c.Target | c.Delete) -> Run:
    if target.__class__ is c.Store:
        read = compiler.expression(c.Load(target.depth, target.slot, target.name, target.site))
        put = compiler.target(target)

        def remove(f: list[Any]) -> None:
            read(f)
            put(f, UNSET)

        return remove
    if target.__class__ is c.StoreItem:
        container = compiler.expression(target.container)
        index = compiler.expression(target.index)
        site = target.site

        def remove_item(f: list[Any]) -> None:
            x, i = container(f), index(f)
            STATE.site = site
            delete_item(x, i)

        return remove_item
    if target.__class__ is c.StoreAttribute:
        holder = compiler.expression(target.value)

        def remove_attribute(f: list[Any]) -> None:
            x = holder(f)
            STATE.site = target.site
            delete = getattr(x, "delete_attribute", None)
            if delete is None:
                raise failure("E0414", f"attributes of {describe(x)} cannot be deleted")
            refuse_private(x, target.name)
            delete(target.name)

        return remove_attribute
    return one_by_one([delete(compiler, t) for t in target.targets])  # type: ignore[union-attr]
