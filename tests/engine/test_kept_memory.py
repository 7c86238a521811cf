"""Arrays take the memory that others have left: the system need not be asked for it again."""

import platform
import subprocess
import sys
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.core import kept_memory

# Gradients of a sum over a vector, one after the other, and how many pages of memory the later ones have touched first.
SCRIPT = """
import resource, sys
import adiff, numpy as np
limit = {"max_memory": 2 ** int(sys.argv[1])}
program, x = adiff.program("sum(sin(x * x) * cos(x))"), np.linspace(0.0, 1.0, 100_000)
def faults(times):
    for _ in range(times):
        program.evaluate("grad", {"x": x}, engine="tape", **limit)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = faults(3)
print(faults(5) - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc")
def test_large_arrays_take_memory_that_is_there() -> None:
    def pages(limit: str) -> int:
        done = subprocess.run([sys.executable, "-c", SCRIPT, limit], capture_output=True, text=True, check=True)
        return int(done.stdout)

    # An array has some 200 pages.
    assert pages("32") < 200
    assert pages("28") > 200


# A limit of 20 MiB, for arrays of 72 MB beside one another, when those of another evaluation have just been freed.
LIMITED = """
import adiff, numpy as np
text = "a = [x * i for i in range(60)]\\nsum(a[3])"
print(adiff.program(text).evaluate("value", {"x": np.ones(200_000)}, engine="tape").value)
text = "a = [ones(200_000) * i for i in range(45)]\\nsum(a[3])"
try:
    print(adiff.program(text).evaluate("value", {}, engine="tape", max_memory=20 << 20).value)
except adiff.AdiffError as error:
    print(error.code)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc")
def test_what_is_kept_is_not_beyond_a_limit() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["600000.0", "E0602"]


@pytest.mark.parametrize(
    ("x", "kept"),
    [
        (np.zeros(2**14), True),
        ([0.0] * 2**14, True),
        (adiff.constant("linspace(0, 1, 2**14)"), True),
        (np.zeros(2**14 - 1), False),
        (adiff.constant("linspace(0, 1, 9)"), False),
        (1.0, False),
    ],
)
def test_memory_is_kept_from_the_first_large_input_on(x: Any, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_memory, "KEPT", [])
    adiff.program("sum(x)").evaluate("value", {"x": x})
    assert bool(kept_memory.KEPT) is kept
