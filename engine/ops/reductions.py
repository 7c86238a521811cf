"""Reductions: sums, products, extrema, moments, norms of vectors; and the helpers by which their cotangents spread."""

from __future__ import annotations

import math

from ..core.errors import failure
from ..core.operands import plain
from ..core.tensor import OPERATORS
from .arithmetic import array_product, of_parts, power_bound
from .operation import Operation, Singular, linear, no_tangent, rule, zero
from .scans import exclusive_product, linear_recurrence, shifted
from .structure import broadcast_to, summed
from .support import (
    axes_of,
    beside,
    conjugate,
    count,
    found_by_rule,
    from_front,
    mask_tensor,
    meet,
    part_by_part,
    real_of_float,
    shape_of,
    some,
    spread,
    strong,
    to_front,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def reduced(name: str, x: Any, axis: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """The shape of `x`, the axes that a reduction takes away, and how many elements it joins."""
    shape = shape_of(x)
    axes = axes_of(name, axis, len(shape))
    return shape, axes, count([shape[i] for i in axes])


# --- sums and means -------------------------------------------------------------------------------------------------


def _sum_back(g: Any, y: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    shape, axes, _ = reduced("sum", x, axis)
    return broadcast_to(spread(g, shape, axes, keepdims), shape=shape) if shape else g


reduce_sum = linear(
    "sum", "x | axis=None, keepdims=False", _sum_back, code="reduction",
    array=lambda np, x, axis, keepdims: summed(np, x, axes_of("sum", axis, np.ndim(x)), bool(keepdims)), dtype="total",
    aliases="reduce_sum", method=True, largest=lambda sizes, n: sizes[0] * n, depends="lines",
    doc="The sum of the elements, of all or along axes.", example=("sum([1, 2, 3])", 6),
)  # fmt: skip


def moment(of: Any, x: Any, axes: tuple[int, ...], keepdims: bool, **options: Any) -> Any:
    """NumPy's mean, variance or deviation; of fewer elements than it wants without the warning: adiff's notice says more."""
    if math.prod([x.shape[axis] for axis in axes]) > options.get("ddof", 0):
        return of(x, axis=axes, keepdims=keepdims, **options)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return of(x, axis=axes, keepdims=keepdims, **options)


def _mean(np: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    axes = axes_of("mean", axis, np.ndim(x))
    size = count([x.shape[i] for i in axes])
    if x.dtype.name == "float32" or not size:
        return summed(np, x, axes, bool(keepdims)) / x.dtype.type(size or math.nan)
    if x.dtype.kind != "c":
        return np.mean(x, axis=axes, keepdims=bool(keepdims))
    # A complex count would make nan of either part where the other is not finite.
    re, im = [_mean(np, part, axes, keepdims) for part in (x.real, x.imag)]
    return of_parts(np, re, im, x.dtype)


def _mean_back(g: Any, y: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    shape, axes, size = reduced("mean", x, axis)
    shared = part_by_part(lambda part: part / max(size, 1), g)
    return broadcast_to(spread(shared, shape, axes, keepdims), shape=shape) if shape else g


mean = linear(
    "mean", "x | axis=None, keepdims=False", _mean_back, kernel=lambda k, x, axis, keepdims: k.mean(x, axis, keepdims),
    array=_mean, dtype="float", method=True, depends="lines",
    doc="The mean of the elements. That of integers is a float, as in NumPy; reduce_mean keeps them integers.",
    example=("mean([1, 2])", 1.5),
)  # fmt: skip


fsum = linear(
    "fsum", "x", lambda g, y, x: broadcast_to(g, shape=shape_of(x)), array=lambda np, x: math.fsum(x.ravel().tolist()),
    dtype="float", accepts="bif", depends="sums", doc="The sum of the elements, rounded once.",
    example=("fsum([1e16, 1.0, -1e16])", 1.0),
)  # fmt: skip


# --- products -------------------------------------------------------------------------------------------------------


def _prod(np: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    axes = axes_of("prod", axis, np.ndim(x))
    product = np.prod(x, axis=axes, keepdims=bool(keepdims))
    if x.dtype.kind == "c" and x.size and not np.isfinite(product).all():
        # NumPy begins with 1 + 0j, which makes nan of either part where the other is not finite.
        lines = np.moveaxis(x, axes, range(len(axes))).reshape(-1, *[n for i, n in enumerate(x.shape) if i not in axes])
        found = lines[0]
        for factor in lines[1:]:
            found = array_product(np, found, factor)
        return found.reshape(np.shape(product))
    if x.dtype.kind != "f" or not x.size:
        return product
    size = np.abs(product)
    tiny = np.finfo(x.dtype).tiny
    if (np.isfinite(size) & (size >= tiny)).all():
        return product
    lines = np.moveaxis(x, axes, range(len(axes))).reshape(-1, *[n for i, n in enumerate(x.shape) if i not in axes])
    finite = np.isfinite(lines)
    astray = (~(np.isfinite(size) & (size >= tiny))).reshape(lines.shape[1:]) & finite.all(axis=0)
    if not astray.any():
        return product
    # A partial product left the range of floats: multiply significands and add exponents.
    mantissa, exponent = running_product(np, np.where(finite, lines, 1.0))
    last = np.ldexp(mantissa[-1], np.clip(exponent[-1], -5000, 5000).astype("int32"))
    return np.where(astray, last, np.reshape(product, astray.shape)).astype(x.dtype).reshape(np.shape(product))


def running_product(np: Any, x: Any) -> tuple[Any, Any]:
    """The products of x[:k+1] along axis 0 as significands in [0.5, 1) and exponents, free of over- and underflow."""
    significand, power = np.frexp(x)
    power = power.astype("int64")
    for k in range(1, len(x)):
        significand[k], carry = np.frexp(significand[k] * significand[k - 1])
        power[k] += power[k - 1] + carry
    return significand, power


def _prod_vjp(g: Any, y: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    shape, axes, _ = reduced("prod", x, axis)
    if not shape:
        return g
    others = from_front(product_of_others(to_front(x, axes)), axes, shape)
    return strong(spread(g, shape, axes, keepdims), conjugate(others))


reduce_prod = rule(
    "prod", "x | axis=None, keepdims=False", _prod_vjp, array=_prod, dtype="total", aliases="reduce_prod product",
    method=True, code="reduction", kernel=lambda k, x, axis, keepdims: k.prod(x, axis, keepdims),
    largest=lambda sizes, n: power_bound(sizes[0], n), depends="lines",
    doc="The product of the elements; its derivative is exact at zeros too.", example=("prod([2, 3, 4])", 24),
)  # fmt: skip


def _product_of_others(np: Any, x: Any) -> Any:
    before = np.ones_like(x)
    after = np.ones_like(x)
    np.cumprod(x[:-1], axis=0, out=before[1:])
    np.cumprod(x[:0:-1], axis=0, out=after[-2::-1])
    product = array_product(np, before, after)
    if x.dtype.kind != "f":
        return product
    low = np.finfo(x.dtype).tiny
    kept = [(np.isfinite(part) & (np.abs(part) >= low)).all(axis=0) for part in (before, after)]
    finite = np.isfinite(x)
    astray = ~(kept[0] & kept[1]) & finite.all(axis=0)  # along which lines a partial product left the range of floats
    if not astray.any():
        return product
    x = np.where(finite, x, 1.0)
    one = np.full((1, *x.shape[1:]), 0.5)
    mantissa_before, power_before = running_product(np, np.concatenate([one, x[:-1]]))
    mantissa_after, power_after = running_product(np, np.concatenate([one, x[:0:-1]]))
    mantissa, carry = np.frexp(mantissa_before * mantissa_after[::-1])
    # Both runs began with 0.5 = 2**-1.
    power = power_before + power_after[::-1] + carry + 2
    found = np.ldexp(mantissa, np.clip(power, -5000, 5000).astype("int32"))
    return np.where(astray, found, product).astype(product.dtype)


def _product_of_others_vjp(g: Any, y: Any, x: Any) -> Any:
    # d/dx[m] of the product without x[k] is the product without both. Summed over k < m: what comes before m
    # (with one factor replaced by g[k]) times what comes after; likewise over k > m. Both sums are recurrences.
    z = conjugate(x)
    before, after = exclusive_product(z), exclusive_product(z, reverse=True)
    replaced_before = shifted(linear_recurrence(z, strong(g, before), strong=True), step=1)
    replaced_after = shifted(linear_recurrence(z, strong(g, after), reverse=True, strong=True), step=-1)
    return strong(replaced_before, after) + strong(replaced_after, before)


product_of_others = rule(
    "product_of_others", "x", _product_of_others_vjp, kernel=lambda k, x: k.product_of_others(x), array=_product_of_others,
    dtype="first", internal=True, depends="lines",
    doc="For each element along axis 0 the product of all the others, without a division.",
    example=("product_of_others([2, 0, 5])", [0, 10, 0]),
)  # fmt: skip


# --- extrema --------------------------------------------------------------------------------------------------------


def _share(np: Any, x: Any, y: Any, axes: tuple[int, ...]) -> Any:
    tied = (x == y) | ((x != x) & (y != y))
    return tied / np.sum(tied, axis=axes, keepdims=True)


tie_weights = zero(
    "tie_weights", "x, y | axes", kernel=lambda k, x, y, axes: k.tie_weights(x, y, axes), array=_share, dtype="promote", accepts="f",
    internal=True, doc="Where x equals its extremum y along axes: one over the number of such elements; else 0.",
    example=("tie_weights([1.0, 3.0, 3.0], 3.0, (0,))", [0.0, 0.5, 0.5]),
)  # fmt: skip


def _extremum(name: str, word: str, aliases: str, example: int) -> Operation:
    def array(np: Any, x: Any, axis: Any, keepdims: Any) -> Any:
        axes = axes_of(name, axis, np.ndim(x))
        if 0 in [x.shape[i] for i in axes]:
            raise failure("E0302", f"{name} of an empty tensor has no value")
        return getattr(np, name)(x, axis=axes, keepdims=bool(keepdims))

    def vjp(g: Any, y: Any, x: Any, axis: Any, keepdims: Any) -> Any:
        shape, axes, _ = reduced(name, x, axis)
        if not shape:
            return g
        weights = tie_weights(x, spread(y, shape, axes, keepdims), axes=axes)
        g = spread(g, shape, axes, keepdims)
        shared = plain(weights)
        meet(row, (shared > 0) & (shared < 1), matters=plain(g) != 0)
        return g * weights

    row = rule(
        name, "x | axis=None, keepdims=False", vjp, code="reduction", array=array, dtype="first", accepts="bif",
        aliases=aliases, analytic=False, depends="lines", method=True,
        singular=[
            found_by_rule(
                f"{name} is not differentiable where several elements are the {word}",
                "they share the cotangent equally"
            )
        ],
        doc=f"The {word} element, of all or along axes. Ties share the derivative equally.",
        example=(f"{name}([3, 9, 1])", example),
    )  # fmt: skip
    return row


reduce_max = _extremum("max", "largest", "reduce_max amax", 9)
reduce_min = _extremum("min", "smallest", "reduce_min amin", 1)


def to_unit(np: Any, x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """`x` scaled by powers of two, so without rounding, to have its largest elements near 1; and the exponents."""
    largest = np.max(np.abs(x), axis=axes, keepdims=True, initial=0.0)
    exponent = np.where(np.isfinite(largest), np.frexp(largest)[1], 0)
    if x.dtype.kind == "c":
        return of_parts(np, np.ldexp(x.real, -exponent), np.ldexp(x.imag, -exponent), x.dtype), exponent
    return np.ldexp(x, -exponent), exponent


# --- moments --------------------------------------------------------------------------------------------------------


def _var(np: Any, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    return moment(np.var, x, axes_of("var", axis, np.ndim(x)), bool(keepdims), ddof=ddof)


def _var_vjp(g: Any, y: Any, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    shape, axes, size = reduced("var", x, axis)
    factor = 2.0 / (size - ddof) if size != ddof else math.nan
    return strong(beside(spread(g, shape, axes, keepdims), x), deviation(x, axes) * factor)


def deviation(x: Any, axes: tuple[int, ...]) -> Any:
    return x - mean(x, axis=axes, keepdims=True) if axes else x - x


reduce_var = rule(
    "var", "x | axis=None, ddof=0, keepdims=False", _var_vjp,
    kernel=lambda k, x, axis, ddof, keepdims: k.var(x, axis, ddof, keepdims), array=_var, dtype=real_of_float,
    aliases="reduce_variance variance", method=True, analytic=False, depends="lines",
    doc="The variance: the mean of the squared deviations from the mean, over n - ddof.", example=("var([1.0, 3.0])", 1.0),
)  # fmt: skip


def _std(np: Any, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    axes = axes_of("std", axis, np.ndim(x))
    found = moment(np.std, x, axes, bool(keepdims), ddof=ddof)
    least = 1e-150 if x.dtype.itemsize >= 8 and x.dtype.kind != "c" else 1e-15
    if x.size and (~np.isfinite(found) | (found < least)).any():
        x, exponent = to_unit(np, x, axes)  # the squares may have left the range of floats
        found = np.ldexp(moment(np.std, x, axes, True, ddof=ddof), exponent)
        found = found if keepdims else np.squeeze(found, axis=axes)
    return found


def _std_vjp(g: Any, y: Any, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    shape, axes, size = reduced("std", x, axis)
    flat = plain(y) == 0
    meet(reduce_std, flat, matters=plain(g) != 0)
    safe = spread(OPERATORS.where(mask_tensor(flat), 1.0, y), shape, axes, keepdims)
    freedom = size - ddof if size != ddof else math.nan
    return strong(beside(spread(g, shape, axes, keepdims), x), deviation(x, axes) / beside(safe, x) / freedom)


reduce_std = rule(
    "std", "x | axis=None, ddof=0, keepdims=False", _std_vjp,
    kernel=lambda k, x, axis, ddof, keepdims: k.std(x, axis, ddof, keepdims), array=_std, dtype=real_of_float,
    aliases="reduce_std", method=True,
    singular=[
        Singular(lambda x: x == x.mean(), "std is not differentiable at constants", adiff=0.0, torch=0.0,
                 subgradients="0 chosen from a ball")
    ],
    analytic=False, depends="lines", doc="The standard deviation: the square root of the variance.",
    example=("std([1.0, 3.0])", 1.0),
)  # fmt: skip


# --- log-sum-exp ----------------------------------------------------------------------------------------------------


def _logsumexp(np: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    axes = axes_of("logsumexp", axis, np.ndim(x))
    largest = np.max(x, axis=axes, keepdims=True, initial=-math.inf)
    # The largest terms are exp(0) = 1; the sum of the others goes through log1p, which keeps a result near 0 exact.
    shift = np.where(np.isfinite(largest), largest, 0.0).astype(x.dtype)
    terms = np.exp(x - shift)
    ones = np.sum(terms == 1.0, axis=axes, keepdims=True, dtype=x.dtype)
    others = np.sum(np.where(terms == 1.0, 0.0, terms), axis=axes, keepdims=True)
    found = shift + np.where(ones > 0, np.log1p(others + (ones - 1)), np.log(others))
    return found if keepdims else np.squeeze(found, axis=axes)


def _logsumexp_vjp(g: Any, y: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    shape, axes, _ = reduced("logsumexp", x, axis)
    if not shape:
        return g
    g, y = spread(g, shape, axes, keepdims), spread(y, shape, axes, keepdims)
    return strong(g, softmax_weights(x, y, axes, g))


def softmax_weights(x: Any, y: Any, axes: tuple[int, ...], g: Any) -> Any:
    """exp(x - y) for y = logsumexp(x); 0 where y is -inf, shared among the infinite elements where y is inf.

    As a quotient it keeps the digits that x - y loses for large x. The shift by the largest element cancels out of it,
    so it is a constant of the derivatives.
    """
    top = OPERATORS.max(OPERATORS.stop_gradient(x), axis=axes, keepdims=True)
    terms = exponentials(x, top)
    total = reduce_sum(terms, axis=axes, keepdims=True)
    bottom = plain(top) == -math.inf
    if some(bottom):
        meet(reduce_logsumexp, plain(y) == -math.inf, matters=plain(g) != 0)
        total = OPERATORS.where(mask_tensor(bottom), 1.0, total)
    return terms / total


def _exponentials(np: Any, x: Any, top: Any) -> Any:
    return np.where(np.equal(top, math.inf), np.equal(x, top), np.exp(x - np.where(np.isfinite(top), top, 0.0)))


def _exponentials_vjp(g: Any, y: Any, x: Any, top: Any) -> Any:
    moved = OPERATORS.where(OPERATORS.equal(top, math.inf), 0.0, strong(g, y))  # of an infinite g too
    return moved, lambda: -moved


exponentials = rule(
    "exponentials", "x, top", _exponentials_vjp, array=_exponentials, dtype="float", accepts="bif",
    kernel=lambda k, x, top: k.exponentials(x, top), domain=[(-3, 3), (-3, 3)], internal=True,
    depends="elements", doc="exp(x - top); beside a top of inf 1 where x is inf too, else 0: what the sum in logsumexp is of.",
    example=("exponentials([0.0, 1.0], 1.0)", [math.exp(-1.0), 1.0]),
)  # fmt: skip


reduce_logsumexp = rule(
    "logsumexp", "x | axis=None, keepdims=False", _logsumexp_vjp,
    kernel=lambda k, x, axis, keepdims: k.logsumexp(x, axis, keepdims), array=_logsumexp, dtype="float", accepts="bif",
    aliases="reduce_logsumexp log_sum_exp",
    singular=[
        Singular(lambda x: (x == -math.inf).all(), "logsumexp of nothing but -inf has no derivative", adiff=0.0,
                 subgradients="0 chosen")
    ],
    depends="lines", doc="log(sum(exp(x))), computed without overflow.", example=("logsumexp([0.0, 0.0])", math.log(2)),
)  # fmt: skip


# --- truth ----------------------------------------------------------------------------------------------------------


def _truth(name: str, doc: str, example: bool) -> Operation:
    return no_tangent(
        name, "x | axis=None, keepdims=False",
        array=lambda np, x, axis, keepdims: getattr(np, name)(
            x, axis=axes_of(name, axis, np.ndim(x)), keepdims=bool(keepdims)
        ),
        code="reduction", dtype="bool", aliases=f"reduce_{name}", method=True, doc=doc, example=(f"{name}([True, False])", example),
        reason="a truth value",
    )  # fmt: skip


reduce_any = _truth("any", "Whether an element is true, of all or along axes.", True)
reduce_all = _truth("all", "Whether all elements are true, of all or along axes.", False)
