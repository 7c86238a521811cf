"""The derivative of one applied row: cotangents backwards, tangents forwards, from the row's one rule.

Broadcasting is undone here and nowhere else. Products with a cotangent are *strong*: a zero cotangent stays zero
whatever it meets, so that nothing leaks from a branch that was not taken (`where(x > 0, log(x), 0)` at 0).

Complex numbers: the cotangent of z is dL/dRe(z) + i dL/dIm(z), the direction of steepest ascent (TensorFlow's and
PyTorch's convention). A holomorphic partial p therefore pulls back as g * conj(p) and pushes forward as p * t. A real function
of z has the partial d/dRe - i d/dIm, pulls back in the same way, and pushes forward as the real part of p * t.
"""

from __future__ import annotations

from ..core.dtypes import BOOL
from ..core.errors import failure
from ..core.operands import plain
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor, count, is_complex, shape_of
from ..core.wording import singular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation, Singular


FUNCTION = type(lambda: None)
PLAIN = frozenset((float, int, bool, complex))


def zeros_like(x: Any) -> Any:
    """Zeros of a value's shape and dtype."""
    if x.__class__ is not Tensor or (x.shape == () and x.dtype.name in ("float64", "int64")):
        return 0.0
    return OPERATORS.zeros_like(x)


def describe_choice(value: Any) -> str:
    plain_value = plain(value)
    if plain_value.__class__ is float and plain_value == int(plain_value if abs(plain_value) < 1e9 else 0):
        return str(int(plain_value))
    return str(plain_value)


def singular_partial(op: Operation, spot: Singular, p: Any, inputs: tuple[Any, ...], g: Any) -> Any:
    """`p` with the chosen value wherever the partial is singular and the cotangent `g` (or tangent) is not zero."""
    mask = holds(spot, [plain(x) for x in inputs])
    if mask is False or mask is NotImplemented:
        return p
    builder = getattr(mask, "builder", None) or getattr(g, "builder", None)
    if builder is not None:  # symbols of a kernel that is being made
        return builder.singular_partial(spot, p, mask, inputs, g)
    if mask is True:
        hit = bool(plain(g) != 0) if shape_of(g) == () else bool(plain(g).any())
    elif not getattr(mask, "any", lambda: mask)():
        return p
    else:
        hit = bool((mask & (plain(g) != 0)).any())
    choice = spot.choice(STATE.kinks)
    if hit and not STATE.quiet:
        if STATE.kinks == "error":
            raise singular(spot.message)
        STATE.notify("N0501", singular_notice(spot, choice, inputs))
    if choice is None:
        return p
    if callable(choice):
        choice = choice(*inputs)
    if choice.__class__ is float and choice != choice:
        choice = p * choice  # nan, and so are its derivatives
    if mask is True and shape_of(p) == () == shape_of(choice):
        # The formula's own infinity is kept: it has derivatives of its own, a constant has none.
        return p if plain(p) == plain(choice) else choice
    import numpy as np

    if mask is True:  # of a number beside a tensor
        mask = np.ones(shape_of(p), "bool")

    if shape_of(p) == () and np.ndim(mask) == 0:
        return choice
    if shape_of(choice) == ():
        mask = mask & (plain(p) != plain(choice))
        if not mask.any():
            return p
    return OPERATORS.where(Tensor(mask, BOOL), choice, p)


def holds(spot: Singular, values: list[Any]) -> Any:
    """Where inputs are singular: of arrays without a warning of NumPy's, which what is infinite or nan brings."""
    if all(v.__class__ in PLAIN for v in values):
        return spot.where(*values)
    import numpy as np

    with np.errstate(all="ignore"):
        return spot.where(*values)


def singular_notice(spot: Singular, choice: Any, inputs: tuple[Any, ...] = ()) -> str:
    """What a user is told who hit a singular point."""
    if any(is_complex(x) for x in inputs) and spot.subgradients == "[-1, 1]":
        return singular_notice(spot, choice).replace("[-1, 1]", "the unit disc")
    if choice is None or not spot.subgradients:
        return spot.message
    if not callable(choice) and plain(choice) != plain(choice):
        return spot.message
    which = "the documented choice" if callable(choice) else describe_choice(choice)
    return f"{spot.message}: {which} chosen from {spot.subgradients}"


def note_jumps(op: Operation, inputs: tuple[Any, ...], g: Any) -> None:
    """Report that a piecewise constant row was differentiated at one of its jumps."""
    if is_complex(g):
        # Either part jumps by itself.
        for name in ("real", "imag"):
            note_jumps(op, tuple([OPERATORS[name](x) for x in inputs]), OPERATORS[name](g))
        return
    for spot in op.singular:
        singular_partial(op, spot, 0.0, inputs, g)


def partial(
    op: Operation, index: int, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, g: Any
) -> Any:
    """The local partial of `y` with respect to input `index`, with singular points resolved by the policy."""
    formula = op.partials[index]
    p = formula(y, *inputs, **(attributes or {})) if callable(formula) else formula
    for spot in op.singular:
        if spot.input == index:
            p = singular_partial(op, spot, p, inputs, g)
    return p


def strong_product(g: Any, p: Any) -> Any:
    """g * p with 0 * anything = 0 for a zero g."""
    if p.__class__ in (int, float):
        if p == 1:
            return g
        if g.__class__ is float:
            return g * p if g != 0.0 else 0.0
        if p == -1:
            return -g
    elif is_complex(p) is not is_complex(g):
        # Strong dtypes do not mix: the real factor becomes complex.
        g, p = (g, beside(p)) if is_complex(g) else (beside(g), p)
    return OPERATORS.strong_multiply(g, p)


def all_finite(p: Any) -> bool:
    """Whether a partial is an array of finite floats, by which any cotangent may be multiplied."""
    value = plain(p)
    if not hasattr(value, "dtype") or value.dtype.char != "d":
        return False
    import numpy as np

    return bool(np.isfinite(value).all())


def beside(x: Any) -> Any:
    """A real factor of a complex number."""
    return as_complex(x) if x.__class__ is Tensor and not x.dtype.weak else x


def as_complex(x: Any) -> Any:
    return OPERATORS.complex(x, 0.0)


def fit(c: Any, x: Any) -> Any:
    """A cotangent brought to its input: broadcasting undone, real or complex as the input is."""
    if c.__class__ is float and (x.__class__ is float or (x.__class__ is Tensor and x.value.__class__ is float)):
        return c
    shape = shape_of(x)
    if shape_of(c) != shape:
        c = (
            OPERATORS.sum_to(c, shape=shape)
            if len(shape_of(c)) >= len(shape) and (count(shape_of(c)) >= count(shape) or not count(shape_of(c)))
            else (OPERATORS.broadcast_to(c, shape=shape))
        )
    if is_complex(c) is not is_complex(x):
        c = OPERATORS.real(c) if is_complex(c) else as_complex(c)
    return c


def given(c: Any) -> Any:
    """A cotangent as a rule gives it: itself, or a function of nothing where it costs much and may not be wanted."""
    return c() if c.__class__ is FUNCTION else c


def pullback(
    op: Operation, g: Any, y: Any, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, wanted: list[bool],
    known: dict[int, tuple[Any, bool]] | None = None,
) -> list[Any]:  # fmt: skip
    """The cotangents of the inputs for the cotangent `g` of `y`; None where not wanted or where there is none.

    `known` keeps the partials of the row, and whether they are finite, for other cotangents that notice nothing.
    """
    kind = op.derivative
    if kind == "partials" and op.transpose is None:
        cotangents: list[Any] = []
        for i, x in enumerate(inputs):
            if not wanted[i] or op.partials[i] is None:
                cotangents.append(None)
                continue
            if known is not None and i in known:
                p, finite = known[i]
            else:
                p, finite = partial(op, i, y, inputs, attributes, g), False
                if is_complex(p):
                    p = OPERATORS.conj(p)
                if known is not None:
                    known[i] = p, all_finite(p)
            cotangents.append(fit(OPERATORS.multiply(g, p) if finite else strong_product(g, p), x))
        return cotangents
    if kind == "zero":
        note_jumps(op, inputs, g)
        return [zeros_like(x) if want else None for x, want in zip(inputs, wanted)]
    if kind == "missing":
        raise failure("E0502", f"the derivative of {op.name} is not available: {op.reason}")
    rule = op.vjp if kind == "rule" else op.transpose
    assert rule is not None
    result = rule(g, y, *inputs, **(attributes or {}))
    if result.__class__ is not tuple:
        result = (result,)
    found = [fit(given(c), x) if c is not None and want else None for c, x, want in zip(result, inputs, wanted)]
    return [silenced(c) for c in found] if kind == "rule" and is_silent(g) else found


def is_silent(g: Any) -> bool:
    """Whether the cotangents of an array, or of all results of a row, are zero throughout."""
    if g.__class__ is tuple:
        return all(part is None or is_silent(part) for part in g)
    return (g.__class__ is Tensor and bool(g.shape) and not g.value.any()) or (
        plain(g).__class__ is float and plain(g) == 0.0
    )


def silenced(c: Any) -> Any:
    """What a rule makes of a zero cotangent, where the derivatives that it meets are not finite."""
    value = plain(c)
    if not hasattr(value, "dtype") or value.dtype.kind not in "fc":
        return c
    import numpy as np

    undefined = np.isnan(value)
    return OPERATORS.where(Tensor(undefined, BOOL), 0.0, c) if undefined.any() else c
