"""The commands that evaluate a program at a point: each file has one, its COMMAND."""

from __future__ import annotations

from ..command import Commands

COMMANDS = Commands(__name__)

__all__ = ["COMMANDS"]
