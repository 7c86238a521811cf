"""The singular points that derivatives inside a program meet, with a flag for each."""

from __future__ import annotations

from .. import ir
from ..built import Noted
from ..ir import INT, Array, Var


class Watch:
    """The flags of one kernel: set when a singular point takes part in a derivative."""

    __slots__ = ("noted", "notes")

    def __init__(self) -> None:
        self.notes = Array(INT, (0,), "notes")
        self.noted: list[Noted] = []

    @property
    def results(self) -> list[Array]:
        """What a kernel must keep for the flags in the program, whose memory the program takes (`begun`)."""
        return [self.notes] if self.noted else []

    def begun(self, block: list[ir.Stmt]) -> None:
        """Take the memory for the flags in the program's statements, which are complete."""
        if self.noted:
            self.notes.shape = (len(self.noted),)
            block.insert(0, ir.Alloc(self.notes, True))

    def flag(self, noted: Noted) -> ir.Store:
        """The statement that notes a point."""
        self.noted.append(noted)
        return ir.Store(self.notes, len(self.noted) - 1, 1)

    def given(self, kernel: ir.Kernel, noted: list[Noted] | None = None, flags: list[Var] | None = None) -> ir.Kernel:
        """The kernel with all flags, if there are any, as its last result: those in the program, then the others.

        The program has `begun`.
        """
        flags = flags or []
        if not self.noted and not flags:
            return kernel
        first = len(self.noted)
        self.noted.extend(noted or ())
        self.notes.shape = (len(self.noted),)
        body: list[ir.Stmt] = [ir.Set(flag, "copy", (0,), None, None) for flag in flags]
        if not first:
            body.append(ir.Alloc(self.notes, True))
        body.extend(kernel.body)
        body.extend(ir.Store(self.notes, first + k, flag) for k, flag in enumerate(flags))
        return ir.Kernel(kernel.parameters, body, [*kernel.results, self.notes])
