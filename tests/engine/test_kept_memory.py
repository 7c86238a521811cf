"""Arrays take the memory that others have left: the system need not be asked for it again."""

import platform
import subprocess
import sys

import pytest

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
