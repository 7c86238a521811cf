"""Derivatives of one operation, and of recorded ones: the tape, the forward accumulator, the drivers."""
