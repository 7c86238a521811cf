"""Operation: one row of the table, from which everything else follows.

A row is made by one of the constructors at the end of this file, one per kind of derivative:

    elementwise   partials: one formula per input serves both VJP and JVP
    linear        the JVP is the operation itself; `transpose` gives the VJP
    multilinear   linear in each input: the JVP is a sum of the operation; `transpose` gives the VJP
    rule          a VJP written in operations of the table; the JVP is its transpose, found automatically
    composite     a function of other operations: its derivative is theirs
    zero          piecewise constant: the derivative is zero wherever it exists
    no_tangent    the result carries no derivative (indices, booleans, integers, strings)
    missing       a derivative exists and is not known to adiff; `reason` says why

The vocabulary inside rules is short and fixed: `y` is the result of the operation, `g` the cotangent of `y`, `x`
(or `a`, `b`, ...) the inputs. Rules call rows of the table and Python's operators, so that they run on numbers, on
tensors that an outer tape follows, and on the compiler's symbols alike.

Signatures read like Python's, with `|` between tensor inputs and static parameters: `"x | axis=None"`; an input in
brackets, `"[values] | axis=0"`, is a list of tensors, and one with a star, `"equation, *operands"`, takes the list as
separate arguments.
"""

from __future__ import annotations

from ...parser.fields import Record
from ..core.dispatch import apply, apply_scalar
from ..core.errors import failure, listing, plural
from ..core.following import path_ends
from ..core.operands import counted, describe, kind_of
from ..core.tensor import OPERATORS, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Rule = Callable[..., Any]

# What Python and NumPy raise for an argument of the wrong kind that no check has caught in the user's words.
UNFIT = (TypeError, ValueError, IndexError, KeyError, AttributeError, ArithmeticError)


def unfit(name: str, args: Sequence[Any], hint: str | None = None) -> Exception:
    """The error for arguments that a function cannot take."""
    called = name.removeprefix("internal.")
    return failure("E0305", f"{called} cannot take {listing(map(describe, args)) if args else 'these arguments'}", hint)


# Classes of values that no static parameter takes; a built-in function may be a dtype.
UNUSUAL = frozenset(("Function", "Method", "Derived", "zip", "map", "filter", "enumerate", "GradientTape"))
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()


class Parameter(Record):
    """One parameter of a row: `kind` is "input", "list" (a list of tensors) or "static".

    A `variadic` list takes all positional arguments from its place on.
    """

    name: str
    kind: str
    default: Any
    variadic: bool


# What the other vocabularies call a first argument, an axis, ...; accepted as keywords everywhere.
FIRST_INPUT = frozenset({
    "a", "x", "input", "input_tensor", "tensor", "value", "values", "logits", "features", "arr", "array", "data",
    "params", "condition", "matrix", "images", "indices", "m", "v", "f", "p", "z", "ary", "arys", "arrays", "tup",
    "seq", "inputs", "A", "diagonal", "sorted_sequence", "input_array",
})  # fmt: skip
SYNONYMS = {
    keyword: name
    for name, keywords in (
        ("axis", "reduction_indices axes dim dimension"),
        ("keepdims", "keep_dims keepdim"),
        ("ddof", "correction"),
        ("n", "num_partitions num_rows N fft_length"),
        ("m", "num_columns M"),
        ("axes", "perm"),
        ("shape", "newshape dims"),
        ("reps", "multiples"),
        ("pad_width", "paddings"),
        ("a", "x1 x"),
        ("b", "x2 y rhs"),
        ("fill_value", "value"),
        ("low", "min a_min clip_value_min"),
        ("high", "max a_max clip_value_max"),
        ("alpha", "negative_slope"),
        ("re", "real"),
        ("im", "imag"),
        ("stop", "limit"),
        ("step", "delta"),
        ("v", "values"),
    )
    for keyword in keywords.split()
}
# Last parameters that the method spellings of NumPy spread over the arguments: x.reshape(2, 3), x.transpose(1, 0).
SPREAD = frozenset({"shape", "axes"})
IGNORED = frozenset({"name"})
# Static parameters that may be integers which a compiler's symbols stand for.
INDICES = frozenset({"index", "indices"})


class Singular:
    """Where a partial derivative is not defined by its formula, and the value that is chosen there.

    `where(*inputs)` is the mask of singular elements for the partial with respect to input `input`. A choice is a
    number, a function of the inputs, or None (the formula's own value, often an infinity, stands). `subgradients`
    names the set that the choice comes from, for the notice.
    """

    __slots__ = ("choices", "input", "message", "subgradients", "where")

    def __init__(self, where: Rule, message: str, *, subgradients: str = "", input: int = 0, **choices: Any) -> None:
        self.where = where
        self.message = message
        self.choices = choices
        self.subgradients = subgradients
        self.input = input

    def choice(self, policy: str) -> Any:
        """What `adiff`, `tensorflow`, `jax` or `torch` takes there."""
        return self.choices.get("adiff" if policy == "error" else policy)


class Operation:
    """A row of the table. Calling it applies it: to numbers, to tensors, or to a compiler's symbols.

    Whatever a part of the engine wants to know of an operation is one of these facts.
    """

    name: str
    signature: str
    derivative: str
    family: str
    doc: str = ""
    example: tuple[str, Any] | None = None
    aliases: list[str]
    method: str | bool = False  # True, or a name: a method of tensors too
    internal: bool = False  # a step of other rows' rules: it has tests as every row, and no page
    symbol: str = ""  # Python's operator that applies it
    longer: Operation | None = None  # the row that a call with more arguments means
    # Formulas that the row stands for, with more digits, separated by semicolons (program/rewrite.py).
    replaces: str = ""

    # Evaluation: on Python's numbers; on arrays, `array(np, *values, **static)`; as a function of other rows.
    scalar: Rule | None = None
    array: Rule | None = None
    function: Rule | None = None
    # The library beside NumPy that evaluating it on arrays, or on numbers where it has no `scalar`, imports.
    library: str = ""
    # An element-wise row: one element as an expression in the Python of kernels (engine/kernels), `{0}`, `{1}`, ...
    # for the inputs and `{alpha}` for a static parameter. An array row: a function of the compiler's builder,
    # `kernel(k, x, **static)`.
    kernel: str | Rule | None = None
    # An array row that kernels compute as it is: the method of engine/kernels/emit/statements.py that writes it.
    code: str = ""
    # The expression for integers if it is another one, and for truth values; a condition on integers at which the kernel is left.
    integer: str = ""
    truth: str = ""
    refused: str = ""
    keeps: bool = False  # no integer of the result is beyond the largest one among its last two inputs
    # What `derive` writes for it, in the language; else the kernel's code where that is arithmetic of other rows.
    formula: str = ""

    dtype: Any = "promote"
    accepts: str = "bifc"
    skip: int = 0  # so many leading inputs (a condition) take no part in the dtype rule
    real_beside: tuple[
        int, ...
    ] = ()  # inputs that stay real beside complex ones, of which they multiply or divide either part
    # A bound on integers of the result, of bounds on those of the inputs and the number of elements that meet.
    largest: Rule | None = None

    partials: Sequence[Any] = ()
    transpose: Rule | None = None
    accumulate: Rule | None = None  # the transpose as `accumulate(buffer, g, **static)`, where that is cheaper
    vjp: Rule | None = None
    reason: str = ""  # why there is no derivative: "a constant" where the values of the inputs do not matter
    singular: Sequence[Singular] = ()
    moves: bool = False  # every element of the result is an element of an input, or zero
    # Where elements of the result of another row depend on some elements of its inputs only: on those beside them
    # ("elements"), of the lines along `axis` ("lines"), of the matrices of a batch ("matrices"), of factors ("product"),
    # or where each element of an input is added to one of the result ("sums").
    depends: str = ""
    analytic: bool = True  # where it takes complex numbers, it is a function of a complex variable
    # An element-wise row: an interval for each input, where tests take samples; None for whole numbers.
    domain: Any = None

    def __init__(self, name: str, signature: str, derivative: str, *, aliases: str = "", **facts: Any) -> None:
        unknown = [fact for fact in facts if fact not in FACTS]
        if unknown:
            raise TypeError(f"{name}: rows have no {unknown[0]}")
        vars(self).update(FACTS)  # one look-up, and not two, for each fact
        vars(self).update(facts)
        self.name = name
        self.signature = signature
        self.derivative = derivative
        self.aliases = aliases.split()
        self.family = ""
        self.library = self.library or getattr(self.array, "library", "")
        # Whether a tape may keep a scalar application in the short form, which every input takes part in.
        self.direct = derivative == "partials" and None not in self.partials and self.transpose is None
        self._parameters: list[Parameter] | None = None
        # The number of inputs if the row takes nothing else, and that if none may be left out: such calls need no binding.
        self.most = -1 if any(mark in signature for mark in "|[*") else signature.count(",") + 1
        self.nin = -1 if "=" in signature else self.most

    def __repr__(self) -> str:
        return f"<operation {self.name}>"

    @property
    def description(self) -> str:
        return f"the function '{self.name}'"

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if not keywords:
            count = len(args)
            if count == self.nin and self.function is None:
                return apply_scalar(self, args) if count < 3 else apply(self, args, None)
        if self.function is not None:
            found = self.of_kind(args, keywords)
            return self.function(*args, **keywords) if found is NotImplemented else found
        inputs, attributes = self.bind(args, keywords)
        return apply(self, inputs, attributes)

    def call(self, args: Sequence[Any], keywords: dict[str, Any] | None) -> Any:
        """Apply the row as a program calls it: keywords of any vocabulary, static values from tensors, messages."""
        if not keywords and len(args) == self.nin and self.function is None:
            return self(*args)
        inputs, attributes = self.bind(args, keywords or {}) if keywords or len(args) != self.most else (args, None)
        try:
            if self.function is None:
                return apply(self, tuple(inputs), attributes)
            found = self.of_kind(inputs, attributes)
            if found is not NotImplemented:
                return found
            return self.function(*inputs) if attributes is None else self.function(*inputs, **attributes)
        except UNFIT as fault:
            raise unfit(self.name, args, f"write {self.usage()}") from fault

    def of_kind(self, inputs: Sequence[Any], attributes: dict[str, Any] | None) -> Any:
        """What a value kind among the inputs of a composite row makes of it; NotImplemented where there is none."""
        kind = kind_of(inputs)
        return NotImplemented if kind is None else kind.operate(self, tuple(inputs), attributes)

    @property
    def parameters(self) -> list[Parameter]:
        if self._parameters is None:
            self._parameters = parse_signature(self.signature)
        return self._parameters

    def parameter_of(self, keyword: str) -> str:
        """The parameter that a keyword of any vocabulary means; "" where there is none."""
        names = [p.name for p in self.parameters]
        for name in (keyword, SYNONYMS.get(keyword, "")):
            if name in names:
                return name
        return names[0] if names and keyword in FIRST_INPUT else ""

    def bind(self, args: Sequence[Any], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any] | None]:
        """Match a call with the signature: the tensor inputs, and the static parameters by name."""
        parameters = self.parameters
        given: dict[str, Any] = {}
        lists = [p for p in parameters if p.kind == "list"]
        if lists and lists[0].variadic:
            at = parameters.index(lists[0])
            if len(args) > at:
                given[lists[0].name] = list(args[at:])
                args = args[:at]
        if len(args) > len(parameters):
            if len(lists) == 1 and parameters[0] is lists[0] and not _is_sequence(args[0]):
                given[lists[0].name] = list(args)  # concat(a, b) for concat([a, b])
                args = ()
            elif (
                parameters
                and parameters[-1].name in SPREAD
                and all(x.__class__ is int for x in args[len(parameters) - 1 :])
            ):
                args = (*args[: len(parameters) - 1], tuple(args[len(parameters) - 1 :]))  # x.reshape(2, 3)
            else:
                raise failure(
                    "E0305",
                    f"{self.name} takes at most {plural(len(parameters), 'argument')}, and {len(args)} were given",
                    f"write {self.usage()}",
                )
        for parameter, value in zip(parameters, args):
            given[parameter.name] = value
        for key, value in keywords.items():
            target = self.parameter_of(key)
            if not target:
                if key in IGNORED:
                    continue
                raise failure("E0305", f"{self.name} has no parameter '{key}'", f"its parameters are {self.usage()}")
            if target in given:
                raise failure("E0305", f"{self.name} got '{target}' twice", f"write {self.usage()}")
            given[target] = value
        missing = [p.name for p in parameters if p.default is REQUIRED and p.name not in given]
        if missing:
            raise failure("E0305", f"{self.name} needs {listing(repr(n) for n in missing)}", f"write {self.usage()}")
        inputs: list[Any] = []
        attributes: dict[str, Any] = {}
        for parameter in parameters:
            value = given.get(parameter.name, parameter.default)
            if parameter.kind == "static":
                found = static(value, parameter.name in INDICES)
                if found.__class__.__name__ in UNUSUAL:
                    raise failure("E0304", f"{self.name}: {parameter.name} cannot be {describe(found)}")
                attributes[parameter.name] = found
            elif parameter.kind == "list" and self.function is None:
                inputs.extend(as_list(self, parameter.name, value))
            else:
                inputs.append(value)
        return tuple(inputs), attributes or None

    def usage(self) -> str:
        """The signature as documentation shows it: `sum(x, axis=None, keepdims=False)`."""
        return f"{self.name}({self.signature.replace(' |', ',').replace('| ', '').strip(', ')})"


FACTS = {name: vars(Operation)[name] for name in Operation.__annotations__ if name in vars(Operation)}


def parse_signature(signature: str) -> list[Parameter]:
    """Read a row's signature. Defaults are literals of Python: numbers, strings, None, True, False, tuples."""
    from ast import literal_eval

    parameters: list[Parameter] = []
    inputs, _, statics = signature.partition("|")
    for text, kind in ((inputs, "input"), (statics, "static")):
        for item in text.split(","):
            item = item.strip()
            if not item:
                continue
            name, equals, default = item.partition("=")
            value = literal_eval(default.strip()) if equals else REQUIRED
            name = name.strip()
            parameters.append(Parameter(name.strip("[]*"), "list" if name[0] in "[*" else kind, value, name[0] == "*"))
    return parameters


def _is_sequence(value: Any) -> bool:
    return value.__class__ in (list, tuple) or (value.__class__ is Tensor and value.ndim > 0)


def as_list(op: Operation, name: str, value: Any) -> list[Any]:
    """The tensors of a list argument; a tensor stands for the list of its rows."""
    if value.__class__ is Tensor:
        if value.ndim == 0:
            raise failure("E0304", f"{op.name} needs a list of tensors as '{name}', not a scalar")
        return [OPERATORS.index(value, index=i) for i in range(value.shape[0])]
    if value.__class__ in (list, tuple):
        return list(value)
    raise failure("E0304", f"{op.name} needs a list of tensors as '{name}'", f"write {op.usage()}")


def static(value: Any, symbols: bool = False) -> Any:
    """A static parameter as plain Python: tensors become numbers and tuples. With `symbols` a compiler's symbols stay."""
    value = counted(value)
    if value.__class__ is Tensor:
        path_ends((value,), "a parameter")
        plain = value.value
        return plain if symbols or not hasattr(plain, "tolist") else plain.tolist()
    if value.__class__ is list:
        return [static(item, symbols) for item in value]
    if value.__class__ is tuple:
        return tuple(static(item, symbols) for item in value)
    if hasattr(value, "read_value"):
        return static(value.read_value(), symbols)
    if symbols and hasattr(value, "as_index"):
        return value.as_index()
    if hasattr(value, "as_static"):
        return value.as_static()
    return value


def elementwise(name: str, signature: str, partials: Sequence[Any], **row: Any) -> Operation:
    """A row whose derivative is one partial per input: a formula `lambda y, x: ...`, a number, or None (no tangent).

    A product whose factors do not take part alike has a `transpose` beside its partials, which stands in their place.
    """
    formulas = [(lambda y, *x, p=p, **static: p) if p.__class__ is float else p for p in partials]
    return Operation(name, signature, "partials", partials=formulas, **row)


def linear(name: str, signature: str, transpose: Rule, **row: Any) -> Operation:
    """A row that is linear in all its inputs together; `transpose(g, y, *inputs, **static)` gives their cotangents.

    One input: the cotangent; several: a tuple, with None for an input that carries no tangent. A cotangent that is
    dear may be a function of nothing: it is called only if it is wanted.
    """
    return Operation(name, signature, "linear", transpose=transpose, **row)


def multilinear(name: str, signature: str, transpose: Rule, **row: Any) -> Operation:
    """A row that is linear in each input alone; `transpose` as for `linear`."""
    return Operation(name, signature, "multilinear", transpose=transpose, **row)


def rule(name: str, signature: str, vjp: Rule, **row: Any) -> Operation:
    """A row with a VJP: `vjp(g, y, *inputs, **static)` gives the cotangents as `linear`'s transpose does."""
    return Operation(name, signature, "rule", vjp=vjp, **row)


def composite(name: str, signature: str, function: Rule, **row: Any) -> Operation:
    """A row that is a function of other rows."""
    return Operation(name, signature, "composite", function=function, **row)


def zero(name: str, signature: str, **row: Any) -> Operation:
    """A piecewise constant row: connected, with derivative zero."""
    return Operation(name, signature, "zero", **row)


def no_tangent(name: str, signature: str, **row: Any) -> Operation:
    """A row whose result carries no derivative."""
    return Operation(name, signature, "none", **row)


def missing(name: str, signature: str, reason: str, **row: Any) -> Operation:
    """A row whose derivative exists and is not known to adiff."""
    return Operation(name, signature, "missing", reason=reason, **row)
