"""A kernel's source, and the functions that it calls, as a module of LLVM's intermediate representation.

Functions are translated when the first call of them is, for the kinds of its arguments; those that may raise return a
pair, whose second says that they did. The kernel's own convention is machine/code.py's.

What LLVM is told of memory: every name of it in the source is memory of its own (type-based tags, one for each), and so
are the record shared with the host and the constants.
"""

from __future__ import annotations

import ast

from ..inputs import EVERY
from ..ir import BOOL, DTYPES, FLOAT, INT, SINGLE, WIDTHS
from ..machine.code import HELD
from ..machine.externals import EXTERNALS, ROUTINES
from ..source.helpers import ALWAYS_INLINED, helper_constants, helper_source, helper_text
from .llvm_host import ROOM
from .llvm_parallel import TOGETHER
from .llvm_statements import RESULT, block
from .llvm_values import expression
from .llvm_writer import NONE, RUN, STORED, Untranslatable, Value, Widened, Writer, float_text, type_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..emitted import Emitted

SYMBOL = "adiff_kernel"
KINDS = {dtype: kind for kind, dtype in DTYPES.items()}
# Metadata that every module has: 2 weighs a branch that is not expected, 4 tags the record shared with the host, 6 says
# of a loop that it ends or does something, 8 besides that its iterations are not to become vectors, 10 that eight are to
# become one (llvm_streams.py), and 12 that it is to stay as it is, with the least code: what it takes is next to nothing, or
# it seldom runs.
METADATA = """
!0 = !{!"adiff"}
!1 = !{!"adiff constants", !0, i64 0}
!2 = !{!"branch_weights", i32 1, i32 2000}
!3 = !{!"adiff run", !0, i64 0}
!4 = !{!3, !3, i64 0}
!5 = !{!"llvm.loop.mustprogress"}
!6 = distinct !{!6, !5}
!7 = !{!"llvm.loop.vectorize.enable", i1 false}
!8 = distinct !{!8, !5, !7}
!9 = !{!"llvm.loop.vectorize.width", i32 8}
!10 = distinct !{!10, !5, !9}
!11 = !{!"llvm.loop.unroll.disable"}
!12 = distinct !{!12, !5, !7, !11}
"""
FIRST_TAG = 13


def module_text(emitted: Emitted, wide_vectors: bool = False) -> tuple[str, list[str]]:
    """The module of a kernel, whose function is SYMBOL; and what it calls of the table of externals.

    `wide_vectors` says whether the machine takes vectors of eight float64. Raises Untranslatable.
    """
    module = Module()
    module.wide_vectors = wide_vectors
    if emitted.single:
        module.floats = SINGLE
        module.conversion = SINGLE if emitted.single == EVERY else FLOAT
        module.sums, module.doubles = frozenset(emitted.sums), frozenset(emitted.doubles)
    *known, function = ast.parse(emitted.text).body
    for node in known:
        module.known_array(node)
    module.kernel(function, emitted)
    return module.text(), module.externals


class Function:
    """A function that was translated, or is being: its defaults are for the last parameters."""

    __slots__ = ("defaults", "kinds", "raises", "recursive", "result", "symbol")

    def __init__(self, symbol: str, kinds: list[str], defaults: list[Any]) -> None:
        self.symbol = symbol
        self.kinds = kinds
        self.defaults = defaults
        self.result = ""
        self.raises = False
        self.recursive = False


class Module:
    """One module as it is written."""

    def __init__(self) -> None:
        self.globals: list[str] = []
        self.bodies: list[str] = []
        self.declared: dict[str, None] = {}
        self.defined: set[str] = set()
        self.functions: dict[tuple[str, tuple[str, ...], bool], Function] = {}
        self.constants: dict[str, Value] = {}
        self.tags: dict[str, int] = {}
        self.externals: list[str] = []
        self.needs_room = False
        self.shares = False
        # Whether the machine takes vectors of 512 bits, and whether a loop of the kernel does.
        self.wide_vectors = self.streams = False
        # What a float of the kernel is, and what it makes of an integer; the variables that are sums, and those that are
        # float64 all the same (widths.py).
        self.floats = self.conversion = FLOAT
        self.sums: frozenset[str] = frozenset()
        self.doubles: frozenset[str] = frozenset()
        # Names of memory belong to one function.
        self.owner = ""

    def declare(self, signature: str) -> None:
        """A function of LLVM's or of the C library is called."""
        self.declared[signature] = None

    def define(self, symbol: str, definition: Callable[[], str]) -> None:
        """A function that is written in LLVM's terms is called."""
        if symbol not in self.defined:
            self.defined.add(symbol)
            self.bodies.append(definition())

    def external(self, name: str) -> None:
        """A function of the table of externals is called: nobody knows what it reads and writes."""
        if name not in self.externals:
            self.externals.append(name)
            if name in ROUTINES:
                self.globals.append(f"declare void @{name}(ptr, ptr, i64, i64) nounwind")
                return
            operands = ", ".join(["double"] * EXTERNALS[name].arguments)
            self.globals.append(f"declare double @{name}({operands}, i32) nounwind")

    def tag(self, name: str) -> str:
        """What sets the memory of a name apart."""
        key = f"{self.owner} {name}"
        if key not in self.tags:
            self.tags[key] = FIRST_TAG + 2 * len(self.tags)
        return f", !tbaa !{self.tags[key] + 1}"

    # --- constants --------------------------------------------------------------------------------------------------

    def known_array(self, node: Any) -> None:
        """`name = np.array([...], dtype='float64')` before the kernel, or `name = held(0, 1000, dtype='float64')`."""
        given, kind = node.value.args[0], KINDS[node.value.keywords[0].value.value]
        if node.value.func.__class__ is ast.Name:
            self.constants[node.targets[0].id] = self.held(kind, given.value)
            return
        values = given.elts
        writer = Writer(self, {})
        texts = [writer.to(kind, expression(writer, value))[1] for value in values]
        self.constants[node.targets[0].id] = self.array(kind, texts)

    def array(self, kind: str, texts: Sequence[str]) -> Value:
        stored = STORED[kind]
        symbol = f"@constant.{len(self.globals)}"
        if kind == BOOL:
            texts = [str(int(text == "true")) for text in texts]
        listed = ", ".join(f"{stored} {text}" for text in texts)
        self.globals.append(f"{symbol} = private unnamed_addr constant [{len(texts)} x {stored}] [{listed}], align 16")
        return kind.upper(), symbol

    def held(self, kind: str, number: int) -> Value:
        """An array whose elements are beside the code, however many they are: it is told where when it is loaded."""
        symbol = f"@{HELD}{number}"
        self.globals.append(f"{symbol} = external constant {STORED[kind]}, align {WIDTHS[kind]}")
        return kind.upper(), symbol

    def constant(self, name: str) -> Value:
        """A name that is no variable: an array of the kernel's, or a constant of the helpers'."""
        found = self.constants.get(name)
        if found is None:
            value = helper_constants().get(name)
            if value.__class__ is float:
                found = FLOAT, float_text(value)
            elif value.__class__ is tuple:
                found = self.array(FLOAT, [float_text(float(x)) for x in value])
            else:
                raise Untranslatable(f"the name {name}")
            self.constants[name] = found
        return found

    # --- functions --------------------------------------------------------------------------------------------------

    def function(self, name: str, kinds: list[str], on_vectors: bool = False) -> Function:
        """The helper of a name for arguments of these kinds, or that of it which is part of loops on vectors."""
        key = (name, tuple(kinds), on_vectors)
        found = self.functions.get(key)
        if found is None:
            found = self.translated(name, key)
        elif not found.result:
            # It calls itself: its annotation says what it gives.
            node = helper_source(name)
            if not isinstance(node.returns, ast.Name) or node.returns.id != "float":
                raise Untranslatable(f"{name} calls itself, and says not what it gives")
            found.result, found.raises, found.recursive = FLOAT, True, True
        return found

    def translated(self, name: str, key: tuple[str, tuple[str, ...], bool]) -> Function:
        if helper_text(name) is None:
            raise Untranslatable(f"the function {name}")
        node = helper_source(name)
        kinds = [*key[1]]
        defaults = node.args.defaults
        wanted = len(node.args.args)
        function = self.functions[key] = Function(f"{name}.{len(self.functions)}", kinds, defaults)
        default_kinds = [expression(Writer(self, {}), default)[0] for default in defaults]
        kinds += default_kinds[len(default_kinds) - (wanted - len(kinds)) :] if len(kinds) < wanted else []
        if len(kinds) != wanted:
            raise Untranslatable(f"{name} of {len(kinds)} arguments")
        owner, self.owner = self.owner, function.symbol
        parameters = [(arg.arg, kind) for arg, kind in zip(node.args.args, kinds)]
        w = self.written(node, parameters, key[2])
        result = w.kinds[RESULT]
        if function.recursive:
            w.raises = True
            if result != function.result:
                raise Untranslatable(f"{name} gives another kind than it says")
        function.result, function.raises = result, w.raises
        gives = type_of(result)
        w.start("done")
        text = w.read(RESULT)[1]
        if w.raises:
            gives = f"{{ {gives}, i1 }}"
            w.line(
                f"%answer = insertvalue {gives} {{ {type_of(result)} undef, i1 false }}, {type_of(result)} {text}, 0"
            )
            w.line(f"ret {gives} %answer")
            w.lines.append("raised:")
            w.line(f"ret {gives} {{ {type_of(result)} undef, i1 true }}")
        else:
            w.line(f"ret {gives} {text}")
        listed = ", ".join(f"{type_of(kind)} %p.{name}" for name, kind in parameters if kind != NONE)
        note = " alwaysinline" if name in ALWAYS_INLINED or key[2] else ""
        self.put(f"define internal {gives} @{function.symbol}({listed}) nounwind{note}", w)
        self.owner = owner
        return function

    def written(self, node: ast.FunctionDef, parameters: list[tuple[str, str]], on_vectors: bool = False) -> Writer:
        """The body of a function; again, where a variable turned out to be wider."""
        known: dict[str, str] = {}
        while True:
            w = Writer(self, known, node.name == "kernel")
            w.on_vectors = on_vectors
            try:
                for name, kind in parameters:
                    if kind == NONE:
                        w.kinds[name] = NONE
                    elif kind == RUN:
                        w.kinds[name] = RUN
                    elif kind == BOOL and w.kernel:
                        w.assign(name, w.value(BOOL, f"icmp ne i8 %p.{name}, 0"))
                    else:
                        w.assign(name, (kind, f"%p.{name}"))
                block(w, node.body)
            except Widened:
                continue
            return w

    def kernel(self, node: Any, emitted: Emitted) -> None:
        """The kernel itself: its results are written where its first argument says."""
        names = [arg.arg for arg in node.args.args]
        parameters = [*zip(names, [RUN, *emitted.parameters], strict=True)]
        *body, last = node.body
        node.body = body
        w = self.written(node, parameters)
        if w.open:
            layout = [type_in_record(result) for result in emitted.results]
            record = f"{{ {', '.join(layout)} }}"
            values = [expression(w, part) for part in last.value.elts]
            for k, (result, value) in enumerate(zip(emitted.results, values, strict=True)):
                if result.__class__ is str:
                    where = w.value(INT, f"getelementptr inbounds {record}, ptr %results, i64 0, i32 {k}")[1]
                    text = w.to(result, value)[1]
                    if result == BOOL:
                        text = w.value(BOOL, f"zext i1 {text} to i8")[1]
                    w.line(f"store {layout[k]} {text}, ptr {where}")
            w.line("ret i32 0")
        w.lines.append("raised:")
        w.line("ret i32 1")
        listed = ["ptr noalias nonnull %results", "ptr %exception", "ptr noalias nonnull %run"]
        for name, kind in parameters[1:]:
            listed.append(f"{'i8' if kind == BOOL else type_of(kind)} %p.{name}")
        # Vectors of 512 bits are two of 256 where nothing says that they are wanted.
        note = ' "min-legal-vector-width"="512"' if self.streams else ""
        self.put(f"define i32 @{SYMBOL}({', '.join(listed)}) nounwind{note}", w)

    def put(self, head: str, w: Writer) -> None:
        self.bodies.append("\n".join([head + " {", "entry:", *w.entry, *w.lines, "}"]))

    def text(self) -> str:
        """All of it."""
        tags = [
            f'!{number} = !{{!"{name}", !0, i64 0}}\n!{number + 1} = !{{!{number}, !{number}, i64 0}}'
            for name, number in self.tags.items()
        ]
        declared = [
            f"declare {signature}{'' if '@llvm.' in signature else ' nounwind willreturn memory(none)'}"
            for signature in self.declared
        ]
        parts = [
            *self.globals,
            *declared,
            ROOM if self.needs_room else "",
            TOGETHER if self.shares else "",
            *self.bodies,
            METADATA,
            *tags,
        ]
        return "\n".join(parts) + "\n"


def type_in_record(result: Any) -> str:
    """The field of a result in the record of results: arrays have theirs elsewhere."""
    return STORED[result] if result.__class__ is str else "ptr"
