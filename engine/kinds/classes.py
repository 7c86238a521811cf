"""Classes of the program and their instances.

What they hold is in dicts of their own, under the program's names: no attribute of a Python object is looked up by one.
"""

from __future__ import annotations

from functools import partial

from ...parser.errors import AdiffError
from ...parser.fields import Record
from ..core.dispatch import apply
from ..core.errors import failure
from ..core.operands import describe
from ..core.tensor import OPERATORS
from ..core.wording import has_no_attribute
from ..ops.registry import OPERATOR_METHODS, PREFIX_METHODS, PREFIX_ROWS
from .access import iterate
from .functions import Derived, Function, Method, invoke
from .kind import Compound
from .operators import equal, truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

ABSENT: Any = type("Absent", (), {})()


class Class:
    """A class: its own members by name, and the classes that have the others.

    `lineage` is itself and all its bases, in the order in which members are looked up. `codes` are the codes of errors
    that an exception stands for; None for a class that is no exception.
    """

    __slots__ = ("codes", "frozen", "library", "lineage", "members", "name", "type")
    identity = True

    def __init__(
        self, name: str, bases: Sequence[Class], members: dict[str, Any], codes: frozenset[str] | None = None,
        library: bool = False,
    ) -> None:  # fmt: skip
        self.name = name
        self.library = library
        self.frozen: bool = any(base.frozen for base in bases)  # whether the attributes of instances stay as they are
        self.members = members
        try:  # Python knows the order in which the members of such bases are looked up
            self.type: Any = type("", tuple([base.type for base in bases]), {"stands_for": self})
        except TypeError:
            raise failure("E0304", f"the bases of {name} are in an order that contradicts their own bases") from None
        self.lineage: list[Class] = [vars(cls)["stands_for"] for cls in self.type.__mro__[:-1]]
        self.codes: frozenset[str] | None = codes
        if codes is None and any(base.codes is not None for base in bases):
            self.codes = frozenset()

    @property
    def description(self) -> str:
        return f"the class {self.name}"

    def lookup(self, name: str, after: Class | None = None) -> Any:
        """A member by name, in the lineage or that part of it behind a class; or ABSENT."""
        for cls in self.lineage if after is None else self.lineage[self.lineage.index(after) + 1 :]:
            if name in cls.members:
                return cls.members[name]
        return ABSENT

    def derives_from(self, other: Class) -> bool:
        return other in self.lineage

    def call(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        if self.lookup("_class_call") is not ABSENT:
            return self.of_enum("_class_call", "be called", *args)
        made = Instance(self)
        made.given = (args, keywords)
        if self.codes is not None:
            made.fields["args"] = tuple(args)
        start = self.lookup("__init__")
        if start is not ABSENT:
            invoke(start, [made, *args], keywords)
        elif args or keywords:
            raise failure("E0305", f"{self.name} takes no arguments", "its method __init__(self, ...) would take them")
        return made

    def get_attribute(self, name: str) -> Any:
        if name == "__name__":
            return self.name
        found = self.lookup(name)
        if found is ABSENT:
            raise no_attribute(self.description, name, self, ())
        return member(found, self)

    def set_attribute(self, name: str, value: Any) -> None:
        if self.library:
            raise failure(
                "E0304", f"the attribute '{name}' of {self.description} cannot be assigned",
                f"assign it on a class of your own: class Mine({self.name}): ...",
            )  # fmt: skip
        self.members[name] = value

    def of_enum(self, name: str, what: str, *args: Any) -> Any:
        """What an Enum's class does as a value: the method `name` of the class."""
        found = self.lookup(name)
        if found is ABSENT:
            raise failure(
                "E0304", f"{self.description} cannot {what}", "an instance of it may: write its arguments in ()"
            )
        return invoke(found, [self, *args], {})

    def iterate(self) -> Iterator[Any]:
        return iter(self.of_enum("_class_iterate", "be iterated over"))

    def length(self) -> int:
        return len(self.of_enum("_class_iterate", "have a length"))

    def contains(self, x: Any) -> bool:
        return any(item is x for item in self.iterate())

    def get_item(self, index: Any) -> Any:
        return self.of_enum("_class_item", "be indexed", index)

    def text(self, show: Callable[[Any], str]) -> str:
        return f"<class '{self.name}'>"


class Instance(Compound):
    """An instance of a class, with its attributes as `fields`. `error` is what an exception was raised as.

    `given` are the arguments of the call that made it.
    """

    __slots__ = ("cls", "error", "fields", "given")

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.fields: dict[str, Any] = {}
        self.error: Any = None
        self.given: tuple[list[Any], dict[str, Any]] = ([], {})

    @property
    def description(self) -> str:  # type: ignore[override]
        name = self.cls.name
        if "_description" in self.cls.members:
            return str(self.cls.members["_description"])
        return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}" if self.cls.library else f"an instance of {name}"

    @property
    def dense(self) -> Callable[[], Any] | None:
        """What makes the tensor that an object of the library is in operations (IndexedSlices); None of any other object."""
        return partial(self.call_method, "_dense", [], {}) if self.cls.library and self.has("_dense") else None

    # --- as a key of a dict ------------------------------------------------------------------------------------------

    @property
    def identity(self) -> bool:
        """Whether it may be a key: as in Python, one that is compared by `__eq__` needs a `__hash__`."""
        return self.has("__hash__") or not self.has("__eq__")

    def __hash__(self) -> int:
        if not self.has("__hash__"):
            return id(self)
        return hash(self.checked("__hash__", int, "an integer"))

    def __eq__(self, other: object) -> bool:
        if self is other or other.__class__ is not Instance or not (self.has("__hash__") and self.has("__eq__")):
            return self is other
        return truth(self.call_method("__eq__", [other], {}))

    # --- attributes and calls ----------------------------------------------------------------------------------------

    def get_attribute(self, name: str) -> Any:
        found = self.cls.lookup(name)
        if name in self.fields and found.__class__ is not Property:
            return self.fields[name]
        if found is ABSENT:
            raise no_attribute(self.description, name, self.cls, self.fields)
        return member(found, self)

    def set_attribute(self, name: str, value: Any) -> None:
        self.changes(name)
        found = self.cls.lookup(name)
        if found.__class__ is not Property:
            self.fields[name] = value
        elif found.write is None:
            raise failure(
                "E0304", f"the property '{name}' of {self.cls.name} cannot be assigned",
                f"a second function with @{name}.setter would take the value",
            )  # fmt: skip
        else:
            invoke(found.write, [self, value], {})

    def changes(self, name: str) -> None:
        if self.cls.frozen:
            raise failure(
                "E0414", f"the class {self.cls.name} is frozen: '{name}' cannot be assigned",
                "dataclasses.replace(x, name=value) makes a changed copy",
            )  # fmt: skip

    def delete_attribute(self, name: str) -> None:
        self.changes(name)
        if name not in self.fields:
            raise no_attribute(self.description, name, self.cls, self.fields)
        del self.fields[name]

    def call_method(self, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
        found = self.cls.lookup(name)
        if found.__class__ is Function and name not in self.fields:
            return invoke(found, [self, *args], keywords)
        return invoke(self.get_attribute(name), args, keywords)

    def required(self, name: str, lack: str, args: list[Any], keywords: dict[str, Any] | None = None) -> Any:
        """What a method gives that an operation of the language needs; an error with the words `lack` where there is none."""
        if not self.has(name):
            hint = None if self.cls.library else f"its class has no method {name}"
            raise failure("E0304", f"{self.description} {lack}", hint)
        return self.call_method(name, args, keywords or {})

    def checked(self, name: str, kind: Any, what: str, lack: str = "") -> Any:
        """What a method gives that must give a value of a kind."""
        found: Any = self.required(name, lack, [])
        if found.__class__ is not kind or (name == "__len__" and found < 0):
            raise failure("E0304", f"{name} of {self.cls.name} gives {describe(found)}, and must give {what}")
        return found

    def has(self, name: str) -> bool:
        return self.cls.lookup(name) is not ABSENT

    def call(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        """Its `__call__`, or Keras' `call`."""
        name = "__call__" if self.has("__call__") or not self.has("call") else "call"
        return self.required(name, "cannot be called", args, keywords)

    # --- what the language asks of values ----------------------------------------------------------------------------

    def text(self, show: Callable[[Any], str]) -> str:
        if self.has("__repr__"):
            return str(self.checked("__repr__", str, "a string"))
        return f"<{self.cls.name}>"

    def shown(self) -> str:
        """What print shows."""
        return self.checked("__str__", str, "a string") if self.has("__str__") else self.text(str)

    def as_result(self) -> Any:
        """What stands for it in a result, while its program still runs: what its `_result` gives, or its text."""
        return self.call_method("_result", [], {}) if self.has("_result") else self.text(str)

    def length(self) -> int:
        return int(self.checked("__len__", int, "a count", "has no length"))

    def get_item(self, index: Any) -> Any:
        return self.required("__getitem__", "has no items", [index])

    def set_item(self, index: Any, value: Any) -> Instance:
        self.required("__setitem__", "has no items that can be assigned", [index, value])
        return self

    def iterate(self) -> Iterator[Any]:
        if self.has("__next__"):
            return self.following()
        if self.has("__getitem__") and self.has("__len__") and not self.has("__iter__"):
            return map(self.get_item, range(self.length()))
        return iterate(self.required("__iter__", "cannot be iterated over", []))

    def following(self) -> Iterator[Any]:
        """What `__next__` gives until it raises StopIteration."""
        from .exceptions import EXCEPTIONS, caught

        while True:
            try:
                item = self.call_method("__next__", [], {})
            except AdiffError as error:
                if caught(error, EXCEPTIONS["StopIteration"]) is None:
                    raise
                return
            yield item

    def contains(self, x: Any) -> bool:
        if self.has("__contains__"):
            return truth(self.call_method("__contains__", [x], {}))
        return any(item is x or equal(item, x) for item in self.iterate())

    def __bool__(self) -> bool:
        if self.has("__bool__"):
            return truth(self.call_method("__bool__", [], {}))
        return not self.has("__len__") or self.length() > 0

    def __enter__(self) -> Any:
        return self.call_method("__enter__", [], {})

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        from .exceptions import caught, handled

        exception = caught(error, None) if isinstance(error, AdiffError) and handled(error) else None
        given = [None if exception is None else exception.cls, exception, None]
        return truth(self.call_method("__exit__", given, {})) and exception is not None

    def operate(self, op: Any, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """An operator by the method of that name, of the operand on the left or of that on the right."""
        if op is OPERATORS.not_equal and self.has("__eq__"):
            return not truth(self.operate(OPERATORS.equal, inputs, attributes))
        prefix = (PREFIX_METHODS.get(op.symbol, ""), "")
        names = prefix if op in PREFIX_ROWS.values() else OPERATOR_METHODS.get(op.symbol, ())
        operands = list(inputs)
        for name, x in zip(names, operands):
            if x.__class__ is Instance and x.has(name):
                return x.call_method(name, [y for y in operands if y is not x] or operands[1:], {})
        if op.symbol in ("==", "!="):
            return (operands[0] is operands[1]) == (op.symbol == "==")
        if self.has("_operation"):  # of Keras' symbolic tensors: any row is a layer

            def row(args: list[Any], keywords: dict[str, Any]) -> Any:
                run = op.function
                return apply(op, tuple(args), attributes) if run is None else run(*args, **attributes or {})

            return self.call_method("_operation", [Derived(op.name, row), *operands], {})
        lack = names[0 if operands[0] is self else 1] if names and not self.cls.library else ""
        hint = f"its class has no method {lack}" if lack else None
        raise failure("E0304", f"{op.name} does not take {self.description}", hint)


class Property(Record):
    """`@property`: functions that read and write an attribute; None where it cannot be written."""

    read: Any
    write: Any
    description = "a property"

    def method_setter(self, write: Any) -> Property:
        return Property(self.read, write)


class Unbound(Record):
    """`@staticmethod` and `@classmethod`."""

    function: Any
    takes_class: bool
    description = "a method"


class Super(Record):
    """`super()`: the methods of the bases of a class, for an instance of it or for a class derived from it."""

    cls: Class
    first: Any
    description = "super()"

    def get_attribute(self, name: str) -> Any:
        own = self.first if self.first.__class__ is Class else self.first.cls
        found = own.lookup(name, self.cls)
        if found is ABSENT:
            if name == "__init__":  # of Python's object, which does nothing
                return Derived(name, lambda args, keywords: None)
            raise no_attribute(f"the base of {self.cls.name}", name, own, ())
        return member(found, self.first)


def member(found: Any, owner: Class | Instance) -> Any:
    """A member of a class as it is read off the class or off an instance."""
    cls = owner if owner.__class__ is Class else owner.cls  # type: ignore[union-attr]
    if found.__class__ is Unbound:
        return Method(found.function, cls) if found.takes_class else found.function
    if owner is not cls and found.__class__ is Property:
        return invoke(found.read, [owner], {})
    return Method(found, owner) if owner is not cls and found.__class__ in (Function, Derived) else found


def no_attribute(what: str, name: str, cls: Class, fields: Iterable[str]) -> Exception:
    known = [*fields, *(found for c in cls.lineage for found in c.members)]
    return has_no_attribute(what, name, [found for found in known if not found.startswith("__")])


def super_(cls: Any, first: Any) -> Super:
    if cls.__class__ is not Class:
        raise failure("E0304", f"super needs a class, and got {describe(cls)}", "write super() inside a method")
    own = first.cls if first.__class__ is Instance else first
    if own.__class__ is not Class or not own.derives_from(cls):
        raise failure("E0304", f"super needs an instance of {cls.name}, and got {describe(first)}")
    return Super(cls, first)


FUNCTIONS: dict[str, Any] = {
    "super": super_, "property": lambda read: Property(read, None),
    "staticmethod": lambda function: Unbound(function, False), "classmethod": lambda function: Unbound(function, True),
}  # fmt: skip
