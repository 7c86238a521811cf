"""Derivatives as formulas: a program run on symbols, differentiated, simplified and written in several notations."""
