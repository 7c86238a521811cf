"""The library that is written in the language (program/library.py), as programs use it."""

from __future__ import annotations

import time
from copy import copy
from functools import cache
from zlib import crc32

from ..core.errors import failure
from ..core.operands import bare
from ..core.state import NOWHERE, STATE
from ..core.tensor import Tensor, shape_of
from ..kinds.access import hashable
from ..kinds.classes import Class, Instance, Property, Unbound
from ..kinds.functions import Derived, Function, Method, invoke
from ..ops.random import drawn
from ..ops.structure import as_dtype
from ..program import core as c
from ..program.loops import nodes
from ..program.lower import library_core
from .structure import flatten, rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .compile import Compiler

    Run = Callable[[list[Any]], Any]

MOST_MASKS = 256
GRADIENTS = ("gradients", "hessians")
# Files whose variables a program changes: what it saves, the names of its layers, and the state of the global generator.
OF_ONE_RUN = ("internal.naming", "internal.saving", "random", "train")


def library_name(compiler: Compiler, node: c.LibraryName) -> Run:
    def run(f: list[Any]) -> Any:
        found = member(compiler, node.file, node.name)
        return WithDefaultDtypes(found) if node.default_dtypes and found.__class__ is Function else found

    return run


class WithDefaultDtypes:
    """A function of a value kind as `tf.` has it: what it makes of bare numbers has TensorFlow's default dtypes."""

    __slots__ = ("function",)
    description = "a function"

    def __init__(self, function: Any) -> None:
        self.function = function

    @property
    def name(self) -> str:
        return str(self.function.name)

    def call(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        return with_default_dtypes(invoke(self.function, args, keywords), dtypes_of([*args, *keywords.values()]))


def dtypes_of(given: Iterable[Any]) -> set[Any]:
    """The dtypes of the arrays among arguments."""
    return {x.dtype for x in given if x.__class__ is Tensor and x.ndim}


def with_default_dtypes(x: Any, given: set[Any]) -> Any:
    """A result with TensorFlow's defaults in the place of weak dtypes, but of those that arrays were given in."""
    from ..ops.support import with_default_dtype

    if x.__class__ in (list, tuple):
        return x.__class__([with_default_dtypes(item, given) for item in x])
    leaves = x.leaves() if hasattr(x, "leaves") else []
    if any(leaf.__class__ is Tensor and leaf.dtype.weak for leaf in leaves):
        return x.with_leaves([with_default_dtypes(leaf, given) for leaf in leaves])
    return with_default_dtype(x) if x.__class__ is Tensor and x.dtype not in given else x


def member(compiler: Compiler, file: str, name: str) -> Any:
    """What a file of the library defines."""
    frame = compiler.libraries.get(file) or load(compiler, file)
    return frame[slot_of(file, name)]


@cache
def slot_of(file: str, name: str) -> int:
    return library_core(file).slot_names.index(name)


def load(compiler: Compiler, file: str) -> list[Any]:
    """The frame of a file of the library, which is run once for a program, or for each run of it (OF_ONE_RUN)."""
    core = library_core(file)
    frame = compiler.frame({}, core)
    site, STATE.site = STATE.site, NOWHERE
    try:
        compiler.block(core.body)(frame)
    finally:
        STATE.site = site
    compiler.libraries[file] = frame
    return frame


# --- what the files of the library call as `internal.name` ------------------------------------------------------------


def arguments(x: Any) -> dict[str, Any]:
    """What an instance was made with, by the names of the parameters, with their defaults; a name that is None is none."""
    args, keywords = x.given
    made = function_of(x.cls.lookup("__init__"))
    names = parameters(made)[1:]
    starts = zip(names, getattr(made, "defaults", ())[1:])
    found = {name: start for name, start in starts if start is not c.UNSET and (name != "name" or start)}
    given = {**found, **dict(zip(names, args)), **keywords}
    return {name: given[name] for name in [*names, *keywords] if name in given}


def leaves(x: Any) -> list[Any]:
    """What a structure of lists, tuples and dicts holds; nothing of other attributes."""
    if x.__class__ in (list, tuple):
        return [leaf for item in x for leaf in leaves(item)]
    if x.__class__ is dict:
        return [leaf for item in x.values() for leaf in leaves(item)]
    return [x] if hasattr(x, "snapshot") or x.__class__ is Instance else []


def takes_gradients(x: Any) -> bool:
    """Whether a function of the program names `tf.gradients`."""
    named = (c.LibraryName,)
    return x.__class__ is Function and any(isinstance(n, named) and n.name in GRADIENTS for n in nodes(x.code))


def function_of(x: Any) -> Any:
    return x.function if x.__class__ is Method else x


def name_of(x: Any) -> str:
    """The name of a function or class."""
    return str(getattr(function_of(x), "name", "function"))


def parameters(x: Any) -> list[str]:
    """The names of a function's parameters."""
    code = getattr(function_of(x), "code", None)
    return [] if code is None else list(code.parameters)


def suggestion(name: str, names: dict[str, Any]) -> str | None:
    """The one of the names that a misspelt one may have been."""
    from ...parser.suggest import suggest

    found = suggest(name, names)
    return found[0] if found else None


def pass_over(message: str) -> None:
    """Say what a call does not do: nothing here draws or writes files."""
    if all(notice.message != message for notice in STATE.notices):
        STATE.notify("N0806", message)


def copied(x: Any, made: dict[int, Any] | None = None) -> Any:
    """A copy of an instance, with the instances and Variables that it holds, each of them once."""
    made = {} if made is None else made
    found: Any = made.get(id(x))
    if found is not None:
        return found
    if x.__class__ in (list, tuple):
        return x.__class__(copied(item, made) for item in x)
    if x.__class__ is dict:
        return {copied(key, made): copied(item, made) for key, item in x.items()}
    if x.__class__ is Method:
        return Method(x.function, copied(x.first, made))
    if hasattr(x, "snapshot") or x.__class__ is Instance:
        found = made[id(x)] = copy(x)
        if x.__class__ is Instance:
            found.fields = {name: copied(item, made) for name, item in x.fields.items()}
        return found
    return x


def with_members(cls: Class, members: dict[str, Any]) -> Class:
    """A class with the methods that it does not define itself."""
    cls.members.update({name: member for name, member in members.items() if name not in cls.members})
    return cls


def fields(cls: Class) -> list[str]:
    """The names with annotations in a class and its bases, those of the bases first."""
    return list(dict.fromkeys(name for base in cls.lineage[::-1] for name in base.members.get("_annotated", ())))


def constants(cls: Class) -> dict[str, Any]:
    """What a class itself assigns to public names that are no functions."""
    kinds = (Function, Derived, Property, Unbound, Class)
    return {name: x for name, x in cls.members.items() if name[0] != "_" and x.__class__ not in kinds}


def hash_of(x: Any) -> int:
    """Python's hash of what can be a key, but the same in every run for strings, None and nan."""
    x = hashable(x)
    if x.__class__ is tuple:
        return hash(tuple(map(hash_of, x)))
    if x.__class__ is str:
        return crc32(x.encode("utf-8", "surrogatepass"))
    return 0 if x is None or x != x else hash(x)


def set_field(x: Any, name: str, value: Any) -> None:
    """Set an attribute of an instance, even of a frozen one, or of a function."""
    if x.__class__ is Function:
        x.set_attribute(name, value)
    else:
        x.fields[name] = value


def set_mask(x: Any, mask: Any) -> None:
    """Keep the mask of a tensor of which it has the first sizes; of the last tensors alone."""
    if x.__class__ in (list, tuple):
        for item, own in zip(x, mask):
            set_mask(item, own)
    elif mask is not None and shape_of(x)[: len(shape_of(mask))] == shape_of(mask):
        STATE.masks[id(x)] = x, mask
        if len(STATE.masks) > MOST_MASKS:
            del STATE.masks[next(iter(STATE.masks))]


def mask_of(x: Any) -> Any:
    """The mask of a tensor, or those of a list; None where there is none."""
    if x.__class__ in (list, tuple):
        found = [mask_of(item) for item in x]
        return found if any(mask is not None for mask in found) else None
    return STATE.masks.get(id(x), (None, None))[1]


def progress(message: str) -> None:
    """Show how far a long call is, where somebody watches."""
    if STATE.progress is not None:
        STATE.progress(message)


def date_text(seconds: Any, form: Any) -> str:
    """A moment as text, in strftime's form."""
    from datetime import datetime

    try:
        return datetime.fromtimestamp(float(bare(seconds))).strftime(str(form))
    except (OverflowError, OSError, ValueError) as fault:
        raise failure(
            "E0304", f"no date is {seconds} seconds from 1970", "dates are those of the years 1 to 9999"
        ) from fault


FUNCTIONS: dict[str, Any] = {
    **{
        "internal." + function.__name__: function
        for function in (
            arguments, flatten, rebuild, leaves, name_of, parameters, suggestion, pass_over, copied, with_members,
            fields, constants, hash_of, set_field, set_mask, mask_of, progress, date_text, drawn, takes_gradients,
        )
    },
    "internal.attributes": lambda x: dict(x.fields),  # in the order in which they were assigned
    "internal.is_class": lambda x: x.__class__ is Class,
    "internal.is_instance": lambda x: x.__class__ is Instance,
    "internal.instance_of": lambda cls: Instance(cls),  # without a call of `__init__`
    "internal.of_library": lambda x: x.__class__ is Function and x.library,
    "internal.derives": lambda cls, *others: any(map(cls.derives_from, others)),
    "internal.freeze": lambda cls: setattr(cls, "frozen", True),
    "internal.distinct": lambda items: list({id(x): x for x in items}.values()),
    # The items of a set in Python's order where that is one of the items alone: of integers.
    "internal.set_order": lambda items: list(set(items) if all(x.__class__ is int for x in items) else items),
    # What `tf.` makes of bare floats has this dtype until the program ends.
    "internal.set_float": lambda dtype: setattr(STATE, "tensorflow_float", as_dtype(dtype)),
    "internal.clock": lambda: time.time(),
    "internal.perf_counter": lambda: time.perf_counter(),
}  # fmt: skip
