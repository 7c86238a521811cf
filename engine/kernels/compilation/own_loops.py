"""adiff's own loops, compiled: functions whose text is that of emitted source (autodiff/pattern_loops.py).

The text is translated, compiled and kept as that of a kernel is; it is what runs in Python where there is little to do.
"""

from __future__ import annotations

import ast
import inspect
import textwrap

from ...autodiff.pattern_loops import as_it_stands
from ...core.limits import memory_of_adiff
from .. import store
from ..emitted import Emitted, emitted_from_plain
from ..ir import FLOAT, INT, Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..machine.code import Entry

    Loop = Callable[..., tuple[Any, ...]]

# Elements of arrays that a loop has been given, all in all, from which on it is compiled: Python goes through so many
# while a compiler is loaded.
MANY = 20_000
# Elements up to which Python is as quick as the call of machine code.
FEW = 50
LOADED: dict[tuple[Loop, str], Entry] = {}
PASSED: dict[Loop, int] = {}


def quickly(loop: Loop, *arguments: Any) -> tuple[Any, ...]:
    """Go through a loop in the quicker way: as Python, or as machine code."""
    kinds = "".join(kind_of(x) for x in arguments)
    entry = LOADED.get((loop, kinds))
    size = sum([x.size for x in arguments if hasattr(x, "size")])
    if entry is None:
        PASSED[loop] = size + PASSED.get(loop, 0)
    if size < FEW or (entry is None and PASSED[loop] < MANY):
        return as_it_stands(loop, *arguments)
    if entry is None:
        with memory_of_adiff():
            entry = LOADED[loop, kinds] = loaded(loop, kinds)
    return entry(*arguments)


def kind_of(x: Any) -> str:
    """The kind of an argument, in upper case for an array."""
    return {"l": INT, "q": INT, "d": FLOAT}[x.dtype.char].upper() if hasattr(x, "dtype") else INT


def loaded(loop: Loop, kinds: str) -> Entry:
    """The machine code of a loop: kept by another process, or made now."""
    from ..machine.code import Code, Entry, processor

    key = store.key_of("own loop", loop.__name__, kinds)
    kept = store.load(key)
    if kept is not None:
        try:
            if kept["processor"] == processor():
                return Entry(
                    emitted_from_plain(kept["emitted"], NOWHERE),
                    Code(kept["object"], kept["symbol"], kept["externals"]),
                )
        except (Unsupported, *store.BROKEN):
            pass
        store.forget(key)
    from .compiler import compile_source

    emitted = emitted_source(loop, kinds)
    code = compile_source(emitted)
    store.save(
        key,
        {
            "emitted": emitted.to_plain(NOWHERE),
            "object": code.object,
            "symbol": code.symbol,
            "externals": list(code.externals),
            "processor": processor(),
        },
    )
    return Entry(emitted, code)


# Such a loop is of no program: no place in one is known of it.
NOWHERE: Any = None


def emitted_source(loop: Loop, kinds: str) -> Emitted:
    """A loop as the source of a kernel, all of whose results are integers."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(loop))).body
    assert isinstance(function, ast.FunctionDef)
    names = ["run", *(argument.arg for argument in function.args.args)]
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    _, *body = function.body  # the docstring is for those who read
    last = body[-1]
    assert isinstance(last, ast.Return)
    assert isinstance(last.value, ast.Tuple)
    kernel = ast.FunctionDef("kernel", arguments, body, [], None)
    text = ast.unparse(ast.fix_missing_locations(kernel))
    return Emitted(text, kinds, [INT] * len(last.value.elts), 0)


__all__ = ["quickly"]
