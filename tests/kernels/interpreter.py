"""The meaning of the IR, for tests: statements evaluated with NumPy, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from adiff.engine.kernels import ir

DTYPES = {"f": np.float64, "i": np.int64, "b": np.bool_}


class Stopped(Exception):
    """A check failed."""


def run(kernel: ir.Kernel, arguments: list[Any]) -> tuple[list[Any], set[int]]:
    """The results of a kernel and the numbers of the flags that were set. Raises Stopped."""
    machine = Machine()
    for x, value in zip(kernel.parameters, arguments):
        machine.set(x, value)
    with np.errstate(all="ignore"):
        machine.block(kernel.body)
    return [machine.get(x) for x in kernel.results], machine.flags


class Machine:
    def __init__(self) -> None:
        self.values: dict[ir.Var, Any] = {}
        self.stacks: dict[ir.Stack, dict[int, Any]] = {}
        self.flags: set[int] = set()

    def get(self, x: Any) -> Any:
        if x.__class__ is ir.Var:
            return self.values[x]
        return x if x is None else np.asarray(x)[()]

    def set(self, x: ir.Var, value: Any) -> None:
        found = np.asarray(value).astype(DTYPES[x.kind])
        assert found.shape == x.shape, f"{x}: {found.shape}"
        self.values[x] = found[()]

    def index(self, value: Any) -> Any:
        if value.__class__ is tuple:
            return tuple([int(self.get(v)) if v.__class__ is ir.Var else v for v in value])
        return self.get(value) if value.__class__ is ir.Var else value

    def block(self, block: list[Any]) -> None:
        for stmt in block:
            getattr(self, f"on_{stmt.__class__.__name__.lower()}")(stmt)

    def on_apply(self, stmt: Any) -> None:
        attributes = {name: self.index(value) for name, value in stmt.attributes.items()}
        for name in ("index", "shape"):
            if name in attributes and stmt.row.name in ("index", "index_update", "index_add"):
                attributes[name] = tuple([unbounded(entry) for entry in attributes[name]])
        found = stmt.row.array(np, *[self.get(x) for x in stmt.inputs], **filled(stmt.row, attributes))
        for x, value in zip(stmt.outs, found if len(stmt.outs) > 1 else [found]):
            self.set(x, value)

    def on_constant(self, stmt: Any) -> None:
        self.set(stmt.out, stmt.values)

    def on_check(self, stmt: Any) -> None:
        if not np.all(self.get(stmt.condition)):
            raise Stopped

    def on_flag(self, stmt: Any) -> None:
        if np.any(self.get(stmt.condition)):
            self.flags.add(stmt.number)

    def on_put(self, stmt: Any) -> None:
        self.stacks.setdefault(stmt.stack, {})[int(self.get(stmt.position))] = self.get(stmt.value)

    def on_get(self, stmt: Any) -> None:
        self.set(stmt.out, self.stacks[stmt.stack][int(self.get(stmt.position))])

    def on_loop(self, stmt: Any) -> None:
        for phi, first, _, _ in stmt.carried:
            self.set(phi, self.get(first))
        trips = 0
        counted = stmt.index is not None
        places = iter(range(int(self.get(stmt.start)), int(self.get(stmt.stop)), stmt.step) if counted else ())
        while True:
            self.set(stmt.position, trips)
            if counted:
                place = next(places, None)
                if place is None:
                    break
                self.set(stmt.index, place)
            else:
                self.block(stmt.test)
                if not self.get(stmt.condition):
                    break
            self.block(stmt.body)
            after = [self.get(x) for _, _, x, _ in stmt.carried]
            stop = stmt.stop_when is not None and bool(self.get(stmt.stop_when))
            for (phi, _, _, _), value in zip(stmt.carried, after):
                self.set(phi, value)
            trips += 1
            if stop:
                break
        for phi, _, _, out in stmt.carried:
            self.set(out, self.values[phi])
        self.set(stmt.trips, trips)

    def on_if(self, stmt: Any) -> None:
        taken = bool(self.get(stmt.condition))
        self.block(stmt.then if taken else stmt.orelse)
        for out, a, b in stmt.outs:
            self.set(out, self.get(a if taken else b))


def unbounded(entry: Any) -> Any:
    """A slice with a stop before the beginning as NumPy has it."""
    if entry.__class__ is slice and entry.step is not None and entry.step < 0 and entry.stop == -1:
        return slice(entry.start, None, entry.step)
    return entry


def filled(row: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a row, with the defaults of those that are not given."""
    found = dict(attributes)
    if row.name in ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin"):
        found.setdefault("keepdims", False)
    if row.name in ("argmax", "argmin"):
        found.setdefault("output_type", None)
    return found
