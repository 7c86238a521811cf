"""Helpers for tests that run programs."""

from typing import Any

import pytest
from adiff import AdiffError, Outcome, program


class Runner:
    """Runs programs and keeps what the last one printed and reported."""

    def __init__(self) -> None:
        self.printed = ""
        self.outcome: Outcome = Outcome()

    def __call__(self, text: str, at: dict[str, Any] | None = None, command: str = "", **options: Any) -> Any:
        written: list[str] = []
        given = {"engine": "tape", "last_statement": not command, **options}
        try:
            self.outcome = program(text).evaluate(command or "value", at or {}, write=written.append, **given)
        finally:
            self.printed = "".join(written)
        return plain(self.outcome.value)

    def notices(self, code: str) -> list[tuple[str, str]]:
        """The notices of a code: the message and the source text that each one points at."""
        return [
            (n.message, "" if n.span is None else n.span.source.text[n.span.start : n.span.end])
            for n in self.outcome.notices
            if n.code == code
        ]

    def refused(self, text: str, at: dict[str, Any] | None = None, command: str = "", **options: Any) -> AdiffError:
        """The error that a program ends with."""
        with pytest.raises(AdiffError) as caught:
            self(text, at, command, **options)
        self.outcome.notices = caught.value.notices
        return caught.value


def plain(value: Any) -> Any:
    """Arrays as nested lists, so that == means what it says."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.fixture
def run() -> Runner:
    return Runner()
