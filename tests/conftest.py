import gc
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from adiff.engine import tier

# pytest's importlib mode adds no path: the helpers of the tests are found from here.
sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("helpers", "ops", "kernels", "rows", "cli")]


def pytest_collection_finish() -> None:
    """The tests themselves are so many objects that to go through them for garbage takes longer than many a test."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def hears_ctrl_c() -> Iterator[None]:
    """As in a terminal: a shell has what it starts in the background ignore Ctrl-C, and the tests may run there."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def nothing_spent() -> None:
    """Which engine answers in one test is no matter of what others have evaluated."""
    tier.SPENT.clear()
