"""Rows of the table in kernels: their shapes, forms that need no statement, expansion to primitive rows, indices."""

from typing import Any

import numpy as np
import pytest
from adiff.engine.core.dtypes import FLOAT64
from adiff.engine.core.operands import plain
from adiff.engine.core.tensor import OPERATORS, Tensor
from adiff.engine.kernels.ir import Unsupported
from adiff.engine.kernels.symbols import Sym
from adiff.engine.kernels.transforms import gradients
from adiff.engine.ops.registry import ROWS
from derivatives import call
from harness import Case, cases, flatten, vjp
from symbolic import Program, agree, getitem, setitem, tensors

# Rows that kernels leave to the tape.
DECLINED = set(
    """complex eig eigh svd_thin qr_tall cofactor least_squares expm expm_change logm logm_change sqrtm sqrtm_change fsum
    segments_max segments_min put_elements arange
    logaddexp2 nextafter nan_to_num entr rel_entr isin imag cummax_along cummin_along cumlogsumexp_along sort_along
    argsort_along fresnel_sin fresnel_cos arccos_quotient square_of_arccos square_of_arccosh convolve_full correlate_valid
    power_norm running_ties gcd lcm slogdet
    cholesky triangular_system det""".split()
)
COMPLEX = frozenset("fft ifft rfft irfft".split())
# Rows whose derivatives kernels leave to the tape.
FORWARD = set("linspace linspace_points".split())
# Samples at which a kernel is left.
LEFT = {"prod-2", "prod-3", "product_of_others-1", "roll-1"}


SAMPLES = [
    pytest.param(case, id=f"{row.name}-{i}")
    for row in ROWS.values()
    for i, case in enumerate(cases(row))
    if row.name not in DECLINED | COMPLEX and f"{row.name}-{i}" not in LEFT and case.values
    and not any(np.iscomplexobj(x) for x in case.values)
]  # fmt: skip


@pytest.mark.parametrize("case", SAMPLES)
def test_samples(case: Case) -> None:
    program = Program("f")
    found = case.row.call([program.put(x) for x in case.inputs], dict(case.static))
    expected = flatten(case.row.call([tensors(x) for x in case.inputs], dict(case.static)))
    for x, y in zip(program.results(found), expected, strict=True):
        agree(x, plain(y))


@pytest.mark.parametrize("case", [s for s in SAMPLES if s.values[0].row.derivative not in ("none", "missing")
                                  and s.values[0].row.name not in FORWARD])  # fmt: skip
def test_gradients_of_samples(case: Case) -> None:
    """The rules of rows, on symbols."""
    program = Program("f")
    inputs = [program.put(x) for x in case.inputs]
    outputs = [y for y in flatten(case.row.call(inputs, dict(case.static))) if y.__class__ is Sym and y.kind == "f"]
    rng = np.random.default_rng(1)
    cotangents = [rng.uniform(0.5, 1.5, y.shape) for y in outputs]
    total: Any = 0.0
    for y, c in zip(outputs, cotangents):
        total = total + OPERATORS.sum(y * (Tensor(c, FLOAT64) if c.shape else float(c)))
    sources = [x for x in program.parameters if x.kind == "f"]
    found = program.results(gradients(program.builder, program.builder.block[:], total, sources, 1.0))
    for x, expected in zip(found, vjp(case, case.values, cotangents), strict=True):
        np.testing.assert_allclose(np.broadcast_to(x, expected.shape), expected, rtol=1e-11, atol=1e-12)


V, M = np.array([3.0, 1.0, 2.0, 1.0]), np.array([[1.0, 5.0, 2.0], [5.0, 0.0, -1.0]])
K, B, S = np.array([2, 0, -1]), np.array([True, False, True, True]), np.array([1.0, 1.0, 2.0, 3.0])
INF, NAN = np.inf, np.nan
ODD = np.array([-INF, -0.0, 0.0, 4.0, NAN, INF])
LOGITS = np.array([[-INF, 1, 2], [1e3, 1e3, 0], [0, -40, -50], [0] * 3])
MORE: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("argmax", (V,), {}), ("argmax", (M,), {"axis": 1, "keepdims": True}), ("argmin", (M,), {"axis": -1}), ("tf.argmax", (M,), {}),
    ("argmax", (M,), {"keepdims": True}),
    ("searchsorted", (S, V), {}), ("searchsorted", (S, 2.0), {"right": True}), ("any", (M,), {"axis": 1}),
    ("all", (M > 0,), {"keepdims": True}), ("count_nonzero", (M,), {"axis": 0}),
    ("count_nonzero", (B,), {}), ("tie_weights", (M, np.array([[5.0], [5.0]])), {"axes": (1,)}),
    ("max", (B,), {}), ("min", (M > 0,), {"axis": 0}), ("sum", (B,), {}), ("mean", (K,), {}), ("cumsum", (B,), {}),
    ("add", (B, B), {}), ("multiply", (V, B), {}), ("where", (B, 1, V), {}),
    ("where", (V, 1.0, 0.0), {}), ("where", (B, True, False), {}), ("divide", (K, 2), {}), ("floor_divide", (K, 2), {}),
    ("mod", (K, 2), {}), ("power", (K, 2), {}), *[("power", (x, p), {}) for x in (V, ODD) for p in (2, -1, -3, 3, 7, 0)],
    ("logical_xor", (B, V), {}), ("bitwise_and", (B, B), {}), ("invert", (B,), {}), ("invert", (K,), {}), ("left_shift", (K + 1, 2), {}),
    ("cast", (V,), {"dtype": "int64"}), ("cast", (V,), {"dtype": "bool"}), ("cast", (B,), {"dtype": "int64"}), ("zeros_like", (K,), {}),
    ("zeros_like", (M,), {"dtype": "int64"}), ("take", (M, K), {}), ("take", (M, np.array([[0, 1], [1, 1]])), {"axis": 1}),
    ("gather", (V, K), {}),
    ("take_along_axis", (M, np.array([[0], [2]]), 1), {}), ("one_hot", (K + 1, 4), {}), ("triu", (K.reshape(1, 3),), {"k": 1}),
    ("shifted", (V,), {"step": 3}), ("softmax", (LOGITS,), {}), ("log_softmax", (LOGITS,), {}), ("logsumexp", (LOGITS,), {"axis": 1}),
    ("std", (np.ones(3),), {}), *[("euclidean_norm", (x,), {}) for x in (V, V * 0, np.zeros(0))],
    ("matmul", (np.ones((2, 4, 2, 3)), np.ones((4, 3, 2))), {}),
    ("matmul", (K, K), {}), ("einsum", ("ij,kj->", M, M), {}), ("strong_matmul", (np.array([[0.0, 1]]), np.array([[INF], [2]])), {"strong": "a"}),
    ("strong_matmul", (np.array([0.0, 1]), np.array([INF, 2])), {"strong": "a"}),
    ("linspace", (0.5, 2.0, 4), {"endpoint": False}), ("linspace", (0.0, 1.0, 1), {}),
    ("allclose", (V, V + 1e-9), {}), ("abs", (B,), {}), ("sign", (K,), {}), ("maximum", (K, 0), {}), ("positive", (B,), {}),
    ("concat", ([V, M],), {"axis": None}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "static"), MORE)
def test_more(name: str, inputs: tuple[Any, ...], static: dict[str, Any]) -> None:
    """Integers and truth values, special numbers, rows that have no samples."""
    program = Program()
    found = call(name, *[program.put(x) for x in inputs], **static)
    expected = flatten(call(name, *[tensors(x) for x in inputs], **static))
    for x, y in zip(program.results(found), expected, strict=True):
        agree(x, plain(y))


@pytest.mark.parametrize(
    "name",
    sorted(x for x in DECLINED - {"arange", *COMPLEX} if x != "imag" and cases(ROWS[x]) and cases(ROWS[x])[0].values),
)
def test_declined(name: str) -> None:
    case = cases(ROWS[name])[0]
    with pytest.raises(Unsupported):
        case.row.call([Program("f").put(x) for x in case.inputs], dict(case.static))


CUBE = np.arange(24.0).reshape(4, 3, 2)
MASK = np.array([True, False, True, True])
# Integers and arrays of them stand for symbols where the second entry says so.
INDICES: list[Any] = [
    0, -1, (1, -2), slice(None, None, -1), slice(3, 0, -2), slice(1, 1), (Ellipsis, 0), (None, 2, ..., None), (slice(1, None), 1),
    (slice(None, None, 3), slice(-2, None), -1), [0, 2, 2], (0, [2, 0]), ([1, 2], [0, -1]), (slice(None), [0, 2]), ([1, 2], slice(None), [0, 1]),
    (1, slice(None), [0, 1, 1]), ([[0, 1], [2, 3]], 0, slice(None)), MASK, (slice(None, None, -1), [1, 0]), (Ellipsis, [0, 1], None), [],
]  # fmt: skip


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indices(index: Any, known: bool) -> None:
    """Reading, writing, adding and the gradient of reading, for indices that are known and for symbols."""
    exact = index_array(index)
    for what in ("get", "set", "add", "scatter"):
        program = Program()
        x = program.put(CUBE)
        place = exact if known else symbols(program, exact)
        part = CUBE[exact]
        value = program.put(np.arange(part.size, dtype=float).reshape(part.shape) + 100.0)
        expected = CUBE.copy()
        if what == "get":
            found, expected = getitem(program.builder, x, place), part
        elif what == "set":
            if any(isinstance(item, np.ndarray) for item in (exact if isinstance(exact, tuple) else (exact,))):
                with pytest.raises(Unsupported):
                    setitem(program.builder, x, place, value)
                continue
            found = setitem(program.builder, x, place, value)
            expected = ROWS["index_update"].array(np, CUBE, program.values[-1], exact)  # type: ignore[misc]
        elif what == "add":
            found = ROWS["index_add"](x, value, index=place)
            np.add.at(expected, exact, program.values[-1])
        else:
            found, expected = ROWS["index_scatter"](value, shape=CUBE.shape, index=place), np.zeros(CUBE.shape)
            np.add.at(expected, exact, program.values[-1])
        agree(program.results(found)[0], expected)


def index_array(index: Any) -> Any:
    if index.__class__ is tuple:
        return tuple([index_array(item) for item in index])
    return np.array(index, dtype=int) if index.__class__ is list else index


def symbols(program: Program, index: Any) -> Any:
    if index.__class__ is tuple:
        return tuple([symbols(program, item) for item in index])
    if index.__class__ is int:
        index = np.array(index)
    return program.put(index) if isinstance(index, np.ndarray) and index.dtype.kind == "i" else index


def test_windows_and_masks() -> None:
    program = Program()
    x, i = program.put(V), program.put(np.array(1))
    b = program.builder
    parts = [getitem(b, x, slice(i, i + 2)), setitem(b, x, x > 1, 0.0)]
    for found, expected in zip(program.results(parts), ([1.0, 2], [0.0, 1, 0, 1])):
        agree(found, np.array(expected))
    with pytest.raises(Unsupported):
        getitem(b, x, x > 1)


@pytest.mark.parametrize("index", [(4,), (-5,), (0, 3), (0, 0, 0, 0), (1.5,), ([0, 4],)])
def test_indices_that_the_tape_refuses(index: Any) -> None:
    program = Program()
    x = program.put(CUBE)
    with pytest.raises(Unsupported):
        getitem(program.builder, x, index)
