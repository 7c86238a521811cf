"""Generated programs of the numeric core: the tiers agree on values, derivatives, None, notice codes and errors."""

import os
from collections import Counter
from typing import Any

from generated import point, program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers import agree

LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
EXAMPLES = 1_000 if LONG else 15
# Of the programs that are no errors kernels run at least so many; tangents at kinks, which the points have, are the tape's.
SHARE = 0.6


def test_generated() -> None:
    found: Counter[str] = Counter()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=not LONG,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        def pick(choices: Any) -> Any:
            return data.draw(st.sampled_from(choices))

        text, at = program(pick), point(pick)
        command = pick(("grad", "grad", "jvp", "hvp", "hessian"))
        found[agree(text, at, command, tolerance=1e-9, codes_only=True, size=0.01)] += 1

    check()
    errors = sum(count for why, count in found.items() if why[:1] == "E" and why[1:].isdigit())
    assert found[""] >= SHARE * (found.total() - errors), found
