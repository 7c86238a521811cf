"""Core program to IR, by partial evaluation."""

from .tracer import Tracer
from .values import NeedsValue

__all__ = ["NeedsValue", "Tracer"]
