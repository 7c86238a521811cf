"""What `minimize` works on: inputs as one vector, a program and its constraints as functions of it."""

from __future__ import annotations

import numpy as np

from ..parser.errors import AdiffError
from ..parser.parse import parse
from ..parser.source import Source, Span
from ..parser.syntax import Compare, ExprStmt
from .api import Program
from .core.dtypes import WEAK_FLOAT, WEAK_FLOAT32, DType
from .core.operands import shape_text
from .core.tensor import Tensor
from .plain import Binding, bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .outcome import Outcome


class Variables:
    """Inputs as one vector of float64, each with its shape and dtype; numbers and arrays without one stay bare."""

    def __init__(self, start: Mapping[str, Any], single: bool) -> None:
        self.parts: list[tuple[str, tuple[int, ...], Any]] = []
        self.bare: dict[str, DType] = {}
        flat = [np.zeros(0)]
        for name, given in start.items():
            value = bind(given, name)
            bare = value.dtype.weak if value.__class__ is Tensor else value.__class__ in (int, float)
            array = np.asarray(value.value if value.__class__ is Tensor else value if bare else "")
            if array.dtype.kind not in "iuf":
                raise AdiffError(
                    "E0812", f"--start: '{name}' is no float and no array of floats", None, f"write {name}=1.0"
                )
            dtype = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
            if bare:
                self.bare[name] = WEAK_FLOAT32 if single else WEAK_FLOAT
                dtype = np.dtype(self.bare[name].name)
            self.parts.append((name, array.shape, dtype))
            flat.append(array.ravel().astype(np.float64))
        self.start = np.concatenate(flat)

    def unpack(self, x: Any) -> dict[str, Any]:
        """The inputs by name: floats, and arrays of their shapes."""
        found: dict[str, Any] = {}
        begin = 0
        for name, shape, dtype in self.parts:
            size = int(np.prod(shape))
            part = x[begin : begin + size].reshape(shape).astype(dtype)
            found[name] = part if shape or name not in self.bare else float(part)
            begin += size
        return found

    def bound(self, x: Any) -> dict[str, Any]:
        """The inputs as the program takes them."""
        found = self.unpack(x)
        for name, dtype in self.bare.items():
            if found[name].__class__ is not float:
                found[name] = Binding(Tensor(found[name], dtype))
        return found

    def pack(self, values: Mapping[str, Any], lead: tuple[int, ...] = ()) -> Any:
        """One vector (after axes `lead`) of what there is for each input; zeros for None."""
        parts = [np.zeros((*lead, 0))]
        for name, shape, _ in self.parts:
            value = values.get(name)
            full = np.zeros(lead + shape) if value is None else np.asarray(value, dtype=np.float64)
            parts.append(full.reshape((*lead, int(np.prod(shape)))))
        return np.concatenate(parts, axis=-1)


class Objective:
    """The program as a function of one vector, evaluated by `Program.repeated`."""

    def __init__(
        self,
        program: Program,
        variables: Variables,
        fixed: Mapping[str, Any],
        elsewhere: set[str],
        options: dict[str, Any],
    ) -> None:
        self.program = program
        self.variables = variables
        self.options = {**options, "write": None}  # nothing that is printed at each step
        # What nobody reads is left for the program to say so; what constraints alone read is none of its inputs.
        self.others = elsewhere - {*program.inputs, *program.optional}
        self.fixed = {name: value for name, value in fixed.items() if name not in self.others}
        self.names = [name for name, _, _ in variables.parts if name not in self.others]
        self.gradient = program.repeated("grad", self.point(variables.start), self.names, **self.options)
        first = self.gradient.first
        shape = np.shape(first.value)
        if shape or np.iscomplexobj(first.value):
            raise AdiffError(
                "E0507", "minimize needs a number as the value"
                + (f", and this one has shape {shape_text(shape)}" if shape else ", and this one is complex"),
                Span(program.source, 0, len(program.source.text)), "sum(x**2) of an array, abs(z)**2 of a complex number",
            )  # fmt: skip
        self.product: Any = None
        self.hessian: Any = None
        self.evaluations = 0
        self.seen: dict[bytes, tuple[float, Any]] = {}
        self.best = (variables.start, *self.evaluate(variables.start))

    def point(self, x: Any) -> dict[str, Any]:
        return {**self.fixed, **{n: v for n, v in self.variables.bound(x).items() if n not in self.others}}

    def outcome(self, x: Any) -> Outcome:
        return self.gradient(self.point(x))

    def evaluate(self, x: Any) -> tuple[float, Any]:
        """Value and gradient; the last few points are remembered, since a method reports those that it has been at."""
        key = x.tobytes()
        if key not in self.seen:
            if len(self.seen) > 8:
                del self.seen[next(iter(self.seen))]
            found = self.outcome(x)
            assert found.gradients is not None
            self.evaluations += 1
            self.seen[key] = float(found.value), self.variables.pack(found.gradients)
        return self.seen[key]

    def __call__(self, x: Any) -> tuple[float, Any]:
        """Value and gradient for a line search or a trust region. Where they are not finite they rise as steeply as they
        fall at the best point so far, so that a shorter step is tried."""
        f, g = self.evaluate(x)
        best, lowest, slope = self.best
        if not (np.isfinite(f) and np.isfinite(g).all()):
            return lowest + abs(slope @ (x - best)), -slope
        if f < lowest:
            self.best = (x.copy(), f, g)
        return f, g

    def hvp(self, x: Any, direction: Any) -> Any:
        """The Hessian times a direction."""
        vector = self.variables.bound(direction)
        if self.product is None:
            self.product = self.program.repeated("hvp", self.point(x), self.names, vector=vector, **self.options)
        found = self.product(self.point(x), vector=vector)
        return np.nan_to_num(self.variables.pack(found.product))

    def exact_hessian(self, x: Any) -> Any:
        """The whole Hessian, a row for each number."""
        if self.hessian is None:
            self.hessian = self.program.repeated("hessian", self.point(x), self.names, **self.options)
        blocks = self.hessian(self.point(x)).hessian
        rows = [self.variables.pack(blocks.get(name, {}), shape) for name, shape, _ in self.variables.parts]
        found = np.concatenate([row.reshape(-1, x.size) for row in rows])
        return np.nan_to_num((found + found.T) / 2)


def comparisons(text: str) -> list[tuple[Program, str, str]]:
    """For each comparison of a constraint the program of left - right, its operator, the constraint. Columns stay what they were:
    of `0 <= x <= 1` the programs are `0-(x)` and `     x-(1)`."""
    source = Source(text, "--subject-to")
    body = parse(source).body
    node = body[0].value if len(body) == 1 and body[0].__class__ is ExprStmt else None
    if node.__class__ is not Compare or not {"<=", ">=", "=="}.issuperset(node.operators):
        raise AdiffError(
            "E0812", "a constraint is a comparison by <=, >= or ==", Span(source, 0, len(text)),
            'for example: --subject-to "x + y <= 1" or --subject-to "0 <= x <= 1"',
        )  # fmt: skip
    found = []
    begin, operator = 0, ""
    for left, right, following in zip([node.left, *node.comparators], node.comparators, [*node.operators[1:], ""]):
        operator = operator or node.operators[0]
        middle = text.index(operator, left.end)
        end = text.index(following, right.end) if following else len(text)
        differences = f"{' ' * begin}{text[begin:middle]}-({text[middle + 2 : end]}\n)"
        try:
            found.append((Program(differences, source.name), operator, text))
        except AdiffError as error:
            raise placed(error, text) from None
        begin, operator = middle + 2, following
    return found


def placed(error: AdiffError, text: str) -> AdiffError:
    """The error of a difference, in the constraint as it was written."""
    if error.span is not None and error.span.source.name == "--subject-to":
        error.span = Span(Source(text, "--subject-to"), error.span.start, min(error.span.end, len(text)))
    return error


class Constraint:
    """A comparison as a function of the variables that is at least 0, or is 0."""

    def __init__(
        self,
        program: Program,
        operator: str,
        text: str,
        variables: Variables,
        at: Mapping[str, Any],
        options: dict[str, Any],
    ) -> None:
        self.kind = "eq" if operator == "==" else "ineq"  # in SciPy's words
        self.sign = -1.0 if operator == "<=" else 1.0
        self.variables = variables
        read = {*program.inputs, *program.optional}
        self.fixed = {name: value for name, value in at.items() if name in read}
        self.names = [name for name, _, _ in variables.parts if name in read]
        try:
            self.jacobian = program.repeated(
                "jacobian", self.point(variables.start), self.names, **{**options, "write": None}
            )
        except AdiffError as error:
            raise placed(error, text) from None

    def point(self, x: Any) -> dict[str, Any]:
        bound = self.variables.bound(x)
        return {**self.fixed, **{name: bound[name] for name in self.names}}

    def value(self, x: Any) -> Any:
        return self.sign * np.ravel(np.asarray(self.jacobian(self.point(x)).value, dtype=np.float64))

    def slopes(self, x: Any) -> Any:
        """The gradient of each of its numbers, a row each."""
        found = self.jacobian(self.point(x))
        assert found.jacobian is not None
        return self.sign * self.variables.pack(found.jacobian, np.shape(found.value)).reshape(-1, x.size)
