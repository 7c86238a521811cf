"""How far a long command is: on a terminal only, and only once it has taken a second."""

from __future__ import annotations

from time import monotonic

from .environment import Environment, is_terminal

PATIENCE, INTERVAL = 1.0, 0.1  # seconds before the first sign, and between two


class Progress:
    """One line on standard error that rewrites itself: a count of something, or the words of the program."""

    def __init__(self, environment: Environment, shown: bool, noun: str = "lines") -> None:
        self.environment = environment
        self.noun = noun
        self.shown = shown and is_terminal(environment.stderr)
        self.next = monotonic() + PATIENCE
        self.drawn = False

    def show(self, count: int | str) -> None:
        """Say that so many are done, if it is time to."""
        if self.shown and (now := monotonic()) >= self.next:
            self.next = now + INTERVAL
            self.drawn = True
            self.environment.write_error(f"\r{count} {self.noun}".rstrip() + "\x1b[K")

    def clear(self) -> None:
        """Leave nothing behind."""
        if self.drawn:
            self.environment.write_error("\r\x1b[K")
