import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# pytest's importlib mode adds no path: the helpers beside the tests are found from here.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "ops")]


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels are kept apart from those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "ADIFF_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
