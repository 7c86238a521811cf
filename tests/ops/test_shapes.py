"""Rearranging, gathering and creating: values against NumPy, derivatives against differences, errors in words."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.signal
from adiff.engine.core.dtypes import FLOAT32, FLOAT64, INT32
from adiff.parser.errors import AdiffError
from derivatives import call, grad, hessian, jvp, numeric, tensor, value, weighted

RNG = np.random.default_rng(5)
V = RNG.normal(size=5)
M = RNG.normal(size=(3, 4))
S = RNG.normal(size=(4, 4))
C = RNG.normal(size=(2, 3, 4))

UNEVEN = [[1, 2], [0, 3]]
# name, inputs, static parameters, NumPy's answer
LINEAR: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("transpose", (C,), {}, C.T),
    ("transpose", (C,), {"axes": (1, -1, 0)}, C.transpose(1, 2, 0)),
    ("transpose", (C,), {"perm": [2, 0, 1]}, C.transpose(2, 0, 1)),
    ("permute_dims", (C,), {"axes": (0, 2, 1)}, C.transpose(0, 2, 1)),
    ("swapaxes", (C,), {"axis1": 0, "axis2": 2}, np.swapaxes(C, 0, 2)),
    ("moveaxis", (C,), {"source": (0, 1), "destination": (-1, 0)}, np.moveaxis(C, (0, 1), (-1, 0))),
    ("matrix_transpose", (C,), {}, np.swapaxes(C, 1, 2)),
    ("ravel", (C,), {}, C.ravel()),
    ("flatten", (C,), {}, C.ravel()),
    ("expand_dims", (C,), {"axis": (0, -1)}, np.expand_dims(C, (0, -1))),
    ("squeeze", (C[:1, :, :1],), {}, C[:1, :, :1].squeeze()),
    ("squeeze", (C[:1, :, :1],), {"axis": -1}, C[:1, :, 0]),
    ("atleast_1d", (0.5,), {}, np.array([0.5])),
    ("atleast_2d", (V,), {}, V[None]),
    ("atleast_3d", (V,), {}, np.atleast_3d(V)),
    ("atleast_3d", (M,), {}, np.atleast_3d(M)),
    ("flip", (C,), {}, np.flip(C)),
    ("flip", (C,), {"axis": (0, -1)}, np.flip(C, (0, -1))),
    ("reverse", (C,), {"axis": [1]}, np.flip(C, 1)),
    ("fliplr", (M,), {}, np.fliplr(M)),
    ("flipud", (M,), {}, np.flipud(M)),
    ("roll", (C,), {"shift": 2}, np.roll(C, 2)),
    ("roll", (C,), {"shift": (1, -2), "axis": (0, 2)}, np.roll(C, (1, -2), (0, 2))),
    *(("rot90", (M,), {"k": k}, np.rot90(M, k)) for k in (-1, 0, 1, 2, 3)),
    ("rot90", (C,), {"axes": (1, 2)}, np.rot90(C, axes=(1, 2))),
    ("tile", (M,), {"reps": (2, 3)}, np.tile(M, (2, 3))),
    ("tile", (V,), {"reps": (2, 1, 2)}, np.tile(V, (2, 1, 2))),
    ("tile", (C,), {"multiples": 2}, np.tile(C, 2)),
    ("repeat", (M,), {"repeats": 2}, np.repeat(M, 2)),
    ("repeat", (M,), {"repeats": [2, 0, 1], "axis": 0}, np.repeat(M, [2, 0, 1], 0)),
    ("broadcast_to", (V,), {"shape": (2, 3, 5)}, np.broadcast_to(V, (2, 3, 5))),
    ("concat", ([C, C[:1]],), {"axis": 0}, np.concatenate([C, C[:1]], 0)),
    ("concatenate", ([C, C[:, :, :1]],), {"axis": -1}, np.concatenate([C, C[:, :, :1]], -1)),
    ("concat", ([C, V],), {"axis": None}, np.concatenate([C, V], None)),
    ("stack", ([M, 2 * M],), {"axis": 1}, np.stack([M, 2 * M], 1)),
    ("hstack", ([V, V[:2]],), {}, np.hstack([V, V[:2]])),
    ("hstack", ([M, M],), {}, np.hstack([M, M])),
    ("vstack", ([V, V],), {}, np.vstack([V, V])),
    ("dstack", ([M, M],), {}, np.dstack([M, M])),
    ("column_stack", ([V, V],), {}, np.column_stack([V, V])),
    ("append", (M, V), {}, np.append(M, V)),
    ("diag", (V,), {"k": 1}, np.diag(V, 1)),
    ("diag", (M,), {"k": -1}, np.diag(M, -1)),
    ("diag", (M,), {"k": 9}, np.diag(M, 9)),
    ("diagonal", (C,), {"offset": 1, "axis1": 2, "axis2": 0}, np.diagonal(C, 1, 2, 0)),
    ("diag_part", (C,), {}, np.diagonal(C, 0, 1, 2)),
    ("tf.linalg.diag", (M,), {}, np.stack([np.diag(row) for row in M])),
    ("tril", (C,), {"k": 1}, np.tril(C, 1)),
    ("triu", (S,), {"k": -1}, np.triu(S, -1)),
    ("band_part", (S,), {"num_lower": 1, "num_upper": -1}, np.triu(S, -1)),
    ("set_diag", (S, V[:4]), {}, S - np.diag(np.diag(S)) + np.diag(V[:4])),
    ("trace", (M,), {"offset": 1}, np.trace(M, 1)),
    ("trace", (C,), {}, np.trace(C)),
    ("tf.linalg.trace", (C,), {}, np.trace(C, axis1=1, axis2=2)),
    ("pad", (M,), {"pad_width": 1}, np.pad(M, 1)),
    ("pad", (M,), {"pad_width": UNEVEN, "constant_values": 2.5}, np.pad(M, UNEVEN, constant_values=2.5)),
    *(
        ("pad", (M,), {"paddings": [[2, 1], [3, 0]], "mode": mode}, np.pad(M, [[2, 1], [3, 0]], mode.lower()))
        for mode in ("REFLECT", "symmetric", "edge", "wrap")
    ),
    ("slice", (C,), {"begin": [0, 1, 0], "size": [-1, 2, 3]}, C[:, 1:3, :3]),
    ("gather", (V, np.array([[4, 0], [0, -1]])), {}, V[[[4, 0], [0, -1]]]),
    ("gather", (C, np.array([2, 0])), {"axis": 1}, C[:, [2, 0]]),
    ("gather", (C, np.array([[0, 2], [1, 1]])), {"batch_dims": 1}, np.stack([C[0][[0, 2]], C[1][[1, 1]]])),
    ("gather", (C, np.array([[0], [3]])), {"axis": 2, "batch_dims": 1}, np.stack([C[0][:, [0]], C[1][:, [3]]])),
    ("take", (M, np.array([11, 0])), {}, np.take(M, [11, 0])),
    ("take", (M, np.array([5, -7])), {"axis": 1, "mode": "wrap"}, np.take(M, [5, -7], 1, mode="wrap")),
    ("take_along_axis", (M, np.argsort(M, 1)), {"axis": 1}, np.sort(M, 1)),
    ("gather_nd", (C, np.array([[0, 1], [1, 2]])), {}, C[[0, 1], [1, 2]]),
    ("gather_nd", (C, np.array([[[1]], [[0]]])), {"batch_dims": 1}, np.stack([C[0][[1]], C[1][[0]]])),
    ("tensor_scatter_nd_sub", (V, np.array([[1], [1]]), np.array([1.0, 2.0])), {}, V - [0, 3, 0, 0, 0]),
    ("convolve", (V, M[0]), {}, np.convolve(V, M[0])),
    ("convolve", (V, M[0]), {"mode": "same"}, np.convolve(V, M[0], "same")),
    *(
        ("scipy.signal.convolve", vectors, {"mode": mode}, scipy.signal.convolve(*vectors, mode))
        for vectors in ((V, M[0]), (M[0], V), (V[:1], V))
        for mode in ("same", "valid")
    ),
    ("convolve", (M[0], V), {"mode": "valid"}, np.convolve(M[0], V, "valid")),
    ("correlate", (V, M[0]), {}, np.correlate(V, M[0])),
    ("correlate", (V, M[0]), {"mode": "full"}, np.correlate(V, M[0], "full")),
    ("trapezoid", (C,), {"axis": 1, "dx": 0.5}, np.trapezoid(C, dx=0.5, axis=1)),
    ("trapezoid", (V, np.sort(V)), {}, np.trapezoid(V, np.sort(V))),
    ("full", ([2, 3], 0.7), {}, np.full((2, 3), 0.7)),
    ("linspace", (0.3, 2.0, 7), {}, np.linspace(0.3, 2.0, 7)),
    ("linspace", (V[:2], M[0, :2], 3), {"axis": 1}, np.linspace(V[:2], M[0, :2], 3, axis=1)),
    ("linspace", (0.3, 2.0, 7), {"endpoint": False}, np.linspace(0.3, 2.0, 7, endpoint=False)),
    ("logspace", (0.3, 2.0, 5), {"base": 2.0}, np.logspace(0.3, 2.0, 5, base=2.0)),
    ("geomspace", (0.3, 2.0, 5), {}, np.geomspace(0.3, 2.0, 5)),
    ("arange", (0.5, 3.0, 0.75), {}, np.arange(0.5, 3.0, 0.75)),
    ("interp", (np.array([-1.0, 0.3, 1.5, 9.0]), np.array([0.0, 1.0, 2.0]), V[:3]), {}, None),
    ("polyval", (V, 0.7), {}, np.polyval(V, 0.7)),
    ("vander", (V,), {"n": 3}, np.vander(V, 3)),
    ("vander", (V,), {"increasing": True}, np.vander(V, increasing=True)),
    ("cov", (M,), {}, np.cov(M)),
    ("cov", (M,), {"rowvar": False, "ddof": 0}, np.cov(M, rowvar=False, ddof=0)),
    ("corrcoef", (M,), {}, np.corrcoef(M)),
]  # fmt: skip


def floats_of(inputs: tuple[Any, ...]) -> list[Any]:
    found = [x for part in inputs for x in (part if isinstance(part, list) else [part])]
    return [x for x in found if isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")]


def with_floats(inputs: tuple[Any, ...], values: Any) -> list[Any]:
    fresh = iter(values)

    def renewed(x: Any) -> Any:
        if isinstance(x, list):
            return [renewed(part) for part in x]
        return next(fresh) if isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f") else x

    return [renewed(x) for x in inputs]


@pytest.mark.parametrize(
    ("name", "inputs", "static", "expected"), LINEAR, ids=[f"{row[0]}-{i}" for i, row in enumerate(LINEAR)]
)
def test_value_and_derivatives(name: str, inputs: tuple[Any, ...], static: dict[str, Any], expected: Any) -> None:
    if name == "interp":
        expected = np.interp(*inputs)
    found = value(name, *inputs, **static)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
    points = floats_of(inputs)
    rng = np.random.default_rng(1)
    f = weighted(lambda *xs: call(name, *with_floats(inputs, xs), **static), rng.normal(size=np.shape(found)))
    gradients = grad(f, *points) if len(points) > 1 else [grad(f, *points)]
    gradients = [np.zeros(np.shape(x)) if g is None else g for g, x in zip(gradients, points)]
    tangents = [rng.normal(size=np.shape(x)) for x in points]
    forward = jvp(f, points, tangents)
    reverse = sum(np.sum(g * t) for g, t in zip(gradients, tangents))
    assert forward == pytest.approx(reverse, rel=1e-12, abs=1e-13)
    for k, (x, t) in enumerate(zip(points, tangents)):
        one = lambda y, k=k: f(*[tensor(p) if i != k else y for i, p in enumerate(points)])  # noqa: E731
        assert np.sum(gradients[k] * t) == pytest.approx(numeric(one, x, t), rel=1e-7, abs=1e-8)


def test_lists_of_parts() -> None:
    sparse: dict[str, Any] = {"indexing": "ij", "sparse": True}
    for found, expected in (
        (value("split", M, 2, axis=1), np.split(M, 2, 1)),
        (value("split", V, [1, 3]), np.split(V, [1, 3])),
        (value("split", V, [3, 1, 9]), np.split(V, [3, 1, 9])),
        (value("split", V, num_or_size_splits=[1, -1]), np.split(V, [1])),
        (value("tf.split", V, [2, 3]), np.split(V, [2])),
        (value("tf.split", M, 2, axis=-1), np.split(M, 2, 1)),
        (value("array_split", V, 3), np.array_split(V, 3)),
        (value("hsplit", M, 2), np.hsplit(M, 2)),
        (value("vsplit", M, 3), np.vsplit(M, 3)),
        (value("unstack", C, axis=2), [C[..., i] for i in range(4)]),
        (value("meshgrid", V, M[0]), np.meshgrid(V, M[0])),
        (value("meshgrid", V, M[0], V, **sparse), np.meshgrid(V, M[0], V, **sparse)),
        (value("broadcast_arrays", V[:4], M), np.broadcast_arrays(V[:4], M)),
    ):
        assert len(found) == len(expected)
        for part, wanted in zip(found, expected):
            np.testing.assert_array_equal(part, wanted)
    g = grad(lambda x: call("sum", call("split", x, [1, 3])[1] ** 2), V)
    np.testing.assert_allclose(g, np.where(np.isin(np.arange(5), [1, 2]), 2 * V, 0))
    g = grad(lambda x: call("sum", call("meshgrid", x, M[0])[0] ** 2), V)
    np.testing.assert_allclose(g, 2 * V * 4)


def test_constants() -> None:
    np.testing.assert_array_equal(value("zeros", (2, 3)), np.zeros((2, 3)))
    np.testing.assert_array_equal(value("eye", 2, 3, k=1), np.eye(2, 3, 1))
    np.testing.assert_array_equal(value("eye", 2, batch_shape=[3]), np.broadcast_to(np.eye(2), (3, 2, 2)))
    np.testing.assert_array_equal(value("tri", 3), np.tri(3))
    np.testing.assert_array_equal(value("one_hot", [1, 3, -1], 3, 5.0, -1.0), [[-1, 5, -1], [-1, -1, -1], [-1, -1, -1]])
    np.testing.assert_array_equal(value("one_hot", [1, 0], 2, axis=0), [[0, 1], [1, 0]])
    assert list(value("arange", 5)) == [0, 1, 2, 3, 4]
    assert list(value("arange", 5, 0, -2)) == [5, 3, 1]
    assert value("arange", 3).dtype == np.int64
    assert call("zeros", 2, "int32").dtype is INT32
    assert value("tf.range", 1.0, 2.0, 0.25).size == 4
    assert call("full_like", tensor(M, FLOAT32), 7).dtype is FLOAT32


def test_weak_constants_adopt_what_they_meet() -> None:
    x = tensor(V, FLOAT32)
    assert (x + call("zeros", 5)).dtype is FLOAT32
    assert (x * call("linspace", 0.0, 1.0, 5)).dtype is FLOAT32
    assert (x * call("arange", 5)).dtype is FLOAT32
    assert (call("matmul", call("eye", 5), x)).dtype is FLOAT32
    with pytest.raises(AdiffError, match="float32 and float64"):
        x + call("zeros", 5, "float64")
    assert call("ones", 2, "float64").dtype is FLOAT64


def test_fills_carry_gradients() -> None:
    assert grad(lambda v: call("sum", call("full", (2, 3), v) ** 2), 0.5) == 6.0
    assert grad(lambda v: call("sum", call("pad", M, 1, constant_values=v)), 0.5) == 18.0
    to_on, to_off = grad(lambda on, off: call("sum", call("one_hot", [0, 2], 3, on, off)), 1.0, 0.0)
    assert (to_on, to_off) == (2.0, 4.0)
    h = hessian(
        lambda p: call("sum", call("linspace", call("index", p, index=0), call("index", p, index=1), 3) ** 2), V[:2]
    )
    np.testing.assert_allclose(h, [[2.5, 0.5], [0.5, 2.5]])


def test_padding_with_infinity_leaves_no_nan() -> None:
    y = value("pad", V, 1, constant_values=math.inf)
    assert y[0] == math.inf
    np.testing.assert_array_equal(y[1:-1], V)
    np.testing.assert_array_equal(
        grad(lambda x: call("sum", call("pad", x, 1, constant_values=math.inf)), V), np.ones(5)
    )


def test_where_and_nonzero() -> None:
    c = np.array([[0, 5], [7, 0]])
    for found, expected in zip(value("nonzero", c), np.nonzero(c)):
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(value("where", c), np.nonzero(c)):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(value("tf.where", c > 5), [[1, 0]])
    np.testing.assert_array_equal(value("argwhere", c), np.argwhere(c))
    np.testing.assert_array_equal(value("tf.where", c > 5, x=1.0, y=2.0), [[2, 2], [1, 2]])


@pytest.mark.parametrize(
    ("name", "inputs", "static", "code", "words"),
    [
        ("transpose", (C, (0, 1)), {}, "E0302", "names 2 of 3 axes"),
        ("transpose", (C, (0, 1, 1)), {}, "E0405", "an axis is named twice"),
        ("squeeze", (C, 0), {}, "E0302", "axis 0 has size 2, not 1"),
        ("concat", ([C, M],), {}, "E0302", "element 1 has shape [3, 4], and element 0 has [2, 3, 4]"),
        ("concat", ([M, M.T.copy()],), {}, "E0302", "only the sizes along axis 0 may differ"),
        ("concat", ([1.0, 2.0],), {}, "E0302", "at least one dimension"),
        ("concat", ([],), {}, "E0304", "at least one tensor"),
        ("split", (V, 2), {}, "E0302", "an axis of size 5 has no 2 equal parts"),
        ("tf.split", (V, [2, 2]), {}, "E0302", "the sizes [2, 2] do not add up to 5"),
        ("split", (V,), {}, "E0305", "number of parts"),
        ("unstack", (V,), {"num": 3}, "E0302", "axis 0 has size 5, not 3"),
        ("gather", (V, np.array([[0, 7]])), {}, "E0405", "indices[0,1] = 7 is not in [-5, 5)"),
        ("gather", (V, np.array(9)), {}, "E0405", "indices = 9 is not in [-5, 5)"),
        ("gather", (V, np.array([0.5])), {}, "E0301", "indices must be integers, and they are float64"),
        ("take", (M, np.array([4])), {"axis": 1}, "E0405", "indices[0] = 4 is not in [-4, 4)"),
        ("gather_nd", (C, np.array([[0, 1], [1, 3]])), {}, "E0405", "gather_nd: indices[1,1] = 3 is not in [-3, 3)"),
        ("gather_nd", (V, np.array([[0, 1]])), {}, "E0302", "index vectors of length 2 for a tensor of 1 dimension"),
        ("scatter_nd", ([[0]], [[1.0, 2.0]], [3]), {}, "E0302", "[1, 2] where the indices call for [1]"),
        ("tile", (V, -1), {}, "E0302", "cannot be negative"),
        ("repeat", (V, [1, 2]), {}, "E0302", "repeats is one integer or 5"),
        ("pad", (V, [[1, 2], [3, 4]]), {}, "E0302", "1 dimension"),
        ("pad", (V, 1), {"mode": "mirror"}, "E0305", "unknown mode 'mirror'"),
        ("diag", (C,), {}, "E0302", "not a tensor of 3 dimensions"),
        ("tril", (V,), {}, "E0302", "tril needs a matrix, and this tensor has 1 dimension"),
        ("zeros", (-2,), {}, "E0302", "cannot be negative: -2"),
        ("zeros", ((10**8, 10**8),), {}, "E0602", "memory"),
        ("linspace", (0.0, 1.0, 2.5), {}, "E0304", "num must be an integer"),
        ("linspace", (0.0, 1.0, 10**15), {}, "E0602", "memory"),
        ("arange", (0.0, 1.0, 0), {}, "E0401", "the step cannot be 0"),
        ("eye", (10**8,), {}, "E0602", "memory"),
        ("full", (10**15, 1.0), {}, "E0602", "memory"),
        ("one_hot", ([0], 10**15), {}, "E0602", "memory"),
        ("tile", (V, 10**15), {}, "E0602", "memory"),
        ("meshgrid", (V, V), {"indexing": "yx"}, "E0305", "'xy' or 'ij'"),
        ("convolve", (M, V), {}, "E0302", "two vectors, not shapes [3, 4] and [5]"),
        ("interp", (0.5, -np.arange(3.0), V[:3]), {}, "E0401", "must increase"),
        ("convolve", (V, V), {"mode": "half"}, "E0305", "unknown mode 'half'"),
    ],
)  # fmt: skip
def test_errors_in_words(name: str, inputs: Any, static: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(AdiffError) as caught:
        call(name, *inputs, **static)
    assert caught.value.code == code
    assert words in caught.value.message
