"""On which side of its kinks, jumps and poles a row's inputs are."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def of_zero(x: Any, **static: Any) -> Any:
    import numpy as np

    return np.sign(np.real(x))


def between(a: Any, b: Any) -> Any:
    return of_zero(a - b)


def beyond(*edges: float) -> Callable[..., Any]:
    return lambda x: sum((x > edge) * 1 for edge in edges)


def whole_quotient(a: Any, b: Any) -> Any:
    import numpy as np

    return np.floor_divide(a, b)


def ranking(x: Any, axis: Any = None, **static: Any) -> Any:
    import numpy as np

    x = np.asarray(x)
    return np.argsort(x, axis=axis if axis.__class__ is int else None, kind="stable") if x.ndim else 0


# --- poles: numbers whose sign changes there -------------------------------------------------------------------------


def from_zero(x: Any) -> Any:
    return x


def gamma_pole(x: Any) -> Any:
    import numpy as np

    return np.where(x > 0, x, x - np.rint(x))


def base_from_zero(a: Any, b: Any) -> Any:
    """The base of a power, which is singular at 0 but for exponents that are whole."""
    import numpy as np

    return np.where((np.floor(b) == b) & (np.real(b) >= 0), 1.0, a)


def determinant(a: Any, *rest: Any, **static: Any) -> Any:
    import numpy as np

    return np.linalg.det(a)


def cosine(x: Any) -> Any:
    import numpy as np

    return np.cos(x)
