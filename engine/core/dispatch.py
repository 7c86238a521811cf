"""Applying a row: dtype rule, evaluation, and telling the active recorders.

Two ways lead through here. `apply` serves everything. `apply_scalar` is the same thing for float64 numbers, the case that
loops consist of, at a fraction of the cost; it hands over to `apply` whatever it does not recognise.
"""

from __future__ import annotations

from . import limits
from .dtype_rules import result_dtypes
from .dtypes import FLOAT64, REAL_PART, WEAK_COUNT, WEAK_FLOAT, DType
from .errors import ARITHMETIC_FAULTS, failure, listing
from .following import follows
from .operands import NATIVE, as_operand, counts, describe, operand_dtype, shape_text, shown, wrap
from .state import RECORDERS, STATE
from .tensor import Tensor
from .wrapping import tell_wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation

# Operands that are values themselves; anything else may bring its own way to be operated on.
ORDINARY = frozenset((Tensor, float, int, bool, complex, str, list, tuple))
# Words of Python's that say nothing to users.
PYTHON = ("object", "NoneType", "ufunc", "literal", "to unpack", "()", "numpy", "dtype(", "convert", "must be", "__")
# What an index is made of as a rule.
PLACES = frozenset((int, slice))


def apply_scalar(op: Operation, inputs: tuple[Any, ...]) -> Any:
    """Apply a row to one or two numbers: the short way for float64."""
    dtype: DType | None = None
    floats = False
    values = []
    for x in inputs:
        if x.__class__ is Tensor and x.value.__class__ is float:
            if dtype is None or dtype.weak:
                dtype = x.dtype
            values.append(x.value)
        elif x.__class__ is float:
            floats = True
            values.append(x)
        elif x.__class__ is int:
            values.append(x)
        else:
            return apply(op, inputs, None)
    if op.scalar is None or len(RECORDERS) > 1 or not (floats if dtype is None else op.direct):
        return apply(op, inputs, None)
    try:
        value = op.scalar(*values)
    except ARITHMETIC_FAULTS:
        return apply(op, inputs, None)
    if dtype is None and value.__class__ in (float, bool):
        return value
    if dtype is None or value.__class__ is not float:
        return apply(op, inputs, None)
    if dtype is WEAK_COUNT and (op.dtype == "float" or not all(map(counts, inputs))):
        dtype = WEAK_FLOAT
    if not RECORDERS:
        if dtype is WEAK_COUNT:
            return apply(op, inputs, None)
        return value if dtype.bare else Tensor(value, dtype)
    recorder = RECORDERS[0]
    token = recorder.token
    a, b = inputs if len(inputs) == 2 else (inputs[0], None)
    if recorder.log is None or not (
        (a.__class__ is Tensor and a.on is token) or (b.__class__ is Tensor and b.on is token)
    ):
        return apply(op, inputs, None)
    out = Tensor(value, dtype, token)
    site = STATE.site
    recorder.log += (site if site.op is op else site.of(op), a, b, out)
    return out


def apply(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
    """Apply a row to its inputs and static parameters; record it wherever an input is followed.

    Raises AdiffError E03xx for operands that do not fit, E04xx for values that do not.
    """
    for x in inputs:
        if x.__class__ not in ORDINARY:
            if hasattr(x, "as_symbol"):
                return x.as_symbol(op, inputs, attributes)
            if hasattr(x, "operate"):
                return x.operate(op, inputs, attributes)
    operands = tuple([as_operand(x, op) for x in inputs])
    for given, x in zip(inputs, operands):
        if x is not given and hasattr(x, "as_symbol"):  # a list of symbols
            return x.as_symbol(op, operands, attributes)
    if attributes is not None:
        symbol = symbolic_index(attributes)
        if symbol is not None:
            return symbol.as_symbol(op, operands, attributes)
    inputs = operands
    computed, dtype = result_dtypes(op, [operand_dtype(x) for x in inputs], attributes)
    value = evaluate(op, inputs, attributes, computed)
    if value.__class__ is float and dtype.__class__ is DType and dtype.kind == "i":
        # 2**-1: Python's integers become a float there, TensorFlow's integer tensors refuse.
        if not dtype.weak:
            raise failure("E0401", f"{op.name} of integer tensors has no integer result", "write cast(x, float64)")
        dtype = STATE.weak_float
    if dtype.__class__ is DType and dtype.kind == "i" and op.largest is not None and value.__class__ is not int:
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
        and out.dtype.bare
        and out.dtype is not WEAK_COUNT  # one that counts does so whether it is followed or not
        and out.value.__class__ in (float, int, complex, bool)
    ):
        return out.value
    return out


def symbolic_index(attributes: dict[str, Any]) -> Any:
    """A compiler's symbol among the indices of a row, or None."""
    for name in ("index", "indices"):
        index = attributes.get(name)
        if index is not None:
            for item in index if index.__class__ is tuple else (index,):
                if item.__class__ not in PLACES and hasattr(item, "as_symbol"):
                    return item
    return None


def evaluate(op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, computed: DType | None) -> Any:
    """The row's value on the inputs' values, computed in dtype `computed`."""
    values = [x.value if x.__class__ is Tensor else x for x in inputs]
    native = computed is not None and NATIVE.get(computed.name)
    scalars = all(v.__class__ in (float, int, bool, complex) for v in values)
    if native and scalars and computed is not None:
        scalar = op.scalar
        if native is not int and native is not bool:
            try:
                kept = op.real_beside if native is complex else ()
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
                    raise failure("E0402", "integer division by zero", "divide floats for inf: write 1.0 / 0") from None
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
                for k in op.real_beside:
                    if values[k].__class__ is not complex and getattr(values[k], "dtype", FLOAT64).kind != "c":
                        names[k] = REAL_PART[computed].name
            values = values[: op.skip] + [
                v.astype(name, copy=False)
                if v.__class__ is np.ndarray
                else (np.asarray(integer_fit(v, name), dtype=name) if alone or v.__class__ is int else v)
                for v, name in zip(values[op.skip :], names)
            ]
        try:
            if op.derivative == "partials" and len(values) > 1:
                limits.allocate(np.broadcast(*values).size)
            return op.array(np, *values, **(attributes or {}))
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, np.linalg.LinAlgError) as fault:
            raise array_fault(op, inputs, attributes, fault) from fault


def integer_fit(v: Any, name: str) -> Any:
    import numpy as np

    if v.__class__ is int and "int" in name and not np.iinfo(name).min <= v <= np.iinfo(name).max:
        found = str(v) if v.bit_length() < 200 else f"of {v.bit_length()} bits"
        raise failure("E0303", f"the integer {found} does not fit {name}", "write it as a float: 1e20")
    return v


def checked_integer(op: Operation, value: int, computed: DType) -> int:
    if not computed.weak and computed.kind == "i" and not -(2**63) <= value < 2**63:
        raise failure("E0403", f"{op.name} overflows int64", "cast to float64 for larger numbers")
    return value


def array_fault(
    op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, fault: Exception
) -> Exception:
    """A NumPy error in the user's words: shapes first, since they are the usual cause."""
    shapes = " and ".join([shape_text(x.shape if x.__class__ is Tensor else ()) for x in inputs])
    text = str(fault)
    if "broadcast" in text or "shape mismatch" in text:
        hint = "shapes broadcast where sizes are equal or 1, from the right"
        return failure("E0302", f"{op.name}: shapes {shapes} do not broadcast", hint)
    by = STATE.site.op
    # A rule or a composite may have applied what fails: the user wrote the other name.
    name = op.name if by is None or by is op else f"{by.name} (by {op.name})"
    if "Singular matrix" in text:
        return failure("E0404", f"{name}: the matrix is singular", "lstsq and pinv take singular matrices")
    if "positive definite" in text:
        return failure("E0404", f"{name}: the matrix is not positive definite")
    text = text.split("\n")[0]
    if isinstance(fault, ValueError | ArithmeticError) and not any(word in text for word in PYTHON):
        return failure("E0302", f"{op.name}: {text}")
    kinds = [describe(x) for x in inputs] + [f"{key}={shown(x)}" for key, x in (attributes or {}).items()]
    return failure("E0302", f"{op.name} cannot take {listing(kinds)}")
