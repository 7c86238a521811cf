from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from adiff.engine import tier


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


@pytest.fixture(params=["main thread", "another thread"])
def strikes(request: pytest.FixtureRequest) -> Iterator[Callable[[Callable[[], Any]], None]]:
    """A function of work, which a Ctrl-C ends soon after its beginning, whichever thread the system has picked for it:
    Python answers in the main one, whose waits nothing ends if that is another."""
    if not hasattr(signal, "pthread_sigmask"):
        pytest.skip("signals of POSIX")

    def begin(work: Callable[[], Any]) -> None:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        if request.param == "another thread":  # the timer's hears it
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        work()

    def strike(work: Callable[[], Any]) -> None:
        with pytest.raises(KeyboardInterrupt):
            begin(work)

    yield strike
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
