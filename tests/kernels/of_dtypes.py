"""The programs of a row with inputs of every dtype that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from adiff import AdiffError
from adiff.engine.core.operation import REQUIRED, Operation
from harness import cases
from row_programs import OTHER_NAMES, RowProgram, operand

KINDS = {"c": "complex128", "i": "int64", "b": "bool"}
HERMITIAN = ("cholesky", "eigh", "eigvalsh")


def converted(row: Operation, x: Any, kind: str) -> Any:
    """A sample as numbers of a kind: complex ones off the real axis, whole ones that are not all alike."""
    if x.__class__ is list:
        return [converted(row, part, kind) for part in x]
    a = np.asarray(x)
    if a.dtype.kind not in "fc":
        return x
    if kind == "c":
        found = a * (1 + 0.3j) + 0.1j if a.dtype.kind == "f" else a
        if row.name in HERMITIAN and a.ndim > 1:
            found = found @ np.conj(np.swapaxes(found, -1, -2)) + np.eye(a.shape[-1])
    elif kind == "i":
        found = np.maximum(np.rint(2.0 * a.real), 1).astype(np.int64)
        if a.ndim > 1 and a.shape[-1] == a.shape[-2]:
            found = found + 2 * np.eye(a.shape[-1], dtype=np.int64)
    else:
        found = a.real > 0.5
    return found if a.ndim else found.item()


def of_dtype(row: Operation, kind: str) -> Iterator[RowProgram]:
    """The programs of a row for its samples as numbers of a kind, of those that it takes."""
    for case in cases(row):
        found = RowProgram()

        def argument(x: Any, found: RowProgram = found) -> str:
            if x.__class__ is list:
                return f"[{', '.join(map(argument, x))}]"
            number = x.__class__ in (float, complex) or isinstance(x, np.ndarray)
            if number and np.asarray(x).dtype.kind in "fc" + kind:
                return found.input(x)
            return repr(x.tolist() if isinstance(x, np.ndarray) else x)

        # Places and counts stay what they are.
        whole = [np.asarray(x).dtype.kind == "i" for x in case.inputs if x.__class__ is not list]
        if kind != "c" and any(whole):
            continue
        inputs = [converted(row, x, kind) for x in case.inputs]
        static = {name: value for name, value in case.static.items() if value is not REQUIRED}
        arguments = list(map(argument, inputs))
        if any(p.kind == "list" and p.variadic for p in row.parameters) and inputs and inputs[-1].__class__ is list:
            arguments[-1] = arguments[-1][1:-1]
        arguments += [f"{name}={value!r}" for name, value in static.items()]
        try:
            value = row.call([operand(x) for x in inputs], static)
        except (AdiffError, np.linalg.LinAlgError):
            continue  # not a number that the row takes
        total = found.weighted("r", value)
        found.text = f"r = {OTHER_NAMES.get(row.name, row.name)}({', '.join(arguments)})\n{total}"
        yield found
