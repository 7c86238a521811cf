from collections.abc import Iterator

import pytest
from adiff.engine.core.state import STATE


@pytest.fixture(autouse=True)
def fresh_state() -> Iterator[None]:
    """No recorder, notice or policy survives from one test to the next."""
    STATE.reset()
    yield
    STATE.reset()
