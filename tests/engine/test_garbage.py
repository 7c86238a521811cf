"""Python's search for garbage in cycles stays out of what makes many objects that stay, and is as it was afterwards."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from adiff import AdiffError, program

LINES = 300
TEXT = "\n".join(["y0 = x", *(f"y{k + 1} = sin(y{k}) * 0.9 + x" for k in range(LINES)), f"y{LINES}"])


@pytest.fixture
def searches() -> Iterator[list[int]]:
    """The generations that were gone over."""
    found: list[int] = []

    def told(phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            found.append(info["generation"])

    gc.callbacks.append(told)
    yield found
    gc.callbacks.remove(told)


def test_a_text_becomes_closures_without_a_search_at_every_so_many_objects(searches: list[int]) -> None:
    compiled = program(TEXT)
    assert len(searches) <= 1  # it comes before, or is the next that Python makes
    searches.clear()
    compiled.value({"x": 0.5}, engine="tape")
    assert len(searches) <= 3
    assert gc.isenabled()


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("text", ["x**2", "x +", "nothing_known(x)"])
def test_it_is_as_it_was_afterwards(enabled: bool, text: str) -> None:
    before = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        try:
            program(text).value_and_gradient({"x": 3.0}, engine="kernel")
        except AdiffError:
            assert text != "x**2"
        assert gc.isenabled() is enabled
    finally:
        gc.enable() if before else gc.disable()
