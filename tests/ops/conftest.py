import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from adiff.engine.core.state import STATE

# pytest's importlib mode adds no path: the helpers beside the tests are found from here.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def fresh_state() -> Iterator[None]:
    """No recorder, notice or policy survives from one test to the next."""
    STATE.reset()
    yield
    STATE.reset()
