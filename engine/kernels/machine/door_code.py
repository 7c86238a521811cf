"""The machine code of doors (door.py), in LLVM's language.

One function for all of them goes through a door's words, and calls a kernel by a function that there is for each
signature. It is a function of Python (METH_FASTCALL): it holds references where it must, gives the interpreter's lock
away while the kernel runs, and raises nothing but what memory running out is.
"""

from __future__ import annotations

from ..ir import FLOAT, INT
from .record import ELEMENTS

DOOR, CALL = "adiff_door", "adiff_call"

# The words of a door: whether somebody is inside; the addresses of the kernel, of what calls it, of the three things
# that it is handed before its parameters (the structure of its results, the exception, the record), and of the plan of
# what is looked at and of what looks; how many inputs there are, in the point and beside it (or ANY, of which it may have
# more), and what each is; the parameters, and the arrays that are held; how many results there are, what each is, and
# the objects that are made for them; objects of Python and NumPy.
WORDS = (
    "state", "kernel", "call", "structure", "exception", "run", "plan", "settle", "count", "of_point", "beside", "inputs",
    "parameters", "held", "results_count", "results", "new", "dict", "float", "int", "array", "make_array", "none", "false",
)  # fmt: skip
# The states: nobody is inside, somebody is, and the kernel has left with an error, after which it wants a new record.
FREE, TAKEN, SPOILED = 0, 1, 2
ANY = -1

# The words of an input: what it is; its name; whether it is beside the point; with what it is compared (the object
# itself, an integer, or how many dimensions an array has, of which lengths, and its dtype); and where it goes, or 0.
INPUT = ("kind", "name", "place", "detail", "lengths", "dtype", "to")
ARRAY, WHOLES, NUMBER, FLOATING, WHOLE, SAME = range(6)
# The words of a result: its number of dimensions, -1 for a number; the address of these, or of the number; and where the
# address of an array goes, in the record and in the plan.
RESULT = ("dimensions", "lengths", "to", "looked_at")

# Where things are in objects: the type, which is the last word of what every object begins with; and in an array of
# NumPy's C interface, the address of the elements and what follows.
TYPE = ELEMENTS - 8
DIMENSIONS, LENGTHS, DTYPE, FLAGS = (ELEMENTS + offset for offset in (8, 16, 40, 48))
# The flags of an array that a kernel takes as it is: contiguous in C's order, and aligned. And NumPy's number of float64.
AS_IT_IS = 0x101
NPY_DOUBLE = 12
# What PyArray_New takes beside the type, the lengths and the number: strides, memory, and an object to be like.
NO_MORE = "ptr null, ptr null, i32 0, i32 0, ptr null"
LARGEST = 2**53

# What the function calls of Python.
CALLED = {
    "PyCapsule_GetPointer": "ptr (ptr, ptr)",
    "PyDict_GetItemWithError": "ptr (ptr, ptr)",
    "PyDict_Size": "i64 (ptr)",
    "PyErr_Occurred": "ptr ()",
    "PyEval_RestoreThread": "void (ptr)",
    "PyEval_SaveThread": "ptr ()",
    "PyFloat_AsDouble": "double (ptr)",
    "PyFloat_FromDouble": "ptr (double)",
    "PyLong_AsLongLongAndOverflow": "i64 (ptr, ptr)",
    "PyTuple_GetItem": "ptr (ptr, i64)",
    "PyTuple_New": "ptr (i64)",
    "PyTuple_SetItem": "i32 (ptr, i64, ptr)",
    "Py_DecRef": "void (ptr)",
    "Py_IncRef": "void (ptr)",
}


# The blocks in which an input is found to be such as it should be, arrays apart, and not.
TAKING = ("number.int", "float.value", "int.passed", "int.kept", "same")
REFUSING = (
    "missing", "an.array", "array.looked", "length.one", "whole.one", "number.int", "a.float", "an.integer", "int.value",
    "same",
)  # fmt: skip
# Those after which something is missing when all arrays are made.
FAILING = ("number.made", "pack", "fault.tuple")


def of_each(value: str, blocks: tuple[str, ...]) -> str:
    """The parts of a phi that is one value, whichever of some blocks it comes from."""
    return ", ".join(f"[ {value}, %{block} ]" for block in blocks)


def word(name: str, kind: str = "ptr", of: str = "door", words: tuple[str, ...] = WORDS) -> str:
    """What loads a word into a variable of its name, with `of` before it where that is not the door."""
    found = name if of == "door" else f"{of}.{name}"
    return f"""  %{found}.at = getelementptr i64, ptr %{of}, i64 {words.index(name)}
  %{found} = load {kind}, ptr %{found}.at"""


def field(name: str, offset: int, kind: str, of: str) -> str:
    """What loads a field of an object."""
    return f"""  %{name}.at = getelementptr i8, ptr %{of}, i64 {offset}
  %{name} = load {kind}, ptr %{name}.at"""


def declarations() -> str:
    lines = []
    for name, signature in CALLED.items():
        result, arguments = signature.split(" ", 1)
        lines.append(f"declare {result} @{name}{arguments}")
    return "\n".join(lines)


def door_text() -> str:
    """ptr adiff_door(ptr self, ptr arguments, i64 how many): a tuple of the results; None where the point is to be looked
    at more closely, and False where the results are. The first of the tuple `self` is a capsule of the door's words.

    The tuple of the results is made when the kernel is done and filled at once, with the interpreter's lock held from its
    making to its last item: the collector shows tuples to other threads from the moment they are made.
    """
    return f"""{declarations()}

define ptr @{DOOR}(ptr %self, ptr %arguments, i64 %arguments.count) nounwind {{
entry:
  %overflow = alloca i32
  %capsule = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %door = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
{word("none")}
{word("false")}
  %two = icmp eq i64 %arguments.count, 2
  br i1 %two, label %knock, label %closed
knock:
  %claim = cmpxchg ptr %door, i64 {FREE}, i64 {TAKEN} acq_rel monotonic
  %claimed = extractvalue {{ i64, i1 }} %claim, 1
  br i1 %claimed, label %inside, label %closed
closed:
  call void @Py_IncRef(ptr %none)
  ret ptr %none

inside:
{word("dict")}
{word("float")}
{word("int")}
{word("array")}
{word("count", "i64")}
{word("of_point", "i64")}
{word("beside", "i64")}
{word("held")}
{word("new")}
{word("inputs")}
  %point = load ptr, ptr %arguments
  %other.at = getelementptr ptr, ptr %arguments, i64 1
  %other = load ptr, ptr %other.at
{field("point.type", TYPE, "ptr", "point")}
  %point.is_dict = icmp eq ptr %point.type, %dict
  br i1 %point.is_dict, label %sized, label %leave.early
sized:
  %point.size = call i64 @PyDict_Size(ptr %point)
  %point.fits = icmp eq i64 %point.size, %of_point
  br i1 %point.fits, label %beside.asked, label %leave.early
beside.asked:
  %alone = icmp eq i64 %beside, 0
  br i1 %alone, label %taking, label %beside.typed
beside.typed:
{field("other.type", TYPE, "ptr", "other")}
  %other.is_dict = icmp eq ptr %other.type, %dict
  br i1 %other.is_dict, label %beside.sized, label %leave.early
beside.sized:
  %other.size = call i64 @PyDict_Size(ptr %other)
  %other.equal = icmp eq i64 %other.size, %beside
  %other.any = icmp slt i64 %beside, 0
  %other.fits = or i1 %other.equal, %other.any
  br i1 %other.fits, label %taking, label %leave.early
leave.early:
  br label %not.taken

taking:
  br label %take
take:
  %i = phi i64 [ 0, %taking ], [ %i.next, %taken ]
  %input = phi ptr [ %inputs, %taking ], [ %input.next, %taken ]
  %n = phi i64 [ 0, %taking ], [ %n.next, %taken ]
  %i.more = icmp slt i64 %i, %count
  br i1 %i.more, label %take.one, label %make
take.one:
{word("kind", "i64", "input", INPUT)}
{word("name", "ptr", "input", INPUT)}
{word("place", "i64", "input", INPUT)}
{word("detail", "i64", "input", INPUT)}
{word("to", "ptr", "input", INPUT)}
  %from.point = icmp eq i64 %input.place, 0
  %from = select i1 %from.point, ptr %point, ptr %other
  %value = call ptr @PyDict_GetItemWithError(ptr %from, ptr %input.name)
  %found = icmp ne ptr %value, null
  br i1 %found, label %look, label %missing
missing:
  %raised = call ptr @PyErr_Occurred()
  %quiet = icmp eq ptr %raised, null
  br i1 %quiet, label %not.taken, label %fault
look:
{field("type", TYPE, "ptr", "value")}
  switch i64 %input.kind, label %same [
    i64 {ARRAY}, label %an.array
    i64 {WHOLES}, label %an.array
    i64 {NUMBER}, label %a.number
    i64 {FLOATING}, label %a.float
    i64 {WHOLE}, label %an.integer
  ]

an.array:
  %is.array = icmp eq ptr %type, %array
  br i1 %is.array, label %array.looked, label %not.taken
array.looked:
{word("dtype", "ptr", "input", INPUT)}
{field("dtype", DTYPE, "ptr", "value")}
{field("dimensions", DIMENSIONS, "i32", "value")}
{field("flags", FLAGS, "i32", "value")}
{field("elements", ELEMENTS, "ptr", "value")}
{field("lengths", LENGTHS, "ptr", "value")}
{word("lengths", "ptr", "input", INPUT)}
  %dimensions.wide = sext i32 %dimensions to i64
  %as.expected.1 = icmp eq ptr %dtype, %input.dtype
  %as.expected.2 = icmp eq i64 %dimensions.wide, %input.detail
  %flags.asked = and i32 %flags, {AS_IT_IS}
  %as.expected.3 = icmp eq i32 %flags.asked, {AS_IT_IS}
  %as.expected.4 = and i1 %as.expected.1, %as.expected.2
  %as.expected = and i1 %as.expected.3, %as.expected.4
  br i1 %as.expected, label %length, label %not.taken
length:
  %d = phi i64 [ 0, %array.looked ], [ %d.next, %length.same ]
  %size = phi i64 [ 1, %array.looked ], [ %size.next, %length.same ]
  %d.more = icmp slt i64 %d, %dimensions.wide
  br i1 %d.more, label %length.one, label %length.end
length.one:
  %length.at = getelementptr i64, ptr %lengths, i64 %d
  %length.is = load i64, ptr %length.at
  %wanted.at = getelementptr i64, ptr %input.lengths, i64 %d
  %wanted = load i64, ptr %wanted.at
  %same.length = icmp eq i64 %length.is, %wanted
  br i1 %same.length, label %length.same, label %not.taken
length.same:
  %d.next = add i64 %d, 1
  %size.next = mul i64 %size, %wanted
  br label %length
length.end:
  %floats = icmp eq i64 %input.kind, {ARRAY}
  br i1 %floats, label %hold, label %whole
whole:
  %w = phi i64 [ 0, %length.end ], [ %w.next, %whole.one ]
  %w.more = icmp slt i64 %w, %size
  br i1 %w.more, label %whole.one, label %hold
whole.one:
  %w.at = getelementptr i64, ptr %elements, i64 %w
  %w.is = load i64, ptr %w.at
  %w.next = add i64 %w, 1
  %w.above = icmp sgt i64 %w.is, {LARGEST}
  %w.below = icmp slt i64 %w.is, -{LARGEST}
  %w.beyond = or i1 %w.above, %w.below
  br i1 %w.beyond, label %not.taken, label %whole
hold:
  call void @Py_IncRef(ptr %value)
  %hold.at = getelementptr ptr, ptr %held, i64 %n
  store ptr %value, ptr %hold.at
  store ptr %elements, ptr %input.to
  %n.held = add i64 %n, 1
  br label %taken

a.number:
  %number.is_int = icmp eq ptr %type, %int
  br i1 %number.is_int, label %number.int, label %a.float
number.int:
  %number.long = call i64 @PyLong_AsLongLongAndOverflow(ptr %value, ptr %overflow)
  %number.over = load i32, ptr %overflow
  %number.double = sitofp i64 %number.long to double
  store double %number.double, ptr %input.to
  %number.above = icmp sgt i64 %number.long, {LARGEST}
  %number.below = icmp slt i64 %number.long, -{LARGEST}
  %number.beyond.1 = or i1 %number.above, %number.below
  %number.beyond.2 = icmp ne i32 %number.over, 0
  %number.beyond = or i1 %number.beyond.1, %number.beyond.2
  br i1 %number.beyond, label %not.taken, label %taken
a.float:
  %is.float = icmp eq ptr %type, %float
  br i1 %is.float, label %float.value, label %not.taken
float.value:
  %double = call double @PyFloat_AsDouble(ptr %value)
  store double %double, ptr %input.to
  br label %taken
an.integer:
  %is.int = icmp eq ptr %type, %int
  br i1 %is.int, label %int.value, label %not.taken
int.value:
  %long = call i64 @PyLong_AsLongLongAndOverflow(ptr %value, ptr %overflow)
  %over = load i32, ptr %overflow
  %expected = icmp eq i64 %long, %input.detail
  %within = icmp eq i32 %over, 0
  %expected.within = and i1 %expected, %within
  br i1 %expected.within, label %int.passed, label %not.taken
int.passed:
  %passed = icmp ne ptr %input.to, null
  br i1 %passed, label %int.kept, label %taken
int.kept:
  store i64 %long, ptr %input.to
  br label %taken
same:
  %detail.pointer = inttoptr i64 %input.detail to ptr
  %is.same = icmp eq ptr %value, %detail.pointer
  br i1 %is.same, label %taken, label %not.taken
taken:
  %n.next = phi i64 [ %n.held, %hold ], {of_each("%n", TAKING)}
  %i.next = add i64 %i, 1
  %input.next = getelementptr i64, ptr %input, i64 {len(INPUT)}
  br label %take

make:
{word("kernel")}
{word("call")}
{word("structure")}
{word("exception")}
{word("run")}
{word("plan")}
{word("settle")}
{word("parameters")}
{word("results_count", "i64")}
{word("results")}
{word("make_array")}
  br label %provide
provide:
  %j = phi i64 [ 0, %make ], [ %j.next, %provided ]
  %output = phi ptr [ %results, %make ], [ %output.next, %provided ]
  %j.more = icmp slt i64 %j, %results_count
  br i1 %j.more, label %provide.one, label %run.it
provide.one:
{word("dimensions", "i64", "output", RESULT)}
  %provide.at = getelementptr ptr, ptr %new, i64 %j
  store ptr null, ptr %provide.at
  %output.is_array = icmp sge i64 %output.dimensions, 0
  br i1 %output.is_array, label %provide.array, label %provided
provide.array:
{word("lengths", "ptr", "output", RESULT)}
{word("to", "ptr", "output", RESULT)}
{word("looked_at", "ptr", "output", RESULT)}
  %output.dimensions.int = trunc i64 %output.dimensions to i32
  %made = call ptr %make_array(ptr %array, i32 %output.dimensions.int, ptr %output.lengths, i32 {NPY_DOUBLE}, {NO_MORE})
  %made.there = icmp ne ptr %made, null
  br i1 %made.there, label %provide.placed, label %fault
provide.placed:
{field("made.elements", ELEMENTS, "ptr", "made")}
  store ptr %made.elements, ptr %output.to
  store ptr %made, ptr %provide.at
  %is.looked_at = icmp ne ptr %output.looked_at, null
  br i1 %is.looked_at, label %provide.plan, label %provided
provide.plan:
  store ptr %made.elements, ptr %output.looked_at
  br label %provided
provided:
  %j.next = add i64 %j, 1
  %output.next = getelementptr i64, ptr %output, i64 {len(RESULT)}
  br label %provide

run.it:
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 %call(ptr %kernel, ptr %structure, ptr %exception, ptr %run, ptr %parameters)
  %well = icmp eq i32 %status, 0
  br i1 %well, label %look.over, label %back.spoiled
look.over:
  %unusual = call i32 %settle(ptr %plan)
  %usual = icmp eq i32 %unusual, 0
  br i1 %usual, label %back, label %back.unusual
back.spoiled:
  br label %back.unusual
back.unusual:
  %state.after = phi i64 [ {FREE}, %look.over ], [ {SPOILED}, %back.spoiled ]
  call void @PyEval_RestoreThread(ptr %thread)
  call void @Py_IncRef(ptr %false)
  br label %release
back:
  call void @PyEval_RestoreThread(ptr %thread)
  br label %number
number:
  %k = phi i64 [ 0, %back ], [ %k.next, %numbered ]
  %numbers = phi ptr [ %results, %back ], [ %numbers.next, %numbered ]
  %k.more = icmp slt i64 %k, %results_count
  br i1 %k.more, label %number.one, label %pack
number.one:
{word("dimensions", "i64", "numbers", RESULT)}
  %numbers.is_array = icmp sge i64 %numbers.dimensions, 0
  br i1 %numbers.is_array, label %numbered, label %number.made
number.made:
{word("lengths", "ptr", "numbers", RESULT)}
  %result.double = load double, ptr %numbers.lengths
  %object = call ptr @PyFloat_FromDouble(double %result.double)
  %object.made = icmp ne ptr %object, null
  br i1 %object.made, label %number.placed, label %fault
number.placed:
  %number.at = getelementptr ptr, ptr %new, i64 %k
  store ptr %object, ptr %number.at
  br label %numbered
numbered:
  %k.next = add i64 %k, 1
  %numbers.next = getelementptr i64, ptr %numbers, i64 {len(RESULT)}
  br label %number
pack:
  %tuple = call ptr @PyTuple_New(i64 %results_count)
  %tuple.made = icmp ne ptr %tuple, null
  br i1 %tuple.made, label %item, label %fault
item:
  %t = phi i64 [ 0, %pack ], [ %t.next, %item.one ]
  %t.more = icmp slt i64 %t, %results_count
  br i1 %t.more, label %item.one, label %done
item.one:
  %item.at = getelementptr ptr, ptr %new, i64 %t
  %item.object = load ptr, ptr %item.at
  ; The tuple takes the reference, or where it fails, gives it back.
  store ptr null, ptr %item.at
  %item.status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %t, ptr %item.object)
  %t.next = add i64 %t, 1
  %item.set = icmp eq i32 %item.status, 0
  br i1 %item.set, label %item, label %fault.tuple
done:
  br label %release

fault.tuple:
  call void @Py_DecRef(ptr %tuple)
  br label %fault
fault:
  %new.made = phi i64 [ 0, %missing ], [ %j, %provide.array ], {of_each("%results_count", FAILING)}
  br label %release
not.taken:
  %n.not = phi i64 [ 0, %leave.early ], {of_each("%n", REFUSING)}
  call void @Py_IncRef(ptr %none)
  br label %release

release:
  %answer = phi ptr [ %tuple, %done ], [ %false, %back.unusual ], [ %none, %not.taken ], [ null, %fault ]
  %state.left = phi i64 [ {FREE}, %done ], [ %state.after, %back.unusual ], [ {FREE}, %not.taken ], [ {FREE}, %fault ]
  %n.held.all = phi i64 [ %n, %done ], [ %n, %back.unusual ], [ %n.not, %not.taken ], [ %n, %fault ]
  %new.all = phi i64 [ 0, %done ], [ %results_count, %back.unusual ], [ 0, %not.taken ], [ %new.made, %fault ]
  br label %let.go
let.go:
  %h = phi i64 [ 0, %release ], [ %h.next, %let.go.one ]
  %h.more = icmp slt i64 %h, %n.held.all
  br i1 %h.more, label %let.go.one, label %drop
let.go.one:
  %h.at = getelementptr ptr, ptr %held, i64 %h
  %h.object = load ptr, ptr %h.at
  call void @Py_DecRef(ptr %h.object)
  %h.next = add i64 %h, 1
  br label %let.go
drop:
  %r = phi i64 [ 0, %let.go ], [ %r.next, %drop.one ]
  %r.more = icmp slt i64 %r, %new.all
  br i1 %r.more, label %drop.one, label %out
drop.one:
  %r.at = getelementptr ptr, ptr %new, i64 %r
  %r.object = load ptr, ptr %r.at
  ; Where no object is, this does nothing.
  call void @Py_DecRef(ptr %r.object)
  %r.next = add i64 %r, 1
  br label %drop
out:
  store atomic i64 %state.left, ptr %door release, align 8
  ret ptr %answer
}}
"""


# How a parameter is passed, by its kind; arrays are by their addresses.
PASSED = {FLOAT: "double", INT: "i64"}


def callable_by(parameters: str) -> bool:
    """Whether a door can hand over parameters of these kinds."""
    return all(kind.isupper() or kind in PASSED for kind in parameters)


def call_text(parameters: str) -> str:
    """int adiff_call(kernel, results, exception, run, parameters): calls a kernel with parameters that stand in a row."""
    lines = []
    passed = ["ptr %results", "ptr %exception", "ptr %run"]
    for k, kind in enumerate(parameters):
        type_of = PASSED.get(kind, "ptr")
        lines.append(f"  %at{k} = getelementptr i64, ptr %parameters, i64 {k}")
        lines.append(f"  %x{k} = load {type_of}, ptr %at{k}")
        passed.append(f"{type_of} %x{k}")
    body = "\n".join(lines)
    return f"""define i32 @{CALL}(ptr %kernel, ptr %results, ptr %exception, ptr %run, ptr %parameters) nounwind {{
{body}
  %status = call i32 %kernel({", ".join(passed)})
  ret i32 %status
}}
"""
