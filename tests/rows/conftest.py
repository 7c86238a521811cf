import sys
from pathlib import Path

# pytest's importlib mode adds no path: the helpers beside the tests, and those of other tests, are found from here.
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / other) for other in ("kernels", "ops"))]
