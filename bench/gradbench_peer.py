"""Runs one of GradBench's Python tools with its results waited for: `python gradbench_peer.py <.../tools/jax/run.py>`.

JAX returns before a result is computed, and the suite's tool stops its clock then. The loop below is the suite's own,
with the wait inside the clock, and with a first run, which compiles, outside it.
"""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def waited_for(result: Any) -> Any:
    """The result once it is there. PyTorch computes before it returns."""
    if "jax" in sys.modules:
        sys.modules["jax"].block_until_ready(result)
    return result


def multiple_runs(*, pre: Callable[[Any], Any], post: Callable[[Any], Any], **limits: Callable[[Any], Any]) -> Any:
    from gradbench import wrap  # type: ignore[import-not-found]

    def decorator(function: Callable[[Any], Any]) -> Any:
        def wrapped(given: Any) -> Any:
            data = pre(given)
            output = waited_for(function(data))
            timings: list[Any] = []
            elapsed = 0
            while len(timings) < given["min_runs"] or elapsed < given["min_seconds"] * 1e9:
                start = time.perf_counter_ns()
                output = waited_for(function(data))
                taken = time.perf_counter_ns() - start
                timings.append(wrap.Timing(name="evaluate", nanoseconds=taken))
                elapsed += taken
            return wrap.OutputAndTimings(success=True, output=post(output), timings=timings)

        return wrap.Wrapped(function=function, wrapped=wrapped)

    return decorator


def main() -> None:
    tool = Path(sys.argv[1])
    from gradbench import wrap

    wrap.multiple_runs = multiple_runs
    if "torch" in tool.parent.name:
        import torch  # type: ignore[import-not-found]

        torch.set_num_threads(1)
    sys.argv = [str(tool)]
    sys.path.insert(0, str(tool.parent))
    runpy.run_path(str(tool), run_name="__main__")


if __name__ == "__main__":
    main()
