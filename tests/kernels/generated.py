"""Random programs with loops, branches, functions and arrays, for a seed; all of them end, and stay near 1."""

from __future__ import annotations

import random

FUNCTIONS = ("sin", "cos", "tanh", "exp", "abs", "sqrt", "sigmoid", "arctan", "relu", "log1p", "square")


class Writer:
    """Writes a program; `depth` bounds the nesting."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.floats = ["x", "y"]
        self.integers: list[str] = []
        self.arrays = ["v"]
        self.functions: list[tuple[str, int]] = []
        self.count = 0
        self.loops: list[str] = []

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    # --- expressions ------------------------------------------------------------------------------------------------

    def integer(self, depth: int = 2) -> str:
        choices = [str(self.random.randint(0, 4))]
        if self.integers:
            choices += [self.random.choice(self.integers)] * 3
            if depth:
                a, b = self.integer(depth - 1), self.integer(depth - 1)
                choices += [f"({a} + {b})", f"({a} - {b})", f"({a} % 3)", f"({a} // 2)", f"({a} * 2)"]
        return self.random.choice(choices)

    def number(self, depth: int = 3) -> str:
        pick = self.random.random()
        if depth == 0 or pick < 0.2:
            leaves = [*self.floats * 2, f"{self.random.uniform(-2, 2):.2f}"]
            if self.integers:
                leaves.append(self.random.choice(self.integers))
            return self.random.choice(leaves)
        a, b = self.number(depth - 1), self.number(depth - 1)
        if pick < 0.55:
            return f"({a} {self.random.choice('+-*')} {b})"
        if pick < 0.6:
            return f"({a} / (1.5 + {b} ** 2))"
        if pick < 0.75:
            name = self.random.choice(FUNCTIONS)
            inner = f"abs({a})" if name in ("sqrt", "log1p") else f"tanh({a})" if name == "exp" else a
            return f"{name}({inner})"
        if pick < 0.8:
            return f"({a} if {self.condition(1)} else {b})"
        if pick < 0.84:
            return f"{self.random.choice(('maximum', 'minimum', 'hypot', 'arctan2'))}({a}, {b})"
        if pick < 0.9 and self.arrays:
            array = self.random.choice(self.arrays)
            return f"{array}[({self.integer()}) % 4]" if self.random.random() < 0.6 else f"sum({array} * {a})"
        if pick < 0.95 and self.functions:
            name, arity = self.random.choice(self.functions)
            return f"{name}({', '.join(self.number(depth - 1) for _ in range(arity))})"
        return f"({a}) ** {self.random.randint(0, 3)}"

    def array(self) -> str:
        a = self.random.choice(self.arrays)
        pick = self.random.random()
        if pick < 0.3:
            return f"{a} * {self.number(1)}"
        if pick < 0.5:
            return f"{a}[::-1] + {self.number(1)}"
        if pick < 0.7:
            return f"sin({a}) - {self.random.choice(self.arrays)}"
        if pick < 0.85:
            return f"stack([{', '.join(self.number(1) for _ in range(4))}])"
        return f"({a}[:, None] * {self.random.choice(self.arrays)}) @ {a} * 0.1"

    def condition(self, depth: int = 2) -> str:
        pick = self.random.random()
        if depth and pick < 0.3:
            word = self.random.choice(("and", "or"))
            return f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"
        if depth and pick < 0.4:
            return f"(not {self.condition(depth - 1)})"
        if self.integers and pick < 0.6:
            return f"{self.integer()} {self.random.choice(('<', '==', '>=', '!='))} {self.integer()}"
        if pick < 0.7:
            return f"-1 < {self.number(1)} <= 1"
        return f"{self.number(2)} {self.random.choice('<>')} {self.number(1)}"

    # --- statements -------------------------------------------------------------------------------------------------

    def bounded(self, text: str) -> str:
        """A number that stays small from iteration to iteration."""
        return f"tanh({text})" if self.random.random() < 0.3 else f"0.3 * ({text})"

    def block(self, level: int, depth: int, inside: str) -> None:
        before = (list(self.floats), list(self.integers), list(self.arrays))
        for _ in range(self.random.randint(1, 3)):
            self.statement(level, depth, inside)
        if level:
            # What a block assigns first may be unassigned after it.
            self.floats, self.integers, self.arrays = before

    def statement(self, level: int, depth: int, inside: str) -> None:
        pick = self.random.random()
        if depth == 0 or pick < 0.4:
            if self.loops and self.random.random() < 0.6:
                name = self.random.choice([f for f in self.floats if f not in ("x", "y")] or self.floats)
            else:
                name = self.fresh("a")
            if self.random.random() < 0.3 and name in self.floats:
                self.line(level, f"{name} {self.random.choice(('+=', '-=', '*='))} {self.bounded(self.number())}")
            else:
                self.line(level, f"{name} = {self.bounded(self.number())}")
            if name not in self.floats:
                self.floats.append(name)
        elif pick < 0.55:
            self.line(level, f"if {self.condition()}:")
            self.block(level + 1, depth - 1, inside)
            if inside and self.random.random() < 0.35:
                self.line(level + 1, self.leave(inside))
            if self.random.random() < 0.5:
                self.line(level, "else:")
                self.block(level + 1, depth - 1, inside)
        elif pick < 0.8:
            self.loop(level, depth, inside)
        elif pick < 0.87 and not inside:
            name = self.fresh("w")
            self.line(level, f"{name} = {self.array()}")
            if self.random.random() < 0.4:
                place = self.random.choice(("0", "-1", "1:3", "::2"))
                self.line(level, f"{name}[{place}] = {self.number(1)}")
            self.arrays.append(name)
        elif pick < 0.9 and "loop" in inside and len(self.arrays) > 1:
            # A tensor that the loop changes, as a whole or in one place.
            name = self.random.choice([a for a in self.arrays if a != "v"])
            if self.random.random() < 0.3:
                self.line(level, f"{name} = sin({self.array()})")
            else:
                place = self.random.choice((f"({self.integer()}) % 4", "1:", "::-1"))
                self.line(level, f"{name}[{place}] = {self.bounded(self.number(2))}")
        elif pick < 0.93:
            name = self.fresh("k")
            self.line(level, f"{name} = {self.integer()}")
            self.integers.append(name)
        else:
            self.line(level, f"{self.floats[-1]} = {self.bounded(self.number())}")

    def leave(self, inside: str) -> str:
        words = []
        if "loop" in inside:
            words += ["break", "continue"]
        if "function" in inside:
            words += [f"return {self.number(1)}"]
        return self.random.choice(words)

    def loop(self, level: int, depth: int, inside: str) -> None:
        name = self.fresh("s")
        self.line(level, f"{name} = {self.random.choice(('0', '0.0', '1', 'x', self.number(1)))}")
        self.floats.append(name)
        self.loops.append(name)
        counter = self.fresh("i")
        if self.random.random() < 0.25:
            self.line(level, f"{counter} = 0")
            self.integers.append(counter)
            self.line(level, f"while {counter} < {self.random.randint(0, 5)} and {self.condition(1)}:")
            self.line(level + 1, f"{counter} = {counter} + 1")
        else:
            start, stop, step = (
                self.random.randint(0, 3),
                self.random.randint(0, 6),
                self.random.choice((1, 1, 1, 2, -1)),
            )
            if step < 0:
                start, stop = stop, start - 2
            bound = self.random.choice((str(stop), str(stop), "n" if step > 0 else "-1"))
            self.line(level, f"for {counter} in range({start}, {bound}, {step}):")
            self.integers.append(counter)
        self.block(level + 1, depth - 1, (inside + " loop").strip())
        if self.random.random() < 0.3:
            self.line(level + 1, f"if {self.condition()}:")
            self.line(level + 2, self.leave("loop" if "function" not in inside else inside + " loop"))
        self.line(level + 1, f"{name} = {name} * 0.5 + {self.bounded(self.number())}")
        if counter in self.integers:
            self.integers.remove(counter)
        self.loops.pop()

    def function(self) -> None:
        name = self.fresh("f")
        arity = self.random.randint(1, 2)
        parameters = [self.fresh("p") for _ in range(arity)]
        self.line(0, f"def {name}({', '.join(parameters)}):")
        kept = (self.floats, self.integers, self.arrays, self.loops)
        self.floats = ["x", *parameters]
        self.integers, self.arrays, self.loops = [], ["v"], []
        for _ in range(self.random.randint(1, 3)):
            self.statement(1, 2, "function")
        self.line(1, f"return {self.number(2)}")
        self.floats, self.integers, self.arrays, self.loops = kept
        self.functions.append((name, arity))

    def program(self) -> str:
        for _ in range(self.random.randint(0, 2)):
            self.function()
        for _ in range(self.random.randint(2, 5)):
            self.statement(0, 3, "")
        used = " + ".join(self.floats[-4:])
        self.line(0, f"{used} + sum({self.arrays[-1]}) + x * y * n")
        return "\n".join(self.lines)


def program(seed: int) -> str:
    return Writer(seed).program()
