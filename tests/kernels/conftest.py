from __future__ import annotations

import sys
from pathlib import Path

# pytest's importlib mode adds no path: the helpers beside the tests are found from here.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "ops")]
