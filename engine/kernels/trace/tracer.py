"""Partial evaluation of a core program: what is known is computed as on the tape, what depends on symbols becomes IR.

The tracer is the interpreter's compiler of core programs to closures, with closures of its own where symbols need more:
conditions, loops, calls, and places that are written to.
"""

from __future__ import annotations

from ....parser.errors import AdiffError
from ...core.state import NOWHERE, STATE, end_of
from ...core.tensor import OPERATORS
from ...eager import compile as eager
from ...eager.structure import flatten
from ...kinds.exceptions import EXCEPTIONS
from ...kinds.functions import Builtin
from ...kinds.operators import truth
from ...ops.support import FOR_LIBRARY
from ...program.core import RESULT, UNSET
from ..ir import BOOL, Constant, Unsupported, Var, operands
from ..symbols import Sym
from .builtins import FUNCTIONS, derivatives
from .expressions import EXPRESSIONS, function_body
from .members import get_item
from .merge import branch
from .statements import STATEMENTS, target_of, writer
from .values import BREAK, CONTINUE, ERROR, NOTHING, RETURN, VALUE, Conflict, Frame, Maybe, NeedsValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ...program import core as c
    from ..builder import Builder

    Run = Callable[[Any], Any]

# So many statements of the program are traced at most: what needs more is left to the tape.
MOST_STATEMENTS = 20_000


class Intrinsics(dict[str, "Any"]):
    """The functions of the language by name; those of value kinds are left to the tape."""

    def __missing__(self, name: str) -> Builtin:
        if name in FOR_LIBRARY:
            return Builtin(name, FOR_LIBRARY[name])
        raise Unsupported("values of this kind" if name.startswith("internal.") else name, STATE.site)


class Tracer(eager.Compiler):
    """Runs a core program once on symbols."""

    get_item = staticmethod(get_item)

    def __init__(self, core: c.CoreProgram, builder: Builder) -> None:
        known = {**FUNCTIONS, **derivatives(builder)}
        intrinsics = Intrinsics({name: Builtin(name, run) for name, run in known.items()})
        intrinsics.update(EXCEPTIONS)
        super().__init__(intrinsics, fast=False)
        self.core = core
        self.builder = builder
        self.inputs: dict[Var, str] = {}
        # What a heap is reached from: the frames of the functions that run, and values that are in use.
        self.roots: list[Any] = []
        # Which cells loops carry, by the loop and the calls that it is in; and the loops that must be written out.
        self.plans: dict[Any, Any] = {}
        self.unrolled: set[int] = set()
        self.statements = 0
        builder.known = self.known

    def frame(self, values: Mapping[str, Any], core: c.CoreProgram | None = None) -> Frame:
        return Frame(super().frame(values, core))

    def function(self, code: c.FunctionCode) -> Any:
        return function_body(self, code)

    # --- a whole program ----------------------------------------------------------------------------------------------

    def run(self, values: dict[str, Any]) -> Any:
        """The result of the program: symbols and numbers, and tuples, lists and dicts of them. Raises Unsupported."""
        self.inputs = {x.var: name for name, x in values.items() if x.__class__ is Sym}
        core, frame = self.core, self.frame(values)
        self.roots.append(frame)
        saved = STATE.site
        STATE.draws = None  # numbers drawn without a seed differ from iteration to iteration
        try:
            self.block(core.body)(frame)
            STATE.site = end_of(core.source) if core.source is not None else NOWHERE
            result = frame[RESULT]
            if frame[RETURN] is not False:
                self.unless_left(frame[RETURN], frame, lambda: frame.__setitem__(VALUE, frame[RESULT]))
                result = frame[VALUE]
            return self.finished(result)
        except AdiffError as error:
            raise self.fault(error) from None
        except Unsupported as why:
            why.site = STATE.outward(why.site) if why.site is not None else None
            raise
        except RecursionError:
            raise Unsupported("a program that nests this deeply", STATE.site) from None
        finally:
            STATE.site = saved
            self.roots.clear()

    def finished(self, result: Any) -> Any:
        if result.__class__ is Maybe:
            self.builder.check(result.assigned)
            result = result.value
        if result is UNSET or result is None:
            raise Unsupported("a program without a value")
        for x in flatten(result):
            if x.__class__ is Conflict:
                raise Unsupported(x.reason, STATE.site)
        return result

    def fault(self, error: AdiffError) -> Unsupported:
        """Why a program is left to the tape of which something is an error: it is one, or needs to know a symbol."""
        unknown = "depends on data" in error.message
        return Unsupported(f"{'what must be known' if unknown else ERROR} ({error.message})", STATE.site)

    # --- nodes --------------------------------------------------------------------------------------------------------

    def expression(self, node: c.Expr) -> Run:
        return (EXPRESSIONS.get(node.__class__) or eager.EXPRESSIONS[node.__class__])(self, node)

    def target(self, node: c.Target) -> Callable[[Any, Any], None]:
        return target_of(self, node)

    def writer(self, node: c.StoreItem) -> Callable[[Any, Any, Any, Any], Any]:
        return writer(self, node)

    def block(self, nodes: list[c.Stmt]) -> Run:
        """Statements one after the other; what follows one by which data may leave the block is done under that condition."""
        runs = [(STATEMENTS.get(node.__class__) or eager.STATEMENTS[node.__class__])(self, node) for node in nodes]

        def run(f: Any, start: int = 0) -> None:
            for i in range(start, len(runs)):
                self.statements += 1
                if self.statements > MOST_STATEMENTS:
                    raise Unsupported("a program of which so much is written out", STATE.site)
                runs[i](f)
                left = self.left(f)
                if left is not False:
                    if i + 1 < len(runs):
                        self.unless_left(left, f, lambda: run(f, i + 1))  # noqa: B023
                    return

        return run

    # --- conditions ---------------------------------------------------------------------------------------------------

    def left(self, f: Frame, flags: tuple[int, ...] = (BREAK, CONTINUE, RETURN)) -> Any:
        """Whether a frame's block is left: a truth value, or a symbol."""
        found: Any = False
        for flag in flags:
            x = f[flag]
            if x is True:
                return True
            if x is not False:
                found = x if found is False else OPERATORS.logical_or(found, x)
        return found

    def unless_left(self, left: Any, f: Frame, rest: Callable[[], None]) -> None:
        """Run `rest` unless the frame's block is left."""

        def run() -> None:
            f[BREAK] = f[CONTINUE] = f[RETURN] = False
            rest()

        def stay() -> None:
            for flag in (BREAK, CONTINUE, RETURN):
                if f[flag] is left:
                    f[flag] = True

        branch(self, left, stay, run)

    def truth(self, x: Any) -> Any:
        """The truth of a condition: a bool, or a symbol of one."""
        if x.__class__ is not Sym:
            return truth(x)
        if x.size != 1:
            raise Unsupported(f"{ERROR} (the truth of a tensor of shape {list(x.shape)} is ambiguous)", STATE.site)
        if x.shape:
            x = OPERATORS.reshape(x, shape=())
        return x if x.__class__ is not Sym or x.kind == BOOL else OPERATORS.not_equal(x, 0)

    def choice(self, condition: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """The value of one of two expressions."""
        place, depth = [NOTHING], len(self.roots)
        self.roots.append(place)
        branch(self, condition, lambda: place.__setitem__(0, then()), lambda: place.__setitem__(0, orelse()))
        del self.roots[depth:]
        return place[0]

    # --- what must be known -------------------------------------------------------------------------------------------

    def known(self, x: Sym) -> Any:
        """The value of a symbol that a size needs. Raises NeedsValue where an input of the program decides it."""
        pending, seen = [x.var], {stmt.out for stmt in self.builder.preamble if stmt.__class__ is Constant}
        names = []
        while pending:
            var = pending.pop()
            if var in seen:
                continue
            seen.add(var)
            made = self.builder.definitions.get(var)
            if var in self.inputs:
                names.append(self.inputs[var])
            elif made is not None:
                pending.extend(operands(made))
            else:
                names = []
                break
        if names:
            raise NeedsValue(names[0], STATE.site)
        raise Unsupported("a size, axis or option that depends on data", STATE.site)
