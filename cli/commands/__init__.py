"""The commands that are no evaluation at a point, one in each file; and COMMANDS, which has those of the engine too."""

from __future__ import annotations

from ...engine import commands
from ...engine.command import Commands

COMMANDS = Commands(commands.__name__, __name__)

__all__ = ["COMMANDS"]
