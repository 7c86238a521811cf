"""The text of one function in LLVM's intermediate representation as it is written: its lines, names and variables.

A value is a pair: its kind and its text. Kinds are those of the IR (`f` float64, `i` int64, `b` bool) and `s` for float32,
their upper case for the address of elements, NONE for None, RUN for the record shared with the host. Every variable has a
place on the stack, which LLVM turns into registers; its kind is the join of all that is assigned to it.

Where a float64 meets a float32 it is rounded to one, as bare numbers are that meet a tensor: so are literals, which are
float64 until they do.
"""

from __future__ import annotations

import math
import struct

from ..ir import BOOL, FLOAT, INT, SINGLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .llvm_module import Module

NONE, RUN = "n", "r"
Value = tuple[str, str]

# What LLVM calls the kinds: in registers, and in memory.
TYPES = {FLOAT: "double", INT: "i64", BOOL: "i1", RUN: "ptr", SINGLE: "float"}
STORED = {FLOAT: "double", INT: "i64", BOOL: "i8", SINGLE: "float"}
ORDER = BOOL + INT + FLOAT + SINGLE
FLOATS = (FLOAT, SINGLE)
# A branch that is not expected to be taken.
UNLIKELY = ", !prof !2"


class Untranslatable(Exception):
    """Source outside the subset of Python that kernels are emitted in: a fault of adiff's own."""


class Widened(Exception):
    """A variable turned out to be of a wider kind than it was taken for: the function is to be written again."""


def type_of(kind: str) -> str:
    """What LLVM calls a kind in a register."""
    return "ptr" if kind.isupper() else TYPES[kind]


def float_text(x: float) -> str:
    """A float64 literal, by its bits."""
    return "0x" + struct.pack(">d", x).hex().upper()


def single_text(text: str) -> str:
    """A float64 literal as one of float32, which LLVM writes by the bits of the float64 that it equals."""
    (x,) = struct.unpack(">d", bytes.fromhex(text[2:]))
    return float_text(rounded(x))


def rounded(x: float) -> float:
    """The float32 that is nearest to a number."""
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def joined(a: str, b: str) -> str:
    """The kind that two kinds have in common: bool, int, float64, float32."""
    if a == b:
        return a
    if a in ORDER and b in ORDER:
        return max(a, b, key=ORDER.index)
    raise Untranslatable(f"values of the kinds {a} and {b} in one place")


class Writer:
    """Writes the body of one function. `known` holds the kinds of variables that were found too narrow before."""

    def __init__(self, module: Module, known: dict[str, str], kernel: bool = False) -> None:
        self.module = module
        # Whether this is the kernel itself, in which a float is what the kernel computes in.
        self.kernel = kernel
        self.known = known
        self.entry: list[str] = []  # places of variables, at the function's start
        self.lines: list[str] = []
        self.kinds: dict[str, str] = {}
        self.names = 0
        self.label = "entry"
        # Whether the line before is one that another can follow.
        self.open = True
        self.loops: list[tuple[str, str]] = []  # where `break` and `continue` go
        self.raises = False
        # Whether what is written is the body of a loop that LLVM may put on vectors, exponentials and all; and where it is
        # noted that an angle was too far for that.
        self.on_vectors = False
        self.far = ""
        # Sums that may be added up in any order.
        self.unordered: frozenset[str] = frozenset()

    def fresh(self, stem: str = "t") -> str:
        self.names += 1
        return f"{stem}.{self.names}"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def value(self, kind: str, text: str) -> Value:
        """The value of an instruction."""
        name = "%" + self.fresh()
        self.lines.append(f"  {name} = {text}")
        return kind, name

    # --- control ----------------------------------------------------------------------------------------------------

    def start(self, label: str) -> None:
        """What follows stands at a label; what stood before goes on there."""
        if self.open:
            self.line(f"br label %{label}")
        self.lines.append(f"{label}:")
        self.label = label
        self.open = True

    def go(self, label: str, note: str = "") -> None:
        if self.open:
            self.line(f"br label %{label}{note}")
        self.open = False

    def choose(self, condition: str, yes: str, no: str, note: str = "") -> None:
        self.line(f"br i1 {condition}, label %{yes}, label %{no}{note}")
        self.open = False

    def leave_if(self, condition: str) -> None:
        """Leave the function, as `raise` does, where a condition holds."""
        self.raises = True
        on = self.fresh("on")
        self.choose(condition, "raised", on, UNLIKELY)
        self.start(on)

    # --- variables --------------------------------------------------------------------------------------------------

    def place(self, kind: str, stem: str = "place") -> str:
        """Room for a value of a kind."""
        name = "%" + self.fresh(stem)
        self.entry.append(f"  {name} = alloca {type_of(kind)}")
        return name

    def assign(self, name: str, value: Value) -> None:
        """A variable becomes a value. Raises Widened where its kind so far is too narrow."""
        if self.kernel and self.module.floats == SINGLE:
            value = self.narrowed(name, value)
        kind = self.kinds.get(name)
        if kind is None:
            kind = self.kinds[name] = self.known.get(name) or value[0]
            self.entry.append(f"  %v.{name} = alloca {type_of(kind)}")
        if joined(kind, value[0]) != kind:
            self.known[name] = joined(kind, value[0])
            raise Widened
        kind, text = self.to(kind, value)
        self.line(f"store {type_of(kind)} {text}, ptr %v.{name}")

    def narrowed(self, name: str, value: Value) -> Value:
        """A value for a variable of a kernel that computes in float32."""
        if name in self.module.sums:
            return self.to(FLOAT, value)
        return self.to(SINGLE, value) if value[0] == FLOAT and name not in self.module.doubles else value

    def read(self, name: str) -> Value:
        """A variable's value."""
        found = self.held(name)
        return self.to(SINGLE, found) if self.kernel and name in self.module.sums else found

    def held(self, name: str) -> Value:
        """A variable's value as it is kept: of a sum, more digits than it has for others."""
        kind = self.kinds[name]
        if kind in (NONE, RUN):
            return kind, "%run" if kind == RUN else ""
        return self.value(kind, f"load {type_of(kind)}, ptr %v.{name}")

    @property
    def conversion(self) -> str:
        """What `float` makes of an integer."""
        return self.module.conversion if self.kernel else FLOAT

    # --- kinds ------------------------------------------------------------------------------------------------------

    def to(self, kind: str, value: Value) -> Value:
        """A value as one of a wider kind."""
        own, text = value
        if own == kind:
            return value
        if kind == INT and own == BOOL:
            if text in ("true", "false"):
                return INT, str(int(text == "true"))
            return self.value(INT, f"zext i1 {text} to i64")
        if kind == SINGLE and own in TYPES and text.startswith("0x"):
            return SINGLE, single_text(text)
        if kind == SINGLE and own == FLOAT:
            return self.value(SINGLE, f"fptrunc double {text} to float")
        if kind == FLOAT and own == SINGLE:
            return FLOAT, text if text.startswith("0x") else self.value(FLOAT, f"fpext float {text} to double")[1]
        if kind in FLOATS and own == INT:
            if text.lstrip("-").isdigit():
                return self.to(kind, (FLOAT, float_text(float(int(text)))))
            return self.value(kind, f"sitofp i64 {text} to {TYPES[kind]}")
        if kind in FLOATS and own == BOOL:
            if text in ("true", "false"):
                return kind, float_text(float(text == "true"))
            return self.value(kind, f"uitofp i1 {text} to {TYPES[kind]}")
        raise Untranslatable(f"a value of the kind {own} for one of the kind {kind}")

    def alike(self, a: Value, b: Value, least: str = BOOL) -> tuple[str, str, str]:
        """Two values as one kind, at least as wide as `least`: the kind, and both texts."""
        kind = joined(joined(a[0], b[0]), least)
        return kind, self.to(kind, a)[1], self.to(kind, b)[1]

    def truth(self, value: Value) -> str:
        """Whether a number is not zero, as an i1."""
        kind, text = value
        if kind == BOOL:
            return text
        if kind == INT:
            return self.value(BOOL, f"icmp ne i64 {text}, 0")[1]
        if kind in FLOATS:
            return self.value(BOOL, f"fcmp une {TYPES[kind]} {text}, 0.0")[1]
        raise Untranslatable(f"a condition of the kind {kind}")
