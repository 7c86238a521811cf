"""The kernel tier: the numeric core of the language, compiled by Numba."""
