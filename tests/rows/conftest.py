from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from adiff.engine.kernels import collection, ir, runtime, store

# pytest's importlib mode adds no path: the helpers beside the tests, and what tests/kernels and tests/ops have, are found from here.
sys.path[:0] = [str(Path(__file__).parent), *(str(Path(__file__).parents[1] / other) for other in ("kernels", "ops"))]


@pytest.fixture
def interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run as the Python that they are."""
    from interpreted import interpreted

    monkeypatch.setattr(collection, "compile_kernel", interpreted)
    monkeypatch.setattr(store, "load", lambda key: None)
    attempt = runtime.Kernels.attempt

    def strict(self: runtime.Kernels, make: Any) -> Any:
        found = attempt(self, make)
        if isinstance(found, ir.Fault):
            raise found.fault
        return found

    monkeypatch.setattr(runtime.Kernels, "attempt", strict)
