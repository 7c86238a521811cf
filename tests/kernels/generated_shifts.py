"""Random programs that shift, copy and change a few arrays, for a seed."""

from __future__ import annotations

import random


def random_program(seed: int) -> str:
    """Shifts, copies, changes of single elements and element-wise steps of a few arrays, in a loop or not."""
    choose = random.Random(seed)
    names = ["a", "b", "c"]
    inside = choose.random() < 0.6

    def operand() -> str:
        x = choose.choice([*names, "v", "w"])
        kind = choose.randrange(6)
        if kind == 0:
            return f"concat([[{choose.choice(['1.0', 'v[3]', f'{x}[2]'])}], {x}[:-1]], axis=0)"
        if kind == 1:
            return f"concat([{x}[1:], [{choose.choice(['0.5', f'{x}[0]'])}]], axis=0)"
        if kind == 2:
            return f"concat([{x}[:2], {choose.choice(names)}[2:]], axis=0)"
        return x

    lines = []
    for _ in range(choose.randint(4, 9)):
        target = choose.choice(names)
        kind = choose.randrange(7)
        if kind == 0:
            lines.append(f"{target}[{choose.choice([0, 1, -1])}] = {choose.choice(names)}[{choose.randrange(4)}] * 0.7")
        elif kind == 1:
            lines.append(f"{target} = {operand()}")
        elif kind == 2:
            lines.append(f"{target} = 0.5 * sin({operand()}) + {operand()} / {choose.choice(['k', '3.0'])}")
        else:
            lines.append(f"{target} = 0.4 * {operand()} * {operand()} + 0.3 * {operand()}")
    head = ["a = v * 1.0", "b = w * v", "c = w + 0.5", "k = 2.0"]
    body = ["for i in range(3):", *(f"    {line}" for line in [*lines, "k = k + a[0] * a[0]"])] if inside else lines
    return "\n".join([*head, *body, "sum(a * b) + sum(c * c) * k + sum(v * w)"])
