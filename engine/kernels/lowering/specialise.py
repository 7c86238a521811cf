"""Partial evaluation: the core program, specialised to the kinds and shapes of its inputs by being run on symbols.

Whatever is known (lists, shapes, functions, constants) is computed now; what depends on the inputs' values becomes
IR. Loops stay loops, branches that depend on data become `If` with merged values, functions are inlined.
"""

from __future__ import annotations

from ....parser.errors import AdiffError
from ...core.dtypes import INT32, INT64
from ...program import core as c
from .. import ir
from ..budget import check_budget
from ..inputs import CAREFUL, PATTERN, ROOMS, SIZES, WRITTEN, Complex, Discrete, Known, KnownTensor, Single
from ..ir import FLOAT, INT, Array, Unsupported, Var
from ..symbols.arrays import constant_array
from ..symbols.build import Builder
from ..symbols.following import Follower
from ..symbols.foreseen import COUNTABLE
from ..symbols.pairs import Pair
from ..symbols.strength import LEAST_NARROW, claim, own
from ..symbols.symbol import Lazy, Sym
from ..symbols.values import CONFLICT, RESULT, RETURN, UNSET, VALUE, List, Mutual, Recursive, Selected, new_frame, read
from .printing import LINES, Printed, Wider
from .records import dissolved
from .sizes import Sizes, Unknown
from .statements import Specialiser
from .steps import STEPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.tensor import Tensor


class Specialised:
    """A program on symbols: the kernel without results, the symbolic result, and the inputs by name."""

    __slots__ = ("builder", "inputs", "kernel", "parted", "printed", "result", "spared")

    def __init__(
        self, builder: Builder, kernel: ir.Kernel, result: Any, inputs: dict[str, Any], printed: Printed
    ) -> None:
        self.builder = builder
        self.printed = printed
        self.kernel = kernel
        self.result = result
        self.inputs = inputs
        # Whether data decides the lengths of parts of tensors.
        self.parted = False
        # Whether loops have stayed loops that could have been written out.
        self.spared = False


def specialise(
    program: c.CoreProgram, inputs: dict[str, Any], last: bool = False, signed: bool = False, outer: bool = True,
    follow: bool = False, probe: bool = False,
    structured: bool = True, telling: bool = False,
) -> Specialised:  # fmt: skip
    """The IR of a program; `inputs` gives per name a kind ("f", "i"), a shape (floats), or a known value in a list.

    The result is the last value of the program, or that of its `last` statement: None where this one has none. `signed`
    says that decompositions are LAPACK's, which have derivatives of every order, and not ones that are quick; `outer`
    that the whole may be differentiated, derivatives inside it included; `follow` that what rows are given is to be noted;
    `structured` that the result may be of any form, and not only a number or a tensor;
    `telling` that messages of assertions that fail are printed;
    `probe` that not the result is asked for but the first size that data decides and that is not known.

    Raises Sized where such a size is not known.
    """
    sizes = Sizes(inputs.get(SIZES))
    parted: Unsupported | None = None
    recursive: dict[c.FunctionCode, set[c.FunctionCode]] = {}
    width = 2
    tabled: Unsupported | None = None
    followed: Unsupported | None = None
    aliased: Unsupported | None = None
    at_length = False
    # Why loops have stayed loops that could have been written out; and why there is no kernel of them.
    # They may not where such a kernel has been left.
    sparing = WRITTEN not in inputs
    spared: list[Unsupported] | None = [] if sparing else None
    as_loops: Unsupported | None = None
    read_after: set[tuple[int, int]] = set()
    while True:
        check_budget()
        try:
            tables = tabled is not None and not at_length
            ways = (tables, followed is not None, aliased is not None, at_length, read_after, spared)
            printed = Printed(width, telling)
            made = attempted(program, inputs, recursive, printed, last, signed, outer, follow, ways, sizes)
            if made.result.__class__ is Selected and not structured:
                raise Unsupported("a result that is no number and no tensor")
            made.parted = sizes.asked and sizes.known is None
            made.spared = bool(spared)
            return made
        except Unknown as found:
            if probe and found.kernel is not None:
                return Specialised(sizes.builder, found.kernel, found.value, found.inputs, Printed(width))
            raise ir.Sized(found.why, found.site) from None
        except Recursive as found:
            recursive[found.code] = {found.code}
        except Mutual as found:
            together = set().union(*(recursive[code] for code in found.codes))
            recursive.update(dict.fromkeys(together, together))
        except Wider as found:
            width = found.width
        except ir.Signed:
            signed = True
        except ir.Outlived as found:
            read_after.add(found.variable)
        except ir.Needed:
            raise
        except AdiffError:
            # Not what it would be if a part of a tensor had the length that it has.
            if parted is not None:
                raise parted from None
            if sizes.known is not None or not sizes.asked:
                raise
            tabled, followed, aliased, at_length = None, None, None, False
            spared, as_loops = [] if sparing else None, None
            sizes = Sizes(())
        except Unsupported as why:
            if why.__class__ is ir.Tabled and tabled is None:
                tabled = why
            elif why.__class__ is ir.Followed and followed is None:
                followed = why
            elif why.__class__ is ir.Aliased and aliased is None:
                aliased = why
            elif spared and why.__class__ is not ir.TooLarge:
                spared, as_loops = None, why
            elif sizes.known is None and sizes.asked and why.__class__ is not ir.TooLarge:
                parted, tabled, followed, aliased = tabled or followed or aliased or as_loops or why, None, None, None
                at_length, spared, as_loops = False, [] if sparing else None, None
                sizes = Sizes(())
            elif tabled is not None and not at_length and why.__class__ is not ir.TooLarge:
                at_length = True
            else:
                raise parted or tabled or followed or aliased or as_loops or why from None  # why another way was tried


def attempted(
    program: c.CoreProgram,
    inputs: dict[str, Any],
    recursive: dict[c.FunctionCode, set[c.FunctionCode]],
    printed: Printed,
    last: bool,
    signed: bool,
    outer: bool,
    follow: bool,
    ways: tuple[bool, bool, bool, bool, set[tuple[int, int]], list[Unsupported] | None],
    sizes: Sizes,
) -> Specialised:
    """The IR of a program of which some functions are known to be recursive, each with those that it shares a loop with.

    `ways` says whether small lists of lists are arrays, whether short loops are written out in any case, whether tensors that
    are known are in variables, whether loops are written out at length for lists of lists that are no arrays, which variables
    are read after a loop that assigns them first, and whether loops in which lists grow are to be spared where that is much
    (unrolling.py).

    Raises Recursive for another function, Mutual where several call one another, Wider for a line with more numbers than
    there is room for, and Signed where vectors are read that must be LAPACK's.
    """
    builder = Builder()
    builder.apart = True
    builder.signed = signed
    builder.outer = outer
    if follow:
        builder.follower = Follower(builder)
    parameters = builder.parameters
    symbols: dict[str, Any] = {}
    frame = new_frame(None)
    for name, slot in program.inputs.items():
        frame[slot] = symbols[name] = parameter(builder, parameters, name, inputs[name])
    for name, (slot, node) in program.optional.items():
        if name in inputs:
            frame[slot] = symbols[name] = parameter(builder, parameters, name, inputs[name])
        else:
            frame[slot] = builder.rounded(node.value) if node.__class__ is c.Literal else node
    sizes.begin(builder)
    machine = Specialiser(builder, recursive, printed, sizes)
    machine.last = last
    machine.rooms = dict(inputs.get(ROOMS, ()))
    machine.careful, machine.pattern = CAREFUL in inputs, PATTERN in inputs
    machine.tables, machine.written, machine.tensors_apart, machine.at_length, machine.read_after, machine.spared = ways
    frame[LINES] = frame[STEPS] = 0
    machine.frames.append(frame)
    try:
        machine.block(program.body, frame)
    except Unknown as found:
        found.kernel, found.inputs = ir.Kernel(parameters, builder.root, []), symbols
        raise
    if frame[RETURN] is True:
        frame[RESULT] = frame[VALUE]
    elif frame[RETURN] is not False:
        machine.branch(frame[RETURN], frame, lambda: frame.update({RESULT: frame[VALUE]}), lambda: None)
    try:
        result = dissolved(machine, sizes.finished(read(frame[RESULT])))
    except Unknown as found:
        found.kernel, found.inputs = ir.Kernel(parameters, builder.root, []), symbols
        raise
    if last and not program.ends_with_value:
        result = None
    if result is UNSET or result is CONFLICT or (result is None and not last):
        raise Unsupported("a program without a numeric result on every path")
    if unsigned(result):
        raise ir.Signed("the signs of eigenvectors or singular vectors, which LAPACK decides")
    printed.finished(machine, builder.block)
    return Specialised(builder, ir.Kernel(parameters, builder.block, []), result, symbols, printed)


def unsigned(result: Any) -> bool:
    """Whether a result holds vectors whose signs are not LAPACK's."""
    items: Any = result.items if result.__class__ is List else result
    if result.__class__ is Lazy and result.stored is None and 0 not in result.shape:
        block = result.builder.root
        if any(s.__class__ is ir.Alloc and s.array.role == "unsigned" for s in block):
            result.builder.nested(lambda: result.element((0,) * len(result.shape)))  # Signed where it reads them
    if result.__class__ in (tuple, List):
        return items is not None and any(map(unsigned, items))
    if result.__class__ is dict:
        return any(map(unsigned, result.values()))
    return result.__class__ is Lazy and result.stored is not None and result.stored.role == "unsigned"


def parameter(builder: Builder, parameters: list[Any], name: str, spec: Any) -> Any:
    if spec.__class__ is list:
        return known_tensor(builder, spec[0].tensor) if spec[0].__class__ is KnownTensor else spec[0]
    if spec.__class__ is Single:
        found = parameter(builder, parameters, name, spec.shape or FLOAT)
        builder.singles.add(parameters[-1])
        return found
    if spec.__class__ in (str, Known):
        var = Var(str(spec), "p")
        var.name = name
        builder.inputs.add(var)
        if spec.__class__ is Known:
            builder.values[var] = spec.value
        if var.kind == INT:
            builder.ranges[var] = COUNTABLE
        parameters.append(var)
        return Sym(builder, var)
    if spec.__class__ is Complex:
        if 0 in spec.shape:
            raise Unsupported("complex numbers without elements")  # from which it is told whether they meet floats
        parts = [parameter(builder, parameters, name, spec.shape or FLOAT) for name in (f"{name}_re", f"{name}_im")]
        return Pair(builder, *parts)
    discrete = spec.__class__ is Discrete
    if discrete and not spec.shape:
        found = parameter(builder, parameters, name, INT)
        return strong_parameter(builder, parameters[-1], found, spec)
    array = Array(spec.kind, spec.shape, "p", "input") if discrete else Array(FLOAT, spec, "p", "input")
    array.name = name
    parameters.append(array)
    found = builder.stored(array)
    return strong_parameter(builder, array, found, spec) if discrete and spec.dtype else found


def strong_parameter(builder: Builder, parameter: Any, found: Any, spec: Discrete) -> Any:
    """Integers, or an integer, of a dtype of their own as the program has them."""
    narrow = spec.dtype == "int32"
    claim(builder, INT32 if narrow else INT64)
    builder.strong.add(parameter)
    if narrow and found.__class__ is Lazy:
        found.interval = (LEAST_NARROW, -LEAST_NARROW - 1)
    elif narrow:
        builder.ranges[parameter] = (LEAST_NARROW, -LEAST_NARROW - 1)
    return found


def known_tensor(builder: Builder, tensor: Tensor) -> Lazy | Sym:
    """A tensor of integers, or an integer of a dtype of its own, that is an input and a part of the kernel."""
    if not tensor.shape:
        number: Sym = own(builder, int(tensor.value), tensor.dtype)
        builder.made[number.var] = ("copy", (int(tensor.value),))
        return number
    found = constant_array(builder, tensor.value)
    found.known = tensor
    strong: Lazy = found if tensor.dtype.weak else own(builder, found)
    return strong
