"""The functions of the language that are no rows: Python's built-ins, and what makes tapes and Variables."""

from __future__ import annotations

from math import isfinite

from ...parser.errors import AdiffError
from ..core import limits
from ..core.dtypes import DType, raw_dtype
from ..core.errors import failure
from ..core.following import follows, path_ends
from ..core.operands import as_operand, bare, describe
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..kinds import names
from ..kinds.classes import FUNCTIONS as CLASSES
from ..kinds.classes import Class, Instance
from ..kinds.drawing import Drawing
from ..kinds.exceptions import EXCEPTIONS
from ..kinds.functions import Builtin, Function, in_library, invoke
from ..kinds.kind import Context
from ..kinds.operators import truth
from ..kinds.text import representation, text
from ..kinds.variable import Variable
from ..ops.operation import static
from ..ops.structure import as_dtype
from ..program.vocabulary import PASSED_OVER
from .attributes import get_attribute, set_attribute
from .custom_rules import custom_gradient
from .libraries import FUNCTIONS as INTERNAL
from .libraries import WithDefaultDtypes
from .sequences import FUNCTIONS as SEQUENCES
from .sequences import integer
from .tapes import FUNCTIONS as TAPES
from .tapes import GradientTape, beyond_tensorflow
from .transforms import FUNCTIONS as TRANSFORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def abs_(x: Any) -> Any:
    if x.__class__ is int or x.__class__ is bool:
        return abs(x)
    return OPERATORS.abs.call((x,), None)


def round_(x: Any, ndigits: Any = None) -> Any:
    if x.__class__ is float and ndigits is None and not isfinite(x):
        return x
    if x.__class__ in (int, bool, float):
        if ndigits is None:
            return round(x)
        digits = integer(ndigits, "round")
        if x.__class__ is not float:  # no integer has more digits than bits
            digits = max(digits, -int(x).bit_length() - 1)
        return round(x, digits)
    return OPERATORS.round.call((x,), None if ndigits is None else {"decimals": ndigits})


def int_(x: Any = 0) -> Any:
    if x.__class__ is str:
        try:
            return int(x)
        except ValueError:
            if x.strip().lstrip("+-").isdecimal():
                raise failure("E0401", f"int: a text of {len(x)} digits is too long: 4300 are read") from None
            raise failure("E0401", f"int: '{x[:40]}' is no integer") from None
    x = as_operand(x)
    if x.__class__ is Tensor:
        if x.shape != ():
            raise failure("E0304", f"int needs one number, and got {describe(x)}", "write cast(x, int64)")
        path_ends((x,), "int(), where it counts as an integer")
    value = static(x)
    if value.__class__ is complex:
        raise failure("E0301", "int: a complex number has no integer value", "take real(z) first")
    try:
        return int(value)
    except (ValueError, OverflowError):
        raise failure("E0401", f"int: {value} has no integer value") from None


def slice_(*bounds: Any, **named: Any) -> Any:
    """Python's slice of one to three integers, an index; of a tensor the operation of that name."""
    if not named and len(bounds) < 4 and all(x is None or not shape_of(as_operand(x)) for x in bounds[:2]):
        return slice(*bounds)
    return invoke(STATE.library("operations/shapes", "slice_of"), list(bounds), named)


def float_(x: Any = 0.0) -> Any:
    """A float; a value that is differentiated keeps its derivative."""
    if x.__class__ is str:
        try:
            return bare(float(x))
        except ValueError:
            raise failure("E0401", f"float: '{x[:40]}' is no number") from None
    x = as_operand(x)
    if x.__class__ in (int, bool):
        try:
            return bare(float(x))
        except OverflowError:
            raise failure("E0303", "float: this integer is too large for a float") from None
    if x.__class__ is Tensor and x.shape != ():
        raise failure("E0304", f"float needs one number, and got {describe(x)}", "write cast(x, float64)")
    if x.__class__ is Tensor and x.dtype.kind in "bi":
        return OPERATORS.cast(x, dtype="float64")
    if x.__class__ is complex or (x.__class__ is Tensor and x.dtype.kind == "c"):
        raise failure("E0301", "float: a complex number has no float value", "take real(z) or abs(z)")
    if x.__class__ is Tensor and any(follows(x, tape.token) for tape in RECORDERS):
        beyond_tensorflow("float()", STATE.site)
    if x.__class__ is Tensor and x.on is None and x.dtype.name in ("float16", "float32"):
        return static(x)
    return x


def complex_(real: Any = 0.0, imag: Any = 0.0) -> Any:
    if {real.__class__, imag.__class__} <= {int, float, bool}:
        return complex(real, imag)
    return OPERATORS.complex(real, imag)


def print_(
    *values: Any, sep: Any = " ", end: Any = "\n", flush: Any = False, file: Any = None, summarize: Any = None,
    output_stream: Any = None,
) -> None:  # fmt: skip
    """Write values to the program's output; never recorded."""
    write = STATE.write
    if write is not None:
        limits.stay()  # what is printed cannot be taken back
        write((" " if sep is None else text(sep)).join(text(v) for v in values) + ("\n" if end is None else text(end)))


def type_(x: Any) -> Any:
    if x.__class__ is Instance:
        return x.cls
    name = x.__class__.__name__
    return INTRINSICS[name] if name in INTRINSICS else Class(TYPES.get(name, name), (), {})


# What Python calls the types of values that have no function of that name.
TYPES = {
    "Function": "function", "Builtin": "function", "Operation": "function", "Derived": "function", "Method": "method",
    "Class": "type",
}  # fmt: skip


def tensor_(*args: Any, **named: Any) -> None:
    raise failure("E0304", "tf.Tensor is a type, and makes no tensors", "write tf.constant(...)")


def getattr_(x: Any, name: Any, *default: Any) -> Any:
    """An attribute by its name. A property that fails with an error of another kind is no attribute that lacks."""
    try:
        return get_attribute(x, attribute_name(name))
    except AdiffError as error:
        if error.code != "E0414" or not default:
            raise
        return default[0]


def setattr_(x: Any, name: Any, value: Any) -> None:
    set_attribute(x, attribute_name(name), value)


def attribute_name(name: Any) -> str:
    if name.__class__ is not str:
        raise failure("E0304", f"the name of an attribute is a string, not {describe(name)}")
    if name.startswith("__") and name.endswith("__"):
        raise failure("E0206", f"'{name}' is not part of the language")
    return str(name)


def callable_(x: Any) -> bool:
    if x.__class__ is Instance:
        return bool(x.has("__call__") or x.has("call"))
    return x.__class__ is Function or hasattr(x, "call")


def ord_(x: Any) -> int:
    if x.__class__ is not str or len(x) != 1:
        raise failure("E0304", f"ord needs a string of one character, and got {describe(x)}")
    return ord(x)


def chr_(x: Any) -> str:
    code = integer(x, "chr")
    if not 0 <= code < 0x110000:
        raise failure("E0401", f"chr: {code} is the number of no character")
    return chr(code)


def isinstance_(x: Any, kinds: Any) -> bool:
    names = {x.__class__.__name__}
    if callable_(x) and x.__class__ is not Instance:
        names.add("function")
    if x.__class__ is bool:
        names.add("int")
    raw = x.dtype if x.__class__ is Tensor else raw_dtype(x)
    if raw is not None:
        names.add(raw.name)
        if x.__class__ is Tensor and x.shape == ():
            # A scalar that is differentiated, or has a dtype of its own, is still the number it was.
            names.add({"b": "bool", "i": "int", "f": "float", "c": "complex", "s": "str"}[raw.kind])
    for kind in kinds if kinds.__class__ in (list, tuple) else (kinds,):
        if kind.__class__ is Class:
            if (kind.library and kind.name == "object") or (x.__class__ is Instance and x.cls.derives_from(kind)):
                return True
            continue
        if not isinstance(kind, (Builtin, DType, WithDefaultDtypes)):
            raise failure(
                "E0304", f"isinstance needs a type, and got {describe(kind)}", "the types are int, float, list, ..."
            )
        if kind.name.rpartition(".")[2] in names:
            return True
    return False


def variable_in(module: str) -> Callable[..., Variable]:
    """What makes Variables of the default dtypes of a module."""

    def variable(
        initial_value: Any, trainable: Any = True, validate_shape: Any = True, caching_device: Any = None, name: Any = "",
        variable_def: Any = None, dtype: Any = None, import_scope: Any = None, constraint: Any = None,
        synchronization: Any = None, aggregation: Any = None, shape: Any = None, experimental_enable_variable_lifting: Any = True,
    ) -> Variable:  # fmt: skip
        made = invoke(initial_value, [], {}) if callable_(initial_value) else initial_value
        constant = OPERATORS.constant
        if module == "tf":
            from ..ops.tensorflow import TENSORFLOW

            constant = TENSORFLOW["constant"]
        found = Variable(constant(made, dtype=dtype), truth(trainable), name or "")
        found.constraint = constraint
        if in_library(STATE.site):
            found.path = found.label  # one of Keras'
        return found

    return variable


def gradient_tape(persistent: Any = False, watch_accessed_variables: Any = True) -> GradientTape:
    return GradientTape(truth(persistent), truth(watch_accessed_variables))


def print_options() -> Any:
    """NumPy's options of printing that are in force."""
    import numpy as np

    return np.get_printoptions()


def print_with(options: dict[str, Any], formatter: Any = None) -> None:
    """NumPy's options of printing for the rest of the program; `formatter` has functions of a number that give its text."""
    import numpy as np

    for kind, f in (formatter or {}).items():
        shown = lambda x, f=f: text(invoke(f, [x.item() if hasattr(x, "item") else x], {}))  # noqa: E731
        options = {**options, "formatter": {**options.get("formatter", {}), kind: shown}}
    STATE.enter("printoptions")
    np.set_printoptions(**options)


FUNCTIONS: dict[str, Any] = {
    **SEQUENCES, "int": int_, "float": float_, "slice": slice_, "bool": lambda x=False: truth(x), "complex": complex_, "abs": abs_,
    "str": lambda x="": text(x), "round": round_,
    "print": print_, "isinstance": isinstance_, "type": type_,
    "getattr": getattr_, "setattr": setattr_, "callable": callable_, "ord": ord_, "chr": chr_,
    "Tensor": tensor_,
    "repr": representation,
    "as_dtype": lambda dtype: as_dtype(dtype), "GradientTape": gradient_tape, "Variable": variable_in("adiff"),
    "tf.Variable": variable_in("tf"), **dict.fromkeys(("device", "name_scope"), lambda *args, **named: Context()),
    "no_op": lambda *args, **named: None,
    "custom_gradient": custom_gradient, "internal.print_options": print_options,
    "internal.print_with": print_with, **CLASSES, **TAPES, **TRANSFORMS, **INTERNAL,
}  # fmt: skip


class Intrinsics(dict[str, "Any"]):
    """The functions of the language by name; those of value kinds and minimisers are looked up when they are first used."""

    def __missing__(self, name: str) -> Any:
        run = names.function(name.removeprefix("tf."))
        if run is None:
            from .minimizers import FUNCTIONS as MINIMIZERS

            run = MINIMIZERS[name]
        made = Builtin(name, run)
        found = self[name] = WithDefaultDtypes(made) if name.startswith("tf.") else made
        return found


INTRINSICS = Intrinsics({name: Builtin(name.removeprefix("tf."), run) for name, run in FUNCTIONS.items()})
INTRINSICS.update(EXCEPTIONS, **{module: Drawing(module) for module in PASSED_OVER})
