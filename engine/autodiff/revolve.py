"""Which states of a long loop to keep: the binomial schedule of Griewank and Walther.

A. Griewank and A. Walther, Algorithm 799: revolve, ACM Transactions on Mathematical Software 26 (2000) 19-45. With s
states kept and every iteration run at most r times more than once, binomial(s + r, s) iterations can be reversed.
"""

from __future__ import annotations


def revolve(steps: int, free: int) -> int:
    """How far to go before the next state is kept, on the way to the state `steps` iterations ahead.

    `free` more states can be kept. The answer is `steps` where none is to be kept before. Plain arithmetic, for the
    kernels compile it.
    """
    if free <= 0 or steps <= 1:
        return steps
    if steps <= free:
        return 1
    length = steps + 1
    slots = free + 1
    repeats = 0
    reach = 1  # binomial(slots + repeats, slots)
    while reach < length:
        repeats += 1
        reach = reach * (slots + repeats) // repeats
    before = reach * repeats // (slots + repeats)
    least = before * (repeats - 1) // (slots + repeats - 1)
    beyond = reach * slots // (slots + repeats)
    return min(max(least, length - beyond, 1), steps)
