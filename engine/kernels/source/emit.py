"""Emission: a kernel as source in a subset of Python, written as one would write it by hand for a compiler of loops."""

from __future__ import annotations

import builtins
import keyword
import math
import re

from .. import ir
from ..emitted import Emitted
from ..inputs import SOME
from ..ir import BOOL, DTYPES, FLOAT, INT, SINGLE, Array, Stack, Stmt, Unsupported, Var
from ..machine.externals import EXTERNALS, IN_FLOAT32, ROUTINES
from ..machine.failures import BESIDE, FAR
from ..passes.polls import asking
from ..passes.sharing import shared_loops
from ..passes.statements import changes, everything, mentions, operands
from ..passes.widths import widths
from .primitives import TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...core.state import Site
    from ..passes.widths import Precision

# Longer expressions get a name.
LONGEST = 50
STEMS = frozenset("v x l m n b c d r i k t h a ab da s ra w notes p".split())
CALL = re.compile(r"[\w.]+\((\{\d\}(, )?)*\)")
MEMORY = {FLOAT: "floats", INT: "ints", BOOL: "bools"}
# Arrays of so many elements live on the machine's stack, where their elements may become registers.
FEW = 32
# Blocks inside blocks: Python's parser takes less than 100.
DEEPEST = 95
# The room of a log, or of heads whose number is not known, at first.
ROOM = 1024


def emit(kernel: ir.Kernel, precision: Precision | None = None) -> Emitted:
    """The source of a kernel. What it calls is listed in compiler.py; `precision` is that of one in float32."""
    printer = Printer(kernel, precision)
    printer.block(kernel.body, 1, kernel.results)
    parameters = ", ".join(["run", *map(printer.text, kernel.parameters)])
    results = ", ".join(bare(printer.text(r)) for r in kernel.results)
    if len(kernel.results) == 1:
        results = f"({results},)"
    body = "".join(line + "\n" for line in printer.lines)
    known = "".join(line + "\n" for line in printer.known)
    return Emitted(
        f"{known}def kernel({parameters}):\n{body}    return {results}\n",
        "".join(map(printer.letter, kernel.parameters)),
        [
            (printer.slots[r], printer.stored(r), r.size) if r.__class__ is Array else printer.stored(r)
            for r in kernel.results
        ],
        len(printer.slots),
        printer.heaviest,
        printer.slot_sites,
        printer.sites,
        *printer.precision(),
    )


LEGEND = {
    "run": "what the kernel shares with its caller",
    "floats": "(run, k, n): memory number k, with room for n numbers",
    "ints": "(run, k, n): the same for integers",
    "bools": "(run, k, n): the same for truth values",
    "few_floats": "(n): a short array",
    "few_ints": "(n): a short array of integers",
    "few_bools": "(n): a short array of truth values",
    "doubles": "(run, k, n): memory number k of float64, where floats are float32",
    "few_doubles": "(n): a short array of float64",
    "clear": "(a, n): n zeros",
    "prange": "(n): range(n) in any order, for several cores",
    "poll": "(run, k): Ctrl-C or a time limit ends the kernel here",
    "fail": "(run, k, i): an error ends the kernel here",
    "_strong": "(g, p): g * p, and 0 where g is 0",
}


# What an input may not be called: whatever the source of a kernel names by itself, and Python's own words.
RESERVED = frozenset(
    [
        *keyword.kwlist, *dir(builtins), *LEGEND, *EXTERNALS, *ROUTINES, "kernel", "math", "np",
        *re.findall(r"(?<![.\w{])[A-Za-z_]\w*", " ".join(TEXT.values())),
    ]
)  # fmt: skip


def legend(emitted: Emitted) -> str:
    """Comments that say what a kernel's source calls beside arithmetic, and what its floats are."""
    text = emitted.text
    widths = ""
    if emitted.single:
        wide = ", ".join([*emitted.sums, *emitted.doubles])
        widths = "# floats are float32" + (f"; in float64: {wide}" if wide else "") + "\n"
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    libraries = [f"# {name}: SciPy's {EXTERNALS[name].name}\n" for name in sorted(words & set(EXTERNALS))]
    libraries += [
        f"# {name}(x, y, n, m): {ROUTINES[name].row} of the n by m matrix x in y, after a 1 that says it succeeded\n"
        for name in sorted(words & set(ROUTINES))
    ]
    return (
        widths
        + "".join(libraries)
        + "".join(f"# {name}{'' if said[0] == '(' else ': '}{said}\n" for name, said in LEGEND.items() if name in words)
    )


def scalar_kind(x: Any) -> str:
    """The kind of a scalar result, which may be a number."""
    if x.__class__ is Var:
        return x.kind
    return {bool: BOOL, int: INT}.get(x.__class__, FLOAT)


def number(x: Any) -> str:
    """A number in source form."""
    if x.__class__ is float:
        if math.isnan(x):
            return "math.nan"
        if math.isinf(x):
            return "math.inf" if x > 0 else "(-math.inf)"
    return f"({x!r})" if x.__class__ in (int, float) and str(x)[0] == "-" else repr(x)


def used_positions(kernel: ir.Kernel) -> set[Any]:
    """Everything that is read anywhere, the loops' counters among it."""
    found: set[Any] = set()

    for s in everything(kernel.body):
        found.update(operands(s))
    return found


def read_once(kernel: ir.Kernel) -> set[Var]:
    """The variables that are set in one place and read in one."""
    reads: dict[Any, int] = {}
    sets: dict[Var, int] = {}

    for s in everything(kernel.body):
        for x in operands(s):
            reads[x] = reads.get(x, 0) + 1
        if isinstance(s, ir.Set | ir.Accumulate | ir.Load):
            sets[s.var] = sets.get(s.var, 0) + 1
    for r in kernel.results:
        reads[r] = reads.get(r, 0) + 1
    return {var for var, times in sets.items() if times == 1 and reads.get(var) == 1}


def arrays_changed(s: Stmt) -> set[Array]:
    """The arrays that a statement stores in anywhere inside it."""
    found: set[Any] = set()
    for inner in everything([s]):
        if isinstance(inner, ir.Store | ir.AddTo | ir.TakeBack | ir.Rewind):
            found.add(inner.array)
        elif inner.__class__ is ir.ReverseLoop:
            found.update(x for x, _ in inner.restore if x.__class__ is Array)
    return found


def read_where_kept(kernel: ir.Kernel) -> set[tuple[ir.ReverseLoop, Any]]:
    """The arrays that a reverse loop need not bring back, with the loop: it reads them only, and nothing does after it."""
    found: set[tuple[ir.ReverseLoop, Any]] = set()
    needed = set(kernel.results)
    for s in reversed(kernel.body):
        inside = list(everything([s]))
        if s.__class__ is ir.ReverseLoop:
            changed = {x for inner in inside if inner.__class__ is not ir.Load for x in arrays_named(inner, s)}
            whole = {x for x, _ in s.restore if x.__class__ is Array and x.size >= LEAST_UNMOVED}
            found.update((s, x) for x in whole - changed - needed)
        needed.update(x for inner in inside for x in arrays_named(inner, None))
    return found


def arrays_named(s: Any, but: Stmt | None) -> list[Any]:
    """The arrays that a statement itself names; of one statement, what it brings back aside."""
    held = [] if s is but else [*getattr(s, "stacks", ()), *(x for x, _ in getattr(s, "restore", ()))]
    return [x for x in (getattr(s, "array", None), getattr(s, "value", None), *held) if x.__class__ is Array]


# A shorter array is in registers when it has been brought back.
LEAST_UNMOVED = 64


class Waiting:
    """An expression that is read once, and is written there: its text and what it reads."""

    __slots__ = ("reads", "statement", "text")

    def __init__(self, statement: Stmt, text: str, reads: set[Any]) -> None:
        self.statement = statement
        self.text = text
        self.reads = reads


class Printer:
    """Prints statements; a value that is read once, nearby, is written where it is read."""

    def __init__(self, kernel: ir.Kernel, precision: Precision | None = None) -> None:
        self.widths = None if precision is None else widths(kernel, precision)
        self.lines: list[str] = []
        self.known: list[str] = []  # the arrays that are constants, before the function
        self.trips = used_positions(kernel)
        self.asking, self.heaviest = asking(kernel)
        self.shared = shared_loops(kernel)
        self.unmoved = read_where_kept(kernel)
        # Arrays that are read where a loop kept them: the name of that memory, and where the iteration's part begins.
        self.kept: dict[Array, str] = {}
        self.once = read_once(kernel)
        self.waiting: dict[Var, Waiting] = {}
        # Of variables, and of what belongs to them: (owner, suffix).
        self.names: dict[Any, str] = {}
        self.taken = set(RESERVED)
        self.results = {r for r in kernel.results if r.__class__ is Array}
        # The memory slots of arrays, heads and logs.
        self.slots: dict[Any, int] = {}
        self.slot_sites: list[Site | None] = []
        loops = [s.site for s in kernel.body if s.__class__ is ir.Loop and s.site is not None]
        self.anywhere = loops[0] if loops else first_site(kernel.body)
        # The place of the outermost loop of the program around what is printed, and that of every loop by its trips.
        self.within: Site | None = None
        self.around: dict[Var, Site | None] = {}
        self.sites: list[tuple[Site | None, tuple[Any, ...] | None]] = []
        for p in kernel.parameters:
            # An input keeps its own name where it can.
            if p.name.isascii() and p.name.isidentifier() and p.name not in self.taken and p.name[0] != "_":
                self.names[p] = p.name
                self.taken.add(p.name)
        self.counts: dict[str, int] = {}

    def precision(self) -> tuple[str, list[str], list[str]]:
        """How the kernel computes in float32, if it does, and the variables that are float64 all the same."""
        found = self.widths
        if found is None:
            return "", [], []
        doubles = [self.names[x] for x in found.doubles if x.__class__ is Var and x in self.names]
        return found.mode, sorted(self.names[x] for x in found.sums if x in self.names), sorted(doubles)

    def stored(self, x: Any) -> str:
        """The kind of a variable, of an array's elements, or of a number."""
        kind: str = x.kind if x.__class__ in (Array, Stack) else scalar_kind(x)
        if self.widths is None or kind != FLOAT or x in self.widths.doubles:
            return kind
        return kind if x.__class__ is float and self.widths.mode == SOME else SINGLE

    def letter(self, x: Any) -> str:
        """The kind of a parameter."""
        return self.stored(x).upper() if x.__class__ is Array else self.stored(x)

    def memory(self, x: Any) -> str:
        """What gives the memory of an array, or of what is kept of one."""
        return "doubles" if self.widths is not None and x in self.widths.doubles else MEMORY[x.kind]

    def name(self, x: Any) -> str:
        """The name of a variable in the source: its kind's letter, and a number."""
        found = self.names.get(x)
        if found is None:
            stem = x.name.rstrip("0123456789")
            stem = stem if stem in STEMS else "p"
            while found is None or found in self.taken:
                self.counts[stem] = self.counts.get(stem, 0) + 1
                found = f"{stem}{self.counts[stem]}"
            self.taken.add(found)
            self.names[x] = found
        return found

    def beside(self, x: Any, suffix: str) -> str:
        """The name of a variable that belongs to another: its name and a suffix."""
        found = self.names.get((x, suffix))
        if found is None:
            found = wanted = f"{self.name(x)}_{suffix}"
            number = 1
            while found in self.taken:
                number += 1
                found = f"{wanted}{number}"
            self.taken.add(found)
            self.names[x, suffix] = found
        return found

    def text(self, x: Any) -> str:
        """An operand in source form."""
        if x.__class__ is Var and x in self.waiting:
            return self.waiting.pop(x).text
        return self.name(x) if x.__class__ in (Var, Array, Stack) else number(x)

    def line(self, level: int, code: str) -> None:
        if level > DEEPEST:
            raise Unsupported("blocks nested this deeply")
        self.lines.append("    " * level + code)

    def block(self, block: list[Stmt], level: int, after: Sequence[Any] = ()) -> None:
        """A block; `after` is what the caller reads at its end, in one place each."""
        outer, self.waiting = self.waiting, {}
        for s in block:
            self.flush(s, level)
            PRINTERS[s.__class__](self, s, level)
        for var in [var for var in self.waiting if not any(var is x for x in after)]:
            self.write(var, level)
        self.waiting = {**outer, **self.waiting}

    def write(self, var: Var, level: int) -> None:
        found = self.waiting.pop(var)
        self.line(level, f"{self.name(var)} = {bare(found.text)}")

    def flush(self, s: Stmt, level: int) -> None:
        """Write what must be computed before a statement, and cannot be written inside it."""
        direct = list(operands(s))
        changed = changes(s) | arrays_changed(s)
        for var in list(self.waiting):
            read = any(x is var for x in direct)
            if read and isinstance(s, ir.Loop | ir.ReverseLoop | ir.If):
                read = (s.__class__ is ir.If and s.condition is var) or (
                    s.__class__ is ir.Loop and any(initial is var for _, initial, _ in s.carried)
                )
                inside = s.__class__ is ir.If and any(x is var for _, a, b in s.merges for x in (a, b))
                if inside or not read:
                    self.write(var, level)
                continue
            if read:
                # A text that names an operand twice would compute it twice.
                if isinstance(s, ir.Set) and TEXT[s.op].count(f"{{{s.args.index(var)}}}") != 1:
                    self.write(var, level)
            elif self.waiting[var].reads & changed or mentions(s, var):
                self.write(var, level)

    def assign(self, s: ir.Set, level: int) -> None:
        reads = {x for x in s.args if x.__class__ is Var}
        for x in s.args:
            if x.__class__ is Var and x in self.waiting:
                reads |= self.waiting[x].reads
        statics = {key: number(value) for key, value in (s.attributes or {}).items()}
        template = TEXT[s.op]
        args = [self.text(x) for x in s.args]
        if CALL.fullmatch(template):
            args = [bare(arg) for arg in args]
        code = template.format(*args, **statics)
        self.put(s, code, reads, level)

    def load(self, s: ir.Load, level: int) -> None:
        reads: set[Any] = {s.array}
        if s.index.__class__ is Var:
            reads |= {s.index} if s.index not in self.waiting else self.waiting[s.index].reads
        if s.array in self.kept:
            self.put(s, f"{self.kept[s.array]} + {self.text(s.index)}]", reads, level)
            return
        self.put(s, f"{self.name(s.array)}[{bare(self.text(s.index))}]", reads, level)

    def put(self, s: Any, code: str, reads: set[Any], level: int) -> None:
        if s.var in self.once and len(code) <= LONGEST and s.var not in reads:
            self.waiting[s.var] = Waiting(s, code, reads)
        else:
            self.line(level, f"{self.name(s.var)} = {bare(code)}")

    def check(self, s: ir.Check, level: int) -> None:
        index = self.text(s.index)
        number = bare(index)
        if scalar_kind(s.index) == BOOL:
            self.line(level, f"if not {index}:" if s.low else f"if {bare(index)}:")
            # Of a float, whether it is above or below 0, or neither.
            number = "0" if s.value is None else bare(TEXT["int_sign"].format(self.text(s.value)))
        else:
            self.line(level, f"if not {s.low} <= {index} < {s.size}:")
            if s.value is not None:
                number = f"max({-FAR}, min({number}, {FAR})) * {BESIDE} + {bare(self.text(s.value))}"
        self.line(level + 1, f"fail(run, {self.place(s.site, s.failure)}, {number})")

    def room(self, owner: Any, memory: str, count: Any, site: Site | None = None) -> str:
        """Memory for `count` elements: what belongs to one `owner` is one slot. `site` is where it may run out."""
        if owner not in self.slots:
            self.slots[owner] = len(self.slots)
            self.slot_sites.append(site)
        slot = self.slots[owner]
        return f"{memory}(run, {slot}, {count})"

    def alloc(self, s: ir.Alloc, level: int) -> None:
        name, size = self.name(s.array), s.array.size
        few = size <= FEW and s.array not in self.results
        memory = self.memory(s.array)
        made = f"few_{memory}({size})" if few else self.room(s.array, memory, size)
        self.line(level, f"{name} = {made}")
        if s.zero:
            self.line(level, f"clear({name}, {size})")

    def constant(self, s: ir.Constant, level: int) -> None:
        kind = self.stored(s.array)
        dtype = f"dtype={DTYPES[kind]!r}"
        if len(s.values) < ir.LONG_CONSTANT:
            self.known.append(f"{self.name(s.array)} = np.array([{', '.join(map(number, s.values))}], {dtype})")
        else:
            held = ir.bytes_of(kind, s.values).hex()
            self.known.append(f"{self.name(s.array)} = np.frombuffer(bytes.fromhex('{held}'), {dtype})")

    def store(self, s: ir.Store, level: int) -> None:
        self.line(level, f"{self.name(s.array)}[{bare(self.text(s.index))}] = {bare(self.text(s.value))}")

    def routine(self, s: ir.Routine, level: int) -> None:
        name = s.name if self.widths is None else s.name + IN_FLOAT32
        self.line(level, f"{name}({self.name(s.value)}, {self.name(s.array)}, {s.rows}, {s.columns})")

    def add_to(self, s: ir.AddTo, level: int) -> None:
        self.line(level, f"{self.name(s.array)}[{bare(self.text(s.index))}] += {bare(self.text(s.value))}")

    def open_log(self, s: ir.OpenLog, level: int) -> None:
        self.line(level, f"{self.beside(s.array, 'room')} = {ROOM}")
        self.make_log(s.array, level)
        self.line(level, f"{self.beside(s.array, 'top')} = 0")

    def make_log(self, array: Array, level: int) -> None:
        room = self.beside(array, "room")
        for suffix, memory in (("at", MEMORY[INT]), ("was", self.memory(array))):
            made = self.room((suffix, array), memory, room, self.within or self.anywhere)
            self.line(level, f"{self.beside(array, suffix)} = {made}")

    def keep(self, s: ir.Keep, level: int) -> None:
        name, index = self.name(s.array), bare(self.text(s.index))
        top, room, at, was = (self.beside(s.array, suffix) for suffix in ("top", "room", "at", "was"))
        self.line(level, f"if {top} == {room}:")
        self.line(level + 1, f"{room} *= 2")
        self.make_log(s.array, level + 1)
        self.line(level, f"{at}[{top}] = {index}")
        self.line(level, f"{was}[{top}] = {name}[{index}]")
        self.line(level, f"{top} += 1")

    def mark(self, s: ir.Mark, level: int) -> None:
        self.line(level, f"{self.name(s.var)} = {self.beside(s.array, 'top')}")

    def take_back(self, s: ir.TakeBack, level: int) -> None:
        top, at, was = (self.beside(s.array, suffix) for suffix in ("top", "at", "was"))
        self.line(level, f"{top} -= 1")
        self.line(level, f"{self.name(s.array)}[{at}[{top}]] = {was}[{top}]")

    def rewind(self, s: ir.Rewind, level: int) -> None:
        self.line(level, f"while {self.beside(s.array, 'top')} > {self.text(s.value)}:")
        self.take_back(ir.TakeBack(s.array), level + 1)

    def accumulate(self, s: ir.Accumulate, level: int) -> None:
        self.line(level, f"{self.name(s.var)} += {bare(self.text(s.value))}")

    def loop(self, s: ir.Loop, level: int) -> None:
        outer = self.within
        self.within = self.around[s.trips] = outer or s.site
        self.forward_loop(s, level)
        self.within = outer

    def forward_loop(self, s: ir.Loop, level: int) -> None:
        for phi, initial, _ in s.carried:
            self.line(level, f"{self.name(phi)} = {bare(self.text(initial))}")
        counted = s.trips in self.trips or bool(s.stacks)
        straight = s.test is None and s.stop_when is None and s.start == 0 and s.step == 1
        trips = self.name(s.trips) if counted else ""
        start, stop = self.text(s.start), self.text(s.stop)
        bounds = f"range({start}, {stop}, {self.text(s.step)})"
        if s.step == 1:
            bounds = f"range({stop})" if s.start == 0 else f"range({start}, {stop})"
        if s in self.shared:
            bounds = f"p{bounds}"
        if counted:
            known = stop if s.stop.__class__ is int else f"max({stop}, 0)"
            self.line(level, f"{trips} = {known if straight else 0}")
        if counted and straight and not s.body and not s.carried:
            return  # only the reverse sweep goes through its iterations
        # A loop that may end early, or whose end is not known, keeps its heads in arrays that grow.
        grows = bool(s.stacks) and (s.test is not None or s.stop_when is not None)
        room = trips if not s.stacks or (straight and not grows) else self.beside(s.trips, "room")
        if grows:
            self.line(level, f"{room} = {ROOM}")
        elif s.stacks and not straight:
            self.line(level, f"{room} = len({bounds})")
        for stack in s.stacks.values():
            self.heads(s, stack, room, level)
        self.line(level, "while True:" if s.index is None else f"for {self.name(s.index)} in {bounds}:")
        first = len(self.lines)
        self.ask(s, level + 1)
        if s.test is not None:
            self.block(s.test, level + 1, [s.condition])
            if s.condition is not True:
                self.line(level + 1, f"if not {self.text(s.condition)}:")
                self.line(level + 2, "break")
        place = self.name(s.index) if straight and s.index is not None else trips
        if grows:
            self.line(level + 1, f"if {trips} == {room}:")
            self.line(level + 2, f"{room} *= 2")
            for stack in s.stacks.values():
                self.heads(s, stack, room, level + 2)
        for phi, stack in s.stacks.items():
            if phi.__class__ is Array:
                self.copy(
                    f"{self.name(stack)}[{place} * {stack.width} + {{0}}] = {self.name(phi)}[{{0}}]",
                    stack.width,
                    level + 1,
                )
            else:
                self.line(level + 1, f"{self.name(stack)}[{place}] = {self.name(phi)}")
        if counted and not straight:
            self.line(level + 1, f"{trips} += 1")
        self.turn(s, level + 1)
        if s.stop_when is not None:
            self.line(level + 1, f"if {self.text(s.stop_when)}:")
            self.line(level + 2, "break")
        if len(self.lines) == first:
            self.line(level + 1, "pass")

    def heads(self, s: ir.Loop, stack: Stack, room: str, level: int) -> None:
        """Memory for the heads of a loop, as many as `room` says."""
        count = room if stack.width == 1 else f"{room} * {stack.width}"
        site = self.within or first_site(s.body)
        self.line(level, f"{self.name(stack)} = {self.room(stack, self.memory(stack), count, site)}")

    def copy(self, element: str, count: int, level: int) -> None:
        """A statement for each element."""
        i = self.name(Var(INT, "i"))
        self.line(level, f"for {i} in range({count}):")
        self.line(level + 1, element.format(i))

    def ask(self, s: ir.Loop | ir.ReverseLoop, level: int) -> None:
        """Leave here if the run is to stop."""
        if s in self.asking:
            site = first_site(s.body) or getattr(s, "site", None)
            self.line(level, f"poll(run, {self.place(site, None)})")

    def place(self, site: Site | None, failure: tuple[Any, ...] | None) -> int:
        """The number of a place in the program, with what an error there says."""
        if (site, failure) not in self.sites:
            self.sites.append((site, failure))
        return self.sites.index((site, failure))

    def turn(self, s: ir.Loop, level: int) -> None:
        """The body of a loop, and what it hands on."""
        moved = [(phi, following) for phi, _, following in s.carried if following is not phi]
        if any(inner.__class__ is ir.Store for inner in s.body):
            # LLVM makes vectors of what is handed on if it is there before anything is stored.
            self.once -= {following for _, following in moved}
        # Several are handed on together, so what they are must be known before.
        self.block(s.body, level, [moved[0][1]] if len(moved) == 1 else [])
        if any(following is phi for _, following in moved for phi, _ in moved):
            names = ", ".join(self.name(phi) for phi, _ in moved)
            self.line(level, f"{names} = {', '.join(self.text(following) for _, following in moved)}")
            return
        for phi, following in moved:
            self.line(level, f"{self.name(phi)} = {bare(self.text(following))}")

    def reverse_loop(self, s: ir.ReverseLoop, level: int) -> None:
        k = self.name(s.position)
        self.line(level, f"for {k} in range({self.name(s.trips)} - 1, -1, -1):")
        self.ask(s, level + 1)
        if s.index is not None:
            place = k
            if s.step != 1:
                place = f"{place} * {self.text(s.step)}"
            if s.start != 0:
                place = f"{self.text(s.start)} + {place}"
            self.line(level + 1, f"{self.name(s.index)} = {place}")
        for phi, stack in s.restore:
            if (s, phi) in self.unmoved:
                self.kept[phi] = f"{self.name(stack)}[{k} * {stack.width}"
            elif phi.__class__ is Array:
                self.copy(
                    f"{self.name(phi)}[{{0}}] = {self.name(stack)}[{k} * {stack.width} + {{0}}]", stack.width, level + 1
                )
            else:
                self.line(level + 1, f"{self.name(phi)} = {self.name(stack)}[{k}]")
        outer = self.within
        self.within = outer or self.around.get(s.trips)
        self.block(s.body, level + 1)
        self.within = outer

    def if_(self, s: ir.If, level: int) -> None:
        condition = self.text(s.condition)
        then = [(v, a) for v, a, _ in s.merges]
        orelse = [(v, b) for v, _, b in s.merges]
        if not s.then and not s.merges and s.orelse:
            self.line(level, f"if not {condition}:")
            self.side(s.orelse, orelse, level + 1)
            return
        self.line(level, f"if {bare(condition)}:")
        self.side(s.then, then, level + 1)
        if s.orelse or s.merges:
            self.line(level, "else:")
            self.side(s.orelse, orelse, level + 1)

    def side(self, block: list[Stmt], values: list[tuple[Var, Any]], level: int) -> None:
        first = len(self.lines)
        self.block(block, level, [value for _, value in values])
        for var, value in values:
            self.line(level, f"{self.name(var)} = {bare(self.text(value))}")
        if len(self.lines) == first:
            self.line(level, "pass")


def first_site(block: list[Stmt]) -> Site | None:
    """A place in the program that a block computes something for."""
    for s in everything(block):
        site: Site | None = getattr(s, "site", None)
        if site is not None and site.source is not None:
            return site
    return None


def bare(code: str) -> str:
    """An expression without the parentheses around all of it."""
    return code[1:-1] if code[:1] == "(" and code[-1:] == ")" and balanced(code[1:-1]) else code


def balanced(code: str) -> bool:
    depth = 0
    for ch in code:
        depth += (ch == "(") - (ch == ")")
        if depth < 0:
            return False
    return depth == 0


PRINTERS: dict[type, Any] = {
    ir.Set: Printer.assign,
    ir.Load: Printer.load,
    ir.Check: Printer.check,
    ir.Alloc: Printer.alloc,
    ir.Constant: Printer.constant,
    ir.Store: Printer.store,
    ir.Routine: Printer.routine,
    ir.AddTo: Printer.add_to,
    ir.OpenLog: Printer.open_log,
    ir.Keep: Printer.keep,
    ir.Mark: Printer.mark,
    ir.TakeBack: Printer.take_back,
    ir.Rewind: Printer.rewind,
    ir.Accumulate: Printer.accumulate,
    ir.Loop: Printer.loop,
    ir.ReverseLoop: Printer.reverse_loop,
    ir.If: Printer.if_,
}
