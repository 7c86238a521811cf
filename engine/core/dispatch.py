"""Applying a row: dtype rule, evaluation, and telling the active recorders.

Two ways lead through here. `apply` serves everything. `apply_scalar_1` and `apply_scalar_2` are the same thing for
float64 scalars, the case that loops consist of, at a tenth of the cost; they hand over to `apply` whatever they do
not recognise.
"""

from __future__ import annotations

import math

from ...parser.errors import AdiffError
from . import limits
from .dtypes import (
    BOOL,
    COMPLEX_OF,
    FLOAT64,
    INT64,
    REAL_PART,
    STRING,
    WEAK,
    WEAK_COMPLEX,
    WEAK_COUNT,
    WEAK_FLOAT,
    DType,
    DTypeMismatch,
    of_numpy,
    promote,
    raw_dtype,
)
from .errors import failure
from .state import RECORDERS, STATE
from .tensor import OPERATORS, Dual, Tensor
from .wording import integer_division_by_zero
from .wrapping import BOUNDS, tell_wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .operation import Operation

# Dtypes whose scalars are Python scalars.
NATIVE = {"float64": float, "int64": int, "complex128": complex, "bool": bool}
# Operands that are values themselves; anything else may bring its own way to be operated on.
ORDINARY = frozenset((Tensor, float, int, bool, complex, str, list, tuple))
# Integers up to here are floats exactly.
EXACT = 2**53
# The operands of rows that stay real beside complex ones, of which they multiply or divide either part.
REAL_BESIDE = {"multiply": (0, 1), "strong_multiply": (0, 1), "multiply_cotangents": (0, 1), "divide": (1,)}
# What applies rows to float32 numbers (single.py), once there are such.
SINGLES: list[Any] = []
# What a scalar formula raises where the general way has the answer, or the error in the user's words.
ARITHMETIC_FAULTS = (ArithmeticError, ValueError, TypeError)


def apply_scalar_1(op: Operation, x: Any) -> Any:
    """Apply a row to one input: the fast path for a float64 scalar."""
    if x.__class__ is float:
        if op.scalar is not None:
            try:
                return op.scalar(x)
            except ARITHMETIC_FAULTS:
                return apply(op, (x,), None)
    elif x.__class__ is Tensor and x.value.__class__ is float and op.scalar is not None and len(RECORDERS) < 2:
        try:
            value = op.scalar(x.value)
        except ARITHMETIC_FAULTS:
            return apply(op, (x,), None)
        if value.__class__ is float:
            dtype = x.dtype
            if not RECORDERS:
                return value if dtype.weak else Tensor(value, dtype)
            recorder = RECORDERS[0]
            on, token = x.on, recorder.token
            if (on is token or (on.__class__ is Dual and on.token is token)) and op.direct:
                if dtype is WEAK_COUNT and op.dtype == "float":
                    dtype = WEAK_FLOAT
                out = Tensor(value, dtype, token)
                if on is not token:
                    if recorder.moves(op, x, None, out):
                        return out
                elif recorder.log is not None:
                    site = STATE.site
                    recorder.log += (site if site.op is op else site_for(op), x, None, out)
                    return out
    return apply(op, (x,), None)


def apply_scalar_2(op: Operation, a: Any, b: Any) -> Any:
    """Apply a row to two inputs: the fast path for float64 scalars."""
    if a.__class__ is float:
        if b.__class__ is float:
            if op.scalar is not None:
                try:
                    return op.scalar(a, b)
                except ARITHMETIC_FAULTS:
                    pass
            return apply(op, (a, b), None)
        if b.__class__ is int and op.scalar is not None and op.direct:
            try:
                value = op.scalar(a, b)
            except ARITHMETIC_FAULTS:
                value = None
            if value.__class__ is float:
                return value
        if b.__class__ is not Tensor or b.value.__class__ is not float:
            return apply(op, (a, b), None)
        u, v, dtype = a, b.value, b.dtype
    elif a.__class__ is Tensor and a.value.__class__ is float:
        if b.__class__ is float:
            u, v, dtype = a.value, b, a.dtype
        elif b.__class__ is Tensor and b.value.__class__ is float:
            u, v, dtype = a.value, b.value, a.dtype
            if dtype is not b.dtype and dtype.weak:
                dtype = b.dtype
        elif b.__class__ is int:
            u, v, dtype = a.value, b, a.dtype
        else:
            return apply(op, (a, b), None)
    elif a.__class__ is int and b.__class__ is Tensor and b.value.__class__ is float:
        u, v, dtype = a, b.value, b.dtype
    else:
        return apply(op, (a, b), None)
    if op.scalar is None or len(RECORDERS) > 1 or not op.direct:
        return apply(op, (a, b), None)
    try:
        value = op.scalar(u, v)
    except ARITHMETIC_FAULTS:
        return apply(op, (a, b), None)
    if value.__class__ is not float:
        return apply(op, (a, b), None)
    if not RECORDERS:
        return value if dtype.weak else Tensor(value, dtype)
    recorder = RECORDERS[0]
    token = recorder.token
    if dtype is WEAK_COUNT and (op.dtype == "float" or not (counts(a) and counts(b))):
        dtype = WEAK_FLOAT
    if recorder.log is None:
        for x in (a, b):
            if x.__class__ is Tensor and x.on.__class__ is Dual and x.on.token is token:
                out = Tensor(value, dtype)
                if recorder.moves(op, a, b, out):
                    return out
                break
        return apply(op, (a, b), None)
    if a.__class__ is Tensor and a.on is token:
        pass
    elif b.__class__ is not Tensor or b.on is not token:
        return apply(op, (a, b), None)
    out = Tensor(value, dtype, token)
    site = STATE.site
    recorder.log += (site if site.op is op else site_for(op), a, b, out)
    return out


def apply_scalar_3(op: Operation, condition: Any, a: Any, b: Any) -> Any:
    """Apply a row to a condition and two inputs in which it is linear: the fast path for float64 scalars."""
    scalar = op.scalar
    if condition.__class__ is not bool or op.derivative != "linear" or scalar is None or STATE.trace is not None:
        return apply(op, (condition, a, b), None)
    if a.__class__ is float and b.__class__ is float:
        return scalar(condition, a, b)
    dtype = None
    values = []
    for x in (a, b):
        if x.__class__ is Tensor and x.value.__class__ is float:
            if dtype is None or dtype.weak:
                dtype = x.dtype
            elif x.dtype is not dtype and not x.dtype.weak:
                break
            values.append(x.value)
        elif x.__class__ is float or (x.__class__ is int and -EXACT < x < EXACT):
            values.append(float(x))
        else:
            break
    if len(values) < 2 or dtype is None or dtype is WEAK_COUNT or len(RECORDERS) > 1:
        return apply(op, (condition, a, b), None)
    value = scalar(condition, *values)
    if not RECORDERS:
        return value if dtype.weak else Tensor(value, dtype)
    recorder = RECORDERS[0]
    token = recorder.token
    marks = [x.on if x.__class__ is Tensor else None for x in (a, b)]
    if recorder.log is not None:
        if token in marks:
            out = Tensor(value, dtype, token)
            site = STATE.site
            recorder.log += (site if site.op is op else site_for(op), (condition, a, b), None, out)
            return out
    elif any(on.__class__ is Dual and on.token is token for on in marks):
        out = Tensor(value, dtype)
        if recorder.moves_one(scalar, condition, a, b, out):
            return out
    return apply(op, (condition, a, b), None)


def bare(x: Any) -> Any:
    """A number of the language as a program has it: a float is a float32 where `--dtype float32` is asked for."""
    return tensor(x) if x.__class__ is float and STATE.weak_float is not WEAK_FLOAT else x


def counts(x: Any) -> bool:
    """Whether a number counts as an integer: a bare one, or one that is a float because it is differentiated."""
    return x.__class__ is int or (x.__class__ is Tensor and x.dtype is WEAK_COUNT)


def at_row(op: Operation) -> Any:
    """The current place, as that of an operation."""
    return STATE.site if STATE.site.op is op else site_for(op)


def site_for(op: Operation) -> Any:
    """The current place, for an operation that a rule or a composite applies there."""
    from .state import Site

    site = STATE.site
    return Site(op, site.source, site.start, site.end)


def follows(x: Any, token: Any) -> bool:
    """Whether the recorder of `token` follows `x`."""
    if x.__class__ is not Tensor:
        return False
    on = x.on
    if on is None:
        return False
    if on.__class__ is tuple:
        return any(entry.token is token for entry in on)
    return on.token is token


def path_ends(values: Any, reason: str, site: Any = None) -> bool:
    """Tell the tapes that follow one of `values` that its path ends here; they quote it where a gradient is None.

    False if whoever follows them keeps no such places, or no more of them.
    """
    heard = STATE.choices is not None
    if heard:
        STATE.choices(reason, values)
    told = False
    for recorder in RECORDERS:
        followed = [x for x in values if follows(x, recorder.token)]
        if followed:
            told = True
            if recorder.broken(STATE.site if site is None else site, followed, reason):
                heard = True
    return heard or not told


def counted(x: Any) -> Any:
    """The integer that a differentiated bare integer (`--at n=5`) still is where things are counted; else `x` itself."""
    if x.__class__ is Tensor and x.dtype is WEAK_COUNT and not x.ndim and float(x.value).is_integer():
        path_ends((x,), "a place where it counts as an integer")
        return int(x.value)
    return x


def add_mark(x: Tensor, mark: Any) -> None:
    """Let the recorder of `mark` follow `x`."""
    on = x.on
    if on is None:
        x.on = mark
    elif on.__class__ is tuple:
        x.on = (*(entry for entry in on if entry.token is not mark.token), mark)
    elif on.token is not mark.token:
        x.on = (on, mark)
    else:
        x.on = mark


def as_operand(x: Any, op: Operation | None = None) -> Any:
    """An input as a number, a string or a tensor: lists are stacked, variables are read."""
    cls = x.__class__
    if cls is Tensor or cls in (float, int, bool, complex, str):
        return x
    if cls is list or cls is tuple:
        return tensor_of_list(x)
    if cls is range:
        limits.allocate(len(x), 36)
        return tensor_of_list(list(x))
    read = getattr(x, "read_value", None)
    if read is not None:
        return read()
    symbolic = getattr(x, "as_symbol", None)
    if symbolic is not None:
        return x
    name = "this operation" if op is None else op.name
    if x is None:
        raise failure("E0304", f"{name} needs a number or a tensor, and got None", "is a gradient unconnected here?")
    what = describe(x)
    hint = None
    if what.startswith("the function"):
        hint = f"call it, or bind an input of that name: --at {what.split(chr(39))[1]}=..."
    raise failure("E0304", f"{name} needs a number or a tensor, and got {what}", hint)


NUMBERS = {"i": "an integer", "f": "a float", "c": "a complex number"}


def describe(x: Any) -> str:
    """What a value is, in the user's words."""
    cls = x.__class__
    if cls is Tensor:
        if not x.ndim and x.dtype.kind in NUMBERS:
            return NUMBERS[x.dtype.kind] if x.dtype.weak else f"a {x.dtype.name} number"
        return f"a {x.dtype.name} tensor of shape {shape_text(x.shape)}"
    words = {
        "bool": "a bool",
        "int": "an integer",
        "float": "a float",
        "complex": "a complex number",
        "str": "a string",
    }
    if cls.__name__ in words:
        return words[cls.__name__]
    if cls is list:
        return "a list"
    if cls is tuple:
        return "a tuple"
    if cls is dict:
        return "a dict"
    if x is None:
        return "None"
    name = getattr(x, "name", None)
    if cls.__name__ == "Operation" or cls.__name__ == "Function":
        return f"the function '{name}'"
    return getattr(x, "description", f"a {cls.__name__}")


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as TensorFlow's messages show it: [2,3]."""
    return "[" + ",".join(map(str, shape)) + "]"


def stacked(items: Any) -> Any:
    """The parts of a list, tensors among them, as one tensor."""
    try:
        return OPERATORS["stack"]([as_operand(item) for item in items])
    except AdiffError as error:
        # Nobody has said `stack`.
        where = error.message.removeprefix("stack needs equal shapes: ")
        if where != error.message:
            error.message = f"the parts of this list differ in shape, so it is no tensor: {where}"
            error.args = (error.message,)
            error.hint = "make them of one shape, or keep a list of tensors"
        raise


def tensor_of_list(items: Any) -> Any:
    """A nested list as one tensor. A list of constants becomes one array at once; else its parts are stacked."""
    leaf_dtype: DType | None = None
    constant = True
    stack = [(items, 0)]
    mixed = False
    while stack:
        level, depth = stack.pop()
        for item in level:
            cls = item.__class__
            if cls is list or cls is tuple:
                stack.append((item, limits.nest(depth)))
                continue
            raw = raw_dtype(item)
            if raw is None:
                constant = False
            elif leaf_dtype is None or leaf_dtype is raw:
                leaf_dtype = raw
            elif STRING in (leaf_dtype, raw):
                mixed = True
            else:
                leaf_dtype = promote(leaf_dtype, raw)
    if mixed:
        raise failure("E0301", "a list cannot mix strings and numbers")
    if not constant:
        return stacked(items)
    if leaf_dtype is None:
        leaf_dtype = WEAK_FLOAT
    if leaf_dtype is BOOL or leaf_dtype is STRING:
        weak = leaf_dtype
    else:
        weak = leaf_dtype
    if weak is WEAK_FLOAT:
        weak = STATE.weak_float
    import numpy as np

    try:
        if weak is STRING:
            value = np.array(items, dtype=object)
            if any(item.__class__ in (list, tuple) for item in value.flat):
                raise ValueError
        else:
            with np.errstate(over="ignore"):  # an infinity where a number is beyond float32
                value = np.array(items, dtype=weak.name)
    except OverflowError:
        raise failure("E0303", "an integer in this list does not fit int64", "write it as a float: 1e20") from None
    except ValueError:
        raise failure(
            "E0302",
            "the rows of this list differ in length, so it is no tensor",
            "make the rows equally long, or keep a list of tensors",
        ) from None
    return Tensor(value, weak)


def operand_dtype(x: Any) -> DType:
    """The dtype of what `as_operand` gives."""
    found: DType | None = x.dtype if x.__class__ is Tensor else raw_dtype(x)
    return x.dtype if found is None else found  # None: a symbol of the compiler


def common_dtype(op: Operation, dtypes: list[DType]) -> DType:
    """The dtype in which the inputs of a row meet, if the row is defined for it."""
    computed = dtypes[op.skip]
    for other in dtypes[op.skip + 1 :]:
        if other is not computed:
            try:
                computed = promote(computed, other)
            except DTypeMismatch as mismatch:
                raise mismatch_error(op, mismatch) from None
    if computed.kind not in op.accepts:
        raise failure("E0301", f"{op.name} is not defined for {computed.name}", accept_hint(op, computed))
    return computed


def result_dtypes(op: Operation, dtypes: list[DType], attributes: dict[str, Any] | None) -> tuple[DType | None, DType]:
    """The dtype in which the row computes (None: each input in its own) and the dtype of its result."""
    kind = op.dtype
    if kind.__class__ is not str:
        return kind(op, dtypes, attributes)  # type: ignore[no-any-return]
    computed = common_dtype(op, dtypes)
    if kind == "promote" or kind == "first":
        return computed, computed
    if kind == "arithmetic":
        if computed.kind == "b":
            return INT64, WEAK[INT64]
        return computed, computed
    if kind == "float":
        if computed is WEAK_COUNT:
            computed = WEAK_FLOAT
        if computed.kind in "bi":
            computed = STATE.weak_float if computed.weak or computed.kind == "b" else STATE.default_float
        return computed, computed
    if kind == "bool":
        return computed, BOOL
    if kind == "int":
        return computed, INT64
    if kind == "real":
        return computed, real_part(computed)
    if kind == "complex":
        if computed.kind in "bi" or computed is WEAK_COUNT:
            computed = STATE.weak_float
        return computed, COMPLEX_OF.get(computed, computed)
    raise AssertionError(f"{op.name}: unknown dtype rule {kind!r}")


def real_part(dtype: DType) -> DType:
    """The dtype of the parts of a number, and of its modulus; those of a bare complex number are bare."""
    return STATE.weak_float if dtype is WEAK_COMPLEX else REAL_PART.get(dtype, dtype)


def accept_hint(op: Operation, dtype: DType) -> str | None:
    if dtype.kind == "c":
        return "take real(z), imag(z) or abs(z) first"
    if dtype.kind == "s":
        return "strings carry no numbers; see `adiff ops` for the string operations"
    if op.name in ("bitwise_and", "bitwise_or") and dtype.kind == "f":
        sign = "&" if op.name == "bitwise_and" else "|"
        return f"{sign} binds tighter than comparisons: write (a > 0) {sign} (b > 0); for bits write cast(x, int64)"
    if "i" in op.accepts:
        return "write cast(x, int64)"
    return "write cast(x, float64)"


def mismatch_error(op: Operation, mismatch: DTypeMismatch) -> Exception:
    first, second = mismatch.first, mismatch.second
    if "s" in (first.kind, second.kind):
        return failure(
            "E0301", f"{op.name} cannot combine {first.name} and {second.name}", "strings and numbers do not mix"
        )
    rank = {"b": 0, "i": 1, "f": 2, "c": 3}
    low, high = (
        (first, second) if (rank[first.kind], first.bits) <= (rank[second.kind], second.bits) else (second, first)
    )
    if first.weak or second.weak:
        weak, strong = (first, second) if first.weak else (second, first)
        return failure(
            "E0301",
            f"{op.name} cannot combine {strong.name} with a bare {weak.name}: dtypes do not mix",
            f"write cast(x, {weak.name}) for the {strong.name} operand",
        )
    return failure(
        "E0301",
        f"{op.name} cannot combine {first.name} and {second.name}: dtypes do not mix",
        f"write cast(x, {high.name}) for the {low.name} operand",
    )


def apply(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    """Apply a row to its inputs and static parameters; record it wherever an input is followed.

    Raises AdiffError E03xx for operands that do not fit, E04xx for values that do not.
    """
    if SINGLES and attributes is None:
        found = SINGLES[0](op, inputs)
        if found is not None:
            return found
    for x in inputs:
        if x.__class__ not in ORDINARY and hasattr(x, "as_symbol"):
            return x.as_symbol(op, inputs, attributes)
    operands = tuple([as_operand(x, op) for x in inputs])
    for given, x in zip(inputs, operands):
        if x is not given and hasattr(x, "as_symbol"):  # a list of symbols
            return x.as_symbol(op, operands, attributes)
    inputs = operands
    computed, dtype = result_dtypes(op, [operand_dtype(x) for x in inputs], attributes)
    value = evaluate(op, inputs, attributes, computed)
    if value.__class__ is float and dtype.__class__ is DType and dtype.kind == "i":
        # 2**-1: Python's integers become a float there, TensorFlow's integer tensors refuse.
        if not dtype.weak:
            raise failure("E0401", f"{op.name} of integer tensors has no integer result", "write cast(x, float64)")
        dtype = STATE.weak_float
    if dtype.__class__ is DType and dtype.kind == "i" and op.name in BOUNDS and value.__class__ is not int:
        tell_wrapped(op, [x.value if x.__class__ is Tensor else x for x in inputs], attributes, value, dtype)
    if value.__class__ is tuple:
        dtypes: Any = dtype if isinstance(dtype, tuple) else (dtype,) * len(value)
        out: Any = tuple(wrap(v, d) for v, d in zip(value, dtypes))
    else:
        out = wrap(value, dtype)
    if STATE.trace is not None:
        STATE.trace(op, inputs, out)
    if RECORDERS:
        for recorder in tuple(RECORDERS):
            token = recorder.token
            for x in inputs:
                if follows(x, token):
                    out = recorder.record(op, inputs, attributes, out)
                    break
    if (
        out.__class__ is Tensor
        and out.on is None
        and out.dtype.weak
        and out.value.__class__ in (float, int, complex, bool)
    ):
        return out.value
    return out


def evaluate(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, computed: DType | None) -> Any:
    """The row's value on the inputs' values, computed in dtype `computed`."""
    values = [x.value if x.__class__ is Tensor else x for x in inputs]
    native = computed is not None and NATIVE.get(computed.name)
    scalars = all(v.__class__ in (float, int, bool, complex) for v in values)
    if native and scalars and computed is not None:
        scalar = op.scalar
        if native is not int and native is not bool:
            try:
                kept = REAL_BESIDE.get(op.name, ()) if native is complex else ()
                values = values[: op.skip] + [
                    float(v) if k in kept and v.__class__ is not complex else native(v)
                    for k, v in enumerate(values[op.skip :])
                ]
            except OverflowError:
                raise failure("E0303", "this integer is too large for a float", "write it as a float: 1e300") from None
        if scalar is not None and native is not complex:
            try:
                result = scalar(*values) if attributes is None else scalar(*values, **attributes)
            except ZeroDivisionError:
                if computed.kind in "bi":
                    raise integer_division_by_zero() from None
            except ARITHMETIC_FAULTS:
                pass
            else:
                if result.__class__ is not complex:
                    return checked_integer(op, result, computed) if result.__class__ is int else result
    if op.array is None:
        raise failure("E0304", f"{op.name} is not defined for these operands")
    import numpy as np

    with np.errstate(all="ignore"):
        if computed is not None and computed.kind != "s":
            name = computed.name
            # Python scalars beside an array take the array's dtype by themselves; alone they must be told.
            alone = scalars or computed.kind == "c"
            names = [name] * len(values)
            if computed.kind == "c":
                for k in REAL_BESIDE.get(op.name, ()):
                    if values[k].__class__ is not complex and getattr(values[k], "dtype", FLOAT64).kind != "c":
                        names[k] = REAL_PART[computed].name
            values = values[: op.skip] + [
                (v.astype(name) if name_of(v.dtype) != name else v)
                if v.__class__ is np.ndarray or v.__class__ is np.float32
                else (np.asarray(integer_fit(v, name), dtype=name) if alone or v.__class__ is int else v)
                for v, name in zip(values[op.skip :], names)
            ]
        limits.expect(op, values)
        try:
            if attributes is None:
                return op.array(np, *values)
            return op.array(np, *values, **attributes)
        except MemoryError as fault:
            if limits.is_last_straw(fault):
                raise
            raise limits.out_of_memory(op, fault) from None
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, np.linalg.LinAlgError) as fault:
            raise array_fault(op, inputs, fault) from fault


def integer_fit(v: Any, name: str) -> Any:
    if v.__class__ is int and name.startswith("int") and (v if v >= 0 else ~v) >> int(name[3:]) - 1:
        raise failure("E0303", f"the integer {short_integer(v)} does not fit {name}", "write it as a float: 1e20")
    return v


def short_integer(v: int) -> str:
    return str(v) if v.bit_length() < 200 else f"of {v.bit_length()} bits"


def checked_integer(op: Operation, value: int, computed: DType) -> int:
    if not computed.weak and computed.kind == "i" and not -(2**63) <= value < 2**63:
        raise failure("E0403", f"{op.name} overflows int64", "cast to float64 for larger numbers")
    return value


def array_fault(op: Operation, inputs: tuple[Any, ...], fault: Exception) -> Exception:
    """A NumPy error in the user's words: shapes first, since they are the usual cause."""
    shapes = [x.shape if x.__class__ is Tensor else () for x in inputs]
    text = str(fault)
    if "broadcast" in text or "shape mismatch" in text:
        joined = " and ".join(shape_text(s) for s in shapes)
        return failure(
            "E0302",
            f"{op.name}: shapes {joined} do not broadcast",
            "shapes broadcast where sizes are equal or 1, from the right",
        )
    if "matmul" in text or "not aligned" in text:
        joined = " and ".join(shape_text(s) for s in shapes)
        return failure("E0302", f"{op.name}: shapes {joined} do not fit", "the inner dimensions must be equal")
    by = STATE.site.op
    # A rule or a composite may have applied what fails: the user wrote the other name.
    name = op.name if by is None or by is op else f"{by.name} (by {op.name})"
    if "Singular matrix" in text:
        return failure("E0404", f"{name}: the matrix is singular", "lstsq and pinv take singular matrices")
    if "positive definite" in text:
        return failure("E0404", f"{name}: the matrix is not positive definite")
    text = text.split("\n")[0]
    return failure("E0302", f"{op.name}: {text}")


def wrap(value: Any, dtype: DType) -> Any:
    """A computed value as a Tensor; float64, int64, complex128 and bool scalars as Python scalars inside it."""
    cls = value.__class__
    if cls is float or cls is bool or cls is int or cls is complex:
        native = NATIVE.get(dtype.name)
        if native is None:
            import numpy as np

            return of_array(np.asarray(value, dtype=dtype.name), dtype)
        return Tensor(native(value), dtype) if dtype is not BOOL else bool(value)
    if cls is str:
        return value
    import numpy as np

    if dtype is STRING:
        array = np.asarray(value, dtype=object)
        return array.item() if array.ndim == 0 else Tensor(array, STRING)
    array = np.asarray(value)
    if array.ndim == 0:
        native = NATIVE.get(dtype.name)
        if native is bool:
            return bool(array)
        if native is not None:
            return Tensor(native(array.item()), dtype)
    if name_of(array.dtype) != dtype.name:
        with np.errstate(over="ignore"):  # an infinity where a number is beyond float32
            array = array.astype(dtype.name)
    return of_array(array, dtype)


def of_array(array: Any, dtype: DType) -> Tensor:
    """A tensor of an array of its dtype; a number of float32 is one of NumPy's, which is quicker."""
    if dtype.name == "float32" and not array.ndim:
        if not SINGLES:
            from .single import applied

            SINGLES.append(applied)
        return Tensor(array[()], dtype)
    return Tensor(array, dtype)


NAMES: dict[Any, str] = {}


def name_of(dtype: Any) -> str:
    """The name of a NumPy dtype, which NumPy spells out anew every time it is asked."""
    found = NAMES.get(dtype)
    if found is None:
        found = NAMES[dtype] = dtype.name
    return found


def tensor(value: Any, dtype: DType | None = None) -> Tensor:
    """Any operand as a Tensor, keeping a tensor's identity. A bare number becomes a weak tensor."""
    value = as_operand(value)
    if value.__class__ is Tensor:
        return value
    raw = raw_dtype(value)
    assert raw is not None
    if raw is WEAK_FLOAT and STATE.weak_float is not WEAK_FLOAT:
        import numpy as np

        with np.errstate(over="ignore"):  # an infinity where the number is beyond float32
            return of_array(np.asarray(value, dtype=STATE.weak_float.name), STATE.weak_float)
    return Tensor(value, dtype or raw)


def plain(x: Any) -> Any:
    """The bare value of an operand: a Python scalar, a string or an array."""
    return x.value if x.__class__ is Tensor else x


def isnan(x: float) -> bool:
    return x != x


__all__ = [
    "FLOAT64",
    "apply",
    "apply_scalar_1",
    "apply_scalar_2",
    "as_operand",
    "follows",
    "math",
    "of_numpy",
    "plain",
    "tensor",
    "wrap",
]
