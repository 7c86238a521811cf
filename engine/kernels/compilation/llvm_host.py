"""What a kernel asks of its host, in LLVM's intermediate representation: memory, and whether to go on (compiler.py)."""

from __future__ import annotations

from ..ir import BOOL, FLOAT, INT, WIDTHS
from ..machine.code import RESIZE
from ..machine.record import (
    CAPACITY,
    FAILED,
    FIRST_SLOT,
    LEFT,
    NEEDED,
    NO_MEMORY,
    SLOT_WORDS,
    STOP,
    STOPPED,
    WHERE,
    WHY,
)
from .llvm_writer import FLOATS, STORED, UNLIKELY, Untranslatable, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .llvm_writer import Writer

# The record shared with the host is memory apart (llvm_module.py has the tags).
OF_RUN = ", align 8, !tbaa !4"


def field(place: int | str) -> str:
    """The address of a word of the record."""
    return f"getelementptr inbounds i64, ptr %run, i64 {place}"


ROOM = f"""
declare ptr @{RESIZE}(ptr, i64)

define internal ptr @grown(ptr %run, i64 %slot, i64 %needed) cold noinline nounwind {{
  %at0 = mul i64 %slot, {SLOT_WORDS}
  %at = add i64 %at0, {FIRST_SLOT}
  %at.capacity = add i64 %at, {CAPACITY}
  %address = {field("%at")}
  %capacity = {field("%at.capacity")}
  %left = {field(LEFT)}
  %had = load i64, ptr %capacity{OF_RUN}
  %had.left = load i64, ptr %left{OF_RUN}
  %more = sub i64 %needed, %had
  %rest = sub i64 %had.left, %more
  %short = icmp slt i64 %rest, 0
  br i1 %short, label %none, label %resize
resize:
  %old = load ptr, ptr %address{OF_RUN}
  %new = call ptr @{RESIZE}(ptr %old, i64 %needed)
  %refused = icmp eq ptr %new, null
  br i1 %refused, label %none, label %made
made:
  store i64 %rest, ptr %left{OF_RUN}
  store ptr %new, ptr %address{OF_RUN}
  store i64 %needed, ptr %capacity{OF_RUN}
  ret ptr %new
none:
  %why = {field(WHY)}
  store i64 {NO_MEMORY}, ptr %why{OF_RUN}
  %where = {field(WHERE)}
  store i64 %slot, ptr %where{OF_RUN}
  %number = {field(NEEDED)}
  store i64 %needed, ptr %number{OF_RUN}
  ret ptr null
}}
"""


def word(w: Writer, place: int) -> str:
    return w.value(INT, field(place))[1]


def room(w: Writer, kind: str, args: list[Value]) -> Value:
    """The memory slot k with room for n elements; out of memory leaves the kernel."""
    slot = int(args[1][1])
    count = w.to(INT, args[2])[1]
    needed = w.value(INT, f"mul i64 {count}, {WIDTHS[kind]}")[1]
    address = word(w, FIRST_SLOT + SLOT_WORDS * slot)
    had = w.value(INT, f"load i64, ptr {word(w, FIRST_SLOT + SLOT_WORDS * slot + CAPACITY)}{OF_RUN}")[1]
    more = w.value(BOOL, f"icmp sgt i64 {needed}, {had}")[1]
    grow, ready = w.fresh("grow"), w.fresh("ready")
    w.choose(more, grow, ready, UNLIKELY)
    w.start(grow)
    w.module.needs_room = True
    grown = w.value(kind, f"call ptr @grown(ptr %run, i64 {slot}, i64 {needed})")[1]
    w.leave_if(w.value(BOOL, f"icmp eq ptr {grown}, null")[1])
    w.start(ready)
    return w.value(kind.upper(), f"load ptr, ptr {address}{OF_RUN}")


def few(w: Writer, kind: str, args: list[Value]) -> Value:
    """A short array of a fixed length on the machine's stack."""
    name = "%" + w.fresh("few")
    w.entry.append(f"  {name} = alloca [{int(args[0][1])} x {STORED[kind]}], align 16")
    return kind.upper(), name


def clear(w: Writer, args: list[Value], tag: str) -> None:
    """n zeros."""
    kind, base = args[0]
    size = w.value(INT, f"mul i64 {w.to(INT, args[1])[1]}, {WIDTHS[kind.lower()]}")[1]
    w.module.declare("void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    w.line(f"call void @llvm.memset.p0.i64(ptr {base}, i8 0, i64 {size}, i1 false){tag}")


def leave(w: Writer, why: int, where: str, number: str) -> None:
    """Say why, and leave."""
    for place, text in ((WHY, str(why)), (WHERE, where), (NEEDED, number)):
        w.line(f"store i64 {text}, ptr {word(w, place)}{OF_RUN}")
    w.raises = True
    w.go("raised")


def poll(w: Writer, args: list[Value]) -> None:
    """Leave here if the run is to stop. The host writes the word while the kernel runs."""
    stop = w.value(INT, f"load volatile i64, ptr {word(w, STOP)}{OF_RUN}")[1]
    told, on = w.fresh("told"), w.fresh("on")
    w.choose(w.value(BOOL, f"icmp ne i64 {stop}, 0")[1], told, on, UNLIKELY)
    w.start(told)
    leave(w, STOPPED, args[1][1], "0")
    w.start(on)


def fail(w: Writer, args: list[Value]) -> None:
    """Leave here: a number is not as it should be."""
    if args[2][0] in FLOATS:
        raise Untranslatable("a failure about a float")
    leave(w, FAILED, args[1][1], w.to(INT, args[2])[1])


HOST_VALUES: dict[str, Callable[[Writer, list[Value]], Value]] = {}
for _kind, _stem in ((None, "floats"), (FLOAT, "doubles"), (INT, "ints"), (BOOL, "bools")):
    HOST_VALUES[_stem] = lambda w, args, kind=_kind: room(w, kind or w.module.floats, args)  # type: ignore[misc]
    HOST_VALUES["few_" + _stem] = lambda w, args, kind=_kind: few(w, kind or w.module.floats, args)  # type: ignore[misc]
HOST_STATEMENTS: dict[str, Callable[[Writer, list[Value]], None]] = {"poll": poll, "fail": fail}
