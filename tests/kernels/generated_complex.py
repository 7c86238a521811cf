"""Random programs on complex numbers: expressions, functions, branches, and loops that carry a complex number."""

from __future__ import annotations

import random

FUNCTIONS = ("exp", "sin", "cos", "tanh", "conj", "sqrt", "arctan", "log")
PARTS = ("real", "imag", "abs", "angle")


class Writer:
    """Writes one program of the complex input `z` and the real inputs `x` and `y`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, depth: int, names: list[str]) -> str:
        """A complex expression, or at its leaves a real one."""
        draw = self.random
        if depth == 0 or draw.random() < 0.15:
            return draw.choice([*names, *names, "(0.3 - 0.2j)", "1j", "x", "0.5"])
        a, b = self.number(depth - 1, names), self.number(depth - 1, names)
        kind = draw.randrange(9)
        if kind < 3:
            return f"({a} {draw.choice('+-*')} {b})"
        if kind == 3:
            return f"({a} / (2.5 + {b}))"
        if kind == 4:
            return f"{draw.choice(FUNCTIONS)}({a} * 0.4)"
        if kind == 5:
            return f"complex({self.real(depth - 1, names)}, {self.real(depth - 1, names)})"
        if kind == 6:
            return f"({a}) ** {draw.choice(['2', '3', '-1', '1.5', 'x'])}"
        if kind == 7:
            return f"(({a} + 0j) if {self.real(depth - 1, names)} > 0.3 else ({b} + 0j))"
        return f"square({a})"

    def real(self, depth: int, names: list[str]) -> str:
        if depth <= 0:
            return self.random.choice(["x", "0.7", "y"])
        return f"{self.random.choice(PARTS)}({self.number(depth - 1, names)})"

    def statement(self) -> list[str]:
        draw, both = self.random, ["z", "w"]
        kind = draw.randrange(4)
        if kind == 0:
            return ["w = " + self.number(3, both)]
        if kind == 1:
            turn = draw.choice(["conj(w)", "w / 2", "-w * 1j"])
            loop = [f"for i in range({draw.randrange(1, 5)}):", f"    w = tanh({self.number(2, both)}) + i * 0.1j"]
            loop += [f"    if abs(w) > {draw.choice(['1.1', '2', 'x'])}:", f"        w = {turn}"]
            return loop if draw.random() < 0.6 else [*loop, "        break"]
        if kind == 2:
            then = f"    w = {self.number(2, both)} + 0j"
            return [f"if {self.real(2, both)} > 0.2:", then, "else:", "    w = w * (1 + 0.1j)"]
        return ["def f(u):", f"    return {self.number(2, ['u', 'z'])}", "w = f(w) + f(0.3 * z)"]

    def program(self) -> str:
        lines = [f"w = {self.number(2, ['z'])} + 0j * z"]
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement()
        return "\n".join([*lines, f"{self.real(2, ['w'])} * x + abs(w) * y + abs(z + 1) * x"])

    def point(self) -> dict[str, complex | float]:
        draw = self.random.uniform
        return {"z": complex(draw(-1.5, 1.5), draw(-1.5, 1.5)), "x": draw(0.2, 1.5), "y": draw(-1.0, 1.0)}
