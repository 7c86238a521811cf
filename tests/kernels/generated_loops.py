"""Random kernels of loops over elements that hand these to each other."""

from __future__ import annotations

import random
from typing import Any

from adiff.engine.kernels import ir
from adiff.engine.kernels.passes import shifted_fusion as passes

N = 48
WIDTH = N + 6
OPS = ("add", "subtract", "multiply", "strong_multiply")


def element_loop(choose: random.Random, arrays: list[ir.Array], inputs: list[ir.Array]) -> ir.Loop:
    """A loop that loads at several distances from its index, and stores in one or two arrays at one."""
    index = ir.Var(ir.INT, "i")
    body: list[ir.Stmt] = []
    places: dict[int, Any] = {}

    def place(distance: int) -> Any:
        if distance not in places:
            places[distance] = ir.Var(ir.INT) if distance else index
            if distance:
                body.append(ir.Set(places[distance], "add", (index, distance), None, None))
        return places[distance]

    stored = dict.fromkeys(choose.sample(arrays, choose.randint(1, 2)))
    distance = {x: choose.randrange(6) for x in stored}
    values: list[Any] = [0.75]
    for _ in range(choose.randint(1, 4)):
        array = choose.choice([*arrays, *inputs])
        var = ir.Var(ir.FLOAT)
        body.append(ir.Load(var, array, place(distance.get(array, choose.randrange(6)))))
        values.append(var)
    for _ in range(choose.randint(1, 3)):
        var = ir.Var(ir.FLOAT)
        body.append(
            ir.Set(var, choose.choice(OPS), (choose.choice(values[1:]), choose.choice(values[-2:])), None, None)
        )
        if choose.random() < 0.3:
            body.append(ir.Set(total := ir.Var(ir.FLOAT), "copy", (var,), None, None))
            body.append(ir.Accumulate(total, choose.choice(values)))
            var = total
        values.append(var)
    for array in stored:
        kind = ir.AddTo if choose.random() < 0.5 else ir.Store
        body.append(kind(array, place(distance[array]), values[-1] if choose.random() < 0.9 else 0.5))
    return ir.Loop(index, 0, N, 1, None, None, [], body, None, {}, ir.Var(ir.INT, "t"), None)


def random_kernel(seed: int) -> ir.Kernel:
    """Loops over elements of a few arrays, of which some are results, with single elements read and changed between."""
    choose = random.Random(seed)
    inputs = [ir.Array(ir.FLOAT, (WIDTH,), "x", "input") for _ in range(2)]
    arrays = [ir.Array(ir.FLOAT, (WIDTH,)) for _ in range(5)]
    body: list[ir.Stmt] = [ir.Alloc(x, True) for x in arrays]
    results: list[Any] = choose.sample(arrays, choose.randint(1, 2))
    for _ in range(choose.randint(2, 6)):
        body.append(element_loop(choose, arrays, inputs))
        kind = choose.randrange(6)
        if kind < 2:
            var = ir.Var(ir.FLOAT)
            body.append(ir.Load(var, choose.choice(arrays), choose.choice([0, 1, 3, WIDTH - 1])))
            results.append(var)
        elif kind == 2:
            body.append(ir.Store(choose.choice(arrays), choose.choice([0, 2, WIDTH - 2]), choose.choice([0.25, -1.5])))
    return ir.Kernel([*inputs], body, results)


def loops(block: list[ir.Stmt]) -> int:
    """How many loops of some length a block has."""
    return sum(s.__class__ is ir.Loop and len(range(s.start, s.stop)) > passes.FARTHEST for s in block)
