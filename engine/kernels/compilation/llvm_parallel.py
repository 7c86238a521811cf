"""Loops that threads share (passes/parallel_loops.py), in LLVM's intermediate representation.

The iterations `for i in prange(n)` are cut into blocks, the body becomes a function of its own that takes one block after
the other until none is left, and several threads run it: those that the system makes for the while, and the kernel's own.
How the blocks are cut depends on n alone, each has its sums to itself, and they are added in order, so that every
number of threads gives the same to the last bit.
"""

from __future__ import annotations

import ast

from ..ir import BOOL, FLOAT, INT
from ..machine.record import THREADS
from .llvm_host import OF_RUN, field, poll
from .llvm_writer import NONE, RUN, Untranslatable, Widened, Writer, type_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Blocks are this long at least, and this many at most.
LEAST_BLOCK = 4096
MOST_BLOCKS = 256
MOST_HELPERS = 63
# Where a block begins and ends, and sums from which nothing is lost: no names in the source are these.
FIRST, LAST = "block.first", "block.last"
NOTHING = {FLOAT: "-0.0", INT: "0"}

# Runs a function on the caller's thread and on as many others as the system gives, up to the number of helpers.
TOGETHER = f"""
declare i32 @pthread_create(ptr, ptr, ptr, ptr) nounwind
declare i32 @pthread_join(i64, ptr) nounwind

define internal void @together(ptr %part, ptr %shared, i64 %helpers) noinline nounwind {{
entry:
  %threads = alloca [{MOST_HELPERS} x i64]
  %some = icmp sgt i64 %helpers, 0
  br i1 %some, label %create, label %own
create:
  %k = phi i64 [ 0, %entry ], [ %next, %created ]
  %place = getelementptr inbounds i64, ptr %threads, i64 %k
  %status = call i32 @pthread_create(ptr %place, ptr null, ptr %part, ptr %shared)
  %refused = icmp ne i32 %status, 0
  br i1 %refused, label %own, label %created
created:
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %helpers
  br i1 %more, label %create, label %own, !llvm.loop !12
own:
  %made = phi i64 [ 0, %entry ], [ %k, %create ], [ %next, %created ]
  call ptr %part(ptr %shared)
  br label %join
join:
  %j = phi i64 [ 0, %own ], [ %following, %wait ]
  %waiting = icmp slt i64 %j, %made
  br i1 %waiting, label %wait, label %done
wait:
  %at = getelementptr inbounds i64, ptr %threads, i64 %j
  %thread = load i64, ptr %at
  call i32 @pthread_join(i64 %thread, ptr null)
  %following = add i64 %j, 1
  br label %join, !llvm.loop !12
done:
  ret void
}}
"""


def shared(w: Writer, node: Any, loop: Callable[[Writer, Any], None]) -> None:
    """A shared loop; `loop` translates an ordinary one."""
    (length,) = node.iter.args
    if not isinstance(length, ast.Constant) or not isinstance(node.target, ast.Name):
        raise Untranslatable(ast.dump(node))
    count: Any = length.value
    read, written = names_in(node.body)
    written.discard(node.target.id)
    captured = [name for name in sorted(read | written) if w.kinds.get(name, NONE) not in (NONE, RUN)]
    sums = [name for name in captured if name in written]
    if any(w.kinds[name] not in NOTHING for name in sums):
        raise Untranslatable(ast.dump(node))
    size = max(LEAST_BLOCK, -(-count // MOST_BLOCKS))
    blocks = -(-count // size)
    given = [name for name in captured if name not in written]
    # The record, the number of the next block, whether a thread has left, the blocks' sums, and what the body reads.
    layout = f"{{ {', '.join(['ptr', 'i64', 'i64', 'ptr', *(type_of(w.kinds[name]) for name in given)])} }}"
    part = Part(w, node, loop, layout, given, sums, size)

    w.module.shares = True
    record, partial = w.place(FLOAT, "shared"), w.place(FLOAT, "sums")
    w.entry[-2:] = [f"  {record} = alloca {layout}", f"  {partial} = alloca [{max(1, blocks * len(sums))} x i64]"]
    values = [("ptr", "%run"), ("i64", "0"), ("i64", "0"), ("ptr", partial)]
    values += [(type_of(w.kinds[name]), w.held(name)[1]) for name in given]
    for k, (kind, value) in enumerate(values):
        w.line(f"store {kind} {value}, ptr {member(w, layout, record, k)}")
    threads = w.value(INT, f"load i64, ptr {w.value(INT, field(THREADS))[1]}{OF_RUN}")[1]
    w.module.declare("i64 @llvm.smin.i64(i64, i64)")
    most = min(blocks, MOST_HELPERS + 1)
    threads = w.value(INT, f"call i64 @llvm.smin.i64(i64 {threads}, i64 {most})")[1]
    helpers = w.value(INT, f"sub i64 {threads}, 1")[1]
    w.line(f"call void @together(ptr @{part.symbol}, ptr {record}, i64 {helpers})")
    left = w.value(INT, f"load i64, ptr {member(w, layout, record, LEFT)}")[1]
    w.leave_if(w.value(BOOL, f"icmp ne i64 {left}, 0")[1])
    if sums:
        add_up(w, sums, partial, blocks)


RECORD, NEXT, LEFT, SUMS, GIVEN = range(5)


def member(w: Writer, layout: str, record: str, k: int) -> str:
    """The address of what stands at a place of what threads share."""
    return w.value(INT, f"getelementptr inbounds {layout}, ptr {record}, i64 0, i32 {k}")[1]


def add_up(w: Writer, sums: list[str], partial: str, blocks: int) -> None:
    """The sums of all blocks, added to their variables in order."""
    counter = w.place(INT, "counter")
    head, body, after = (w.fresh(stem) for stem in ("sum", "body", "after"))
    w.line(f"store i64 0, ptr {counter}")
    w.start(head)
    number = w.value(INT, f"load i64, ptr {counter}")[1]
    w.choose(w.value(BOOL, f"icmp slt i64 {number}, {blocks}")[1], body, after)
    w.start(body)
    first = w.value(INT, f"mul nsw i64 {number}, {len(sums)}")[1]
    for k, name in enumerate(sums):
        kind = w.kinds[name]
        at = w.value(INT, f"add nsw i64 {first}, {k}")[1]
        at = w.value(INT, f"getelementptr inbounds i64, ptr {partial}, i64 {at}")[1]
        value = w.value(kind, f"load {type_of(kind)}, ptr {at}")[1]
        add = "fadd double" if kind == FLOAT else "add i64"
        w.assign(name, w.value(kind, f"{add} {w.held(name)[1]}, {value}"))
    w.line(f"store i64 {w.value(INT, f'add nsw i64 {number}, 1')[1]}, ptr {counter}")
    w.go(head, ", !llvm.loop !12")
    w.start(after)


class Part:
    """The function that threads run: `ptr part(ptr shared)`."""

    def __init__(
        self, w: Writer, node: Any, loop: Callable[[Writer, Any], None], layout: str, given: list[str], sums: list[str],
        size: int,
    ) -> None:  # fmt: skip
        self.outer = w
        self.loop = loop
        self.layout = layout
        self.given = given
        self.sums = sums
        self.size = size
        self.length = node.iter.args[0].value
        self.place, body = asked(node.body)
        between = ast.Call(ast.Name("range"), [ast.Name(FIRST), ast.Name(LAST)], [])
        self.node = ast.For(node.target, between, body, [])
        self.symbol = f"part.{len(w.module.bodies)}"
        known: dict[str, str] = {}
        while True:
            try:
                made = self.written(known)
            except Widened:
                continue
            break
        for name in sums:
            if made.kinds[name] != w.kinds[name]:
                w.known[name] = made.kinds[name]
                raise Widened
        # Called from one place, it would be there once more beside the function that other threads begin with.
        w.module.put(f"define internal ptr @{self.symbol}(ptr nonnull %shared) noinline nounwind", made)

    def written(self, known: dict[str, str]) -> Writer:
        p = Writer(self.outer.module, known, self.outer.kernel)
        p.kinds["run"] = RUN
        p.line(f"%run = load ptr, ptr {self.member(p, RECORD)}")
        sums = p.value(INT, f"load ptr, ptr {self.member(p, SUMS)}")[1]
        for k, name in enumerate(self.given):
            kind = self.outer.kinds[name]
            p.assign(name, p.value(kind, f"load {type_of(kind)}, ptr {self.member(p, GIVEN + k)}"))
        p.start("next")
        number = p.value(INT, f"atomicrmw add ptr {self.member(p, NEXT)}, i64 1 monotonic")[1]
        first = p.value(INT, f"mul nsw i64 {number}, {self.size}")[1]
        # From these bounds LLVM knows that no place in an array is beyond what an integer holds.
        p.module.declare("i64 @llvm.umin.i64(i64, i64)")
        first = p.value(INT, f"call i64 @llvm.umin.i64(i64 {first}, i64 {self.length})")[1]
        p.choose(p.value(BOOL, f"icmp slt i64 {first}, {self.length}")[1], "work", "out")
        p.start("work")
        if self.place is not None:
            poll(p, [(RUN, "%run"), (INT, self.place)])
        p.assign(FIRST, (INT, first))
        last = p.value(INT, f"add nsw i64 {first}, {self.size}")[1]
        p.module.declare("i64 @llvm.smin.i64(i64, i64)")
        p.assign(LAST, p.value(INT, f"call i64 @llvm.smin.i64(i64 {last}, i64 {self.length})"))
        for name in self.sums:
            kind = self.outer.kinds[name]
            p.known.setdefault(name, kind)
            p.assign(name, (kind, NOTHING[kind]))
        # Blocks are added up apart, and so may be their lanes: the same in every run, whoever takes the block.
        p.unordered = frozenset(self.sums)
        self.loop(p, self.node)
        at = p.value(INT, f"mul nsw i64 {number}, {len(self.sums)}")[1]
        for k, name in enumerate(self.sums):
            here = p.value(INT, f"add nsw i64 {at}, {k}")[1]
            here = p.value(INT, f"getelementptr inbounds i64, ptr {sums}, i64 {here}")[1]
            kind, text = p.held(name)
            p.line(f"store {type_of(kind)} {text}, ptr {here}")
        p.go("next")
        if p.raises:
            p.lines.append("raised:")
            p.line(f"store atomic i64 1, ptr {self.member(p, LEFT)} monotonic, align 8")
            p.line("br label %out")
        p.lines.append("out:")
        p.line("ret ptr null")
        return p

    def member(self, p: Writer, k: int) -> str:
        return member(p, self.layout, "%shared", k)


def names_in(body: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """The names that statements read, and those that they assign."""
    found = [inner for node in body for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    changed = [inner.target for node in body for inner in ast.walk(node) if isinstance(inner, ast.AugAssign)]
    read = {name.id for name in [*found, *changed] if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)}
    return read, {name.id for name in found if isinstance(name.ctx, ast.Store)}


def asked(body: list[ast.stmt]) -> tuple[str | None, list[ast.stmt]]:
    """The place of the question whether to go on with which a body begins or ends, for blocks to ask it; and the rest."""
    for place, rest in ((question(body[0]), body[1:]), (question(body[-1]), body[:-1])):
        if place is not None:
            return place, rest
    return None, body


def question(node: ast.stmt) -> str | None:
    """The place of a question whether to go on, where a statement is one."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="poll"), args=[_, ast.Constant(value=place)])):
            return str(place)
    return None
