"""Every benchmark can be loaded: names that one takes from another are there, though no peer may be."""

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench"


def test_every_module_has_rows() -> None:
    script = (
        "import importlib, run\nfor name in run.MODULES:\n    assert callable(importlib.import_module(name).rows), name"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=BENCH, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_name_that_is_no_benchmark() -> None:
    done = subprocess.run([sys.executable, "run.py", "nope"], cwd=BENCH, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no benchmark is called 'nope'; there are first_answer" in done.stderr
