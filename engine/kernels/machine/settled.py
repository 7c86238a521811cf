"""One look by machine code at what a kernel gave: whether all of it is as most results are, and zeros without signs.

The function that looks is the same for every kernel, and is kept like one. It goes through a plan, three words for each
part of the results: what the part is, its address, and how many elements it has, of which there is at least one.
"""

from __future__ import annotations

import ctypes

from . import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

SYMBOL = "adiff_settle"
# What a part of the results is: floats that are to be finite; such as are derivatives, whose zeros have no sign; flags
# and a truth value that are to be 0.
END, VALUE, DERIVATIVE, FLAGS, TRUTH = range(5)
# Words of the plan for each part, and which of them is the address.
STEP, ADDRESS = 3, 1

# int adiff_settle(plan *): 0 if all is as usual.
TEXT = f"""
define i32 @{SYMBOL}(ptr %plan) nounwind {{
entry:
  br label %part
part:
  %step = phi ptr [ %plan, %entry ], [ %next, %after ]
  %what = load i64, ptr %step
  %step.elements = getelementptr i64, ptr %step, i64 1
  %elements = load ptr, ptr %step.elements
  %step.count = getelementptr i64, ptr %step, i64 2
  %count = load i64, ptr %step.count
  %next = getelementptr i64, ptr %step, i64 3
  switch i64 %what, label %usual [
    i64 {VALUE}, label %values
    i64 {DERIVATIVE}, label %derivatives
    i64 {FLAGS}, label %flags
    i64 {TRUTH}, label %truth
  ]

values:
  %v = phi i64 [ 0, %part ], [ %v.next, %values ]
  %v.odd = phi i1 [ false, %part ], [ %v.seen, %values ]
  %v.at = getelementptr inbounds double, ptr %elements, i64 %v
  %v.x = load double, ptr %v.at
  %v.rest = fsub double %v.x, %v.x
  %v.bad = fcmp uno double %v.rest, 0.0
  %v.seen = or i1 %v.odd, %v.bad
  %v.next = add nuw nsw i64 %v, 1
  %v.more = icmp slt i64 %v.next, %count
  br i1 %v.more, label %values, label %after

derivatives:
  %d = phi i64 [ 0, %part ], [ %d.next, %derivatives ]
  %d.odd = phi i1 [ false, %part ], [ %d.seen, %derivatives ]
  %d.at = getelementptr inbounds double, ptr %elements, i64 %d
  %d.signed = load double, ptr %d.at
  %d.x = fadd double %d.signed, 0.0
  store double %d.x, ptr %d.at
  %d.rest = fsub double %d.x, %d.x
  %d.bad = fcmp uno double %d.rest, 0.0
  %d.seen = or i1 %d.odd, %d.bad
  %d.next = add nuw nsw i64 %d, 1
  %d.more = icmp slt i64 %d.next, %count
  br i1 %d.more, label %derivatives, label %after

flags:
  %f = phi i64 [ 0, %part ], [ %f.next, %flags ]
  %f.odd = phi i1 [ false, %part ], [ %f.seen, %flags ]
  %f.at = getelementptr inbounds i64, ptr %elements, i64 %f
  %f.x = load i64, ptr %f.at
  %f.bad = icmp ne i64 %f.x, 0
  %f.seen = or i1 %f.odd, %f.bad
  %f.next = add nuw nsw i64 %f, 1
  %f.more = icmp slt i64 %f.next, %count
  br i1 %f.more, label %flags, label %after

truth:
  %t.x = load i8, ptr %elements
  %t.seen = icmp ne i8 %t.x, 0
  br label %after

after:
  %odd = phi i1 [ %v.seen, %values ], [ %d.seen, %derivatives ], [ %f.seen, %flags ], [ %t.seen, %truth ]
  br i1 %odd, label %unusual, label %part
usual:
  ret i32 0
unusual:
  ret i32 1
}}
"""

FUNCTION: list[Any] = []


def settle() -> Callable[[int], int]:
    """The function, loaded or compiled once in a process."""
    if not FUNCTION:
        address, library = written.function(SYMBOL, TEXT)
        function: Any = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)
        function.library = library  # its code, which whoever holds the function needs
        FUNCTION.append(function)
    return FUNCTION[0]  # type: ignore[no-any-return]


def plan_of(parts: Sequence[tuple[int, int, int]]) -> Any:
    """A plan for parts: what each is, its address, and how many elements it has."""
    words = [word for part in parts for word in part]
    return (ctypes.c_int64 * (len(words) + STEP))(*words, END, 0, 0)
