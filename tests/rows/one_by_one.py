"""A table against its rows evaluated one by one: values, derivatives, notices and errors must be the same."""

from typing import Any

import adiff
import numpy as np
from adiff import AdiffError

# Relative: NumPy's functions of arrays and Python's of numbers may differ in the last digits.
TOLERANCE = 1e-12
COMPARED = ("N0501", "N0503", "N0601", "N0602")


def close(a: Any, b: Any, tolerance: float) -> bool:
    if a.__class__ in (dict, list, tuple) and b.__class__ is a.__class__:
        parts = [(a[k], b[k]) for k in a] if a.__class__ is dict else zip(a, b)
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in parts)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind not in "biufc":
        return bool(np.array_equal(a, b))
    if a.shape != b.shape:
        return False
    finite = np.abs(a[np.isfinite(a)]) if a.dtype.kind in "fc" else np.abs(a.astype(float))
    scale = finite.max() if finite.size else 0.0
    return bool(np.allclose(b, a, rtol=tolerance, atol=tolerance * max(scale, 1e-3), equal_nan=True))


def plain(x: Any) -> Any:
    return x.tolist() if hasattr(x, "tolist") else x


def alone(program: Any, command: str, at: Any, wrt: Any, options: Any) -> tuple[Any, AdiffError | None]:
    try:
        return program.evaluate(command, at, wrt, engine="tape", **options), None
    except AdiffError as error:
        return None, error


def same_as_rows(
    text: str,
    columns: dict[str, Any],
    order: int = 1,
    tolerance: float = TOLERANCE,
    engine: str = "tape",
    **options: Any,
) -> Any:
    """Assert that `rows` gives what `evaluate` gives row by row; the outcome of the table."""
    program = adiff.program(text)
    at = options.pop("at", None) or {}
    wrt = options.pop("wrt", None)
    found = program.rows(columns, wrt, order, engine=engine, at=at, **options)
    known = (*program.inputs, *program.optional)
    names = [name for name in known if name in columns] if wrt is None else wrt
    notices: dict[Any, int] = {}
    command = ("value", "grad", "hessian")[order]
    count = len(next(iter(columns.values())))
    for i in range(count):
        point = {name: plain(np.asarray(c)[i]) for name, c in columns.items() if name in known}
        where = f"\nrow {i}: {point}\n{text}"
        one, error = alone(program, command, {**at, **point}, names if order else None, options)
        if error is not None:
            assert i in found.errors, f"only the row alone fails: {error!r}{where}"
            other = found.errors[i]
            assert (error.code, error.message, error.hint) == (other.code, other.message, other.hint), where
            assert (error.span and error.span.start) == (other.span and other.span.start), where
            assert np.isnan(found.value[i]).all(), where
            continue
        assert i not in found.errors, f"only the table fails: {found.errors[i]!r}{where}"
        assert close(one.value, found.value[i], tolerance), f"value {one.value!r} and {found.value[i]!r}{where}"
        for name in names if order else ():
            g = None if found.gradients[name] is None else found.gradients[name][i]
            mine = one.gradients[name]
            if mine is None:
                assert g is None or (np.asarray(g) == 0).all(), f"d/d{name} None and {g!r}{where}"
            else:
                assert g is not None, f"d/d{name} {mine!r} and None{where}"
                assert close(mine, g, tolerance), f"d/d{name} {mine!r} and {g!r}{where}"
            for other in names if order == 2 else ():
                h = found.hessian[name][other]
                mine = one.hessian[name][other]
                if mine is None or h is None:
                    assert h is None or (np.asarray(h[i]) == 0).all(), f"H[{name}][{other}] None and {h!r}{where}"
                    assert mine is None or (np.asarray(mine) == 0).all(), f"H[{name}][{other}] {mine!r} and None{where}"
                else:
                    assert close(mine, h[i], tolerance * 10), f"H[{name}][{other}] {mine!r} and {h[i]!r}{where}"
        for notice in one.notices:
            if notice.code in COMPARED:
                message = notice.message if notice.code[:3] == "N05" else ""
                key = (notice.code, message, None if notice.span is None else notice.span.start)
                notices[key] = notices.get(key, 0) + 1
    told: dict[Any, int] = {}
    for n in found.notices:
        if n.code in COMPARED:
            key = (n.code, n.message if n.code[:3] == "N05" else "", None if n.span is None else n.span.start)
            told[key] = told.get(key, 0) + n.rows
    assert notices == told, f"{notices} and {told}\n{text}"
    return found
