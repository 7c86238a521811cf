"""Python's search for garbage in cycles stays out of what makes many objects that stay, and is as it was afterwards."""

import gc

import pytest
from adiff import AdiffError, program


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
