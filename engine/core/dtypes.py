"""The dtypes of the language and the rule by which they meet.

Strong dtypes never mix (TensorFlow's rule). A *weak* dtype belongs to a literal or a bare binding and adopts
the dtype of what it meets (JAX's rule). A weak dtype of NumPy's belongs to an array or number that NumPy would have
made with it: beside a tensor it adopts that dtype, and two of them promote as NumPy promotes them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DType:
    """One dtype: `kind` is b(ool) i(nteger) f(loat) c(omplex) or s(tring); `weak` dtypes adopt what they meet, and those
    of them are `bare` that are not NumPy's."""

    __slots__ = ("bare", "bits", "kind", "name", "strong", "weak")

    def __init__(self, name: str, kind: str, bits: int, weak_of: DType | None = None, bare: bool = True) -> None:
        self.name = name
        self.kind = kind
        self.bits = bits
        self.weak = weak_of is not None
        self.bare = self.weak and bare
        self.strong: DType = self if weak_of is None else weak_of

    def __repr__(self) -> str:
        return f"weak {self.name}" if self.weak else self.name

    def __reduce__(self) -> Any:
        # There is one of each, which another process has under the same name.
        if self.weak and not self.bare:
            return numpys, (self.strong,)
        return next(name for name, x in globals().items() if x is self)

    @property
    def differentiable(self) -> bool:
        """Whether values of this dtype carry a tangent."""
        return self.kind in "fc"


BOOL = DType("bool", "b", 8)
INT8 = DType("int8", "i", 8)
INT16 = DType("int16", "i", 16)
UINT8 = DType("uint8", "i", 8)
UINT16 = DType("uint16", "i", 16)
UINT32 = DType("uint32", "i", 32)
UINT64 = DType("uint64", "i", 64)
FLOAT16 = DType("float16", "f", 16)
INT32 = DType("int32", "i", 32)
INT64 = DType("int64", "i", 64)
FLOAT32 = DType("float32", "f", 32)
FLOAT64 = DType("float64", "f", 64)
COMPLEX64 = DType("complex64", "c", 64)
COMPLEX128 = DType("complex128", "c", 128)
STRING = DType("string", "s", 0)

WEAK_BOOL = DType("bool", "b", 8, BOOL)
WEAK_INT = DType("int64", "i", 64, INT64)
WEAK_FLOAT = DType("float64", "f", 64, FLOAT64)
# A bare integer that is differentiated: a float that still counts things (range(n), x[n], zeros(n)).
WEAK_COUNT = DType("float64", "f", 64, FLOAT64)
WEAK_COMPLEX = DType("complex128", "c", 128, COMPLEX128)
WEAK_FLOAT32 = DType("float32", "f", 32, FLOAT32)
WEAK_COMPLEX64 = DType("complex64", "c", 64, COMPLEX64)

STRONG: dict[str, DType] = {
    d.name: d
    for d in (
        BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128,
        STRING,
    )
}  # fmt: skip
WEAK: dict[DType, DType] = {
    BOOL: WEAK_BOOL,
    INT64: WEAK_INT,
    FLOAT64: WEAK_FLOAT,
    COMPLEX128: WEAK_COMPLEX,
    FLOAT32: WEAK_FLOAT32,
    COMPLEX64: WEAK_COMPLEX64,
}
# The dtypes of what NumPy makes where one is asked for: np.array(x, dtype="uint8"), x.astype("float32"), np.int32(2).
NUMPY: dict[DType, DType] = {
    dtype: DType(dtype.name, dtype.kind, dtype.bits, dtype, bare=False)
    for dtype in STRONG.values()
    if dtype.kind in "ifc"
}

# Spellings of dtypes that users type: tf.float32, np.float64, "double", float.
SPELLINGS: dict[str, DType] = {
    **STRONG,
    **dict.fromkeys(("int", "int_", "long"), INT64),
    **dict.fromkeys(("float", "float_", "double"), FLOAT64),
    **dict.fromkeys(("complex", "complex_"), COMPLEX128),
    "bool_": BOOL,
    "half": FLOAT16,
    "single": FLOAT32,
    "str": STRING,
}

RAW: dict[type, DType] = {bool: BOOL, int: WEAK_INT, float: WEAK_FLOAT, complex: WEAK_COMPLEX, str: STRING}
REAL_PART = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64, WEAK_COMPLEX: WEAK_FLOAT, WEAK_COMPLEX64: WEAK_FLOAT32}
COMPLEX_OF = {FLOAT32: COMPLEX64, FLOAT64: COMPLEX128, WEAK_FLOAT: WEAK_COMPLEX, WEAK_FLOAT32: WEAK_COMPLEX64}
for _table in (REAL_PART, COMPLEX_OF):
    _table.update({NUMPY[a]: NUMPY[b] for a, b in _table.items() if a in NUMPY})


def numpys(dtype: DType) -> DType:
    """NumPy's counterpart of a dtype; one that is bare, or none of numbers, as it is."""
    return dtype if dtype.bare else NUMPY.get(dtype.strong, dtype)


def raw_dtype(value: object) -> DType | None:
    """The dtype of a bare Python scalar, or None if `value` is not one."""
    return RAW.get(value.__class__)


def of_numpy(dtype: Any) -> DType | None:
    """The language's dtype for the dtype of an array from outside; None for one that becomes a wider one there."""
    name = dtype.name
    if name in STRONG and (dtype.itemsize >= 4 or name == "bool") and dtype.kind != "u":
        return STRONG[name]
    if dtype.kind in "US" or name == "object":
        return STRING
    return None
