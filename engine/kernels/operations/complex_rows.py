"""Rows on complex operands: the values as formulas in real symbols, the derivatives by the rows' own rules.

A row whose partial has singular points, or whose value is computed by a formula that is none to differentiate, is a
region (regions.py) over the parts of its operands: the adjoint applies the row's partials to pairs, and so gives the
tape's cotangents and notices. The other rows are left to the adjoint of their real statements, which gives the same
cotangent: dL/dRe + i dL/dIm. The formulas are in complex_formulas.py.
"""

from __future__ import annotations

from ...core.dispatch import apply
from ...core.state import STATE
from ...ops.registry import ROWS
from .. import ir
from ..ir import BOOL, FLOAT, Unsupported
from ..symbols.build import Builder
from ..symbols.pairs import Pair, by_parts, has_complex, marked, meeting, nowhere, origin, pair_of, used
from ..symbols.regions import computed, results
from ..symbols.symbol import NUMBERS, Lazy, Sym, broadcast, pick, raw
from .array_rows import filled
from .complex_formulas import OF_REAL, REAL, RULED, SMOOTH, STATIC, TRUTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.operation import Operation
    from .complex_formulas import Parts

# Rows on arrays whose kernels take pairs (complex_arrays.py).
WITH_PAIRS = frozenset(
    "allclose prod cumprod_along linear_recurrence product_of_others std triangular_system least_squares cholesky qr_tall det slogdet "
    "eigh svd_thin svd_complete qr_complete eig logm sqrtm logm_change sqrtm_change".split()
)

# Rows that give a complex result, or are given complex operands, in a way of their own.
MADE = ("constant", "cast", "zeros_like", "ones_like")


def computed_whole(op: Operation) -> bool:
    """Whether a row that is made of others is computed of complex operands in a way of its own, and not by these."""
    return op.name in SMOOTH or op.name in RULED or op.name in MADE


def apply_complex(builder: Builder, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """A row of which an operand or the result is complex. Raises Unsupported for rows without a formula here."""
    # Whether they are complex64, and what is made of them a float32, is the tape's to say.
    if builder.mode:
        raise Unsupported("complex numbers in float32")
    for x in {id(x): x for x in inputs if x.__class__ is Pair}.values():
        used(x)
    if "c" not in op.accepts and any(map(has_complex, inputs)):
        raise Unsupported(f"{op.name} of complex numbers")
    if op.name == "constant":
        found = pair_of(builder, inputs[0])
        return marked(builder, found) if attributes.get("dtype") is None else cast(builder, found, attributes)
    if op.function is None and op.name not in ("complex", "cast", "strong_multiply"):
        inputs = meeting(builder, inputs, op.skip)
    if op.name in SMOOTH or op.name in RULED:
        real = [k in OF_REAL.get(op.name, ()) and not has_complex(x) for k, x in enumerate(inputs)]
        pairs = [pair_of(builder, x) for x in inputs]
        found = elementwise(builder, op, pairs, [] if all(real) else real, attributes)
        # That of a real number which was made complex is a known 0, and of float64 all the same.
        return origin(builder, found, nowhere) if op.name == "imag" and builder.made_strong[1] else found
    if op.name == "cast":
        return cast(builder, inputs[0], attributes)
    if op.name in ("zeros_like", "ones_like"):
        like = pair_of(builder, inputs[0])
        if attributes.get("dtype") is not None:
            return builder.apply(ROWS["cast"], (filled(builder, op.name, like.re),), attributes)
        return marked(builder, Pair(builder, filled(builder, op.name, like.re), filled(builder, "zeros_like", like.im)))
    if op.function is not None:
        return op.function(*inputs, **attributes)
    if op.name in WITH_PAIRS:
        return computed(builder.arrays, op, inputs, attributes)
    if op.name in EMBEDDED:
        return EMBEDDED[op.name](*(pair_of(builder, x) for x in inputs), **attributes)
    if op.derivative == "linear":
        # The same for either part: what comes before the operands is a condition or a place.
        pairs = [x if k < op.skip else pair_of(builder, x) for k, x in enumerate(inputs)]
        parts = [tuple(getattr(x, name) if x.__class__ is Pair else x for x in pairs) for name in ("re", "im")]
        return Pair(builder, *(real_row(builder, op, part, attributes) for part in parts))
    if op.derivative == "multilinear" and len(inputs) == 2:
        a, b = (pair_of(builder, x) for x in inputs)

        def times(x: Any, y: Any) -> Any:
            return builder.apply(op, (x, y), attributes)

        return Pair(builder, times(a.re, b.re) - times(a.im, b.im), times(a.re, b.im) + times(a.im, b.re))
    raise Unsupported(f"{op.name} of complex numbers")


def embedded(a: Pair) -> Any:
    """The real matrix [[re, -im], [im, re]], whose products and inverses are those of the complex one."""
    join = ROWS["concat"]
    if len(a.shape) < 2:
        raise Unsupported("a product of a complex matrix and a vector")
    return join([join([a.re, -a.im], axis=-1), join([a.im, a.re], axis=-1)], axis=-2)


def halves(builder: Builder, x: Any, n: int, column: bool = False) -> Pair:
    """The pair whose parts stand above each other, n rows each."""
    rest = () if column else (slice(None),)
    places = [(Ellipsis, slice(k * n, (k + 1) * n), *rest) for k in (0, 1)]
    return Pair(builder, *(ROWS["index"](x, index=place) for place in places))


def solution(a: Pair, b: Pair) -> Pair:
    column = len(b.shape) == 1
    right = ROWS["concat"]([b.re, b.im], axis=-1 if column else -2)
    return halves(a.builder, ROWS["solve"](embedded(a), right), a.shape[-1], column)


def of_matrix(name: str) -> Callable[[Pair], Pair]:
    """A function of matrices, of the matrix in which the complex one is embedded."""

    def function(a: Pair) -> Pair:
        n = a.shape[-1]
        found = halves(a.builder, ROWS[name](embedded(a)), n)
        return by_parts(found, lambda part: ROWS["index"](part, index=(Ellipsis, slice(0, n))))

    return function


def euclidean_norm(z: Pair, axis: Any, keepdims: Any) -> Any:
    """The norm of the real and imaginary parts together."""
    if axis is None:
        flat = [ROWS["reshape"](part, shape=-1) for part in (z.re, z.im)]
        found = ROWS["euclidean_norm"](ROWS["concat"](flat, axis=0), axis=None, keepdims=False)
        return ROWS["reshape"](found, shape=(1,) * z.ndim) if keepdims else found
    along = axis if axis.__class__ is int else axis[0]
    return ROWS["euclidean_norm"](ROWS["concat"]([z.re, z.im], axis=along), axis=axis, keepdims=keepdims)


def power_norm(z: Pair, p: Any, axis: Any, keepdims: Any) -> Any:
    """The norm of the elements' sizes; for a power below 1 the rule looks at the elements themselves."""
    if p < 1:
        raise Unsupported("a norm of complex numbers with a power below 1")
    return ROWS["power_norm"](ROWS["abs"](z), p=p, axis=axis, keepdims=keepdims)


def count_nonzero(z: Pair, axis: Any, keepdims: Any) -> Any:
    return ROWS["count_nonzero"](ROWS["not_equal"](z, 0.0), axis=axis, keepdims=keepdims)


def variance(z: Pair, **options: Any) -> Any:
    """The sum of the variances of the parts."""
    return ROWS["var"](z.re, **options) + ROWS["var"](z.im, **options)


EMBEDDED: dict[str, Callable[..., Any]] = {
    "solve": solution,
    "inv": of_matrix("inv"),
    "expm": of_matrix("expm"),
    "euclidean_norm": euclidean_norm,
    "power_norm": power_norm,
    "count_nonzero": count_nonzero,
    "var": variance,
}


def real_row(builder: Builder, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """A row on one part of its operands, which may be known."""
    found = apply(op, inputs, attributes)
    return found if found.__class__ in (Sym, Lazy) or found.__class__ in NUMBERS else builder.operand(found)


def cast(builder: Builder, x: Any, attributes: dict[str, Any]) -> Any:
    from ...ops.structure import as_dtype

    target = as_dtype(attributes["dtype"])
    if target.kind != "c":
        return builder.apply(ROWS["cast"], (x.re,), attributes)
    if target.name != "complex128":
        raise Unsupported(f"a cast of complex numbers to {target.name}")
    if x.__class__ is Lazy and x.kind != FLOAT:
        return marked(
            builder,
            pair_of(builder, Lazy(builder, FLOAT, x.shape, lambda index: builder.cast_to_float(x.element(index)))),
        )
    return marked(builder, pair_of(builder, builder.cast_to_float(x) if x.__class__ is Sym else x))


def elementwise(
    builder: Builder, op: Operation, pairs: list[Pair], real: list[bool], attributes: dict[str, Any]
) -> Any:
    """A row element by element; the operands that are `real` have one part."""
    shape = broadcast([x.shape for x in pairs], op.name)
    operands = [(x.re,) if any(real[k : k + 1]) else (x.re, x.im) for k, x in enumerate(pairs)]
    if shape == ():
        return wrapped(builder, scalar(builder, op, operands, attributes))
    site, node = STATE.site, object()

    def found(index: tuple[Any, ...]) -> Any:
        """Both parts of an element, computed once."""
        key = ("complex", node, tuple(map(raw, index)))
        known = builder.known(key)
        if known is None:
            parts = [tuple(pick(part, index, shape) for part in operand) if x.shape else operand
                     for x, operand in zip(pairs, operands)]  # fmt: skip
            asking, STATE.site = STATE.site, site
            known = builder.remember(key, scalar(builder, op, parts, attributes))
            STATE.site = asking
        return known

    if op.name in REAL or op.name in TRUTH:
        return Lazy(builder, BOOL if op.name in TRUTH else FLOAT, shape, found)
    return Pair(builder, *(Lazy(builder, FLOAT, shape, lambda index, k=k: found(index)[k]) for k in (0, 1)))  # type: ignore[misc]


def wrapped(builder: Builder, found: Any) -> Any:
    return Pair(builder, *found) if found.__class__ is tuple else found


def scalar(builder: Builder, op: Operation, parts: list[Parts], attributes: dict[str, Any]) -> Any:
    """A row on numbers: the parts of its result, or the real result."""
    if op.name in SMOOTH:
        return SMOOTH[op.name](*parts, **(attributes if op.name in STATIC else {}))
    formula = RULED[op.name]
    static = attributes if op.name in STATIC else {}
    flat = [part for pair in parts for part in pair]
    if not any(x.__class__ is Sym for x in flat):
        return formula(*parts, **static)

    def compute() -> Any:
        found = formula(*parts, **static)
        return results(builder, found if found.__class__ is tuple else (found,))

    body, found = builder.nested(compute)
    region = ir.Region(
        op.name, [x.var for x in found], tuple(map(raw, flat)), attributes, body, STATE.site,
        ((len(found) == 2,), tuple(len(pair) == 2 for pair in parts)),
    )  # fmt: skip
    builder.append(region)
    return found if len(found) == 2 else found[0]


# --- derivatives ----------------------------------------------------------------------------------------------------


def pulled_back(builder: Builder, g: Any, p: Any) -> Any:
    """g times the conjugate of a partial, where a zero cotangent stays zero whatever it meets."""
    if p.__class__ in (int, float) and p == 1:
        return g
    if p.__class__ is Pair or p.__class__ is complex:
        p = ROWS["conj"](p)
    return builder.apply(ROWS["strong_multiply"], (g, p), None)


__all__ = ["apply_complex", "pulled_back"]
