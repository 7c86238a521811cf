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


class Structured(Writer):
    """Programs with lists, dicts, tuples, closures that assign outwards, recursion and loops over anything as well."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.lists: list[str] = []  # of at least three numbers
        self.dicts: list[str] = []  # of numbers, with the keys "a" and "b"
        self.pairs: list[str] = []  # of a number and an array
        self.rows: list[str] = []  # lists of two arrays
        self.setters: list[str] = []  # functions that change what is outside them
        self.recursions: list[str] = []
        self.inside_function = False

    def kept(self) -> tuple[list[str], ...]:
        return tuple(list(names) for names in (self.lists, self.dicts, self.pairs, self.rows))

    def block(self, level: int, depth: int, inside: str) -> None:
        before = self.kept()
        super().block(level, depth, inside)
        if level:
            self.lists, self.dicts, self.pairs, self.rows = before

    def number(self, depth: int = 3) -> str:
        pick = self.random.random()
        if depth == 0 or pick > 0.3:
            return super().number(depth)
        a = super().number(depth - 1)
        choices = [f"({a} and {super().number(0)})", f"({a} or {super().number(0)})"]
        if self.lists:
            name = self.random.choice(self.lists)
            choices += [f"{name}[{self.random.randint(0, 2)}]", f"{name}[({self.integer()}) % 3]", f"{name}[-1]"]
            choices += [f"sum({name})", f"len({name})", f"max({name})", f"sum([e * {a} for e in {name}])"]
        if self.dicts:
            choices += [f'{self.random.choice(self.dicts)}["{self.random.choice("ab")}"]'] * 3
        if self.pairs:
            name = self.random.choice(self.pairs)
            choices += [f"{name}[0]", f"{name}[1][({self.integer()}) % 4]"]
        if self.rows:
            choices += [f"{self.random.choice(self.rows)}[{self.random.randint(0, 1)}][({self.integer()}) % 4]"] * 2
        if self.recursions and not self.inside_function:
            name = self.random.choice(self.recursions)
            choices += [f"{name}({a}, {self.random.choice((str(self.random.randint(0, 4)), 'n'))})"] * 2
        choices.append(f"sum([{a} * e for e in {self.random.choice(self.arrays)}])")
        return self.random.choice(choices)

    def small(self) -> str:
        return self.bounded(self.number(2))

    def structure(self, level: int, inside: str) -> None:
        """A list, a dict, a pair or a list of arrays: made, or changed."""
        pick = self.random.random()
        fresh = not inside or self.random.random() < 0.15
        if pick < 0.4:
            if fresh or not self.lists:
                name = self.fresh("c")
                self.line(level, f"{name} = [{self.small()}, {self.small()}, {self.small()}]")
                self.lists.append(name)
                return
            name = self.random.choice(self.lists)
            place = self.random.choice((str(self.random.randint(0, 2)), f"({self.integer()}) % 3"))
            self.line(level, self.random.choice((
                f"{name}[{place}] = {self.small()}", f"{name}[{place}] += {self.small()}",
                f"{name}.append({self.small()})", f"{name} = [e * 0.5 for e in {name}]",
                f"{name}[0], {name}[1] = {name}[1], {self.small()}", f"{name} = [{self.small()}, {name}[0], {name}[1]]",
            )))  # fmt: skip
        elif pick < 0.6:
            if fresh or not self.dicts:
                name = self.fresh("d")
                self.line(level, f'{name} = {{"a": {self.small()}, "b": {self.small()}}}')
                self.dicts.append(name)
                return
            operator = self.random.choice(("=", "+=", "*="))
            self.line(
                level, f'{self.random.choice(self.dicts)}["{self.random.choice("ab")}"] {operator} {self.small()}'
            )
        elif pick < 0.8:
            if fresh or not self.pairs:
                name = self.fresh("t")
                self.line(level, f"{name} = ({self.small()}, {self.array()})")
                self.pairs.append(name)
                return
            name = self.random.choice(self.pairs)
            self.line(level, f"{name} = ({self.small()}, {name}[1] * 0.5 + {name}[0])")
        else:
            if fresh or not self.rows:
                name = self.fresh("r")
                self.line(level, f"{name} = [{self.array()}, {self.random.choice(self.arrays)}]")
                self.rows.append(name)
                return
            name, k = self.random.choice(self.rows), self.random.randint(0, 1)
            self.line(level, self.random.choice((
                f"{name}[{k}] = {name}[{1 - k}] * 0.5 + {self.small()}",
                f"{name}[{k}][({self.integer()}) % 4] = {self.small()}",
                f"{name}[{k}][1:] = {name}[{1 - k}][:-1] * 0.5",
            )))  # fmt: skip

    def statement(self, level: int, depth: int, inside: str) -> None:
        pick = self.random.random()
        if pick < 0.3:
            self.structure(level, inside)
        elif pick < 0.36 and self.setters and not self.inside_function:
            self.line(level, f"{self.random.choice(self.setters)}({self.number(1)})")
        elif pick < 0.5 and depth:
            self.walk(level, depth, inside)
        else:
            super().statement(level, depth, inside)

    def walk(self, level: int, depth: int, inside: str) -> None:
        """A loop over something else than a range, perhaps with an `else`."""
        item, array = self.fresh("e"), self.random.choice(self.arrays)
        choices = [(f"{item} in {array}", [item]), (f"{item} in [{self.number(1)}, x, {self.number(1)}]", [item])]
        other = self.fresh("e")
        choices.append((f"{item}, {other} in zip({array}, {self.random.choice(self.arrays)})", [item, other]))
        choices.append((f"{item} in reversed({array})", [item]))
        choices.append((f"{other}, {item} in enumerate({array})", [item]))
        if self.lists:
            choices.append((f"{item} in {self.random.choice(self.lists)}[:3]", [item]))
        header, names = self.random.choice(choices)
        name = self.fresh("s")
        self.line(level, f"{name} = {self.random.choice(('0', 'x', self.number(1)))}")
        self.line(level, f"for {header}:")
        before = list(self.floats)
        self.floats += [name, *names]
        self.loops.append(name)
        self.block(level + 1, depth - 1, (inside + " loop").strip())
        if self.random.random() < 0.4:
            self.line(level + 1, f"if {self.condition()}:")
            self.line(level + 2, self.leave("loop" if "function" not in inside else inside + " loop"))
        self.line(level + 1, f"{name} = {name} * 0.5 + {self.bounded(self.number())}")
        self.loops.pop()
        self.floats = [*before, name]
        if self.random.random() < 0.3:
            self.line(level, "else:")
            self.line(level + 1, f"{name} = {name} + {self.small()}")

    def function(self) -> None:
        before = self.kept()
        self.lists, self.dicts, self.pairs, self.rows = [], [], [], []
        self.inside_function = True
        super().function()
        self.inside_function = False
        self.lists, self.dicts, self.pairs, self.rows = before

    def setter(self) -> None:
        """A function that assigns a variable of the program, or changes a list of it."""
        name, total, items = self.fresh("f"), self.fresh("g"), self.fresh("c")
        self.line(0, f"{total} = {self.small()}")
        self.line(0, f"{items} = [{self.small()}, 0.5, 0.25]")
        self.line(0, f"def {name}(p):")
        self.line(1, f"global {total}")
        self.line(1, f"if p > {self.random.uniform(-1, 1):.1f}:")
        self.line(2, f"{total} = {total} * 0.5 + tanh(p)")
        self.line(1, f"{items}[{self.random.randint(0, 2)}] += tanh(p * {total})")
        self.floats.append(total)
        self.lists.append(items)
        self.setters.append(name)

    def recursion(self) -> None:
        name = self.fresh("h")
        self.line(0, f"def {name}(p, k):")
        self.line(1, f"if k <= 0 or p > {self.random.uniform(2, 5):.1f}:")
        self.line(2, f"return {self.random.choice(('p', 'tanh(p)', 'p * x', '1'))}")
        first = f"{name}({self.random.choice(('p * 0.5', 'p + x', 'tanh(p)', 'p'))}, k - 1)"
        second = f"{name}(p * 0.3, k - {self.random.randint(1, 3)})"
        kind = self.random.randint(0, 3)
        if kind == 0:
            self.line(1, f"return {first}")
        elif kind == 1:
            self.line(1, f"return 0.5 * {first} + p")
        elif kind == 2:
            self.line(1, f"return tanh({first}) - 0.3 * {second} * y")
        else:
            self.line(1, f"r = {first} if p < 1 else {second}")
            self.line(1, "for i in range(2):")
            self.line(2, f"if r > i:\n            r = r * 0.5 + {second}")
            self.line(1, "return tanh(r)")
        self.recursions.append(name)

    def program(self) -> str:
        if self.random.random() < 0.4:
            self.recursion()
        if self.random.random() < 0.5:
            self.setter()
        for _ in range(self.random.randint(1, 3)):
            self.structure(0, "")
        text = super().program()
        ends = [f"sum({name})" for name in self.lists[-2:]] + [f'{name}["a"]' for name in self.dicts[-1:]]
        ends += [f"{name}[0] * sum({name}[1])" for name in self.pairs[-1:]] + [f"sum({n}[0])" for n in self.rows[-1:]]
        return " + ".join([text, *ends])


class Recording(Structured):
    """Programs that differentiate inside by tapes, hold Variables, and have functions with rules of their own."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.variables: list[str] = []
        self.recording = 0

    def number(self, depth: int = 3) -> str:
        if self.variables and not self.inside_function and self.random.random() < 0.12:
            return self.random.choice(self.variables)
        return super().number(depth)

    def statement(self, level: int, depth: int, inside: str) -> None:
        pick = self.random.random()
        if pick < 0.2 and depth and self.recording < 2:
            self.tape(level, depth, inside)
        elif pick < 0.3 and not self.inside_function:
            self.variable(level, inside)
        else:
            super().statement(level, depth, inside)

    def variable(self, level: int, inside: str) -> None:
        """A Variable, made or assigned."""
        if not self.variables or (not inside and self.random.random() < 0.3):
            if level:
                return self.line(level, "pass")
            name = self.fresh("v")
            self.line(level, f"{name} = Variable({self.random.choice(('x', '0.5', f'0.0 + {self.small()}'))})")
            self.variables.append(name)
            return None
        method = self.random.choice(("assign", "assign_add", "assign_sub"))
        return self.line(level, f"{self.random.choice(self.variables)}.{method}({self.small()})")

    def tape(self, level: int, depth: int, inside: str) -> None:
        """A block that a tape records, and one or two derivatives of what it finds."""
        tape, source, target, slope = (self.fresh(stem) for stem in ("t", "u", "z", "q"))
        tensor = self.random.random() < 0.3
        persistent = self.random.random() < 0.4
        self.line(level, f"{source} = {self.array() if tensor else f'0.0 + {self.small()}'}")
        self.line(level, f"with GradientTape({'persistent=True' if persistent else ''}) as {tape}:")
        self.line(level + 1, f"{tape}.watch({source})")
        kept = (list(self.floats), list(self.integers), list(self.arrays), self.kept())
        number = f"sum({source} * {source})" if tensor else source
        (self.arrays if tensor else self.floats).append(source)
        self.recording += 1
        for _ in range(self.random.randint(0, 2)):
            self.statement(level + 1, depth - 1, inside.replace("loop", "").strip())
        self.line(level + 1, f"{target} = tanh({self.number(2)}) + 0.3 * {number}")
        self.recording -= 1
        self.floats, self.integers, self.arrays, (self.lists, self.dicts, self.pairs, self.rows) = kept
        self.line(level, f"{slope} = {tape}.gradient({target}, {source})")
        self.line(level, f"{slope} = tanh({f'sum({slope})' if tensor else slope})")
        self.floats.append(slope)
        if persistent:
            other = self.random.choice(self.variables) if self.variables and self.random.random() < 0.5 else source
            again = f"{tape}.gradient({target}, {other}, unconnected_gradients='zero')"
            self.line(level, f"{slope} = {slope} + 0.1 * tanh(sum({again}))")

    def rule(self) -> None:
        """A function with a derivative of its own."""
        name = self.fresh("f")
        factor = f"{self.random.uniform(-1, 1):.2f}"
        slope = self.random.choice(
            (f"g * {factor}", "g * cos(p)", "-g * p * k", "clip(g, -0.5, 0.5)", "g / (1 + k ** 2)")
        )
        self.line(0, f"@custom_gradient\ndef {name}(p):")
        self.line(1, f"k = sin(p) * {factor}")
        self.line(1, f"return tanh(p) + k, lambda g: {slope}")
        self.functions.append((name, 1))

    def program(self) -> str:
        if self.random.random() < 0.5:
            self.rule()
        return super().program()


def program(seed: int, kind: type[Writer] = Writer) -> str:
    return kind(seed).program()
