import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels are kept apart from those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "ADIFF_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
